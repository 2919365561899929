import type { TaskLocks } from "./task-locks.ts";
import { topologicalOrder } from "./plan-order.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";

/** Expected duration of a task, in milliseconds: recorded, else estimated; `undefined` if unknown. */
export type ExpectedDuration = (task: TaskIndex) => number | undefined;

/**
 * The priority of ready tasks (9.5): the longest path from the task to the end (its bottom level), raised to the
 * remaining load of the most contended resource that the task uses. The load of a path is the work of the tasks that
 * write it, because they run one after the other. The load of a pool is the work of its users divided by its places.
 * A resource that no task can wait for has no load: a path that tasks only read, a pool with a place for every slot.
 * The load only decreases, so a priority only falls: a heap may keep stale entries and check an entry when it takes it
 * out.
 */
export interface Priorities {
  of(task: TaskIndex): number;
  /** Orders tasks of equal priority: a larger value goes first, equal values in file order. It never changes. */
  tieBreak(task: TaskIndex): number;
  /** The task has released its resources. */
  finish(task: TaskIndex): void;
  /** Longest path from each task to the end, in expected time. */
  readonly bottomLevels: Float64Array;
  readonly durations: Float64Array;
}

/**
 * @param locks of the same plan and the same `maxParallel`
 */
export function createPriorities(plan: PlanTable, locks: TaskLocks, expected: ExpectedDuration): Priorities {
  const durations = assumedDurations(plan, expected);
  const bottomLevels = computeBottomLevels(plan, durations);
  const load = new Map<number, number>();
  const addLoad = (task: TaskIndex, by: number): void => {
    for (const { resource, share } of locks.contendedBy(task))
      load.set(resource, (load.get(resource) ?? 0) + by * share);
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
      for (const { resource } of locks.contendedBy(task)) priority = Math.max(priority, load.get(resource) ?? 0);
      return priority;
    },
    tieBreak: (task) => (plan.order === "file" || ranks !== undefined ? 0 : (bottomLevels[task] ?? 0)),
    finish: (task) => addLoad(task, -(durations[task] ?? 0)),
  };
}

/**
 * The duration that a schedule assumes for each task, in milliseconds: recorded, else estimated, else the mean of those
 * that are known, because a default of a fixed size would be out of proportion to them. 1 if none is known.
 */
function assumedDurations(plan: PlanTable, expected: ExpectedDuration): Float64Array {
  const known = plan.tasks.map((_, task) => knownDuration(plan, expected, task));
  const values = known.filter((value) => value !== undefined);
  const mean = values.length === 0 ? 1 : values.reduce((sum, value) => sum + value, 0) / values.length;
  return Float64Array.from(known, (value) => value ?? mean);
}

/** The recorded or estimated duration of a task, in milliseconds; `undefined` if there is none that is positive. */
export function knownDuration(plan: PlanTable, expected: ExpectedDuration, task: TaskIndex): number | undefined {
  const known = expected(task) ?? plan.tasks[task]?.estimate;
  return known === undefined || !Number.isFinite(known) || known <= 0 ? undefined : known;
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
