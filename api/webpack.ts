/**
 * `ngraph/webpack`: a loader for webpack that turns imports of graph files into their generated modules.
 *
 * ```js
 * // webpack.config.js
 * export default { module: { rules: [{ test: /\.ngraph(\.ya?ml)?$/, use: "ngraph/webpack" }] } };
 * ```
 */
import { loadGraphModule } from "./graph-module.ts";

/** What the loader uses of webpack, which passes it as `this`. */
interface LoaderContext {
  readonly resourcePath: string;
  addDependency(file: string): void;
  emitWarning(error: Error): void;
  callback(error: Error | null, code?: string, map?: string): void;
}

/** The loader. Findings about a graph are reported as errors and warnings of webpack. */
export default function ngraphLoader(this: LoaderContext): void {
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- webpack passes its context as `this`
  deliver(this);
}

function deliver(webpack: LoaderContext): void {
  const { code, map, problems, files } = loadGraphModule(webpack.resourcePath);
  for (const file of files) webpack.addDependency(file);
  const errors = problems.filter(({ severity }) => severity === "error");
  for (const { severity, text } of problems) if (severity === "warning") webpack.emitWarning(messageOf(text));
  if (code !== undefined) webpack.callback(null, code, map);
  else webpack.callback(messageOf(errors.map(({ text }) => text).join("\n\n")));
}

/** An error without a stack trace, which would hide the frame. */
function messageOf(text: string): Error {
  const error = new Error(text);
  error.stack = text;
  return error;
}
