import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a directory and its missing parents. `mkdirSync(…, { recursive: true })` is not used: it never returns on a file system
 * that reports an existing parent as missing (`/proc`).
 *
 * @param mode permissions of the directories that are created
 * @throws the error of `node:fs`
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; statOf(at) === undefined && dirname(at) !== at; at = dirname(at)) missing.push(at);
  if (statOf(at)?.isDirectory() === false) {
    throw Object.assign(new Error(`${at} is not a directory`), { code: "ENOTDIR" });
  }
  for (const directory of missing.reverse()) {
    try {
      mkdirSync(directory, mode);
    } catch (error) {
      // Another process may have created it in the meantime.
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
