import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/** What `main.ts` exports. */
export interface Program {
  main(args: readonly string[]): Promise<void>;
}

/**
 * Loads the bundled program beside this file with V8's code cache, which halves the time to the first line of output. (Node has
 * such a cache of its own from 22.8 on; this one works everywhere, and holds what `command` runs, lazily compiled functions too.) It
 * lies beside the program, so that nobody can put code there who could not change the program as well, and where that
 * directory cannot be written there is none. V8 refuses a cache of another version, of other flags or of another source.
 *
 * @param directory where `main.cjs` is
 * @param url of the file that loads it: what the program's modules see as their `import.meta.url`
 */
export function loadProgram(directory: string, url: string, command: string): Program {
  const path = join(directory, "main.cjs");
  const source = readFileSync(path, "utf8");
  const caches = join(directory, ".cache");
  const cachePath = join(caches, `${command}-${process.version}-${process.arch}-${source.length}.bin`);
  const cachedData = readIfThere(cachePath);
  const script = new Script(`(function (exports, require, module, __ngcUrl, __ngcImport) {${source}\n})`, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once("exit", (exitCode) => {
      // Wrong usage has not run what the command is about.
      if (exitCode !== 64) writeCache(caches, cachePath, script);
    });
  }
  const module = { exports: {} as Program };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, createRequire(url), module, url, (specifier: string) => import(specifier));
  return module.exports;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Beside and renamed: another process never reads half of it. */
function writeCache(directory: string, path: string, script: Script): void {
  try {
    mkdirSync(directory, { recursive: true });
    const next = `${path}.${process.pid}`;
    writeFileSync(next, script.createCachedData());
    renameSync(next, path);
  } catch {
    // Installed where this user may not write: everything works, a little slower.
  }
}
