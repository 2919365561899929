import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

declare const __NGRAPH_PROGRAM_HASH__: string;

/** Marks the cache of runs that used a part of the program that is loaded on its first use (`lazily` in scripts/build.mjs). */
const LARGE = "+parts";

/** What the entry hands to the program, as the global `__ngcStart` of its script. */
export interface ProgramStart {
  /** Parts of the program that are loaded on their first use, added as they are. */
  readonly parts: Set<string>;
  /** The directory for syntax trees of modules that this version of the program parsed. */
  readonly trees: string;
}

/** The exports of `main.ts`. */
export interface Program {
  main(args: readonly string[]): Promise<void>;
}

/**
 * Loads the bundled program beside this file with V8's code cache, which halves the time to the first line of output. (Node 22.8
 * has a compile cache of its own; this one works with every version and also holds the functions that `command` compiles lazily.)
 * The cache is stored beside the program: writing it needs the same permission as changing the program. Where the directory is
 * not writable there is no cache. V8 rejects a cache of another V8 version or of other flags, but compares only the length of the
 * source; so the file name contains the source's hash. The build states the hash, since computing it here would cost every command
 * 10 ms; the size and the time of the last change stand beside it, so that a program changed by hand gets a cache of its own.
 *
 * @param directory the directory of `main.cjs`
 * @param url the URL of the file that loads it; the program's modules see it as their `import.meta.url`
 */
export function loadProgram(directory: string, url: string, command: string): Program {
  const path = join(directory, "main.cjs");
  const { source, version } = readProgram(path);
  const caches = join(directory, ".cache");
  const cacheOf = (part: string): string =>
    join(caches, `${command}${part}-${process.version}-${process.arch}-${version}.bin`);
  const largeCache = readIfThere(cacheOf(LARGE));
  const cachedData = largeCache ?? readIfThere(cacheOf(""));
  const script = new Script(`(function (exports, require, module, __ngcUrl, __ngcImport, __ngcStart) {${source}\n})`, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const parts = new Set<string>();
  const start: ProgramStart = { parts, trees: join(caches, `trees-${version}`) };
  process.once("exit", (exitCode) => {
    // After wrong usage the command's own functions are not compiled.
    if (exitCode === 64) return;
    const isMissing = cachedData === undefined || script.cachedDataRejected === true;
    // The functions of a part that the program loads on its first use are in a cache only if the run that wrote it used the part.
    if (parts.size > 0 && (isMissing || largeCache === undefined)) writeCache(caches, cacheOf(LARGE), script);
    else if (isMissing) writeCache(caches, cacheOf(largeCache === undefined ? "" : LARGE), script);
  });
  const module = { exports: {} as Program };
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(module.exports, createRequire(url), module, url, (specifier: string) => import(specifier), start);
  return module.exports;
}

function readProgram(path: string): { readonly source: string; readonly version: string } {
  const file = openSync(path, "r");
  try {
    const { size, mtimeMs } = fstatSync(file);
    // The build writes ASCII only, which V8 keeps in one byte a character without decoding it.
    const source = readFileSync(file, "latin1");
    return { source, version: `${__NGRAPH_PROGRAM_HASH__}-${size}-${Math.trunc(mtimeMs)}` };
  } finally {
    closeSync(file);
  }
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
