/** Git worktrees for tasks: a task changes a copy of the working tree, and what it has changed is merged when its checks pass. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parsePathPattern, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import type { MergeRefusal, TaskWorktrees } from "../../runtime/plan/task-worktrees.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { listed } from "../../runtime/value/shown.ts";
import { makeDirectory } from "../output/make-directory.ts";
import { makeStoreDirectory, PRIVATE } from "../threads/open-store.ts";
import { CommandError } from "../process/command-error.ts";
import { messageOf } from "../process/user-error.ts";
import { gitFor, gitOr } from "./git.ts";
import { isReachable } from "./cache/restore-outputs.ts";
import { changedRepositories, submodules } from "./git-tree.ts";
import { covers } from "./verify-touches.ts";

/** The directory of the worktrees, relative to the working directory. */
export const WORKTREES_DIRECTORY = ".ngraph/worktrees";

/** Ends the name of the file with the base of a worktree, which a later run reads if this process is killed. */
const RECORD = ".base.json";

/** The first version of git that merges without a working tree (`git merge-tree --write-tree`). */
const FIRST_VERSION = [2, 38] as const;

const runGit = gitFor("the policy `worktree`");

/** Settings by which a merge depends on nothing but the three trees, and makes no changes outside of the changed paths. */
const MERGE_SETTINGS = ["-c", "merge.renames=false", "-c", "merge.directoryRenames=false"];

/** Commits of snapshots have no author: they are no part of the history. */
const IDENTITY = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "ngraph"],
    [`GIT_${who}_EMAIL`, "ngraph@localhost"],
    [`GIT_${who}_DATE`, "@0 +0000"],
  ]),
);

interface Worktree {
  readonly path: string;
  readonly gitDir: string;
  /** The commit with the state of the tree at the start of the task. */
  readonly base: string;
  readonly touches: readonly PathPattern[];
  /** They come into the tree of the run even if git ignores them. */
  readonly outputs: readonly PathPattern[];
  isMerged: boolean;
}

export interface FileTaskWorktrees extends TaskWorktrees {
  /**
   * Removes what a killed run has left. The changes of its tasks are kept. The tree must be claimed.
   *
   * @throws CommandError outside of a git working tree, and with an old version of git
   */
  prepare(): void;
  /** The directory that is the root for the commands of a task and of its checks; `undefined` without a worktree. */
  rootOf(node: string): string | undefined;
}

/** Whether a plan, or a plan that it calls, has a task with a worktree. */
export function usesWorktrees(plan: PlanTable): boolean {
  return plan.tasks.some(({ worktree }) => worktree === true) || plan.plans.some(usesWorktrees);
}

/**
 * @param root the root of the run: the top of a git working tree, or a directory in it
 * @param diffPath the file that keeps the changes of a task that are not merged
 * @param onKept called with this file when it is written
 */
export function createTaskWorktrees(
  root: string,
  diffPath: (task: string) => string,
  onKept: (task: string, path: string) => void,
): FileTaskWorktrees {
  const directory = resolve(root, WORKTREES_DIRECTORY);
  const open = new Map<string, Worktree>();
  let count = 0;
  let found: Tree | undefined;
  const treeOf = (): Tree => (found ??= findTree(root));

  return {
    prepare() {
      checkVersion(root);
      const tree = treeOf();
      if (existsSync(directory)) removeLeftovers(tree, directory, onKept);
    },
    rootOf(node) {
      const worktree = open.get(node.replace(/ check \d+$/, ""));
      return worktree === undefined ? undefined : join(worktree.path, treeOf().prefix);
    },
    open(task, touches, outputs = []) {
      makeStoreDirectory(dirname(directory));
      makeDirectory(directory, PRIVATE);
      const name = `${++count}-${task.replace(/[^\w.-]+/g, "_").slice(0, 60)}`;
      const path = join(directory, name);
      const { top, prefix } = treeOf();
      const base = withSnapshot(treeOf(), directory, (snapshot) => commit(top, snapshot, headOf(top)));
      // A later run finds the changes of the task even if this process is killed.
      git(top, ["worktree", "add", "--quiet", "--detach", path, base]);
      const gitDir = git(path, ["rev-parse", "--absolute-git-dir"]).replace(/\n$/, "");
      writeFileSync(`${path}${RECORD}`, JSON.stringify({ base, gitDir }), { mode: 0o600 });
      makeDirectory(join(path, prefix));
      const patterns = touches.flatMap(({ mode, path: touched }) =>
        mode === "write" ? [parsePathPattern(touched)] : [],
      );
      open.set(task, {
        path,
        gitDir,
        base,
        touches: patterns,
        outputs: outputs.map(parsePathPattern),
        isMerged: false,
      });
    },
    merge(task) {
      const worktree = open.get(task);
      if (worktree === undefined) return undefined;
      const refusal = mergeInto(treeOf(), worktree, directory) ?? copyIgnored(treeOf(), worktree);
      worktree.isMerged = refusal === undefined;
      return refusal;
    },
    close(task) {
      const worktree = open.get(task);
      if (worktree === undefined) return;
      open.delete(task);
      const { path, gitDir, base, isMerged } = worktree;
      const kept = diffPath(task);
      if (!isMerged && keepDiff({ top: path, gitDir, prefix: treeOf().prefix }, base, directory, kept))
        onKept(task, kept);
      removeWorktree(treeOf().top, path);
      // Git does not remove it if the task has removed the file `.git`.
      rmSync(gitDir, { recursive: true, force: true });
    },
  };
}

/** A git working tree. */
interface Tree {
  readonly top: string;
  /** The path from its top to the root of the run, with a slash at its end; empty if they are the same. */
  readonly prefix: string;
  /**
   * Of a worktree: its git directory. A task may remove or replace the file `.git`, and git would find the repository around the worktree.
   */
  readonly gitDir?: string;
}

function findTree(root: string): Tree {
  return {
    top: git(root, ["rev-parse", "--show-toplevel"]).replace(/\n$/, ""),
    prefix: git(root, ["rev-parse", "--show-prefix"]).replace(/\n$/, ""),
  };
}

function git(root: string, args: readonly string[], environment?: NodeJS.ProcessEnv): string {
  return runGit(root, args, undefined, environment);
}

function checkVersion(root: string): void {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(git(root, ["--version"])) ?? []).slice(1).map(Number);
  const [firstMajor, firstMinor] = FIRST_VERSION;
  if (major > firstMajor || (major === firstMajor && minor >= firstMinor)) return;
  throw new CommandError(
    `the policy \`worktree\` needs git ${FIRST_VERSION.join(".")}, and this is git ${major}.${minor}`,
    {
      help: "update git, or remove the policy",
    },
  );
}

function headOf(top: string): readonly string[] {
  const head = gitOr("", top, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).trim();
  return head === "" ? [] : [head];
}

/** Calls `use` with the id of a git tree that has all files of a working tree but the ignored ones, and with its index. */
function withSnapshot<T>(
  { top, prefix, gitDir }: Tree,
  directory: string,
  use: (snapshot: string, index: string) => T,
): T {
  // An index of its own: that of the user stays as it is. As a copy, it knows which files are unchanged.
  const index = join(directory, `index-${process.pid}`);
  try {
    const tree = gitDir === undefined ? {} : { GIT_DIR: gitDir, GIT_WORK_TREE: top };
    const own = resolve(top, git(top, ["rev-parse", "--git-path", "index"], tree).replace(/\n$/, ""));
    if (existsSync(own)) copyIndex(own, index);
    const environment = { ...tree, GIT_INDEX_FILE: index };
    // Git would read the files of a submodule, with the programs that its configuration names. Its commit stays as staged.
    const ours = `${prefix}.ngraph`;
    // Git refuses to exclude what it ignores already.
    const isIgnored = gitOr(undefined, top, ["check-ignore", "-q", "--", ours]) !== undefined;
    const left = [...(isIgnored ? [] : [ours]), ...(gitDir === undefined ? submodules(top, "") : [])];
    git(top, ["add", "--all", "--", ".", ...left.map((path) => `:(exclude,top,literal)${path}`)], environment);
    return use(git(top, ["write-tree"], environment).trim(), index);
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

/**
 * Git reads the content of a file again if the file may have changed within the second in which the index was written, and it takes
 * that time from the index itself. With the time of the copy, a change of the same length would be missed.
 */
function copyIndex(from: string, to: string): void {
  const { mtimeMs } = statSync(from);
  copyFileSync(from, to);
  const second = Math.floor(mtimeMs / 1000);
  utimesSync(to, second, second);
}

function commit(top: string, snapshot: string, parents: readonly string[]): string {
  const options = parents.flatMap((parent) => ["-p", parent]);
  return git(top, ["commit-tree", snapshot, ...options, "-m", "ngraph: state of the working tree"], IDENTITY).trim();
}

/** Merges what has changed in a worktree into the tree of the run. The files of the tree change only if all changes can be merged. */
function mergeInto(tree: Tree, { path, gitDir, base, touches }: Worktree, directory: string): MergeRefusal | undefined {
  const { top, prefix } = tree;
  const theirs = withSnapshot({ top: path, gitDir, prefix }, directory, (snapshot) => snapshot);
  const changed = changedPaths(top, base, theirs).map((each) => fromRoot(each, prefix));
  const stray = changed.filter((each) => !touches.some((pattern) => covers(pattern, each))).sort();
  if (stray.length > 0) {
    const declared = touches.length === 0 ? "declares no paths in `touches`" : "does not declare them in `touches`";
    return {
      reason: `undeclared_touches:${stray.join(",")}`,
      message: `changed ${listed(stray)}, and the task ${declared}`,
    };
  }
  const repositories = changedRepositories(path, base, theirs).map((each) => fromRoot(each, prefix));
  if (repositories.length > 0) {
    return {
      reason: `merge_conflict:${repositories.join(",")}`,
      message: `changed ${listed(repositories)}, and a worktree merges no changes of submodules and nested repositories: remove the policy \`worktree\``,
    };
  }
  if (changed.length === 0) return undefined;
  return withSnapshot(tree, directory, (ours, index) => {
    const merged = mergeTrees(top, commit(top, ours, [base]), commit(top, theirs, [base]));
    if (typeof merged !== "string") {
      const paths = merged.map((each) => fromRoot(each, prefix)).sort();
      return {
        reason: `merge_conflict:${paths.join(",")}`,
        message: `${listed(paths)} changed in the tree of the run, too, since the task has started: the changes conflict`,
      };
    }
    try {
      // Refuses to replace a file that has changed since the snapshot.
      git(top, ["read-tree", "-m", "-u", ours, merged], { GIT_INDEX_FILE: index });
    } catch (error) {
      return { reason: "merge_conflict", message: `the tree changed during the merge: ${messageOf(error)}` };
    }
    return undefined;
  });
}

/**
 * Copies the outputs that git ignores into the tree of the run: git merges only what it does not ignore. The copy had none at the start of
 * the task, so all of them are its own.
 */
function copyIgnored({ top, prefix }: Tree, { path, gitDir, outputs }: Worktree): MergeRefusal | undefined {
  if (outputs.length === 0) return undefined;
  const place = { GIT_DIR: gitDir, GIT_WORK_TREE: path };
  const listing = git(path, ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"], place);
  for (const file of listing.split("\0")) {
    const name = fromRoot(file, prefix);
    if (file === "" || !outputs.some((pattern) => covers(pattern, name))) continue;
    const target = join(top, file);
    try {
      if (!isReachable(top, file)) throw new Error("it leads through a link of the tree");
      makeDirectory(dirname(target));
      rmSync(target, { force: true });
      cpSync(join(path, file), target, { verbatimSymlinks: true });
    } catch (error) {
      return { reason: `merge_conflict:${name}`, message: `the output ${name} cannot be copied: ${messageOf(error)}` };
    }
  }
  return undefined;
}

/** The merged tree; the paths with conflicts if it is not possible. */
function mergeTrees(top: string, ours: string, theirs: string): string | readonly string[] {
  const args = [...MERGE_SETTINGS, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  try {
    return git(top, args).replace(/\0$/, "").trim();
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly status?: unknown; readonly stdout?: unknown } };
    // Exit code 1: there are conflicts. The tree comes first, then the paths.
    if (cause?.status !== 1) throw error;
    return String(cause.stdout)
      .split("\0")
      .slice(1)
      .filter((path) => path !== "");
  }
}

function changedPaths(top: string, before: string, after: string): readonly string[] {
  return git(top, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", `${before}^{tree}`, after])
    .split("\0")
    .filter((path) => path !== "");
}

/** A path from the top of the repository, relative to the root of the run. */
function fromRoot(path: string, prefix: string): string {
  if (path.startsWith(prefix)) return path.slice(prefix.length);
  return `${"../".repeat(prefix.split("/").length - 1)}${path}`;
}

/** Writes the changes of a worktree as a patch. Returns whether there are any. */
function keepDiff(worktree: Tree, base: string, directory: string, path: string): boolean {
  const { top, gitDir } = worktree;
  try {
    const now = withSnapshot(worktree, directory, (snapshot) => snapshot);
    const changed = ["diff-tree", "-r", `${base}^{tree}`, now];
    const place = { GIT_DIR: gitDir, GIT_WORK_TREE: top };
    if (git(top, changed, place) === "") return false;
    makeDirectory(dirname(path), PRIVATE);
    // Git writes the file: a patch need not be UTF-8.
    const options = ["--binary", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${path}`];
    git(top, [...changed, "-p", ...options], place);
    return true;
  } catch {
    // The task has removed its own worktree, for example.
    return false;
  }
}

function removeWorktree(top: string, path: string): void {
  // Twice: also if a command has locked it.
  gitOr("", top, ["worktree", "remove", "--force", "--force", path]);
  rmSync(path, { recursive: true, force: true });
  rmSync(`${path}${RECORD}`, { force: true });
}

function removeLeftovers({ top, prefix }: Tree, directory: string, onKept: (task: string, path: string) => void): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (name.startsWith("index-")) rmSync(path, { force: true });
    // A worktree without a record was being made: its task had not started.
    else if (!name.endsWith(RECORD) && !name.endsWith(".patch")) {
      const record = readRecord(`${path}${RECORD}`);
      const kept = `${path}.${Date.now()}.patch`;
      if (record !== undefined && keepDiff({ top: path, prefix, gitDir: record.gitDir }, record.base, directory, kept))
        onKept(name.replace(/^\d+-/, ""), kept);
      removeWorktree(top, path);
    }
  }
  gitOr("", top, ["worktree", "prune"]);
}

function readRecord(path: string): { readonly base: string; readonly gitDir: string } | undefined {
  try {
    const { base, gitDir } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    const isId = typeof base === "string" && /^[0-9a-f]{40,64}$/.test(base);
    return isId && typeof gitDir === "string" ? { base, gitDir } : undefined;
  } catch {
    return undefined;
  }
}
