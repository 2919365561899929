import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { reasonOf } from "../sources/source-files.ts";
import { DEFAULT_PATH } from "../threads/open-store.ts";

/** What keeps a run without `--store` from being stored here. Nothing is written. */
export function defaultStoreProblems(): readonly string[] {
  const directory = dirname(DEFAULT_PATH);
  const problem = (what: string): string => `${what}: --store sqlite:PATH stores runs elsewhere`;
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
    return [problem(`runs are stored in ${directory}, which is no directory`)];
  const place = [DEFAULT_PATH, directory].find((path) => existsSync(path)) ?? ".";
  // A database is written with files beside it.
  const needed = place === DEFAULT_PATH ? [directory, place] : [place];
  for (const path of needed) {
    try {
      accessSync(path, path === DEFAULT_PATH ? constants.W_OK : constants.W_OK | constants.X_OK);
    } catch (error) {
      const shown = path === "." ? "the working directory" : path;
      return [problem(`${shown} cannot be written (${reasonOf(error)}), and runs are stored in ${DEFAULT_PATH}`)];
    }
  }
  return [];
}
