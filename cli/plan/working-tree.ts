import { existsSync, readFileSync, realpathSync, statSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The top of the git working tree that contains a directory, or the directory itself outside of one. A submodule is a part
 * of the tree that contains it; a linked worktree and a nested repository are trees of their own.
 *
 * Git is not asked: it may be missing, and it refuses the repositories of other users, in which plans still must not run twice.
 */
export function workingTreeOf(directory: string): string {
  const start = realPath(directory);
  let top: string | undefined;
  for (let at = start; ; at = dirname(at)) {
    const kind = repositoryAt(at);
    if (kind !== undefined) top = at;
    if (kind === "own" || dirname(at) === at) return top ?? start;
  }
}

/** The kind of the working tree whose top is a directory; `undefined` if there is none. */
function repositoryAt(directory: string): "own" | "submodule" | undefined {
  const path = join(directory, ".git");
  const kind = statOf(path);
  if (kind?.isDirectory() === true) return existsSync(join(path, "HEAD")) ? "own" : undefined;
  const place = kind?.isFile() === true ? gitDirectoryOf(path) : undefined;
  if (place === undefined) return undefined;
  // The git directory of a linked worktree names the one that it shares.
  const isSubmodule = /[\\/]modules[\\/]/.test(place) && !existsSync(join(resolve(directory, place), "commondir"));
  return isSubmodule ? "submodule" : "own";
}

/** `undefined` for what is not there, or cannot be read: a loop of symbolic links, or a place without permission. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The directory that a file `.git` names. */
function gitDirectoryOf(path: string): string | undefined {
  try {
    return /^gitdir: (.+)/.exec(readFileSync(path, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function realPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return resolve(directory);
  }
}
