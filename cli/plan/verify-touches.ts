import { execFileSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { CommandError } from "../process/command-error.ts";

/** Compares the changes in the git tree with the paths that tasks declare in `touches`. */
export interface TouchGuard {
  readonly onEvent: (event: PlanEvent) => void;
  /** Called after a task; returns its undeclared changes as the reason of its failure. */
  readonly afterTask: (task: string) => string | undefined;
  /** Undeclared changes that cannot be attributed to one task, because others ran at the same time. */
  readonly remarks: readonly string[];
}

/**
 * The tree is read when a task ends. A change since the last read was made by the task that ended or by one that ran in the meantime.
 * A change that one of them declares is attributed to it. An undeclared change fails the task if it ran alone; otherwise it becomes
 * a remark.
 *
 * @throws CommandError outside of a git working tree
 */
export function createTouchGuard(plan: PlanTable, root: string): TouchGuard {
  const declared = new Map<string, readonly PathPattern[]>(
    plan.tasks.map(({ name, touches }) => [
      name,
      touches.flatMap(({ mode, path }) => (mode === "write" ? [parsePathPattern(path)] : [])),
    ]),
  );
  const remarks: string[] = [];
  let before = readTree(root);
  /** Tasks that ran since the tree was read last. */
  const meanwhile = new Set<string>();
  const running = new Set<string>();
  return {
    remarks,
    onEvent(event) {
      if (event.type !== "node_transition") return;
      const [task = ""] = event.node_id.split("/");
      if (!declared.has(task) || task !== event.node_id) return;
      if (event.to === "running") {
        running.add(task);
        meanwhile.add(task);
      } else running.delete(task);
    },
    afterTask(task) {
      const tree = readTree(root);
      const suspects = [...new Set([...meanwhile, ...running, task])];
      const stray = changedFiles(root, before, tree).filter(
        (path) => !suspects.some((name) => (declared.get(name) ?? []).some((pattern) => covers(pattern, path))),
      );
      before = tree;
      meanwhile.clear();
      for (const name of running) if (name !== task) meanwhile.add(name);
      if (stray.length === 0) return undefined;
      if (suspects.length === 1) return `undeclared_touches:${stray.join(",")}`;
      remarks.push(`${stray.join(", ")}: changed by one of ${suspects.join(", ")}, which none of them declares`);
      return undefined;
    },
  };
}

function covers(pattern: PathPattern, path: string): boolean {
  const segments = path.split("/").map((text) => ({ kind: "literal" as const, text }));
  return patternsOverlap(pattern, { segments, exact: true, text: path });
}

interface Tree {
  readonly head: string;
  /** Files that differ from `head`, by path, each with a signature of its state. */
  readonly files: ReadonlyMap<string, string>;
}

function readTree(root: string): Tree {
  const status = git(root, [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignored=no",
    "--",
    ".",
  ]);
  const prefix = git(root, ["rev-parse", "--show-prefix"]).trim();
  const files = new Map<string, string>();
  for (const entry of status.split("\0")) {
    if (entry.length < 4) continue;
    const path = withoutPrefix(entry.slice(3), prefix);
    if (!path.startsWith(".ngraph/")) files.set(path, signatureOf(resolve(root, path)));
  }
  return { head: headOf(root), files };
}

/** Files that a task committed are no longer in the status; the diff between the two heads contains them. */
function changedFiles(root: string, before: Tree, after: Tree): string[] {
  const changed = new Set<string>();
  for (const path of new Set([...before.files.keys(), ...after.files.keys()])) {
    if (before.files.get(path) !== after.files.get(path)) changed.add(path);
  }
  if (before.head !== after.head) {
    const range = before.head === "" ? [EMPTY_TREE, after.head] : [before.head, after.head];
    const names = git(root, ["diff", "--name-only", "-z", "--relative", ...range]);
    for (const path of names.split("\0")) if (path !== "" && !before.files.has(path)) changed.add(path);
    // A file that was changed before and is only committed now has not changed.
    for (const path of before.files.keys())
      if (!after.files.has(path) && signatureOf(resolve(root, path)) === before.files.get(path)) changed.delete(path);
  }
  return [...changed].sort();
}

/** The id that Git gives a tree without files. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function signatureOf(path: string): string {
  try {
    const { size, mtimeMs, mode, ino } = lstatSync(path);
    return `${size}:${mtimeMs}:${mode}:${ino}`;
  } catch {
    return "gone";
  }
}

function withoutPrefix(path: string, prefix: string): string {
  return prefix !== "" && path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function headOf(root: string): string {
  try {
    return git(root, ["rev-parse", "--verify", "--quiet", "HEAD"]).trim();
  } catch {
    return "";
  }
}

function git(root: string, args: readonly string[]): string {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" },
    });
  } catch (error) {
    const detail = error instanceof Error && "stderr" in error ? String(error.stderr).trim().split("\n")[0] : "";
    throw new CommandError(`--verify-touches needs git, which failed: ${detail}`, {
      help: "run the plan inside a git working tree, or omit --verify-touches",
      cause: error,
    });
  }
}
