import { RunError } from "../interface/errors.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";
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
