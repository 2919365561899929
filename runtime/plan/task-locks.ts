import { parsePathPattern, patternsOverlap, type PathPattern } from "./path-pattern.ts";
import type { PlanTable, TaskIndex } from "./plan-table.ts";

/**
 * What tasks hold while they run: paths (many readers or one writer) and places in pools. Resources are numbered once, overlaps of
 * paths are worked out once, so that asking and holding cost what the task itself touches.
 */
export interface TaskLocks {
  /** The resource that keeps a task from starting, or -1 when none does. */
  blocker(task: TaskIndex): number;
  hold(task: TaskIndex): void;
  /** Returns the resources that became freer. */
  release(task: TaskIndex): readonly number[];
  /** For messages: the path, or `pool gpu`. */
  resourceName(resource: number): string;
  /** Resources that a task asks for. */
  resourcesOf(task: TaskIndex): readonly number[];
  /** Those of them that others may hold at the same time: paths it reads, pools. */
  sharedBy(task: TaskIndex): readonly number[];
}

interface Use {
  readonly resource: number;
  /** Resources that overlap this one, itself included. */
  readonly overlaps: readonly number[];
  readonly write: boolean;
}

export function createTaskLocks(plan: PlanTable): TaskLocks {
  const { patterns, uses } = indexTouches(plan);
  const readers = new Int32Array(patterns.length);
  const writers = new Int32Array(patterns.length);
  const poolBase = patterns.length;
  const poolUsed = plan.pools.map(() => 0);
  const resources = plan.tasks.map((task, index) => [
    ...new Set((uses[index] ?? []).map((use) => use.resource)),
    ...(task.pool === undefined ? [] : [poolBase + task.pool.pool]),
  ]);
  const shared = plan.tasks.map((task, index) => [
    ...(uses[index] ?? []).filter((use) => !use.write).map((use) => use.resource),
    ...(task.pool === undefined ? [] : [poolBase + task.pool.pool]),
  ]);

  const count = (task: TaskIndex, by: number): void => {
    for (const use of uses[task] ?? []) {
      const counts = use.write ? writers : readers;
      for (const other of use.overlaps) counts[other] = (counts[other] ?? 0) + by;
    }
    const pool = plan.tasks[task]?.pool;
    if (pool !== undefined) poolUsed[pool.pool] = (poolUsed[pool.pool] ?? 0) + by * pool.count;
  };

  return {
    blocker(task) {
      for (const use of uses[task] ?? []) {
        if ((writers[use.resource] ?? 0) > 0 || (use.write && (readers[use.resource] ?? 0) > 0)) return use.resource;
      }
      const pool = plan.tasks[task]?.pool;
      if (pool !== undefined && (poolUsed[pool.pool] ?? 0) + pool.count > (plan.pools[pool.pool]?.size ?? 0))
        return poolBase + pool.pool;
      return -1;
    },
    hold: (task) => count(task, 1),
    release(task) {
      count(task, -1);
      const freed = new Set<number>();
      for (const use of uses[task] ?? []) for (const other of use.overlaps) freed.add(other);
      const pool = plan.tasks[task]?.pool;
      if (pool !== undefined) freed.add(poolBase + pool.pool);
      return [...freed];
    },
    resourceName: (resource) => patterns[resource]?.text ?? `pool ${plan.pools[resource - poolBase]?.name ?? "?"}`,
    resourcesOf: (task) => resources[task] ?? [],
    sharedBy: (task) => shared[task] ?? [],
  };

  function indexTouches(table: PlanTable) {
    const numbers = new Map<string, number>();
    const list: PathPattern[] = [];
    for (const task of table.tasks) {
      for (const touch of task.touches) {
        if (numbers.has(touch.path)) continue;
        numbers.set(touch.path, list.length);
        list.push(parsePathPattern(touch.path));
      }
    }
    // Exact paths overlap only themselves; only globs have to be compared with the others.
    const overlapping: number[][] = list.map((_, index) => [index]);
    for (const [index, pattern] of list.entries()) {
      if (pattern.exact) continue;
      for (const [other, candidate] of list.entries()) {
        if (other === index || (!candidate.exact && other < index) || !patternsOverlap(pattern, candidate)) continue;
        overlapping[index]?.push(other);
        overlapping[other]?.push(index);
      }
    }
    const used: Use[][] = table.tasks.map((task) => {
      const byResource = new Map<number, Use>();
      for (const touch of task.touches) {
        const resource = numbers.get(touch.path) ?? -1;
        const write = touch.mode === "write" || byResource.get(resource)?.write === true;
        byResource.set(resource, { resource, overlaps: overlapping[resource] ?? [], write });
      }
      return [...byResource.values()];
    });
    return { patterns: list, uses: used };
  }
}
