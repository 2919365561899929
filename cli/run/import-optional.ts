import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { importModule } from "../start/import-module.ts";

/** Imports a package that the project of a graph has installed, or else the one that is installed beside this program. */
export function importOptional(file: string): (specifier: string) => Promise<unknown> {
  const { resolve: find } = createRequire(resolve(file));
  return (specifier) => {
    let path: string;
    try {
      path = find(specifier);
    } catch {
      return importModule(specifier);
    }
    return importModule(pathToFileURL(path).href);
  };
}
