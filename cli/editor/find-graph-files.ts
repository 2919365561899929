import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Limits of a search: an editor may open a folder of any size. */
const MOST_FILES = 2000;
const MOST_DIRECTORIES = 5000;

/** The graph files below some directories. Leaves out `node_modules`, hidden directories and links. */
export function findGraphFiles(directories: readonly string[]): readonly string[] {
  return findFiles(directories, /\.ngraph(?:\.ya?ml)?$/);
}

/** The TypeScript and JavaScript modules below some directories, without modules that ngc generates, and build results. */
export function findModules(directories: readonly string[]): readonly string[] {
  return findFiles(directories, /(?<!\.ngraph|\.ngraph\.ya?ml)\.[cm]?[jt]sx?$/).filter(
    (path) => !/[/\\]dist[/\\]/.test(path),
  );
}

function findFiles(directories: readonly string[], name: RegExp): readonly string[] {
  const found: string[] = [];
  const open = [...directories];
  let read = 0;
  for (
    let at = open.shift();
    at !== undefined && found.length < MOST_FILES && read < MOST_DIRECTORIES;
    at = open.shift()
  ) {
    read++;
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".")) open.push(path);
      else if (entry.isFile() && name.test(entry.name)) found.push(path);
    }
  }
  return found;
}

function entriesOf(directory: string): readonly import("node:fs").Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
