import { statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CompileResult } from "../../compiler/compile.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";

/** One round of a command that watches: what it has read. */
export interface WatchedRound {
  readonly watched: Iterable<string>;
}

/**
 * Runs a command, and again after each change of the files that it has read. A signal ends the loop. Its default action suffices for
 * commands that leave nothing to clean up.
 *
 * @param paths the files to watch until a round has succeeded
 */
export async function runAndWatch(
  paths: readonly string[],
  output: Output,
  round: () => Promise<WatchedRound>,
): Promise<never> {
  if (output.json) throw new CommandError("--watch and --json exclude each other");
  let watched: Iterable<string> = paths;
  for (;;) {
    const since = Date.now();
    try {
      ({ watched } = await round());
    } catch (error) {
      // A file may be missing for a moment: editors and version control replace files.
      if (!(error instanceof CommandError)) throw error;
      output.problem(`error: ${error.message}`);
    }
    output.note("waiting for changes …");
    await nextChange(watched, since);
  }
}

/** Changes within this time count as one change, because editors save in several steps. In milliseconds. */
const SETTLE_MS = 60;

/** Tolerance for file systems that take modification times from a coarse clock. In milliseconds. */
const CLOCK_TOLERANCE_MS = 20;

/**
 * Waits until one of the files changes, appears or disappears. Directories are watched, because editors replace files. A change after
 * `since` (milliseconds since 1970) counts, so that changes during the previous compilation are not missed.
 */
export function nextChange(files: Iterable<string>, since: number): Promise<string> {
  const names = new Map<string, Set<string>>();
  for (const file of files) {
    const directory = dirname(file);
    const known = names.get(directory);
    if (known === undefined) names.set(directory, new Set([basename(file)]));
    else known.add(basename(file));
  }
  return new Promise((resolve) => {
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
          if (name === null || !wanted.has(name)) return;
          clearTimeout(timer);
          timer = setTimeout(() => finish(`${directory}/${name}`), SETTLE_MS);
        });
        // The directory itself may be deleted.
        watcher.on("error", () => finish(directory));
        watchers.push(watcher);
      } catch {
        // The directory does not exist, so its files cannot change.
      }
    }
    for (const file of files) if (changedAt(file) > since - CLOCK_TOLERANCE_MS) return finish(file);
  });
}

function changedAt(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

/** The files that a result depends on: graph files, and the modules that they import. */
export function readFiles({ files, graphs, plans }: CompileResult): readonly string[] {
  const modules = [...graphs, ...plans].flatMap(({ bound }) =>
    bound.functions.map(({ module }) =>
      /^\.{1,2}\//.test(module) ? join(dirname(bound.file.path), module) : bound.file.path,
    ),
  );
  return [...files, ...modules];
}
