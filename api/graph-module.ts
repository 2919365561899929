/** The common part of the plugins for bundlers and of the loader for Node: a graph file as a JavaScript module. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { compile } from "../compiler/compile.ts";
import { emitMappedJavaScript } from "../compiler/emit/emit-typescript.ts";
import { hasErrors, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderPretty } from "../diagnostics/render/pretty.ts";
import { createNodeHost } from "./node-host.ts";
import { generatedEntryPoint } from "./runtime-package.ts";

/** The names of graph files. */
export const GRAPH_FILE = /\.ngraph(?:\.ya?ml)?$/;

/** Options of the plugins. */
export interface NgraphPluginOptions {
  /** Matches the paths of graph files; default `*.ngraph`, `*.ngraph.yaml` and `*.ngraph.yml`. */
  readonly filter?: RegExp;
}

export interface GraphModule {
  /** `undefined` if the file has errors. */
  readonly code: string | undefined;
  /** A source map as JSON. */
  readonly map: string | undefined;
  readonly problems: readonly GraphProblem[];
  /** Absolute paths of all files that the module depends on: the graph file, and what it imports. */
  readonly files: readonly string[];
  /** Absolute paths of files that the module would depend on if they existed. */
  readonly missing: readonly string[];
}

/** A finding in the form of bundlers. */
export interface GraphProblem {
  readonly severity: Diagnostic["severity"];
  /** With the code at its end. */
  readonly message: string;
  readonly notes: readonly string[];
  /** The message, the lines of the graph file, notes and help, as on a terminal. */
  readonly text: string;
  /** Absolute. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 0-based. */
  readonly column: number;
  /** Number of characters on the line. */
  readonly length: number;
  readonly lineText: string;
}

/** Files of package managers: they are looked for in each directory above. */
const MANIFESTS = new Set(["package.json", "pnpm-workspace.yaml"]);

/** Compiles a graph file. The module imports node functions as the graph file does. @throws the error of `node:fs` */
export function loadGraphModule(path: string): GraphModule {
  const shown = relative(process.cwd(), path);
  const read = new Set<string>();
  const host = createNodeHost();
  const recording = {
    ...host,
    readFile: (file: string): string | undefined => {
      read.add(resolve(file));
      return host.readFile(file);
    },
  };
  const result = compile(readFileSync(path, "utf8"), { path: shown, host: recording });
  const emitted = hasErrors(result.diagnostics)
    ? undefined
    : emitMappedJavaScript(result, {
        outPath: `${shown}.js`,
        extensions: "as-written",
        runtime: generatedEntryPoint(dirname(path)),
      });
  const dependencies = [...new Set([resolve(path), ...result.files.map((file) => resolve(file)), ...read])];
  return {
    code: emitted?.code,
    map: emitted?.map === undefined ? undefined : JSON.stringify(emitted.map),
    problems: result.diagnostics.map(toProblem),
    files: dependencies.filter((file) => existsSync(file)),
    missing: dependencies.filter((file) => !existsSync(file) && !MANIFESTS.has(basename(file))),
  };
}

function toProblem(diagnostic: Diagnostic): GraphProblem {
  const { file, span, help, notes } = diagnostic;
  const { start } = file.range(span);
  const lineText = file.line(start.line);
  return {
    severity: diagnostic.severity,
    message: `${diagnostic.message} [${diagnostic.code}]`,
    notes: [...notes, ...(help === undefined ? [] : [help])],
    text: renderPretty([diagnostic]),
    file: resolve(file.path),
    line: start.line,
    column: start.column - 1,
    length: Math.max(1, Math.min(span.end - span.start, lineText.length - start.column + 1)),
    lineText,
  };
}
