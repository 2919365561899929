import { AGENTS } from "./texts.ts";

/** The graph files of the library, by the specifiers that import them. */
export const libraryFiles: ReadonlyMap<string, string> = new Map([["ngraph:agents", AGENTS]]);

/** Whether a specifier, or the path of a source, names a file of the library: `ngraph:agents`. */
export function isLibraryPath(path: string): boolean {
  return path.startsWith("ngraph:");
}
