import { readdirSync, statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";
import { printable } from "../../diagnostics/render/index.ts";
import type { CompilerHost } from "../../compiler/load/host.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { directoriesBelow, SOURCE_NAME } from "./source-files.ts";

/**
 * Runs a command, and again after each change of the files that it has looked for. A signal ends the loop. Its default action
 * suffices for commands that leave nothing to clean up.
 *
 * @param round adds to `watched` what it looks for, before it reads it: a file with an error, or one that is missing, is what its
 * user repairs next
 */
export async function runAndWatch(
  paths: readonly string[],
  output: Output,
  round: (watched: Set<string>) => Promise<unknown>,
): Promise<never> {
  if (output.json) throw new CommandError("--watch and --json exclude each other");
  let before: ReadonlySet<string> = new Set();
  for (;;) {
    const since = Date.now();
    let watched = new Set(paths);
    try {
      await round(watched);
    } catch (error) {
      // A file may be missing for a moment: editors and version control replace files.
      if (!(error instanceof CommandError)) throw error;
      output.problem(`error: ${error.message}`);
      watched = new Set([...watched, ...before]);
    }
    before = watched;
    output.note("waiting for changes …");
    await nextChange(watched, since, paths.flatMap(graphDirectories));
  }
}

/** The directories below a path that the next round searches for graph files. */
function graphDirectories(path: string): readonly string[] {
  if (!isDirectory(path)) return [];
  try {
    return directoriesBelow(path);
  } catch (error) {
    // The round reports a directory that cannot be read.
    if (!(error instanceof CommandError)) throw error;
    return [];
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Changes within this time count as one change, because editors save in several steps. In milliseconds. */
const SETTLE_MS = 60;

/** Tolerance for file systems that take modification times from a coarse clock. In milliseconds. */
const CLOCK_TOLERANCE_MS = 20;

/**
 * Waits until one of the files changes, appears or disappears, or a graph file or a directory appears in one of the directories. Directories are watched, because editors replace files. A change after
 * `since` (milliseconds since 1970) counts, so that changes during the previous compilation are not missed.
 *
 * @param below directories in which graph files may appear, besides those among the files
 */
function nextChange(files: Iterable<string>, since: number, below: readonly string[]): Promise<string> {
  const names = new Map<string, Set<string>>(below.map((directory) => [directory, new Set()]));
  const directories = new Set<string>(below);
  for (const file of files) {
    if (isDirectory(file)) {
      directories.add(file);
      if (!names.has(file)) names.set(file, new Set());
    }
    let directory = dirname(file);
    let name = basename(file);
    // A directory that does not exist cannot be watched: the nearest one above it shows when it appears.
    while (!isDirectory(directory) && dirname(directory) !== directory) {
      name = basename(directory);
      directory = dirname(directory);
    }
    const known = names.get(directory);
    if (known === undefined) names.set(directory, new Set([name]));
    else known.add(name);
  }
  // A directory that is moved says so itself, but not to those below it.
  for (const directory of [...names.keys()]) {
    for (let at = directory; dirname(at) !== at && at !== "."; at = dirname(at)) {
      const known = names.get(dirname(at));
      if (known === undefined) names.set(dirname(at), new Set([basename(at)]));
      else known.add(basename(at));
    }
  }
  return new Promise((resolve, reject) => {
    const watchers: FSWatcher[] = [];
    let timer: NodeJS.Timeout | undefined;
    const finish = (changed: string): void => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      resolve(changed);
    };
    for (const [directory, wanted] of names) {
      try {
        const watcher = watch(directory, (_, name) => {
          if (name === null) return;
          const isSearched =
            directories.has(directory) && (SOURCE_NAME.test(name) || isGraphDirectory(directory, name));
          // A directory that is moved away is named itself.
          if (!wanted.has(name) && !isSearched && name !== basename(directory)) return;
          clearTimeout(timer);
          timer = setTimeout(() => finish(`${directory}/${name}`), SETTLE_MS);
        });
        // The directory itself may be deleted.
        watcher.on("error", () => finish(directory));
        watchers.push(watcher);
      } catch (error) {
        // The directory was deleted since.
        if (!isExhausted(error)) continue;
        for (const open of watchers) open.close();
        return reject(
          new CommandError(`cannot watch ${printable(directory)}: the system allows no further watches`, {
            exitCode: EXIT.failed,
            help: "raise its limits (on Linux `sysctl fs.inotify.max_user_watches fs.inotify.max_user_instances`, and `ulimit -n`), or name fewer directories",
            cause: error,
          }),
        );
      }
    }
    for (const file of [...files, ...graphFilesIn(below)])
      if (changedAt(file) > since - CLOCK_TOLERANCE_MS) return finish(file);
  });
}

/** Whether the system has no further watch, instance of inotify, or file descriptor. */
function isExhausted(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EMFILE" || code === "ENFILE";
}

function graphFilesIn(directories: readonly string[]): readonly string[] {
  return directories.flatMap((directory) => {
    try {
      return readdirSync(directory).flatMap((name) => (SOURCE_NAME.test(name) ? [join(directory, name)] : []));
    } catch {
      // It was deleted.
      return [];
    }
  });
}

/** Whether an entry of a directory is one in which graph files are searched. */
function isGraphDirectory(directory: string, name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" && isDirectory(join(directory, name));
}

function changedAt(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

/** A host that adds each path that the compiler looks for, found or missing, to `watched`. */
export function watchedHost(host: CompilerHost, watched: Set<string>): CompilerHost {
  return {
    ...host,
    readFile: (path) => {
      watched.add(path);
      return host.readFile(path);
    },
  };
}
