import { parsePathPattern, patternsOverlap, type PathPattern } from "../../runtime/plan/path-pattern.ts";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { GitTreeReader } from "./git-tree.ts";

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
 * A change that one of them declares is attributed to it. An undeclared change fails every task that can have made it: what depends
 * on them must not build on it.
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
  const reader = new GitTreeReader(root);
  let before = reader.read();
  /** Tasks that ran since the tree was read last. */
  const meanwhile = new Set<string>();
  const running = new Set<string>();
  /** Running task -> undeclared changes that it can have made. */
  const suspected = new Map<string, Set<string>>();
  return {
    remarks,
    onEvent(event) {
      if (event.type !== "node_transition") return;
      const [task = ""] = event.node_id.split("/");
      if (!declared.has(task) || task !== event.node_id) return;
      if (event.to === "running") {
        running.add(task);
        meanwhile.add(task);
        suspected.delete(task);
      } else running.delete(task);
    },
    afterTask(task) {
      const tree = reader.read();
      const suspects = [...new Set([...meanwhile, ...running, task])];
      const stray = reader
        .changedFiles(before, tree)
        .filter((path) => !suspects.some((name) => (declared.get(name) ?? []).some((each) => covers(each, path))));
      before = tree;
      meanwhile.clear();
      for (const name of running) if (name !== task) meanwhile.add(name);
      if (stray.length > 0 && suspects.length > 1)
        remarks.push(`${stray.join(", ")}: changed by one of ${suspects.join(", ")}, which none of them declares`);
      for (const name of stray.length === 0 ? [] : suspects) {
        const paths = suspected.get(name) ?? new Set();
        for (const path of stray) paths.add(path);
        suspected.set(name, paths);
      }
      const all = suspected.get(task);
      suspected.delete(task);
      return all === undefined ? undefined : `undeclared_touches:${[...all].sort().join(",")}`;
    },
  };
}

/** Whether a pattern matches a path, or a folder that contains it. */
export function covers(pattern: PathPattern, path: string): boolean {
  const segments = path.split("/").map((text) => ({ kind: "literal" as const, text }));
  return patternsOverlap(pattern, { segments, exact: true, text: path });
}
