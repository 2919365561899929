import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, lstatSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, posix } from "node:path";
import { parsePathPattern, type PathPattern } from "../../../runtime/plan/path-pattern.ts";
import { makeDirectory } from "../../output/make-directory.ts";
import { matchesPattern } from "../hash-files.ts";
import { BadArchive, unpackFiles, type StoredFile } from "./result-archive.ts";

/** Folders of the tree that no result may write: hooks of git are programs, and the cache itself is below `.ngraph`. */
const CLOSED: ReadonlySet<string> = new Set([".git", ".ngraph"]);

/**
 * Refuses files that a task cannot have made: paths and links that lead outside of the tree, through a link, or into the folders of
 * git and ngraph, and paths that are not among its outputs.
 *
 * @throws BadArchive
 */
export function refuseForeignFiles(files: readonly StoredFile[], outputs: readonly string[]): void {
  const patterns = outputs.map(parsePathPattern);
  const paths = new Set<string>();
  for (const file of files) {
    const { path } = file;
    const why = whyForeign(path, patterns) ?? ("link" in file ? whyBadLink(path, file.link) : undefined);
    if (why !== undefined) throw new BadArchive(`${JSON.stringify(path)} ${why}`);
    if (paths.has(path)) throw new BadArchive(`${JSON.stringify(path)} is in it twice`);
    paths.add(path);
  }
  for (const path of paths) {
    for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder)) {
      if (paths.has(folder)) throw new BadArchive(`${JSON.stringify(path)} leads through a file or a link`);
    }
  }
}

/** Whether a path may be an output of a task. */
export function isOutput(path: string, outputs: readonly string[]): boolean {
  return whyForeign(path, outputs.map(parsePathPattern)) === undefined;
}

function whyForeign(path: string, patterns: readonly PathPattern[]): string | undefined {
  const segments = path.split("/");
  const isPlain = segments.every(isName);
  if (!isPlain || isAbsolute(path) || /[\\\0]|^[A-Za-z]:/.test(path)) return "leads outside of the tree";
  // Some file systems do not distinguish upper and lower case.
  if (segments.some((segment) => CLOSED.has(segment.toLowerCase()))) return "is a file of git or ngraph";
  return patterns.some((pattern) => matchesPattern(pattern, path)) ? undefined : "is not among the outputs of the task";
}

function whyBadLink(path: string, link: string): string | undefined {
  const target = posix.join(posix.dirname(path), link);
  const isOutside = link === "" || isAbsolute(link) || /[\\\0]|^[A-Za-z]:/.test(link) || target.split("/")[0] === "..";
  if (isOutside) return "is a link that leads outside of the tree";
  // Behind a name that is a link itself, `..` is the parent of the target of that link.
  const segments = link.split("/");
  const isNamed = segments.some((segment, at) => segment === ".." && segments.slice(0, at).some(isName));
  if (isNamed) return "is a link with `..` behind a name";
  const isClosed = target.split("/").some((segment) => CLOSED.has(segment.toLowerCase()));
  return isClosed ? "is a link to files of git or ngraph" : undefined;
}

function isName(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== "..";
}

/**
 * Writes the files of an archive into the tree. All contents are unpacked and compared with their digests before the first file of the
 * tree changes.
 *
 * @param known the outputs of this task that the cache has stored or restored before: those that the result lacks are deleted
 * @throws BadArchive, or an error of the file system
 */
export async function restoreFiles(
  archive: string,
  files: readonly StoredFile[],
  { root, directory, known }: { readonly root: string; readonly directory: string; readonly known: readonly string[] },
): Promise<void> {
  const staging = makeStaging(directory);
  try {
    await unpackFiles(archive, (_, index) => join(staging, String(index)));
    const kept = new Set(files.map(({ path }) => path));
    for (const path of known) if (!kept.has(path) && isReachable(root, path)) rmSync(join(root, path), { force: true });
    for (const { path } of files) {
      if (!isReachable(root, path)) throw new BadArchive(`${JSON.stringify(path)} leads through a link of the tree`);
    }
    for (const [index, file] of files.entries()) {
      const target = join(root, file.path);
      makeDirectory(dirname(target));
      if ("link" in file) {
        rmSync(target, { force: true });
        symlinkSync(file.link, target);
      } else {
        const staged = join(staging, String(index));
        chmodSync(staged, (file.isExecutable ? 0o777 : 0o666) & ~process.umask());
        moveFile(staged, target);
      }
    }
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The beginning of the names of folders with the unpacked files of an archive. */
export const STAGING = "restore-";

/** In the folder of the cache, or among the temporary files if nothing can be written there. */
function makeStaging(directory: string): string {
  try {
    return mkdtempSync(join(directory, STAGING));
  } catch {
    return mkdtempSync(join(tmpdir(), `ngraph-${STAGING}`));
  }
}

/** Moves a file, also to another file system. It appears as a whole. */
function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    const temporary = join(dirname(to), `.${randomUUID()}.tmp`);
    try {
      copyFileSync(from, temporary);
      renameSync(temporary, to);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

/** Whether no folder on the way to a file is a symbolic link: writing through one could leave the tree. */
export function isReachable(root: string, path: string): boolean {
  const segments = path.split("/").slice(0, -1);
  let at = root;
  for (const segment of segments) {
    at = join(at, segment);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (!stat.isDirectory()) return false;
  }
  return true;
}
