import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Schedule } from "../../runtime/plan/schedule.ts";

/**
 * The source of a task's expected duration; `estimate` also for a task that calls a plan and takes the time of its schedule; `none`: it counts as the mean of the others, or as 1 if none is known.
 */
export type Basis = "recorded" | "estimate" | "none";

/** A plan's schedule with names instead of indexes: the input of every format, and the document of `--json`. */
export interface ScheduleView {
  readonly version: 1;
  readonly plan: string;
  readonly digest: string;
  readonly maxParallel: number;
  /** The rule that chooses among ready tasks: the longest remaining path, the order in the file, or an optimized order. */
  readonly order: "priority" | "file" | "optimized";
  /** `tasks`: no duration is known, so each task counts as 1. */
  readonly unit: "ms" | "tasks";
  /** Tasks in start order, grouped by start time. */
  readonly batches: readonly (readonly string[])[];
  /** In start order. */
  readonly tasks: readonly ScheduledTask[];
  readonly criticalPath: readonly string[];
  readonly makespan: number;
  /** No order is shorter. */
  readonly lowerBound: number;
  /** The relative distance of the makespan to the lower bound: 0 is optimal, 0.1 is 10 %. */
  readonly gap: number;
  /** Number of orders that the search has tried. */
  readonly attempts?: number;
}

export interface ScheduledTask {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly basis: Basis;
  /** The index of its slot, from 0. */
  readonly slot: number;
  readonly critical: boolean;
  readonly after: readonly string[];
}

export function viewSchedule(
  table: PlanTable,
  schedule: Schedule,
  facts: {
    readonly maxParallel: number;
    readonly recorded: (task: string) => number | undefined;
    readonly expected: (task: string) => number | undefined;
    readonly attempts?: number;
  },
): ScheduleView {
  const nameOf = (task: number): string => table.tasks[task]?.name ?? "";
  const basisOf = (task: number): Basis =>
    facts.recorded(nameOf(task)) !== undefined
      ? "recorded"
      : (table.tasks[task]?.estimate ?? facts.expected(nameOf(task))) !== undefined
        ? "estimate"
        : "none";
  const critical = new Set(schedule.criticalPath);
  const slots: number[] = [];
  const tasks = schedule.batches.flat().map((task): ScheduledTask => {
    const start = schedule.starts[task] ?? 0;
    const end = schedule.ends[task] ?? 0;
    const free = slots.findIndex((until) => until <= start);
    const slot = free === -1 ? slots.length : free;
    slots[slot] = end;
    return {
      id: nameOf(task),
      start,
      end,
      basis: basisOf(task),
      slot,
      critical: critical.has(task),
      after: (table.tasks[task]?.after ?? []).map(nameOf),
    };
  });
  return {
    version: 1,
    plan: table.name,
    digest: table.digest,
    maxParallel: facts.maxParallel,
    order: table.order === "file" ? "file" : table.ranks === undefined ? "priority" : "optimized",
    unit: tasks.every(({ basis }) => basis === "none") ? "tasks" : "ms",
    batches: schedule.batches.map((batch) => batch.map(nameOf)),
    tasks,
    criticalPath: schedule.criticalPath.map(nameOf),
    makespan: schedule.makespan,
    lowerBound: schedule.lowerBound,
    gap: schedule.gap,
    ...(facts.attempts === undefined ? {} : { attempts: facts.attempts }),
  };
}

/** Formats a time: `5m`, `1m 30s`, `250ms`; a plain number if every task counts as 1. */
export function formatTime(value: number, unit: ScheduleView["unit"]): string {
  if (unit === "tasks") return String(value);
  const milliseconds = Math.round(value);
  if (milliseconds === 0) return "0";
  if (milliseconds < 1000) return `${milliseconds}ms`;
  if (milliseconds < 10_000 && milliseconds % 1000 !== 0) return `${(milliseconds / 1000).toFixed(1)}s`;
  const parts: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "m"],
    [1000, "s"],
  ];
  let rest = milliseconds;
  const texts: string[] = [];
  for (const [size, letter] of parts) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && texts.length < 2) texts.push(`${count}${letter}`);
    else if (texts.length > 0) break;
  }
  return texts.join(" ");
}
