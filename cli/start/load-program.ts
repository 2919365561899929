import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/** The exports of `main.ts`. */
export interface Program {
  main(args: readonly string[]): Promise<void>;
}

/**
 * Loads the bundled program beside this file with V8's code cache, which halves the time to the first line of output. (Node 22.8
 * has a compile cache of its own; this one works with every version and also holds the functions that `command` compiles lazily.)
 * The cache is stored beside the program: writing it needs the same permission as changing the program. Where the directory is
 * not writable there is no cache. V8 rejects a cache of another V8 version or of other flags, but compares only the length of the
 * source; so the file name contains the source's hash.
 *
 * @param directory the directory of `main.cjs`
 * @param url the URL of the file that loads it; the program's modules see it as their `import.meta.url`
 */
export function loadProgram(directory: string, url: string, command: string): Program {
  const path = join(directory, "main.cjs");
  const source = readFileSync(path, "utf8");
  const caches = join(directory, ".cache");
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 32);
  const cachePath = join(caches, `${command}-${process.version}-${process.arch}-${hash}.bin`);
  const cachedData = readIfThere(cachePath);
  const script = new Script(`(function (exports, require, module, __ngcUrl, __ngcImport) {${source}\n})`, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once("exit", (exitCode) => {
      // After wrong usage the command's own functions are not compiled.
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

/** Writes a temporary file and renames it: another process never reads an incomplete cache. */
function writeCache(directory: string, path: string, script: Script): void {
  try {
    mkdirSync(directory, { recursive: true });
    const next = `${path}.${process.pid}`;
    writeFileSync(next, script.createCachedData());
    renameSync(next, path);
  } catch {
    // The directory is not writable for this user: the program works without a cache, but starts slower.
  }
}
