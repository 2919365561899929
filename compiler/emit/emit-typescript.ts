import { emitMapped, emitModule, type EmitOptions, type MappedModule, type ModuleSource } from "./emit-module.ts";

/**
 * A typed module for a graph file without errors: a function for each graph that returns its engine, with the types of
 * its input, output and state. It imports the node functions itself, and `tsc` checks that they fit the graph.
 *
 * ```ts
 * const result = compile(text, { path: "support.ngraph", host });
 * await writeFile("support.ngraph.ts", emitTypeScript(result));
 * ```
 */
export function emitTypeScript(source: ModuleSource, options: EmitOptions = {}): string {
  return emitModule(source, "ts", options);
}

/** Like `emitTypeScript`, as JavaScript. Relative imports of `.ts` modules become `.js`. */
export function emitJavaScript(source: ModuleSource, options: EmitOptions = {}): string {
  return emitModule(source, "js", options);
}

/** The declarations that go with `emitJavaScript`. */
export function emitDeclarations(source: ModuleSource, options: EmitOptions = {}): string {
  return emitModule(source, "dts", options);
}

/** Like `emitJavaScript`, with a source map that contains the graph file. */
export function emitMappedJavaScript(source: ModuleSource, options: EmitOptions = {}): MappedModule {
  return emitMapped(source, "js", options);
}

/**
 * Like `emitDeclarations`, with a declaration map, for a file beside the source that types its import:
 * `support.d.ngraph.ts` for `support.ngraph`.
 */
export function emitMappedDeclarations(source: ModuleSource, options: EmitOptions = {}): MappedModule {
  return emitMapped(source, "dts", options);
}
