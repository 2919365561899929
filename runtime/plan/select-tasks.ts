import { RunError } from "../interface/errors.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";
import type { PlanResumeOptions } from "./plan-options.ts";
import { successorsOf } from "./plan-order.ts";

/**
 * The tasks that a run selects: `only` names them, `fromTask` selects a task and all that depend on it. Both together
 * select the intersection. `undefined` selects all tasks.
 *
 * @throws RunError NG_BAD_INPUT for an unknown name
 */
export function selectTasks(
  plan: PlanTable,
  { only, fromTask }: { readonly only?: readonly string[]; readonly fromTask?: string },
): ReadonlySet<TaskIndex> | undefined {
  const sets: ReadonlySet<TaskIndex>[] = [];
  if (only !== undefined) sets.push(new Set(only.flatMap((name) => tasksNamed(plan, name))));
  if (fromTask !== undefined) {
    const found = new Set<TaskIndex>();
    const successors = successorsOf(plan);
    const open = [...tasksNamed(plan, fromTask)];
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      if (found.has(task)) continue;
      found.add(task);
      for (const each of successors[task] ?? []) open.push(each);
    }
    sets.push(found);
  }
  const [first, second] = sets;
  if (first === undefined || second === undefined) return first;
  return new Set([...first].filter((task) => second.has(task)));
}

/**
 * The tasks that `retry` names; `undefined` without it.
 *
 * @throws RunError NG_BAD_INPUT for an unknown name, or with a selection
 */
export function retriedTasks(
  plan: PlanTable,
  { retry, only, fromTask }: Pick<PlanResumeOptions, "retry" | "only" | "fromTask">,
): ReadonlySet<TaskIndex> | undefined {
  if (retry === undefined) return undefined;
  const other = only === undefined ? (fromTask === undefined ? undefined : "fromTask") : "only";
  if (other !== undefined)
    throw new RunError("NG_BAD_INPUT", `\`retry\` and \`${other}\` both select tasks: omit one of them`);
  return new Set(retry.flatMap((name) => tasksNamed(plan, name)));
}

/** The name of a matrix task selects all of its tasks. */
function tasksNamed(plan: PlanTable, name: string): readonly TaskIndex[] {
  const exact = plan.tasks.findIndex((task) => task.name === name);
  if (exact !== -1) return [exact];
  const found = plan.tasks.flatMap((task, index) => (task.name.startsWith(`${name}[`) ? [index] : []));
  if (found.length > 0) return found;
  const names = plan.tasks.slice(0, 20).map((task) => `\`${task.name}\``);
  const more = plan.tasks.length > 20 ? ", …" : "";
  throw new RunError(
    "NG_BAD_INPUT",
    `plan \`${plan.name}\` has no task \`${name}\` (there are: ${names.join(", ")}${more})`,
  );
}
