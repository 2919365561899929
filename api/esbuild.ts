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
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { PartialMessage, Plugin } from "esbuild";
import { compile } from "../compiler/compile.ts";
import { emitTypeScript } from "../compiler/emit/emit-typescript.ts";
import { hasErrors, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { createNodeHost } from "./node-host.ts";

export interface NgraphPluginOptions {
  /** Matches the paths of graph files; default `*.ngraph`, `*.ngraph.yaml` and `*.ngraph.yml`. */
  readonly filter?: RegExp;
}

/** Imports of graph files become typed modules; what is wrong with a graph is reported as esbuild's own errors are. */
export function ngraph(options: NgraphPluginOptions = {}): Plugin {
  return {
    name: "ngraph",
    setup(build) {
      build.onLoad({ filter: options.filter ?? /\.ngraph(?:\.ya?ml)?$/ }, ({ path }) => {
        const shown = relative(process.cwd(), path);
        const result = compile(readFileSync(path, "utf8"), { path: shown, host: createNodeHost() });
        const failed = hasErrors(result.diagnostics);
        const messages = (severity: Diagnostic["severity"]): PartialMessage[] =>
          result.diagnostics.filter((item) => item.severity === severity).map(toMessage);
        return {
          ...(failed ? {} : { contents: emitTypeScript(result, { outPath: `${shown}.ts` }) }),
          loader: "ts",
          resolveDir: dirname(path),
          errors: messages("error"),
          warnings: messages("warning"),
          watchFiles: result.files.map((file) => resolve(file)),
        };
      });
    },
  };
}

function toMessage(diagnostic: Diagnostic): PartialMessage {
  const { file, span, help } = diagnostic;
  const { start } = file.range(span);
  const lineText = file.line(start.line);
  return {
    text: `${diagnostic.message} [${diagnostic.code}]`,
    location: {
      file: file.path,
      line: start.line,
      column: start.column - 1,
      length: Math.max(1, Math.min(span.end - span.start, lineText.length - start.column + 1)),
      lineText,
    },
    notes: [...diagnostic.notes, ...(help === undefined ? [] : [help])].map((text) => ({ text })),
  };
}
