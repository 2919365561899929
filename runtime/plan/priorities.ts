import type { TaskLocks } from "./task-locks.ts";
import { topologicalOrder } from "./plan-order.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";

/** Expected duration of a task, in milliseconds: recorded, else estimated; `undefined` if unknown. */
export type ExpectedDuration = (task: TaskIndex) => number | undefined;

/**
 * The priority of ready tasks (9.5): the longest path from the task to the end (its bottom level), raised to the
 * remaining load of the most contended path that the task touches, because tasks over one path run one after the other.
 * The load only decreases, so a priority only falls: a heap may keep stale entries and check an entry when it takes it
 * out.
 */
export interface Priorities {
  of(task: TaskIndex): number;
  /** The task has released its resources. */
  finish(task: TaskIndex): void;
  /** Longest path from each task to the end, in expected time. */
  readonly bottomLevels: Float64Array;
  readonly durations: Float64Array;
}

export function createPriorities(plan: PlanTable, locks: TaskLocks, expected: ExpectedDuration): Priorities {
  const durations = Float64Array.from(plan.tasks, (task, index) => {
    const known = expected(index) ?? task.estimate;
    return known === undefined || !Number.isFinite(known) || known <= 0 ? 1 : known;
  });
  const bottomLevels = computeBottomLevels(plan, durations);
  const load = new Map<number, number>();
  const addLoad = (task: TaskIndex, by: number): void => {
    for (const resource of locks.resourcesOf(task)) load.set(resource, (load.get(resource) ?? 0) + by);
  };
  for (let task = 0; task < plan.tasks.length; task++) addLoad(task, durations[task] ?? 0);
  const ranks = plan.ranks;

  return {
    bottomLevels,
    durations,
    of(task) {
      if (plan.order === "file") return -task;
      // The ranks of an optimised order replace the priority. A smaller rank goes first.
      if (ranks !== undefined) return -(ranks[task] ?? task);
      let priority = bottomLevels[task] ?? 0;
      for (const resource of locks.resourcesOf(task)) priority = Math.max(priority, load.get(resource) ?? 0);
      return priority;
    },
    finish: (task) => addLoad(task, -(durations[task] ?? 0)),
  };
}

function computeBottomLevels(plan: PlanTable, durations: Float64Array): Float64Array {
  const levels = new Float64Array(plan.tasks.length);
  const order = topologicalOrder(plan);
  for (let at = order.length - 1; at >= 0; at--) {
    const task = order[at] ?? 0;
    const level = (levels[task] ?? 0) + (durations[task] ?? 0);
    levels[task] = level;
    for (const before of plan.tasks[task]?.after ?? []) levels[before] = Math.max(levels[before] ?? 0, level);
  }
  return levels;
}
