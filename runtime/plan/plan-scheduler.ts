import type { PlanTable, TaskIndex } from "../table/plan-table.ts";
import { createPriorities, type ExpectedDuration, type Priorities } from "./priorities.ts";
import { successorsOf } from "../table/plan-order.ts";
import { createTaskLocks, type TaskLocks } from "./task-locks.ts";
import { createTaskQueue } from "./task-queue.ts";

/** 9.1. `waiting`: paused for an answer, its slot free, its paths held. */
export type TaskStatus =
  "pending" | "ready" | "running" | "waiting" | "done" | "failed" | "blocked" | "skipped" | "cancelled";
export type PlanOutcome = "clean" | "clean_with_flake" | "partial" | "stuck" | "catastrophic";

export interface TaskTransition {
  readonly task: TaskIndex;
  readonly from: TaskStatus;
  readonly to: TaskStatus;
  readonly reason: string | null;
}

/** How a running task ended. */
export type TaskEnd =
  | { readonly status: "done" }
  | { readonly status: "failed" | "cancelled"; readonly reason: string }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "waiting" };

/**
 * Decides which tasks run when; starts nothing itself and knows no clock. Whoever runs the plan asks `next`, starts what it names, and
 * tells how each ended. A decision costs what the tasks concerned touch and lead to, plus a heap operation.
 */
export interface PlanScheduler {
  /** Makes the roots ready. Call once. */
  begin(): void;
  /** What an earlier run has finished: done without running. Call once, before `begin`. */
  restore(tasks: readonly TaskIndex[]): void;
  /** Tasks that are not wanted in this run: skipped, and whoever comes after them need not wait. Call before `begin`. */
  leaveOut(tasks: readonly TaskIndex[], reason: string): void;
  /** These go before all others when they are ready: what they hold in the world is half done. Call before `begin`. */
  prefer(tasks: readonly TaskIndex[]): void;
  /** Tasks to start now, in order; they are running from here on. */
  next(): TaskIndex[];
  /** Tells how a task that runs (or, for `skipped`, that is about to) has ended. */
  settle(task: TaskIndex, end: TaskEnd): void;
  /** A waiting task has its answer: it runs again when a slot is free. */
  wake(task: TaskIndex): void;
  /** Nothing new starts; what has not started is cancelled with this reason. */
  cancelRest(reason: string): void;
  status(task: TaskIndex): TaskStatus;
  reason(task: TaskIndex): string | null;
  readonly running: number;
  /** Nothing runs, waits or can start: every task has ended, or the plan is stuck on a cycle. */
  readonly settled: boolean;
  /** Why a ready task does not run: for live views. */
  heldBy(task: TaskIndex): string | undefined;
  readonly locks: TaskLocks;
  readonly priorities: Priorities;
}

export interface PlanSchedulerOptions {
  readonly expected?: ExpectedDuration;
  readonly maxParallel?: number;
  readonly onTransition?: (transition: TaskTransition) => void;
  /** Asked when a task would start: why it is skipped instead, `undefined` to start it. */
  readonly skips?: (task: TaskIndex) => string | undefined;
}

/** @throws RangeError when `maxParallel` is below 1 */
export function createPlanScheduler(plan: PlanTable, options: PlanSchedulerOptions = {}): PlanScheduler {
  const maxParallel = options.maxParallel ?? plan.maxParallel;
  if (!(maxParallel >= 1)) throw new RangeError(`max parallel must be at least 1, not ${maxParallel}`);
  const count = plan.tasks.length;
  const locks = createTaskLocks(plan);
  const priorities = createPriorities(plan, locks, options.expected ?? (() => undefined));
  const successors = successorsOf(plan);

  const statuses: TaskStatus[] = plan.tasks.map(() => "pending");
  const reasons: (string | null)[] = plan.tasks.map(() => null);
  /** Names of the nearest failed ancestors, for tasks that have failed or are blocked. */
  const failedAncestors: (readonly string[])[] = plan.tasks.map(() => []);
  const ended = new Int32Array(count);
  const endedDone = new Int32Array(count);
  const endedSkipped = new Int32Array(count);
  const endedBadly: TaskIndex[][] = plan.tasks.map(() => []);

  let running = 0;
  let waiting = 0;
  let aloneRunning = false;
  let stopped = false;

  /** Have ended before the first task starts. */
  const endedBefore: TaskIndex[] = [];
  const leftOut = new Uint8Array(count);
  const preferred = new Uint8Array(count);
  const priorityOf = (task: TaskIndex): number => (preferred[task] === 1 ? Infinity : priorities.of(task));
  const ready = createTaskQueue(priorityOf);
  /** Ready tasks that something held keeps from starting, by the gate that does. */
  const parkedBehind = new Int32Array(count).fill(-1);
  const parked = new Map<number, ReturnType<typeof createTaskQueue>>();
  const allParked = createTaskQueue(priorityOf, (task) => parkedBehind[task] === -1);
  /** The gate whose opening made a task ready again; whoever then finds another one in its way lets the next one try. */
  const unparkedFrom = new Int32Array(count).fill(-1);
  /** Woken tasks hold their paths already. */
  const holdsLocks = new Uint8Array(count);

  const transition = (task: TaskIndex, to: TaskStatus, reason: string | null = null): void => {
    const from = statuses[task] ?? "pending";
    statuses[task] = to;
    reasons[task] = reason;
    options.onTransition?.({ task, from, to, reason });
  };

  const makeReady = (task: TaskIndex): void => {
    transition(task, "ready");
    ready.push(task);
  };

  /** Terminal: tells those that come after, in file order, and those that only follow from that. */
  const conclude = (first: TaskIndex): void => {
    const queue = [first];
    for (let at = 0; at < queue.length; at++) {
      const task = queue[at] ?? 0;
      priorities.finish(task);
      const status = statuses[task];
      for (const next of successors[task] ?? []) {
        ended[next] = (ended[next] ?? 0) + 1;
        if (status === "done" || leftOut[task] === 1) endedDone[next] = (endedDone[next] ?? 0) + 1;
        else if (status === "skipped") endedSkipped[next] = (endedSkipped[next] ?? 0) + 1;
        else endedBadly[next]?.push(task);
        if (statuses[next] !== "pending") continue;
        if (decide(next)) queue.push(next);
      }
    }
  };

  /** What the ends of its dependencies mean for a pending task. Returns whether it has ended by that. */
  const decide = (task: TaskIndex): boolean => {
    const spec = plan.tasks[task];
    if (spec === undefined) return false;
    const all = ended[task] === spec.after.length;
    const bad = endedBadly[task] ?? [];
    if (
      spec.trigger === "done"
        ? all
        : spec.trigger === "any"
          ? (endedDone[task] ?? 0) > 0
          : endedDone[task] === spec.after.length
    ) {
      if (stopped) return end(task, "cancelled", "stopped");
      makeReady(task);
      return false;
    }
    if (bad.length > 0 && (spec.trigger === "all" || all)) {
      const causes = new Set(bad.flatMap((cause) => failedAncestors[cause] ?? []));
      if (causes.size === 0) return end(task, "cancelled", reasons[bad[0] ?? 0] ?? "cancelled");
      const names = [...causes].sort();
      failedAncestors[task] = names;
      return end(task, "blocked", `ancestor_failed:${names.join(",")}`);
    }
    if (all && (endedSkipped[task] ?? 0) > 0) {
      const names = spec.after
        .filter((before) => statuses[before] === "skipped")
        .map((before) => plan.tasks[before]?.name ?? "");
      return end(task, "skipped", `dependency_skipped:${names.sort().join(",")}`);
    }
    return false;
  };

  const end = (task: TaskIndex, status: TaskStatus, reason: string): true => {
    transition(task, status, reason);
    return true;
  };

  const park = (task: TaskIndex, gate: number): void => {
    parkedBehind[task] = gate;
    let queue = parked.get(gate);
    if (queue === undefined) {
      queue = createTaskQueue(priorityOf, (candidate) => parkedBehind[candidate] !== gate);
      parked.set(gate, queue);
    }
    queue.push(task);
    allParked.push(task);
    const passedOn = unparkedFrom[task] ?? -1;
    unparkedFrom[task] = -1;
    if (passedOn !== -1 && passedOn !== gate) unparkFirst(passedOn);
  };

  const passOn = (task: TaskIndex): void => {
    const gate = unparkedFrom[task] ?? -1;
    unparkedFrom[task] = -1;
    if (gate !== -1) unparkFirst(gate);
  };

  /** Brings the first task behind a gate back among the ready; the others stay until that one is seen to. */
  const unparkFirst = (gate: number): void => {
    const task = parked.get(gate)?.pop();
    if (task === undefined) return;
    parkedBehind[task] = -1;
    unparkedFrom[task] = gate;
    ready.push(task);
  };

  const start = (task: TaskIndex): void => {
    if (holdsLocks[task] === 0) locks.hold(task);
    holdsLocks[task] = 1;
    running++;
    if (plan.tasks[task]?.alone === true) aloneRunning = true;
    transition(task, "running");
  };

  const stopRunning = (task: TaskIndex): void => {
    running--;
    if (plan.tasks[task]?.alone === true) aloneRunning = false;
  };

  const releaseLocks = (task: TaskIndex): void => {
    holdsLocks[task] = 0;
    for (const gate of locks.release(task)) unparkFirst(gate);
  };

  return {
    locks,
    priorities,
    get running() {
      return running;
    },
    get settled() {
      return running === 0 && waiting === 0 && ready.size === 0 && allParked.peek() === undefined;
    },
    begin() {
      // Only now that all of them have ended: none must become ready because of another one.
      for (const task of endedBefore) conclude(task);
      for (let task = 0; task < count; task++) {
        if (statuses[task] === "pending" && plan.tasks[task]?.after.length === 0) makeReady(task);
      }
    },
    restore(tasks) {
      for (const task of tasks) {
        transition(task, "done", "restored");
        endedBefore.push(task);
      }
    },
    leaveOut(tasks, reason) {
      for (const task of tasks) {
        leftOut[task] = 1;
        transition(task, "skipped", reason);
        endedBefore.push(task);
      }
    },
    prefer(tasks) {
      for (const task of tasks) preferred[task] = 1;
    },
    next() {
      const started: TaskIndex[] = [];
      const passedOver: TaskIndex[] = [];
      while (!stopped && !aloneRunning && running < maxParallel) {
        const task = ready.pop();
        if (task === undefined) break;
        const alone = plan.tasks[task]?.alone === true;
        if (alone && running > 0) {
          // It heads the queue: let what runs drain. Behind a task that waits for a path it does not, and is passed over.
          const ahead = allParked.peek();
          passedOver.push(task);
          const key = priorityOf(task);
          if (ahead !== undefined && (ahead.priority > key || (ahead.priority === key && ahead.task < task))) continue;
          break;
        }
        const blocker = holdsLocks[task] === 1 ? -1 : locks.blocker(task);
        if (blocker !== -1) {
          park(task, blocker);
          continue;
        }
        const skipped = holdsLocks[task] === 1 ? undefined : options.skips?.(task);
        if (skipped !== undefined) {
          transition(task, "skipped", skipped);
          // Whoever waits behind the gate that it was let through has its turn now.
          passOn(task);
          conclude(task);
          continue;
        }
        start(task);
        started.push(task);
        // What several may hold at once has room for the next one too.
        unparkedFrom[task] = -1;
        for (const gate of locks.sharedBy(task)) unparkFirst(gate);
        if (alone) break;
      }
      for (const task of passedOver) ready.push(task);
      return started;
    },
    settle(task, result) {
      const from = statuses[task];
      if (from !== "running")
        throw new Error(`task ${plan.tasks[task]?.name ?? task} is ${from ?? "unknown"}, not running`);
      stopRunning(task);
      if (result.status === "waiting") {
        waiting++;
        transition(task, "waiting");
        return;
      }
      if (result.status === "failed") failedAncestors[task] = [plan.tasks[task]?.name ?? ""];
      transition(task, result.status, "reason" in result ? result.reason : null);
      releaseLocks(task);
      conclude(task);
    },
    wake(task) {
      if (statuses[task] !== "waiting") throw new Error(`task ${plan.tasks[task]?.name ?? task} does not wait`);
      waiting--;
      ready.push(task);
    },
    cancelRest(reason) {
      stopped = true;
      for (let task = 0; task < count; task++) {
        const status = statuses[task];
        if (status !== "pending" && status !== "ready") continue;
        parkedBehind[task] = -1;
        transition(task, "cancelled", reason);
        conclude(task);
      }
      while (ready.pop() !== undefined);
    },
    status: (task) => statuses[task] ?? "pending",
    reason: (task) => reasons[task] ?? null,
    heldBy(task) {
      const gate = parkedBehind[task] ?? -1;
      return gate === -1 ? undefined : locks.gateName(gate);
    },
  };
}

/** Pending work with nothing running is an error, never an outcome (9.8): check `settled` and `pending` before asking. */
export function planOutcome(counts: {
  readonly done: number;
  readonly failed: number;
  readonly blocked: number;
  readonly flaky: number;
}): PlanOutcome {
  if (counts.failed === 0 && counts.blocked === 0) return counts.flaky === 0 ? "clean" : "clean_with_flake";
  if (counts.done === 0) return "catastrophic";
  return counts.failed > 0 && counts.blocked > 0 ? "stuck" : "partial";
}
