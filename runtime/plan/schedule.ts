import type { PlanTable, TaskIndex, TaskSpec } from "../table/plan-table.ts";
import { createPlanScheduler } from "./plan-scheduler.ts";
import { createPriorities, type ExpectedDuration } from "./priorities.ts";
import { successorsOf, topologicalOrder } from "./plan-order.ts";
import { createTaskLocks } from "./task-locks.ts";
import { waitsForFailure } from "./task-states.ts";

/**
 * The expected run of a plan: every task converges at once and takes its assumed time. Times are milliseconds from the
 * start.
 */
export interface Schedule {
  /** Tasks in start order, grouped by the time of their start. */
  readonly batches: readonly (readonly TaskIndex[])[];
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly makespan: number;
  /** A chain of tasks over the whole schedule: each starts when the one before it ends. */
  readonly criticalPath: readonly TaskIndex[];
  /** A lower bound of the makespan for any order. */
  readonly lowerBound: number;
  /** How much longer the schedule is than the lower bound; 0 is optimal. */
  readonly gap: number;
  readonly durations: Float64Array;
}

export interface ScheduleOptions {
  readonly expected?: ExpectedDuration;
  readonly maxParallel?: number;
  /** The tasks that run; all by default. The others count as done. */
  readonly selected?: ReadonlySet<TaskIndex> | undefined;
  /** The result of `makespanLowerBound`, if known: it does not depend on the order. */
  readonly lowerBound?: number;
}

/** Simulates the scheduler with assumed durations, in time proportional to the plan. */
export function planSchedule(plan: PlanTable, options: ScheduleOptions = {}): Schedule {
  const maxParallel = options.maxParallel ?? plan.maxParallel;
  const scheduler = createPlanScheduler(plan, options);
  const durations = scheduler.priorities.durations;
  const starts = new Float64Array(plan.tasks.length);
  const ends = new Float64Array(plan.tasks.length);
  const batches: TaskIndex[][] = [];
  /** Running tasks, the last one to end first. There are at most `maxParallel`, so insertion is cheap. */
  const inFlight: TaskIndex[] = [];
  let now = 0;
  const { selected } = options;
  if (selected !== undefined)
    scheduler.leaveOut(
      plan.tasks.flatMap((_, task) => (selected.has(task) ? [] : [task])),
      "left_out",
    );
  scheduler.begin();
  for (;;) {
    const started = scheduler.next();
    if (started.length > 0) batches.push(started);
    for (const task of started) {
      starts[task] = now;
      ends[task] = now + (durations[task] ?? 0);
      let at = inFlight.length;
      while (at > 0 && (ends[inFlight[at - 1] ?? 0] ?? 0) < (ends[task] ?? 0)) at--;
      inFlight.splice(at, 0, task);
    }
    const first = inFlight.at(-1);
    if (first === undefined) break;
    now = ends[first] ?? now;
    for (let task = inFlight.at(-1); task !== undefined && ends[task] === now; task = inFlight.at(-1)) {
      inFlight.pop();
      scheduler.settle(task, { status: "done" });
    }
  }
  const lowerBound = options.lowerBound ?? makespanLowerBound(plan, durations, maxParallel);
  return {
    batches,
    starts,
    ends,
    makespan: now,
    criticalPath: criticalPathOf(plan, starts, ends),
    lowerBound,
    gap: lowerBound === 0 ? 0 : now / lowerBound - 1,
    durations,
  };
}

/** By task: 1 if it does not run when no task fails. */
function skippedWithoutFailure({ tasks }: PlanTable, order: readonly TaskIndex[]): Uint8Array {
  const idle = new Uint8Array(tasks.length);
  if (!tasks.some(waitsForFailure)) return idle;
  for (const task of order) {
    const spec = tasks[task] as TaskSpec;
    const { after, trigger, needs } = spec;
    const isIdle = (before: TaskIndex): boolean => idle[before] === 1;
    const follows =
      trigger === "any"
        ? after.length > 0 && after.every(isIdle)
        : trigger !== "done" && after.some((before, at) => (needs?.[at] ?? "all") === "all" && isIdle(before));
    if (waitsForFailure(spec) || follows) idle[task] = 1;
  }
  return idle;
}

/**
 * The maximum of several lower bounds: the longest chain; all work divided by the slots, with `alone` tasks separate;
 * for each written path, its work in sequence with the shortest way to it and from it; for each pool, its work divided
 * by its places.
 */
export function makespanLowerBound(plan: PlanTable, expected: Float64Array, maxParallel: number): number {
  const order = topologicalOrder(plan);
  const idle = skippedWithoutFailure(plan, order);
  const durations = expected.map((duration, task) => (idle[task] === 1 ? 0 : duration));
  const successors = successorsOf(plan);
  const heads = new Float64Array(plan.tasks.length);
  const tails = new Float64Array(plan.tasks.length);
  let bound = 0;
  for (const task of order) {
    const end = (heads[task] ?? 0) + (durations[task] ?? 0);
    bound = Math.max(bound, end);
    for (const next of successors[task] ?? [])
      if (plan.tasks[next]?.trigger !== "any") heads[next] = Math.max(heads[next] ?? 0, end);
  }
  for (let at = order.length - 1; at >= 0; at--) {
    const task = order[at] ?? 0;
    for (const next of successors[task] ?? []) {
      if (plan.tasks[next]?.trigger === "any") continue;
      tails[task] = Math.max(tails[task] ?? 0, (tails[next] ?? 0) + (durations[next] ?? 0));
    }
  }
  let alone = 0;
  let shared = 0;
  const paths = new Map<string, { work: number; head: number; tail: number }>();
  const pools = plan.pools.map(() => 0);
  for (const [task, spec] of plan.tasks.entries()) {
    const duration = durations[task] ?? 0;
    if (spec.alone === true) alone += duration;
    else shared += duration;
    if (spec.pool !== undefined) pools[spec.pool.pool] = (pools[spec.pool.pool] ?? 0) + duration * spec.pool.count;
    for (const path of new Set(spec.touches.filter((touch) => touch.mode === "write").map((touch) => touch.path))) {
      const load = paths.get(path) ?? { work: 0, head: Infinity, tail: Infinity };
      load.work += duration;
      load.head = Math.min(load.head, heads[task] ?? 0);
      load.tail = Math.min(load.tail, tails[task] ?? 0);
      paths.set(path, load);
    }
  }
  bound = Math.max(bound, alone + shared / maxParallel);
  for (const { work, head, tail } of paths.values()) bound = Math.max(bound, head + work + tail);
  for (const [pool, work] of pools.entries()) bound = Math.max(bound, work / (plan.pools[pool]?.size ?? 1));
  return bound;
}

export interface OptimizeOptions extends ScheduleOptions {
  /** Called between attempts, with the caller's clock. */
  readonly shouldStop: (attempts: number) => boolean;
  /** Equal seeds try the same orders. */
  readonly seed?: number;
}

/**
 * Searches for a better order than the priorities: schedules many perturbed orders and keeps the best one (local
 * search). Each attempt starts from the best order so far. The result is never worse than the start, and the search
 * ends early at the lower bound.
 */
export function optimizePlan(
  plan: PlanTable,
  options: OptimizeOptions,
): { readonly ranks: readonly number[]; readonly schedule: Schedule; readonly attempts: number } {
  const random = mulberry32(options.seed ?? 1);
  const { ranks: _, ...unranked } = plan;
  const locks = createTaskLocks(plan, options.maxParallel ?? plan.maxParallel);
  const priorities = createPriorities({ ...unranked, order: "priority" }, locks, options.expected ?? (() => undefined));
  const score = plan.tasks.map((_task, index) => priorities.of(index));
  const spread = score.reduce((most, value) => Math.max(most, value), 1);
  let best = { keys: score, schedule: planSchedule(plan, options) };
  const { lowerBound } = best.schedule;
  let ranks = plan.ranks ?? ranksOf(plan.order === "file" ? plan.tasks.map((_task, index) => -index) : score);
  let attempts = 0;
  const consider = (keys: number[]): void => {
    const candidate = ranksOf(keys);
    const schedule = planSchedule({ ...plan, order: "priority", ranks: candidate }, { ...options, lowerBound });
    attempts++;
    if (schedule.makespan >= best.schedule.makespan) return;
    best = { keys, schedule };
    ranks = candidate;
  };
  consider(score);
  while (best.schedule.gap > 1e-9 && !options.shouldStop(attempts)) {
    // Mostly small steps from the best order, sometimes a large one.
    const reach = random() < 0.2 ? 0.6 : 0.15;
    const share = random() < 0.5 ? 1 : 0.15;
    consider(best.keys.map((key) => (random() < share ? key + (random() - 0.5) * reach * spread : key)));
  }
  return { ranks, schedule: best.schedule, attempts };
}

function ranksOf(keys: readonly number[]): number[] {
  const order = keys.map((_, task) => task).sort((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
  const ranks: number[] = Array.from({ length: keys.length }, () => 0);
  for (const [rank, task] of order.entries()) ranks[task] = rank;
  return ranks;
}

/**
 * From a task that ends last back to the start: before each task, the one whose end it waited for. That is a dependency
 * if one ended just then, else a task that freed a path, a place or a slot.
 */
function criticalPathOf(plan: PlanTable, starts: Float64Array, ends: Float64Array): TaskIndex[] {
  const endedAt = new Map<number, TaskIndex>();
  for (const [task, end] of ends.entries()) if (!endedAt.has(end)) endedAt.set(end, task);
  const path: TaskIndex[] = [];
  let task = endedAt.get(ends.reduce((last, end) => Math.max(last, end), 0));
  while (task !== undefined) {
    path.push(task);
    const start: number = starts[task] ?? 0;
    if (start === 0) break;
    task = plan.tasks[task]?.after.find((before) => ends[before] === start) ?? endedAt.get(start);
  }
  return path.reverse();
}

/** A small seeded random generator (mulberry32, public domain, Tommy Ettinger). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
