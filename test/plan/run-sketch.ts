import { createPlanRunner, type PlanEvent, type PlanRunOptions, type PlanRunResult } from "../../runtime/index.ts";
import type { PlanRunnerOptions } from "../../runtime/plan/plan-options.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { sketchPlan, type TaskSketch } from "./simulate-plan.ts";

/** A task of a plan that runs in virtual time. */
export interface RunSketch extends TaskSketch {
  /** The result of each attempt: `ok`, a message to fail with, or an attempt that never ends. The last one repeats. */
  readonly does?: readonly string[];
  /** For each attempt, whether each check passes. The last one repeats. Without it the task has no checks. */
  readonly checks?: readonly (readonly boolean[])[];
  readonly tries?: number;
  /** The value of its `when`. */
  readonly when?: boolean;
  /** Seconds. */
  readonly timeout?: number;
}

export interface SketchRun {
  readonly result: PlanRunResult;
  readonly events: readonly PlanEvent[];
  readonly clock: VirtualClock;
  /** Most tasks in flight at once. */
  readonly peak: number;
  /** For each start, the tasks in flight right after it, sorted. */
  readonly together: readonly (readonly string[])[];
}

/** The plan, with a function for each task and one for all checks. */
export function sketchTable(
  tasks: Readonly<Record<string, RunSketch>>,
  settings: Parameters<typeof sketchPlan>[1] = {},
): PlanTable {
  const plan = sketchPlan(tasks, settings);
  const names = plan.tasks.map(({ name }) => name);
  return {
    ...plan,
    digest: `sha256:${"0".repeat(64)}`,
    functions: [
      ...names.map((name) => ({ name: `run ${name}`, module: "./tasks.ts", export: "run" })),
      { name: "check", module: "./tasks.ts", export: "check" },
    ],
    expressions: [
      { op: "const", value: null },
      ...names.map((name) => ({ op: "const" as const, value: name })),
      ...Array.from({ length: 10 }, (_, index) => ({ op: "const" as const, value: index })),
      { op: "const", value: false },
      { op: "const", value: true },
    ],
    tasks: plan.tasks.map((task, index) => {
      const { checks, tries, timeout, when } = tasks[task.name] ?? {};
      return {
        ...task,
        call: { kind: "function", function: index, args: [] },
        checks: (checks?.[0] ?? []).map((_, number) => ({
          kind: "function" as const,
          function: names.length,
          args: [1 + index, 1 + names.length + number],
        })),
        ...(when === undefined ? {} : { condition: 11 + names.length + (when ? 1 : 0) }),
        tries: tries ?? (checks === undefined ? 1 : 6),
        ...(timeout === undefined ? {} : { timeout: timeout * 1000 }),
      };
    }),
  };
}

export function sketchFunctions(
  tasks: Readonly<Record<string, RunSketch>>,
  clock: VirtualClock,
  watch: { started?: (name: string) => void; ended?: (name: string) => void } = {},
  attempts: Map<string, number> = new Map(),
): NonNullable<PlanRunnerOptions["functions"]> {
  const last = <T>(list: readonly T[], attempt: number): T | undefined => list[Math.min(attempt, list.length) - 1];
  const functions: Record<string, (...args: never[]) => unknown> = {
    check: (name: string, number: number) => last(tasks[name]?.checks ?? [], attempts.get(name) ?? 1)?.[number],
  };
  for (const [name, task] of Object.entries(tasks)) {
    functions[`run ${name}`] = () => {
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      watch.started?.(name);
      return new Promise((resolve, reject) => {
        const does = last(task.does ?? ["ok"], attempt);
        if (does === "hang") return;
        clock.setTimeout(
          () => {
            watch.ended?.(name);
            if (does === "ok") resolve(null);
            else reject(new Error(does));
          },
          (task.takes ?? 1) * 1000,
        );
      });
    };
  }
  return functions;
}

/** Runs tasks in virtual time: one unit of `takes` is a second. */
export async function runSketch(
  tasks: Readonly<Record<string, RunSketch>>,
  settings: Parameters<typeof sketchPlan>[1] = {},
  options: PlanRunOptions = {},
  table: PlanTable = sketchTable(tasks, settings),
): Promise<SketchRun> {
  const clock = new VirtualClock();
  const events: PlanEvent[] = [];
  const inFlight = new Set<string>();
  const together: string[][] = [];
  let peak = 0;
  const runner = createPlanRunner(table, {
    clock,
    functions: sketchFunctions(tasks, clock, {
      started: (name) => {
        inFlight.add(name);
        peak = Math.max(peak, inFlight.size);
        together.push([...inFlight].sort());
      },
      ended: (name) => inFlight.delete(name),
    }),
  });
  const result = await clock.until(runner.run({}, { ...options, onEvent: (event) => void events.push(event) }));
  return { result, events, clock, peak, together };
}

export function transitionsOf(events: readonly PlanEvent[], name?: string): string[] {
  return events.flatMap((event) =>
    event.type === "node_transition" && (name === undefined || event.node_id === name)
      ? [
          `${name === undefined ? `${event.node_id} ` : ""}${event.from}→${event.to}${event.reason === undefined ? "" : ` ${event.reason}`}`,
        ]
      : [],
  );
}
