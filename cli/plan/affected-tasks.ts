/** `--affected`: the tasks of a plan that the changes of a git working tree concern. */
import { join, relative } from "node:path";
import { normalizePath, parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import { successorsOf } from "../../runtime/plan/plan-order.ts";
import type { PlanTable, TaskIndex, TaskSpec } from "../../runtime/table/plan-table.ts";
import { CommandError } from "../process/command-error.ts";
import { gitFor, gitOr } from "./git.ts";
import { submodules } from "./git-tree.ts";

const git = gitFor("--affected");

/**
 * The names of the affected tasks, in file order; `undefined` selects all tasks, because the plan's file has changed.
 *
 * A task is affected if a changed path matches one of its `touches` or of the inputs of its `cache`, or if it declares no
 * path: what it reads is then unknown (except for a `finally` task). The tasks that depend on it are affected, too. Tasks
 * before an affected task that write a channel are included, because the affected task may read it.
 *
 * @param file path of the plan's file
 * @param ref a commit. Changes since the current branch left it count; without it, changes since the last commit.
 * @throws CommandError outside of a git working tree, or for an unknown commit
 */
export function affectedTasks(
  plan: PlanTable,
  file: string,
  ref: string | undefined,
  root: string,
): readonly string[] | undefined {
  const changed = changedPaths(root, ref);
  if (changed.includes(normalizedOr(relative(root, file)))) return undefined;
  const patterns = changed.map(parsePathPattern);
  const isChanged = (task: TaskSpec): boolean => {
    const declared = declaredPaths(plan, task);
    if (declared === undefined) return task.finally !== true;
    return declared.some((path) => patterns.some((each) => patternsOverlap(path, each)));
  };
  const changedTasks = plan.tasks.flatMap((task, index) => (isChanged(task) ? [index] : []));
  const successors = successorsOf(plan);
  const affected = reach(changedTasks, (task) => successors[task] ?? []);
  // A `finally` task comes after all others.
  const ordinary = [...affected].filter((task) => plan.tasks[task]?.finally !== true);
  const before = reach(ordinary, (task) => plan.tasks[task]?.after ?? []);
  return plan.tasks.flatMap(({ name, output }, index) =>
    affected.has(index) || (before.has(index) && output !== undefined) ? [name] : [],
  );
}

/** The names of the tasks that declare one of the paths, or whose called plan does. */
export function tasksWithPaths(plan: PlanTable, paths: readonly string[]): readonly string[] {
  const patterns = paths.map((path) => parsePathPattern(normalizedOr(path)));
  if (patterns.length === 0) return [];
  return plan.tasks.flatMap((task) => {
    const declared = allPaths(plan, task);
    return declared.some((path) => patterns.some((each) => patternsOverlap(path, each))) ? [task.name] : [];
  });
}

/** The paths of a task and of the plan that it calls. */
function allPaths(plan: PlanTable, { call, touches, cache }: TaskSpec): readonly PathPattern[] {
  const called = call.kind === "plan" ? plan.plans[call.plan] : undefined;
  return [
    ...[...touches.map(({ path }) => path), ...(cache?.inputs ?? [])].map(parsePathPattern),
    ...(called?.tasks.flatMap((task) => allPaths(called, task)) ?? []),
  ];
}

/** The paths of a task and of the plan that it calls; `undefined` if a part of it declares none. */
function declaredPaths(plan: PlanTable, { call, touches, cache }: TaskSpec): readonly PathPattern[] | undefined {
  const own = [...touches.map(({ path }) => path), ...(cache?.inputs ?? [])].map(parsePathPattern);
  const called = call.kind === "plan" ? plan.plans[call.plan] : undefined;
  if (called === undefined) return own.length === 0 ? undefined : own;
  const inner = called.tasks.map((task) => declaredPaths(called, task));
  return inner.includes(undefined) ? undefined : [...own, ...inner.flatMap((paths) => paths ?? [])];
}

function reach(from: readonly TaskIndex[], next: (task: TaskIndex) => readonly TaskIndex[]): ReadonlySet<TaskIndex> {
  const found = new Set(from);
  for (const task of found) for (const each of next(task)) found.add(each);
  return found;
}

/** Paths of changed, new and deleted files, relative to the root. Files outside of the root are left out. */
function changedPaths(root: string, ref: string | undefined): readonly string[] {
  return [...new Set(changesSince(root, baseOf(root, ref)))].map(normalizedOr);
}

/** Changes of a working tree and of its submodules since a commit, or since the empty tree. */
function changesSince(root: string, base: string): readonly string[] {
  // Git would read the files of a submodule itself, and run the programs that the submodule's configuration names.
  const options = ["--name-only", "-z", "--relative", "--no-renames", "--ignore-submodules=dirty"];
  const diff = git(root, ["diff", ...options, base, "--"]);
  const untracked = git(root, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const own = `${diff}${untracked}`.split("\0").filter((path) => path !== "" && !path.startsWith(".ngraph/"));
  const prefix = git(root, ["rev-parse", "--show-prefix"]).replace(/\n$/, "");
  const inside = submodules(root, prefix);
  const nested = inside.flatMap((path) => {
    const inner = join(root, path);
    const commit = commitOf(root, base, `${prefix}${path}`) ?? emptyTree(inner);
    const isKnown = gitOr(undefined, inner, ["cat-file", "-e", commit]) !== undefined;
    // The files of a commit that is not here are unknown: the whole submodule has changed.
    const known = isKnown ? commit : gitOr(undefined, inner, ["rev-parse", "--verify", "--quiet", "HEAD"]);
    const files = known === undefined ? [] : changesSince(inner, known.trim()).map((file) => `${path}/${file}`);
    return isKnown ? files : [path, ...files];
  });
  const opened = new Set(inside);
  return [...own.filter((path) => !opened.has(path)), ...nested];
}

/** The id that the repository gives a tree without files. Git knows it without having stored it. */
function emptyTree(root: string): string {
  return git(root, ["hash-object", "-t", "tree", "--stdin"], "").trim();
}

/** The commit of a submodule that a commit names; `undefined` if it has no such submodule. */
function commitOf(root: string, base: string, path: string): string | undefined {
  const entry = gitOr("", root, ["ls-tree", "-z", "--full-tree", base, "--", path]);
  return /^160000 commit ([0-9a-f]+)\t/.exec(entry)?.[1];
}

/** A name with a backslash or a leading `~/` is a file name for Git. */
function normalizedOr(path: string): string {
  try {
    return normalizePath(path);
  } catch {
    return path;
  }
}

function baseOf(root: string, ref: string | undefined): string {
  const head = gitOr(undefined, root, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (head === undefined) {
    // Throws outside of a working tree. Before the first commit, every file is new.
    git(root, ["rev-parse", "--show-toplevel"]);
    if (ref === undefined) return emptyTree(root);
  }
  if (ref === undefined) return "HEAD";
  const commit = gitOr(undefined, root, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  if (commit === undefined) {
    git(root, ["rev-parse", "--show-toplevel"]);
    throw new CommandError(`--affected: the repository has no commit \`${ref}\``, {
      help: "name a branch, tag or commit, such as `--affected=origin/main`; in CI it may have to be fetched first",
    });
  }
  const base = gitOr(undefined, root, ["merge-base", commit.trim(), "HEAD"]);
  if (base === undefined)
    throw new CommandError(`--affected: \`${ref}\` and the current commit have no common ancestor`, {
      help: "fetch more of the history (in CI the checkout is often shallow), or name another commit",
    });
  return base.trim();
}
