import { createPlanScheduler, type TaskEnd, type TaskTransition } from "../../runtime/plan/plan-scheduler.ts";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable, type TaskSpec } from "../../runtime/table/plan-table.ts";

/** The properties of a task that a test sets; all others have their default. */
export interface TaskSketch {
  readonly after?: readonly string[];
  readonly trigger?: TaskSpec["trigger"];
  readonly needs?: TaskSpec["needs"];
  readonly touches?: readonly string[];
  readonly reads?: readonly string[];
  readonly alone?: true;
  readonly pool?: readonly [name: string, count: number];
  /** In simulated time; default 1. */
  readonly takes?: number;
  readonly ends?: TaskEnd;
}

export function sketchPlan(
  tasks: Readonly<Record<string, TaskSketch>>,
  settings: Partial<Pick<PlanTable, "maxParallel" | "order" | "pools">> = {},
): PlanTable {
  const names = Object.keys(tasks);
  const pools = settings.pools ?? [];
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    kind: "plan",
    name: "sketch",
    maxParallel: 4,
    order: "file",
    onFailure: "continue",
    pools,
    channels: [],
    tasks: names.map((name) => {
      const task = tasks[name] ?? {};
      return {
        name,
        call: { kind: "expression", expression: 0 },
        after: (task.after ?? []).map((before) => names.indexOf(before)),
        trigger: task.trigger ?? "all",
        ...(task.needs === undefined ? {} : { needs: task.needs }),
        touches: [
          ...(task.touches ?? []).map((path) => ({ path, mode: "write" as const })),
          ...(task.reads ?? []).map((path) => ({ path, mode: "read" as const })),
        ],
        ...(task.alone === true ? { alone: true as const } : {}),
        ...(task.pool === undefined
          ? {}
          : { pool: { pool: pools.findIndex((pool) => pool.name === task.pool?.[0]), count: task.pool[1] } }),
        checks: [],
        tries: 6,
      };
    }),
    expressions: [{ op: "const", value: null }],
    functions: [],
    types: [],
    graphs: [],
    plans: [],
    secrets: [],
    effects: [],
    digest: "sha256:0",
    ...settings,
  };
}

export interface Simulation {
  /** Names of the tasks that started together, by time. */
  readonly batches: readonly (readonly string[])[];
  readonly transitions: readonly TaskTransition[];
  /** Start and end of each task that ran, in simulated time. */
  readonly spans: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
  /** For each time at which tasks started, the tasks in flight right after it. */
  readonly inFlight: readonly (readonly string[])[];
  /** Times at which a slot stayed free although a ready task could have started. */
  readonly idle: readonly string[];
  readonly statuses: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string | null>>;
  readonly settled: boolean;
}

/** Runs a plan in simulated time: every task takes the time of its sketch. */
export function simulatePlan(plan: PlanTable, tasks: Readonly<Record<string, TaskSketch>>): Simulation {
  const transitions: TaskTransition[] = [];
  const name = (task: number): string => plan.tasks[task]?.name ?? "?";
  const scheduler = createPlanScheduler(plan, {
    expected: (task) => tasks[name(task)]?.takes ?? 1,
    onTransition: (transition) => transitions.push(transition),
  });
  const batches: string[][] = [];
  const inFlight: string[][] = [];
  const idle: string[] = [];
  const spans = new Map<string, { start: number; end: number }>();
  const running = new Map<number, number>();
  let now = 0;
  scheduler.begin();
  for (;;) {
    const started = scheduler.next();
    if (started.length > 0) batches.push(started.map(name));
    for (const task of started) {
      const end = now + (tasks[name(task)]?.takes ?? 1);
      running.set(task, end);
      spans.set(name(task), { start: now, end });
    }
    inFlight.push([...running.keys()].map(name));
    const ready = plan.tasks.flatMap((_, task) => (scheduler.status(task) === "ready" ? [task] : []));
    const aloneAbout = [...running.keys(), ...ready].some((task) => plan.tasks[task]?.alone === true);
    if (running.size < plan.maxParallel && !aloneAbout) {
      for (const task of ready) if (scheduler.locks.blocker(task) === -1) idle.push(`${name(task)} at ${now}`);
    }
    if (running.size === 0) break;
    now = Math.min(...running.values());
    for (const [task, end] of [...running].sort((a, b) => a[0] - b[0])) {
      if (end !== now) continue;
      running.delete(task);
      scheduler.settle(task, tasks[name(task)]?.ends ?? { status: "done" });
    }
  }
  return {
    batches,
    transitions,
    spans,
    inFlight,
    idle,
    statuses: Object.fromEntries(plan.tasks.map((task, index) => [task.name, scheduler.status(index)])),
    reasons: Object.fromEntries(plan.tasks.map((task, index) => [task.name, scheduler.reason(index)])),
    settled: scheduler.settled,
  };
}
