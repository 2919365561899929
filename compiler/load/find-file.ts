import { findSimilar } from "../../diagnostics/similar.ts";
import type { CompilerHost } from "./host.ts";
import { baseName, directoryOf, joinPath } from "./paths.ts";

/** Whether a path names a file of this language, in either spelling. */
export function isGraphFile(path: string): boolean {
  return /\.(ngraph|ya?ml)$/.test(path);
}

/**
 * Finds the file that an import names: the path itself, or the `.ts` source of a `.js`. If there is none, returns the
 * name of a similar file in the same directory.
 */
export function findFile(
  path: string,
  host: CompilerHost,
): { readonly path: string | undefined; readonly similar: string | undefined } {
  for (const candidate of [path, sourceOf(path)]) {
    if (candidate !== undefined && host.readFile(candidate) !== undefined)
      return { path: candidate, similar: undefined };
  }
  return { path: undefined, similar: findSimilarFile(path, host) };
}

/** The TypeScript source of a JavaScript path: `nodes.ts` for `nodes.js`. */
function sourceOf(path: string): string | undefined {
  const match = /^(.*)\.([cm]?)js$/.exec(path);
  return match === null ? undefined : `${match[1] ?? ""}.${match[2] ?? ""}ts`;
}

const EXTENSIONS = [".ts", ".js", ".mts", ".mjs", ".ngraph", ".yaml", ".yml", ".ngraph.yaml"];

function findSimilarFile(path: string, host: CompilerHost): string | undefined {
  const directory = directoryOf(path);
  const name = baseName(path);
  const stem = name.replace(/\.\w+$/, "");
  // A file that cannot be read, such as a link to itself, has the name of the import.
  const listed = host.listDirectory?.(directory)?.filter((each) => each !== name);
  const candidates = [...new Set([name, stem])].flatMap((base) => EXTENSIONS.map((extension) => base + extension));
  const other = candidates.find((candidate) =>
    listed === undefined ? host.readFile(joinPath(directory, candidate)) !== undefined : listed.includes(candidate),
  );
  return other ?? (listed === undefined ? undefined : findSimilar(name, listed));
}
