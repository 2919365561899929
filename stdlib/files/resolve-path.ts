import { NodeFailure } from "../node-failure.ts";
import { isInside, type NodeFiles } from "./node-files.ts";

export interface ResolvedPath {
  /** Absolute. If the file exists, without symbolic links; otherwise its existing directories are. */
  readonly path: string;
  readonly exists: boolean;
}

/**
 * Resolves a path relative to the root, symbolic links included.
 *
 * @param root absolute and without symbolic links
 * @throws NodeFailure for a path that leads out of the root, by itself or by a link, and for a path in `.ngraph`
 */
export async function resolvePath(
  path: string,
  root: string,
  node: NodeFiles,
  redact: (text: string) => string,
): Promise<ResolvedPath> {
  const { fs, path: paths } = node;
  const shown = redact(JSON.stringify(path));
  const refuse = (message: string): never => {
    throw new NodeFailure(`${shown} ${message}`, { retryable: false });
  };
  if (path === "" || path.includes("\0")) return refuse("is not the path of a file");
  const wanted = paths.resolve(root, path);
  if (!isInside(wanted, root, node))
    return refuse("leads out of the root: a path is relative to the root and stays below it");
  // The longest existing part of the path decides where the file is. `missing` is the rest.
  const missing: string[] = [];
  for (let part = wanted; ; part = paths.dirname(part)) {
    let real: string;
    try {
      real = await fs.realpath(part);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ELOOP") return refuse("is a symbolic link that leads to itself");
      if (code === "ENAMETOOLONG") return refuse("has a name that is too long");
      if (code === "ENOTDIR") return refuse("leads through a file as if it were a directory");
      if (code !== "ENOENT") return refuse(`cannot be resolved (${String(code)})`);
      // Writing to a link without a target would create the target, wherever it is.
      if ((await fs.lstat(part).catch(() => undefined))?.isSymbolicLink() === true) {
        return refuse("is, or leads through, a symbolic link to a file that does not exist");
      }
      missing.unshift(paths.basename(part));
      continue;
    }
    if (!isInside(real, root, node)) return refuse("leads out of the root by a symbolic link");
    const resolved = paths.join(real, ...missing);
    if (paths.relative(root, resolved).split(paths.sep).some(isOfRuns))
      return refuse(`is in the directory ${RUNS}, which holds the runs of ngc`);
    return { path: resolved, exists: missing.length === 0 };
  }
}

/** A node must not read or change the values of other runs. */
const RUNS = ".ngraph";

/** Whether a name is that of the directory of runs. Some file systems ignore case. */
export function isOfRuns(name: string): boolean {
  return name.toLowerCase() === RUNS;
}
