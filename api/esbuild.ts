/**
 * `ngraph/esbuild`: a plugin for esbuild that turns imports of graph files into their generated modules.
 *
 * ```ts
 * import { build } from "esbuild";
 * import { ngraph } from "ngraph/esbuild";
 *
 * await build({ entryPoints: ["app.ts"], bundle: true, plugins: [ngraph()] });
 * ```
 */
import { dirname, relative } from "node:path";
import type { PartialMessage, Plugin } from "esbuild";
import { GRAPH_FILE, loadGraphModule, type GraphProblem, type NgraphPluginOptions } from "./graph-module.ts";

export type { NgraphPluginOptions };

/** Imports of graph files become their modules. Findings about a graph are reported as errors and warnings of esbuild. */
export function ngraph(options: NgraphPluginOptions = {}): Plugin {
  return {
    name: "ngraph",
    setup(build) {
      build.onLoad({ filter: options.filter ?? GRAPH_FILE }, ({ path }) => {
        const { code, map, problems, files, missing } = loadGraphModule(path);
        const messages = (severity: GraphProblem["severity"]): PartialMessage[] =>
          problems.filter((item) => item.severity === severity).map(toMessage);
        return {
          ...(code === undefined ? {} : { contents: withInlineMap(code, map) }),
          loader: "js",
          resolveDir: dirname(path),
          errors: messages("error"),
          warnings: messages("warning"),
          watchFiles: [...files, ...missing],
        };
      });
    },
  };
}

function withInlineMap(code: string, map: string | undefined): string {
  if (map === undefined) return code;
  return `${code}//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}\n`;
}

function toMessage({ message, notes, file, line, column, length, lineText }: GraphProblem): PartialMessage {
  return {
    text: message,
    location: { file: relative(process.cwd(), file), line, column, length, lineText },
    notes: notes.map((text) => ({ text })),
  };
}
