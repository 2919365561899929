import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { MISSING_PART } from "./missing-part.ts";

/** What the entry hands to the program, as the global `__ngcStart` of its scripts. */
export interface ProgramStart {
  /** The directory for syntax trees of modules that this version of the program parsed. */
  readonly trees: string;
}

/** The exports of `main.ts`. */
export interface Program {
  main(args: readonly string[]): Promise<void>;
}

/** A part that has been loaded. */
interface Part {
  readonly script: Script;
  /** The file of its code cache. */
  readonly cache: string;
  /** Whether there was no cache that V8 accepts. */
  readonly isMissing: boolean;
  readonly module: { exports: unknown };
}

/**
 * Loads the bundled program in parts, with V8's code cache, which halves the time to the first line of output. (Node 22.8 has a
 * compile cache of its own; this one works with every version and also holds the functions that `command` compiles lazily.) The
 * caches are stored beside the program: writing them needs the same permission as changing the program. Where the directory is not
 * writable there are none. V8 rejects a cache of another V8 version or of other flags, but compares only the length of the source;
 * the name of a part contains its hash, and beside it stand the size and the time of the last change, so that a part changed by hand
 * gets a cache of its own.
 *
 * @param directory contains `parts/`, and `.cache/` if it is writable
 * @param url the URL of the file that loads them; the program's modules see it as their `import.meta.url`
 * @param main the file name of the first part
 */
export function loadProgram(directory: string, url: string, main: string, command: string): Program {
  const caches = join(directory, ".cache");
  const start: ProgramStart = { trees: join(caches, `trees-${main}`) };
  const installed = createRequire(url);
  const parts = Object.create(null) as Record<string, Part>;
  const load = (name: string): unknown => {
    const known = parts[name];
    if (known !== undefined) return known.module.exports;
    const part = readPart(directory, name, (version) => join(caches, `${command}-${version}.bin`));
    parts[name] = part;
    const run = part.script.runInThisContext() as (...args: unknown[]) => void;
    run(part.module.exports, request, part.module, url, (specifier: string) => import(specifier), start);
    return part.module.exports;
  };
  // User code may have replaced the methods of strings and arrays before a part is loaded.
  const request = (specifier: string): unknown =>
    specifier[0] === "." && specifier[1] === "/" ? load(join(specifier)) : installed(specifier);
  process.once("exit", (exitCode) => {
    // After wrong usage the command's own functions are not compiled.
    if (exitCode !== 64) writeCaches(caches, parts);
  });
  return load(main) as Program;
}

/** @param cacheOf the path of the code cache, by the version of the part */
function readPart(directory: string, name: string, cacheOf: (version: string) => string): Part {
  const path = join(directory, "parts", name);
  const { source, version } = readSource(path, name);
  const cache = cacheOf(`${name}-${version}`);
  const cachedData = readIfThere(cache);
  const script = new Script(source, { filename: path, ...(cachedData === undefined ? {} : { cachedData }) });
  const isMissing = cachedData === undefined || script.cachedDataRejected === true;
  return { script, cache, isMissing, module: { exports: {} } };
}

function readSource(path: string, name: string): { readonly source: string; readonly version: string } {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (cause) {
    const message = `the file ${name} of this program cannot be read: it was replaced or removed`;
    throw Object.assign(new Error(message, { cause }), { code: MISSING_PART });
  }
  try {
    const { size, mtimeMs } = fstatSync(file);
    // The build writes ASCII only, which V8 keeps in one byte a character without decoding it.
    const source = readFileSync(file, "latin1");
    return { source, version: `${process.version}-${process.arch}-${size}-${Math.trunc(mtimeMs)}` };
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

/**
 * Stores the code of all parts if one had no cache: a run that loads a part for the first time calls other functions of the other
 * parts, too. Writes temporary files and renames them, so that another process never reads an incomplete cache.
 */
function writeCaches(directory: string, parts: Readonly<Record<string, Part>>): void {
  try {
    const all = Object.values(parts);
    if (!all.some(({ isMissing }) => isMissing)) return;
    mkdirSync(directory, { recursive: true });
    for (const { script, cache } of all) {
      const next = `${cache}.${process.pid}`;
      writeFileSync(next, script.createCachedData());
      renameSync(next, cache);
    }
  } catch {
    // The directory is not writable for this user, or user code has broken what this needs: the program starts slower without caches.
  }
}
