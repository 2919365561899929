import type { PlanTable, TaskIndex } from "../table/plan-table.ts";

/**
 * Topological order of the tasks (Kahn's algorithm): each task comes after all tasks it depends on. Tasks on a cycle, and
 * those that depend on one, are missing.
 */
export function topologicalOrder(plan: PlanTable): TaskIndex[] {
  const waiting = Int32Array.from(plan.tasks, (task) => task.after.length);
  const successors = successorsOf(plan);
  const order: TaskIndex[] = [];
  for (let task = 0; task < waiting.length; task++) if (waiting[task] === 0) order.push(task);
  for (let at = 0; at < order.length; at++) {
    for (const next of successors[order[at] ?? -1] ?? []) {
      const left = (waiting[next] ?? 0) - 1;
      waiting[next] = left;
      if (left === 0) order.push(next);
    }
  }
  return order;
}

/** By task: the tasks that depend on it directly. */
export function successorsOf(plan: PlanTable): readonly (readonly TaskIndex[])[] {
  const successors: TaskIndex[][] = plan.tasks.map(() => []);
  for (const [index, task] of plan.tasks.entries()) for (const before of task.after) successors[before]?.push(index);
  return successors;
}
