/** The state of a git working tree, its submodules and nested repositories included, and what has changed between two states. */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { gitFor, gitOr } from "./git.ts";

const git = gitFor("--verify-touches");

/** A working tree at one moment. */
export interface GitTree {
  /** The commit that is checked out; empty before the first one. */
  readonly head: string;
  /** Files that differ from `head`, by path relative to the tree's root, with a digest of their content. */
  readonly files: ReadonlyMap<string, string>;
  /** Submodules and nested repositories by path relative to the tree's root. */
  readonly nested: ReadonlyMap<string, GitTree>;
}

/** Reads a working tree again and again. Files whose size, time and inode stay as they were are not read again. */
export class GitTreeReader {
  readonly #root: string;
  /** By path, the stat of a file and the digest of its content at that time. */
  #digests = new Map<string, { readonly stat: string; readonly digest: string }>();

  constructor(root: string) {
    this.#root = root;
  }

  /** @throws CommandError outside of a git working tree */
  read(): GitTree {
    const known = this.#digests;
    this.#digests = new Map();
    return this.#readTree(this.#root, known);
  }

  /** The paths, relative to the root, whose content has changed between two states. Sorted. */
  changedFiles(before: GitTree, after: GitTree): string[] {
    return changes(this.#root, before, after).sort();
  }

  #readTree(root: string, known: ReadonlyMap<string, { readonly stat: string; readonly digest: string }>): GitTree {
    const options = ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignored=no"];
    const status = git(root, ["status", ...options, "--ignore-submodules=all", "--", "."]);
    const prefix = git(root, ["rev-parse", "--show-prefix"]).trim();
    const paths: string[] = [];
    const inner = new Set<string>(submodules(root, prefix));
    for (const entry of status.split("\0")) {
      if (entry.length < 4) continue;
      const path = withoutPrefix(entry.slice(3), prefix);
      if (path.startsWith(".ngraph/")) continue;
      // A repository that is no submodule is listed as one folder.
      if (path.endsWith("/")) inner.add(path.slice(0, -1));
      else paths.push(path);
    }
    const nested = new Map<string, GitTree>();
    for (const path of inner)
      if (existsSync(join(root, path))) nested.set(path, this.#readTree(join(root, path), known));
    return { head: headOf(root), files: this.#digestsOf(root, paths, known), nested };
  }

  #digestsOf(
    root: string,
    paths: readonly string[],
    known: ReadonlyMap<string, { readonly stat: string; readonly digest: string }>,
  ): Map<string, string> {
    const files = new Map<string, string>();
    const read: { readonly path: string; readonly stat: string; readonly kind: string }[] = [];
    for (const path of paths) {
      const full = join(root, path);
      const found = lstatSync(full, { throwIfNoEntry: false });
      if (found === undefined) {
        files.set(path, "gone");
        continue;
      }
      const stat = `${found.size}:${found.mtimeMs}:${found.ctimeMs}:${found.mode}:${found.ino}`;
      const before = known.get(full);
      if (before?.stat === stat) {
        files.set(path, before.digest);
        this.#digests.set(full, before);
      } else if (found.isSymbolicLink()) files.set(path, `link:${readlinkSync(full)}`);
      else read.push({ path, stat, kind: (found.mode & 0o100) === 0 ? "file" : "executable" });
    }
    const ids = blobIds(
      root,
      read.map(({ path }) => path),
    );
    read.forEach(({ path, stat, kind }, index) => {
      const digest = `${kind}:${ids[index] ?? "gone"}`;
      files.set(path, digest);
      this.#digests.set(join(root, path), { stat, digest });
    });
    return files;
  }
}

/** The ids that Git gives the contents of files, after the filters of the repository; absent for a file that is gone. */
function blobIds(root: string, paths: readonly string[]): readonly (string | undefined)[] {
  if (paths.length === 0) return [];
  const isListed = paths.every((path) => !path.includes("\n"));
  if (isListed) {
    const input = paths.map((path) => `${path}\n`).join("");
    const ids = gitOr("", root, ["hash-object", "--stdin-paths"], input).trim().split("\n");
    if (ids.length === paths.length) return ids;
  }
  // A file was deleted meanwhile, or a name has a line break.
  return paths.map((path) => gitOr("", root, ["hash-object", "--", path]).trim() || undefined);
}

const EMPTY: GitTree = { head: "", files: new Map(), nested: new Map() };

/** Checked-out submodules of a tree, by path relative to the root. @param prefix path of the root in its repository */
export function submodules(root: string, prefix: string): readonly string[] {
  const top = git(root, ["rev-parse", "--show-toplevel"]).trim();
  if (!existsSync(join(top, ".gitmodules"))) return [];
  const paths = gitOr("", top, [
    "config",
    "--file",
    ".gitmodules",
    "-z",
    "--get-regexp",
    String.raw`^submodule\..*\.path$`,
  ]);
  return paths.split("\0").flatMap((entry) => {
    const path = entry.slice(entry.indexOf("\n") + 1);
    const isInside = entry !== "" && path.startsWith(prefix);
    return isInside && isCheckedOut(top, path) ? [withoutPrefix(path, prefix)] : [];
  });
}

/**
 * Submodules and nested repositories of a working tree whose content differs from a commit, or whose commit does. Git stores only their
 * commits. A directory of a submodule that is not checked out is empty.
 *
 * @param before the commit with which the working tree began
 * @param after a git tree of its present state
 */
export function changedRepositories(root: string, before: string, after: string): readonly string[] {
  const [was, is] = [gitLinks(root, before), gitLinks(root, after)];
  return [...new Set([...was.keys(), ...is.keys()])].filter((path) => {
    const commit = was.get(path);
    return commit !== is.get(path) || (commit !== undefined && !holdsCommit(join(root, path), commit));
  });
}

/** The commits of submodules and nested repositories by their paths. */
function gitLinks(root: string, tree: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const entry of git(root, ["ls-tree", "-r", "-z", tree]).split("\0")) {
    const [, commit, path] = /^160000 commit ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
    if (commit !== undefined && path !== undefined) links.set(path, commit);
  }
  return links;
}

function holdsCommit(directory: string, commit: string): boolean {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return true;
  if (!existsSync(join(directory, ".git"))) return false;
  const tree = new GitTreeReader(directory).read();
  return tree.head === commit && isUnchanged(tree);
}

function isUnchanged({ files, nested }: GitTree): boolean {
  return files.size === 0 && [...nested.values()].every(isUnchanged);
}

/** A path that leads over a symbolic link is no submodule: it may lead back to the tree itself. */
function isCheckedOut(top: string, path: string): boolean {
  const inner = join(top, path);
  return existsSync(join(inner, ".git")) && realpathSync(inner) === join(realpathSync(top), path);
}

/** Files that a task committed are no longer in the status; the diff between the two heads contains them. */
function changes(root: string, before: GitTree, after: GitTree): string[] {
  const changed = new Set<string>();
  for (const path of new Set([...before.files.keys(), ...after.files.keys()])) {
    if (before.files.get(path) !== after.files.get(path)) changed.add(path);
  }
  if (before.head !== after.head) {
    const range = [before.head, after.head].map((head) => (head === "" ? EMPTY_TREE : head));
    const names = git(root, [
      "diff",
      "--name-only",
      "-z",
      "--relative",
      "--no-renames",
      "--ignore-submodules=all",
      ...range,
    ]);
    for (const path of names.split("\0")) if (path !== "" && !before.files.has(path)) changed.add(path);
  }
  if (before.head !== after.head) {
    // A change that is only committed, or taken out of a commit, leaves the content as it was.
    const [was, is] = [before, after].map(({ head, files }) => {
      const rest = [...changed].filter((path) => !files.has(path));
      return new Map([...files, ...committed(root, head, rest)]);
    }) as [Map<string, string>, Map<string, string>];
    for (const path of changed) if (was.get(path) === is.get(path)) changed.delete(path);
  }
  for (const path of new Set([...before.nested.keys(), ...after.nested.keys()])) {
    const inner = join(root, path);
    if (!existsSync(inner)) changed.add(path);
    else
      for (const file of changes(inner, before.nested.get(path) ?? EMPTY, after.nested.get(path) ?? EMPTY))
        changed.add(`${path}/${file}`);
  }
  return [...changed];
}

/** The id that Git gives a tree without files. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** The digests of files of a commit, as `GitTree` has them; `gone` for a file that the commit does not have. */
function committed(root: string, head: string, paths: readonly string[]): Map<string, string> {
  const digests = new Map(paths.map((path) => [path, "gone"]));
  // The number of arguments of a process is limited.
  for (let from = 0; head !== "" && from < paths.length; from += 500) {
    const page = paths.slice(from, from + 500);
    for (const entry of gitOr("", root, ["ls-tree", "-z", head, "--", ...page]).split("\0")) {
      const found = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(entry);
      if (found === null) continue;
      const [, mode = "", id = "", path = ""] = found;
      digests.set(
        path,
        mode === "120000"
          ? `link:${gitOr("", root, ["cat-file", "blob", id])}`
          : `${mode === "100755" ? "executable" : "file"}:${id}`,
      );
    }
  }
  return digests;
}

function withoutPrefix(path: string, prefix: string): string {
  return prefix !== "" && path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function headOf(root: string): string {
  return gitOr("", root, ["rev-parse", "--verify", "--quiet", "HEAD"]).trim();
}
