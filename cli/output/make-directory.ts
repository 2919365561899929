import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a directory with those above it. Not by `mkdirSync(…, { recursive: true })`, which never returns where a file system
 * says that a directory's parent is not there although it is (`/proc`).
 *
 * @throws the error of `node:fs`
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; statOf(at) === undefined && dirname(at) !== at; at = dirname(at)) missing.push(at);
  if (statOf(at)?.isDirectory() === false) {
    throw Object.assign(new Error(`${at} is no directory`), { code: "ENOTDIR" });
  }
  for (const directory of missing.reverse()) {
    try {
      mkdirSync(directory);
    } catch (error) {
      // Somebody else may have been faster.
      if (statOf(directory)?.isDirectory() !== true) throw error;
    }
  }
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
