import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Bindings, ImportedFunction } from "../runtime/interface/engine-options.ts";
import type { Table } from "../runtime/table/table.ts";

/** Imports a module by its `file:` URL. */
export type LoadModule = (url: string) => Promise<object>;

/**
 * Imports the modules that a table and its called graphs name, and binds their functions.
 *
 * @throws the error of the import, and `Error` if a module does not export a function
 */
export async function loadFunctions(
  table: Table,
  load: LoadModule = importModule,
  known = new Map<Table, Promise<Bindings>>(),
): Promise<Bindings> {
  const before = known.get(table);
  if (before !== undefined) return before;
  const binding = bind(table, load, known);
  known.set(table, binding);
  return binding;
}

async function bind(table: Table, load: LoadModule, known: Map<Table, Promise<Bindings>>): Promise<Bindings> {
  const directory = dirname(resolve(table.debug?.file ?? "."));
  const functions: Record<string, ImportedFunction> = {};
  for (const { name, module, export: exported } of table.functions) {
    const value = ((await load(urlOf(module, directory))) as Readonly<Record<string, unknown>>)[exported];
    if (typeof value !== "function") throw new Error(`${module} exports no function \`${exported}\``);
    functions[name] = value as ImportedFunction;
  }
  const graphs: Record<string, Bindings> = {};
  for (const called of table.graphs) graphs[called.name] = await loadFunctions(called, load, known);
  return { functions, graphs };
}

/** Packages are resolved as `require` resolves them from the directory of the graph file. */
function urlOf(module: string, directory: string): string {
  if (!/^\.{0,2}\//.test(module)) {
    const found = createRequire(resolve(directory, "package.json")).resolve(module);
    return found.startsWith("node:") ? found : pathToFileURL(found).href;
  }
  const path = resolve(directory, module);
  // `./nodes.js` can name the module that `./nodes.ts` is compiled to, as in `tsc`.
  const source = path.replace(/\.([cm]?)js$/, ".$1ts");
  return pathToFileURL(!existsSync(path) && existsSync(source) ? source : path).href;
}

async function importModule(url: string): Promise<object> {
  // Older versions of Node do not load TypeScript: esbuild removes the types.
  const { typescript } = process.features as { readonly typescript?: string | false };
  if (/\.m?ts$/.test(url) && typeof typescript !== "string") await import("./register.ts");
  return (await import(url)) as object;
}
