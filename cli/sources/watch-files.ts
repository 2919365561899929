import { statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

/** Editors save in several steps: what comes within this time is one change. */
const SETTLE_MS = 60;

/** File systems may date a change by the last tick of a coarse clock. */
const CLOCK_TOLERANCE_MS = 20;

/**
 * Waits until one of the files changes, appears or goes; directories are watched, because editors replace files. What has changed
 * after `since` (milliseconds since 1970) counts: nothing is missed while files are being read. `undefined` when the signal
 * ends the waiting.
 */
export function nextChange(files: Iterable<string>, since: number, signal: AbortSignal): Promise<string | undefined> {
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
    const finish = (changed: string | undefined): void => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      signal.removeEventListener("abort", onAbort);
      resolve(changed);
    };
    const onAbort = (): void => finish(undefined);
    if (signal.aborted) return finish(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    for (const [directory, wanted] of names) {
      try {
        const watcher = watch(directory, (_, name) => {
          if (name === null || !wanted.has(name)) return;
          clearTimeout(timer);
          timer = setTimeout(() => finish(`${directory}/${name}`), SETTLE_MS);
        });
        // The directory itself may go away.
        watcher.on("error", () => finish(directory));
        watchers.push(watcher);
      } catch {
        // It is not there: its files cannot change.
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
