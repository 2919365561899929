/**
 * `ngraph/webpack`: a plugin for webpack that turns imports of graph files into their generated modules.
 *
 * ```js
 * // webpack.config.js
 * import { ngraph } from "ngraph/webpack";
 *
 * export default { plugins: [ngraph()] };
 * ```
 *
 * It is a loader, too: `module: { rules: [{ test: /\.ngraph(\.ya?ml)?$/, use: "ngraph/webpack" }] }`.
 */
import { fileURLToPath } from "node:url";
import { GRAPH_FILE, loadGraphModule, type NgraphPluginOptions } from "./graph-module.ts";

export type { NgraphPluginOptions };

/** What the plugin uses of webpack. */
interface WebpackCompiler {
  readonly options: { readonly module: { readonly rules: unknown[] } };
}

/** The plugin: the part of the interface of webpack's plugins that it has. */
export interface NgraphWebpackPlugin {
  readonly name: string;
  apply(compiler: WebpackCompiler): void;
}

/** Imports of graph files become their modules: adds a rule with the loader. */
export function ngraph(options: NgraphPluginOptions = {}): NgraphWebpackPlugin {
  return {
    name: "ngraph",
    apply({ options: { module } }) {
      module.rules.push({ test: options.filter ?? GRAPH_FILE, use: fileURLToPath(import.meta.url) });
    },
  };
}

/** What the loader uses of webpack, which passes it as `this`. */
interface LoaderContext {
  readonly resourcePath: string;
  addDependency(file: string): void;
  addMissingDependency(file: string): void;
  emitWarning(error: Error): void;
  callback(error: Error | null, code?: string, map?: string): void;
}

/** The loader. Findings about a graph are reported as errors and warnings of webpack. */
export default function ngraphLoader(this: LoaderContext): void {
  // oxlint-disable-next-line oxc/no-this-in-exported-function -- webpack passes its context as `this`
  deliver(this);
}

function deliver(webpack: LoaderContext): void {
  if (typeof webpack.resourcePath !== "string")
    throw messageOf('this is the loader: `plugins: [ngraph()]` needs `import { ngraph } from "ngraph/webpack"`');
  const { code, map, problems, files, missing } = loadGraphModule(webpack.resourcePath);
  for (const file of files) webpack.addDependency(file);
  for (const file of missing) webpack.addMissingDependency(file);
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
