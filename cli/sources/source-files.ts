import { closeSync, existsSync, openSync, readdirSync, readSync, statSync, type Dirent, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { printable } from "../../diagnostics/render/index.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import { CommandError } from "../process/command-error.ts";

/** The parser refuses sources of over 4 MiB (NG005). Files beyond this limit are not read at all. */
export const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Names of graph files, which a directory is searched for. A file that the user names may have any name. */
export const SOURCE_NAME = /\.ngraph(?:\.ya?ml)?$/;

/** The files of the given paths: each file itself, and for each directory the graph files below it, sorted. */
export function findSources(paths: readonly string[]): string[] {
  const files = new Set<string>();
  for (const path of paths) {
    if (!statOf(path).isDirectory()) {
      files.add(path);
      continue;
    }
    const found = listDirectory(path);
    if (found.length === 0) {
      throw new CommandError(`no graph files in ${path}`, { help: "graph files end in .ngraph or .ngraph.yaml" });
    }
    for (const file of found) files.add(file);
  }
  return [...files];
}

/** A file that the user named, or a graph file below a named directory. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A file or directory that could not be read. */
export interface Unreadable {
  readonly file: string;
  readonly message: string;
}

/**
 * The texts of all files of the given paths, and the files that cannot be read: one bad file does not hide the others.
 *
 * @throws CommandError when the only path cannot be read
 */
export function readSources(paths: readonly string[]): {
  readonly sources: readonly Source[];
  readonly unreadable: readonly Unreadable[];
} {
  const sources: Source[] = [];
  const errors: CommandError[] = [];
  const unreadable: Unreadable[] = [];
  const read = <T>(file: string, action: () => T): T | undefined => {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      errors.push(error);
      unreadable.push({ file, message: error.message });
      return undefined;
    }
  };
  const files = new Set(paths.flatMap((path) => read(path, () => findSources([path])) ?? []));
  for (const path of files) {
    const text = read(path, () => readSource(path));
    if (text !== undefined) sources.push({ path, text });
  }
  const [error] = errors;
  if (error !== undefined && errors.length === 1 && sources.length === 0) throw error;
  return { sources, unreadable };
}

/** The text of a file that the user named. @throws CommandError when it cannot be read */
export function readSource(path: string): string {
  const stat = statOf(path);
  if (stat.isDirectory())
    throw new CommandError(`cannot read ${path}: it is a directory`, { help: "name a file in it" });
  if (!stat.isFile() && !stat.isFIFO()) throw new CommandError(`cannot read ${path}: it is neither a file nor a pipe`);
  if (stat.size > MAX_READ_BYTES) throw new CommandError(`cannot read ${path}: it is too large`);
  const bytes = attempt(path, () => readBounded(path));
  if (bytes.byteLength > LARGE_BYTES) limitHeapGrowth();
  return decodeSource(path, bytes);
}

/** From this size on, the memory of a check matters more than its speed. */
const LARGE_BYTES = 512 * 1024;

/**
 * Lets V8 collect garbage when the heap has doubled. By default it grows up to four times, and a check of 4 MiB would
 * take more than 1 GB. Marking without increments takes less time in all; nothing waits for a pause. A changed flag
 * invalidates V8's code cache, so small files keep the default.
 */
function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=100");
  setFlagsFromString("--no-incremental-marking");
}

/** Reads at most `MAX_READ_BYTES`: a pipe and some files of the system have no size. */
function readBounded(path: string): Uint8Array {
  const descriptor = openSync(path, "r");
  try {
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; ;) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const count = readSync(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks);
      bytes += count;
      if (bytes > MAX_READ_BYTES) throw new Error("it is too large");
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 256 * 1024;

/** Decodes UTF-8 strictly: otherwise `fmt` would write replacement characters back. */
export function decodeSource(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CommandError(`cannot read ${path}: it is not UTF-8 text`, { help: "save it with the encoding UTF-8" });
  }
}

export function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

function listDirectory(directory: string): string[] {
  const files = [...entriesBelow(directory)].filter(
    ({ entry, path }) => !entry.isDirectory() && SOURCE_NAME.test(entry.name) && isRegularFile(path),
  );
  return files.map(({ path }) => path).sort();
}

/** The directories below a directory in which graph files are searched. */
export function directoriesBelow(directory: string): string[] {
  return [...entriesBelow(directory)].flatMap(({ entry, path }) => (entry.isDirectory() ? [path] : []));
}

/** What is below a directory, without packages and hidden entries: for example lock files of editors, which are dangling links. */
function* entriesBelow(directory: string): Generator<{ readonly path: string; readonly entry: Dirent }> {
  for (const entry of attempt(directory, () => readdirSync(directory, { withFileTypes: true }))) {
    if (entry.name.startsWith(".") || (entry.isDirectory() && entry.name === "node_modules")) continue;
    const path = join(directory, entry.name);
    yield { path, entry };
    if (entry.isDirectory()) yield* entriesBelow(path);
  }
}

/**
 * Pipes and devices in a directory are skipped: reading them may never end. A link that leads nowhere, or to itself, is reported when
 * it is read.
 */
function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

function statOf(path: string): Stats {
  return attempt(path, () => statSync(path));
}

function attempt<T>(path: string, action: () => T): T {
  if (path === "") throw new CommandError("a path is empty", { help: "name a file or a directory" });
  try {
    return action();
  } catch (error) {
    const help = error instanceof Error && "code" in error && error.code === "ENOENT" ? helpMissing(path) : undefined;
    throw new CommandError(`cannot read ${path}: ${reasonOf(error)}`, { help, cause: error });
  }
}

/** A file of the same directory with a similar name, or the path as this system writes it. */
function helpMissing(path: string): string | undefined {
  const other = path.replaceAll("\\", "/");
  if (other !== path && existsSync(other)) return `did you mean \`${printable(other)}\`?`;
  const directory = dirname(path);
  try {
    const similar = findSimilar(basename(path), readdirSync(directory));
    return similar === undefined ? undefined : `did you mean \`${printable(join(directory, similar))}\`?`;
  } catch {
    // The directory does not exist either, or cannot be read.
    return undefined;
  }
}

/** A readable reason for an error of the operating system. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ENOENT":
      return "no such file or directory";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    case "ENOTDIR":
      return "a part of the path is not a directory";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "no space left";
    case "ENAMETOOLONG":
      return "the name is too long";
    case "ELOOP":
      return "too many symbolic links";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
