import { createHash, type Hash } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from "node:fs";
import { join } from "node:path";
import { parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";

/** Directories that are skipped: they are large and contain no inputs. */
const IGNORED: ReadonlySet<string> = new Set([".git", ".ngraph", "node_modules"]);

const PART_BYTES = 256 * 1024;

/** Whether a path is a file that a pattern names. */
export function matchesPattern(pattern: PathPattern, path: string): boolean {
  return path === pattern.text || matches(pattern, path);
}

/** Every file that matches one of the patterns, by path relative to the root; sorted. Reads no content. */
export function listFiles(root: string, patterns: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const text of new Set(patterns)) {
    for (const path of filesOf(root, parsePathPattern(text))) found.add(path);
  }
  return [...found].sort();
}

/** SHA-256 of the content of every file that matches one of the patterns, by path relative to the root; sorted. */
export function hashFiles(root: string, patterns: readonly string[]): Record<string, string> {
  const hashes = Object.create(null) as Record<string, string>;
  for (const path of listFiles(root, patterns)) {
    const hash = hashFile(join(root, path));
    if (hash !== undefined) hashes[path] = hash;
  }
  return hashes;
}

function filesOf(root: string, pattern: PathPattern): readonly string[] {
  // Only the folder that the literal beginning of the pattern names is walked.
  const fixed: string[] = [];
  for (const segment of pattern.segments) {
    if (segment.kind !== "literal") break;
    fixed.push(segment.text);
  }
  const files: string[] = [];
  const open = [fixed.join("/")];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const stat = statOf(join(root, path));
    if (stat === undefined) continue;
    if (!stat.isDirectory()) {
      if (matchesPattern(pattern, path)) files.push(path);
      continue;
    }
    for (const name of namesIn(join(root, path))) {
      // A skipped directory that the pattern names is walked.
      if (IGNORED.has(name) && !fixed.includes(name)) continue;
      open.push(path === "" ? name : `${path}/${name}`);
    }
  }
  return files;
}

/** `undefined` if the file does not exist, or if a part of its path is no directory or cannot be read. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The names in a directory. A directory that disappears meanwhile, or that cannot be read, has none. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** A pattern without wildcards that names a folder matches everything in it. */
function matches(pattern: PathPattern, path: string): boolean {
  if (pattern.exact) return path.startsWith(`${pattern.text}/`);
  const segments = path.split("/").map((text) => ({ kind: "literal" as const, text }));
  return patternsOverlap(pattern, { segments, exact: true, text: path });
}

function hashFile(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    const hash = createHash("sha256");
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) updateWithFile(hash, path);
    // Reading a pipe or a device may wait without end.
    else hash.update("special file");
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** In parts: a file may be larger than a buffer can be. */
function updateWithFile(hash: Hash, path: string): void {
  const file = openSync(path, "r");
  try {
    const part = Buffer.allocUnsafe(PART_BYTES);
    for (let size = readSync(file, part); size > 0; size = readSync(file, part)) hash.update(part.subarray(0, size));
  } finally {
    closeSync(file);
  }
}
