import type { CompilerHost } from "./host.ts";
import { directoryOf, joinPath, normalisePath } from "./paths.ts";

/**
 * The directory of a project: the given one, else the nearest directory above the entry file that has a
 * `package.json`, else the entry file's own. With symbolic links resolved where it exists.
 */
export function findProjectRoot(entry: string, host: CompilerHost, given?: string): string {
  if (given !== undefined) return realPathOf(given, host);
  const own = realPathOf(directoryOf(entry), host);
  for (let at = own; ; at = directoryOf(at)) {
    if (host.readFile(joinPath(at, "package.json")) !== undefined) return at;
    if (directoryOf(at) === at || at === "..") return own;
  }
}

/** A path with symbolic links resolved; if it does not exist, with those of its directory resolved. */
export function realPathOf(path: string, host: CompilerHost): string {
  const real = host.realPath(path);
  if (real !== undefined) return normalisePath(real);
  const directory = directoryOf(path);
  const realDirectory = directory === path ? undefined : host.realPath(directory);
  return realDirectory === undefined
    ? normalisePath(path)
    : joinPath(normalisePath(realDirectory), path.slice(path.lastIndexOf("/") + 1));
}
