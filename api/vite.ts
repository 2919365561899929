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

/** The plugin: the part of the interface of Rollup's plugins that it has. */
export interface NgraphPlugin {
  readonly name: string;
  /** Vite: before plugins that would read the file. */
  readonly enforce: "pre";
  load(
    this: BundlerContext,
    id: string,
  ): { readonly code: string; readonly map: string | null; readonly moduleType: "js" } | null;
}

/**
 * Imports of graph files become their modules. Findings about a graph are reported as errors and warnings of the bundler. The
 * module is built again when a file changes that the graph imports.
 */
export function ngraph(options: NgraphPluginOptions = {}): NgraphPlugin {
  const filter = options.filter ?? GRAPH_FILE;
  return {
    name: "ngraph",
    enforce: "pre",
    load(id) {
      const [path = "", query = ""] = id.split("?", 2);
      // `?raw` and `?url` import the file itself.
      if (path.startsWith("\0") || !filter.test(path) || /(?:^|&)(?:raw|url)(?:&|=|$)/.test(query)) return null;
      const { code, map, problems, files } = loadGraphModule(path);
      for (const file of files) this.addWatchFile(file);
      for (const { severity, message, file, line, column, text } of problems) {
        const report = { message, id: file, loc: { file, line, column }, frame: text };
        if (severity === "warning") this.warn(report);
        else if (severity === "error") this.error(report);
      }
      return code === undefined ? null : { code, map: map ?? null, moduleType: "js" };
    },
  };
}
