import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanTable, TaskIndex } from "../../runtime/table/plan-table.ts";
import { createPriorities } from "../../runtime/plan/priorities.ts";
import { successorsOf, topologicalOrder } from "../../runtime/plan/plan-order.ts";
import { createTaskLocks } from "../../runtime/plan/task-locks.ts";

/** The state of a plan's run for display, updated by the run's events. */
export interface PlanView {
  readonly onEvent: (event: PlanEvent) => void;
  /** Running tasks, each with its attempt and start time on the clock of `now`. */
  readonly running: readonly { readonly task: string; readonly attempt: number; readonly since: number }[];
  /** Ready tasks that do not run, each with the reason. */
  waiting(): readonly { readonly task: string; readonly why: string }[];
  /** Tasks that wait for an answer. */
  readonly asking: readonly string[];
  readonly failed: readonly string[];
  readonly triesOf: (task: string) => number;
  readonly ended: number;
  readonly total: number;
  /** Milliseconds along the longest remaining path; `undefined` if no duration is known. */
  timeLeft(now: number): number | undefined;
}

const TERMINAL: ReadonlySet<string> = new Set(["done", "failed", "blocked", "skipped", "cancelled"]);

export function createPlanView(
  plan: PlanTable,
  expected: (task: string) => number | undefined,
  maxParallel: number,
  now: () => number,
): PlanView {
  const locks = createTaskLocks(plan, maxParallel);
  const byIndex = (task: TaskIndex): number | undefined => expected(plan.tasks[task]?.name ?? "");
  const { durations } = createPriorities(plan, locks, byIndex);
  const isKnown = plan.tasks.some((task, index) => task.estimate !== undefined || byIndex(index) !== undefined);
  const order = topologicalOrder(plan);
  const successors = successorsOf(plan);
  const indexes = new Map(plan.tasks.map(({ name }, index) => [name, index]));
  const statuses = plan.tasks.map(() => "pending");
  const held = new Set<TaskIndex>();
  const running = new Map<string, { task: string; attempt: number; since: number }>();
  const asking = new Set<string>();
  const failed: string[] = [];
  let ended = 0;

  const why = (task: TaskIndex): string => {
    const alone = [...running.keys()].find((name) => plan.tasks[indexes.get(name) ?? -1]?.alone === true);
    if (alone !== undefined) return `${alone} runs alone`;
    if (plan.tasks[task]?.alone === true)
      return running.size === 0 ? "runs alone" : `runs alone, after ${[...running.keys()].join(", ")}`;
    const gate = locks.blocker(task);
    if (gate !== -1) return locks.gateName(gate);
    return running.size >= maxParallel ? "no free slot" : "its turn";
  };

  return {
    onEvent(event) {
      if (event.type === "node_attempt") {
        const known = running.get(event.node_id);
        if (known !== undefined) known.attempt = event.attempt + (event.converged ? 0 : 1);
        return;
      }
      if (event.type !== "node_transition") return;
      const task = indexes.get(event.node_id);
      // Tasks of plans that tasks call are part of the calling task.
      if (task === undefined) return;
      statuses[task] = event.to;
      running.delete(event.node_id);
      asking.delete(event.node_id);
      if (event.to === "running") {
        running.set(event.node_id, { task: event.node_id, attempt: event.attempt ?? 1, since: now() });
        if (!held.has(task)) locks.hold(task);
        held.add(task);
      }
      if (event.to === "waiting") asking.add(event.node_id);
      if (!TERMINAL.has(event.to)) return;
      ended++;
      if (event.to === "failed") failed.push(event.node_id);
      if (held.delete(task)) locks.release(task);
    },
    get running() {
      return [...running.values()];
    },
    waiting: () =>
      statuses.flatMap((status, task) =>
        status === "ready" ? [{ task: plan.tasks[task]?.name ?? "", why: why(task) }] : [],
      ),
    get asking() {
      return [...asking];
    },
    failed,
    triesOf: (task) => plan.tasks[indexes.get(task) ?? -1]?.tries ?? 1,
    get ended() {
      return ended;
    },
    total: plan.tasks.length,
    timeLeft(at) {
      if (!isKnown) return undefined;
      const levels = new Float64Array(plan.tasks.length);
      for (let position = order.length - 1; position >= 0; position--) {
        const task = order[position] ?? 0;
        const status = statuses[task] ?? "pending";
        const since = running.get(plan.tasks[task]?.name ?? "")?.since;
        const own = TERMINAL.has(status)
          ? 0
          : Math.max(0, (durations[task] ?? 0) - (since === undefined ? 0 : at - since));
        let after = 0;
        for (const next of successors[task] ?? []) after = Math.max(after, levels[next] ?? 0);
        levels[task] = own + after;
      }
      return levels.reduce((most, level) => Math.max(most, level), 0);
    },
  };
}
