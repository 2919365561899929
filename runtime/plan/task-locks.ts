import { overlappingPatterns } from "./overlapping-patterns.ts";
import { parsePathPattern, type PathPattern } from "./path-pattern.ts";
import type { PlanTable, TaskIndex } from "../table/plan-table.ts";

/**
 * The resources that running tasks hold: paths (many readers or one writer) and places in pools. Resources are numbered
 * and overlaps are computed once, so that a check or a lock costs what the task itself touches.
 */
export interface TaskLocks {
  /**
   * The gate that keeps a task from starting, or -1. A gate is a resource together with the kind of access (read,
   * write, a number of places). Of all tasks behind one gate, either the first can start or none can.
   */
  blocker(task: TaskIndex): number;
  hold(task: TaskIndex): void;
  /** Returns the gates that may have opened. */
  release(task: TaskIndex): readonly number[];
  /** Gates of this task's resources that other tasks can pass while this task holds them (shared locks). */
  sharedBy(task: TaskIndex): readonly number[];
  /** The name of a gate's resource for messages: the path, or `pool gpu`. */
  gateName(gate: number): string;
  /**
   * Resources of a task that a task may have to wait for, each with the share of the task's duration by which the task
   * occupies the resource: 1 for a path that it writes, 0 for a path that it reads and another task writes, places
   * divided by size for a pool.
   */
  contendedBy(task: TaskIndex): readonly { readonly resource: number; readonly share: number }[];
}

interface Use {
  readonly resource: number;
  /** Overlapping resources, itself included. */
  readonly overlaps: readonly number[];
  readonly write: boolean;
}

export function createTaskLocks(plan: PlanTable, maxParallel: number = plan.maxParallel): TaskLocks {
  const { patterns, uses } = indexTouches(plan);
  const readers = new Int32Array(patterns.length);
  const writers = new Int32Array(patterns.length);
  const poolBase = patterns.length;
  const poolUsed = plan.pools.map(() => 0);
  const contended = contendedResources();
  /** Gates of pools follow those of paths: one for each pool and number of places that a task uses. */
  const poolGates: { readonly pool: number; readonly count: number }[] = [];
  const gatesOfPool: number[][] = plan.pools.map(() => []);
  const poolGateOf = plan.tasks.map(({ pool }) => {
    if (pool === undefined) return -1;
    const known = gatesOfPool[pool.pool]?.find((gate) => poolGates[gate - 2 * patterns.length]?.count === pool.count);
    if (known !== undefined) return known;
    const gate = 2 * patterns.length + poolGates.length;
    poolGates.push(pool);
    gatesOfPool[pool.pool]?.push(gate);
    return gate;
  });
  const gatesOfPoolFor = (task: TaskIndex): readonly number[] => gatesOfPool[plan.tasks[task]?.pool?.pool ?? -1] ?? [];

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
        const taken = (writers[use.resource] ?? 0) > 0 || (use.write && (readers[use.resource] ?? 0) > 0);
        if (taken) return 2 * use.resource + (use.write ? 1 : 0);
      }
      const pool = plan.tasks[task]?.pool;
      const full = pool !== undefined && (poolUsed[pool.pool] ?? 0) + pool.count > (plan.pools[pool.pool]?.size ?? 0);
      return full ? (poolGateOf[task] ?? -1) : -1;
    },
    hold: (task) => count(task, 1),
    release(task) {
      count(task, -1);
      const opened = new Set<number>();
      for (const use of uses[task] ?? []) for (const other of use.overlaps) opened.add(2 * other).add(2 * other + 1);
      return [...opened, ...gatesOfPoolFor(task)];
    },
    sharedBy: (task) => [
      ...(uses[task] ?? []).filter((use) => !use.write).flatMap((use) => use.overlaps.map((other) => 2 * other)),
      ...gatesOfPoolFor(task),
    ],
    gateName(gate) {
      if (gate < 2 * patterns.length) return patterns[gate >> 1]?.text ?? "";
      return `pool ${plan.pools[poolGates[gate - 2 * patterns.length]?.pool ?? -1]?.name ?? ""}`;
    },
    contendedBy: (task) => contended[task] ?? [],
  };

  function contendedResources(): { readonly resource: number; readonly share: number }[][] {
    const writersOf = new Int32Array(patterns.length);
    for (const use of uses.flat()) if (use.write) for (const other of use.overlaps) bump(writersOf, other);
    const largestUse = plan.pools.map(() => 0);
    for (const { pool } of plan.tasks)
      if (pool !== undefined) largestUse[pool.pool] = Math.max(largestUse[pool.pool] ?? 0, pool.count);
    return plan.tasks.map(({ pool }, index) => {
      const found = (uses[index] ?? []).flatMap(({ resource, write }) =>
        (writersOf[resource] ?? 0) > (write ? 1 : 0) ? [{ resource, share: write ? 1 : 0 }] : [],
      );
      const size = pool === undefined ? 0 : (plan.pools[pool.pool]?.size ?? 0);
      if (pool !== undefined && size < maxParallel * (largestUse[pool.pool] ?? 0))
        found.push({ resource: poolBase + pool.pool, share: pool.count / size });
      return found;
    });
  }

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
    const overlapping = overlappingPatterns(list);
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

function bump(counts: Int32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}
