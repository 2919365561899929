/**
 * `ngraph/vite`: a plugin for Vite, Rolldown and Rollup that turns imports of graph files into their generated modules.
 *
 * ```ts
 * // vite.config.ts
 * import { ngraph } from "ngraph/vite";
 *
 * export default { plugins: [ngraph()] };
 * ```
 */
import { GRAPH_FILE, loadGraphModule, type NgraphPluginOptions } from "./graph-module.ts";

export type { NgraphPluginOptions };

/** A message of a plugin, with its place. */
interface PluginMessage {
  readonly message: string;
  readonly id: string;
  readonly loc: { readonly file: string; readonly line: number; readonly column: number };
  readonly frame: string;
}

/** What the plugin uses of a bundler, which passes it as `this`. */
interface BundlerContext {
  addWatchFile(id: string): void;
  warn(message: PluginMessage): void;
  error(message: PluginMessage): never;
}

/** What the plugin uses of a development server of Vite, which passes it as `this`. */
interface ServerContext<Module> {
  readonly environment: { readonly moduleGraph: { getModulesByFile(file: string): Iterable<Module> | undefined } };
}

/** A module of a development server. */
interface ServerModule<Module> {
  readonly importers: Iterable<Module>;
}

/** The plugin: the part of the interface of Rollup's plugins that it has. */
export interface NgraphPlugin {
  readonly name: string;
  /** Vite: before plugins that would read the file. */
  readonly enforce: "pre";
  load(
    this: BundlerContext,
    id: string,
  ): { readonly code: string; readonly map: string | null; readonly moduleType: "js" } | null;
  /** Vite: the modules that a changed file affects. */
  hotUpdate<Module extends ServerModule<Module>>(
    this: ServerContext<Module>,
    change: { readonly file: string; readonly modules: readonly Module[] },
  ): Module[] | undefined;
}

/**
 * Imports of graph files become their modules. Findings about a graph are reported as errors and warnings of the bundler. The
 * module is built again when a file changes that the graph imports.
 */
export function ngraph(options: NgraphPluginOptions = {}): NgraphPlugin {
  const filter = options.filter ?? GRAPH_FILE;
  /** Graph files with errors, and the files that they depend on: Vite keeps the dependencies of loaded modules alone. */
  const failed = new Map<string, ReadonlySet<string>>();
  return {
    name: "ngraph",
    enforce: "pre",
    load(id) {
      const [path = "", query = ""] = id.split("?", 2);
      // `?raw` and `?url` import the file itself.
      if (path.startsWith("\0") || !filter.test(path) || /(?:^|&)(?:raw|url)(?:&|=|$)/.test(query)) return null;
      const { code, map, problems, files, missing } = loadGraphModule(path);
      const dependencies = [...files, ...missing];
      for (const file of dependencies) this.addWatchFile(file);
      if (code === undefined) failed.set(path, new Set(dependencies.map(slashed)));
      else failed.delete(path);
      for (const { severity, message, file, line, column, text } of problems) {
        const report = { message, id: file, loc: { file, line, column }, frame: text };
        if (severity === "warning") this.warn(report);
        else if (severity === "error") this.error(report);
      }
      return code === undefined ? null : { code, map: map ?? null, moduleType: "js" };
    },
    hotUpdate({ file, modules }) {
      const affected = [...failed].filter(([, files]) => files.has(file)).map(([path]) => path);
      if (affected.length === 0) return undefined;
      const graphs = affected.flatMap((path) => [...(this.environment.moduleGraph.getModulesByFile(path) ?? [])]);
      // Vite does not look for the importers of a module that it has never loaded.
      return [...new Set([...modules, ...graphs.flatMap((graph) => [graph, ...graph.importers])])];
    },
  };
}

/** A path as Vite writes it. */
function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}
