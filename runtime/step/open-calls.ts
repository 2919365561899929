/** The unfinished called graphs of a step. */
import { taskOfSegment } from "../program/tool-segment.ts";
import type { Run } from "../run/run.ts";
import { childrenOfAll, type Outcome, type Task } from "./task.ts";

type Calls = Readonly<Record<string, string>>;

/**
 * The unfinished called graphs of tasks that have ended: namespace -> checkpoint id. A task that was cancelled, or that failed, before it
 * has called its graph again keeps the call of an earlier execution.
 */
export function openCallsOf(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): Calls {
  const calls = childrenOfAll(outcomes);
  const known = callsByTask(run);
  if (known.size === 0) return calls;
  const kept: Record<string, string> = {};
  for (let at = 0; at < tasks.length; at++) {
    const { children, cancelled, failure } = outcomes[at]!;
    if (children !== undefined || (!cancelled && failure === undefined)) continue;
    const { id, broken } = tasks[at]!;
    Object.assign(kept, known.get(id));
    // The list of a `for` node has no value at present.
    if (broken === undefined) continue;
    for (const [task, own] of known) if (task.startsWith(`${id}[`)) Object.assign(kept, own);
  }
  return { ...kept, ...calls };
}

/** The unfinished called graphs of a task, as the checkpoint has recorded them that the run was restored from. */
export function openCallsOfTask(run: Run, task: Task): Outcome["children"] {
  return callsByTask(run).get(task.id);
}

function callsByTask(run: Run): ReadonlyMap<string, Record<string, string>> {
  let byTask = cache.get(run.children);
  if (byTask !== undefined) return byTask;
  byTask = new Map();
  const depth = run.path.length;
  for (const [namespace, id] of Object.entries(run.children)) {
    const own = taskOfSegment(namespace.split("/")[depth] ?? "");
    let known = byTask.get(own);
    if (known === undefined) byTask.set(own, (known = {}));
    known[namespace] = id;
  }
  cache.set(run.children, byTask);
  return byTask;
}

/** Called graphs by task, sorted once for all tasks of a step. */
const cache = new WeakMap<Run["children"], Map<string, Record<string, string>>>();
