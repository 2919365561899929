import type { PlanTable, TaskIndex } from "../table/plan-table.ts";
import { createPriorities, type ExpectedDuration, type Priorities } from "./priorities.ts";
import { createReadyTasks } from "./ready-tasks.ts";
import type { HoldResult } from "./run-ledger.ts";
import { createTaskLocks, type TaskLocks } from "./task-locks.ts";
import { createTaskStates, type TaskStatus, type TaskTransition } from "./task-states.ts";

export type { TaskStatus, TaskTransition } from "./task-states.ts";

export type PlanOutcome = "clean" | "clean_with_flake" | "partial" | "stuck" | "catastrophic";

/** How a running task ended. */
export type TaskEnd =
  | { readonly status: "done" }
  | { readonly status: "failed" | "cancelled"; readonly reason: string }
  | { readonly status: "skipped"; readonly reason: string }
  | { readonly status: "waiting" };

/**
 * Decides which tasks run when. It starts nothing and knows no clock: the driver of a plan calls `next`, starts the tasks it
 * names, and reports with `settle` how each one ended. The cost of a decision depends on what the task touches and leads to,
 * plus a heap operation.
 */
export interface PlanScheduler {
  /** Makes the roots ready. Call once. */
  begin(): void;
  /** Tasks that an earlier run has finished: done without running. Call once, before `begin`. */
  restore(tasks: readonly TaskIndex[]): void;
  /** Tasks that are not selected for this run: skipped, and done for the tasks that depend on them. Call before `begin`. */
  leaveOut(tasks: readonly TaskIndex[], reason: string): void;
  /** Tasks that start before all others when they are ready: their work is half done. Call before `begin`. */
  prefer(tasks: readonly TaskIndex[]): void;
  /** Tasks to start now, in order. Their status is `running` from here on. */
  next(): TaskIndex[];
  /** Reports how a running task has ended. */
  settle(task: TaskIndex, end: TaskEnd): void;
  /** A waiting task has its answer: it runs again when a slot is free. */
  wake(task: TaskIndex): void;
  /**
   * Starts no further task; cancels every task that has not started, with this reason. `finally` tasks still start when the others
   * have ended, unless they are cancelled too.
   */
  cancelRest(reason: string, options?: { readonly finally?: boolean }): void;
  status(task: TaskIndex): TaskStatus;
  reason(task: TaskIndex): string | null;
  readonly running: number;
  /**
   * Tasks that other plans of the run kept from starting in the last call of `next`; `waiting` of them only until a
   * running task ends.
   */
  readonly refused: { readonly all: number; readonly waiting: number };
  /** Nothing runs, waits or can start: every task has ended, or the plan is stuck on a cycle. */
  readonly settled: boolean;
  /** The lock that keeps a ready task from starting, for live views. */
  heldBy(task: TaskIndex): string | undefined;
  readonly locks: TaskLocks;
  readonly priorities: Priorities;
}

export interface PlanSchedulerOptions {
  readonly expected?: ExpectedDuration;
  readonly maxParallel?: number;
  readonly onTransition?: (transition: TaskTransition) => void;
  /** Called before a task starts: returns why the task is skipped instead, `undefined` to start it. */
  readonly skips?: (task: TaskIndex) => string | undefined;
  /** Called before a task becomes ready: whether it is done without running, because an earlier result holds. */
  readonly keeps?: (task: TaskIndex) => boolean;
  /** Called before a task starts: whether tasks of other plans of the run let it. Always, by default. */
  readonly hold?: (task: TaskIndex) => HoldResult;
  /** A task that `hold` has refused ends without having started. */
  readonly withdraw?: (task: TaskIndex) => void;
}

/** @throws RangeError when `maxParallel` is below 1 */
export function createPlanScheduler(plan: PlanTable, options: PlanSchedulerOptions = {}): PlanScheduler {
  return new Scheduler(plan, options);
}

class Scheduler implements PlanScheduler {
  readonly locks: TaskLocks;
  readonly priorities: Priorities;
  readonly #plan: PlanTable;
  readonly #options: PlanSchedulerOptions;
  readonly #maxParallel: number;
  readonly #states: ReturnType<typeof createTaskStates>;
  readonly #ready: ReturnType<typeof createReadyTasks>;
  readonly #preferred: Uint8Array;
  /** Tasks that hold their locks: running, waiting, or woken and ready again. */
  readonly #holdsLocks: Uint8Array;
  /** Tasks that have ended before the first one starts. */
  readonly #endedBefore: TaskIndex[] = [];
  #running = 0;
  #waiting = 0;
  #aloneRunning = false;
  /** The `alone` task that has headed the queue and starts as soon as nothing runs. */
  #nextAlone: TaskIndex | undefined;
  #refused = { all: 0, waiting: 0 };
  #stopped = false;
  readonly #hasFinal: boolean;

  constructor(plan: PlanTable, options: PlanSchedulerOptions) {
    const maxParallel = options.maxParallel ?? plan.maxParallel;
    if (!(maxParallel >= 1)) throw new RangeError(`max parallel must be at least 1, not ${maxParallel}`);
    const count = plan.tasks.length;
    this.#plan = plan;
    this.#options = options;
    this.#maxParallel = maxParallel;
    this.#hasFinal = plan.tasks.some((task) => task.finally === true);
    this.locks = createTaskLocks(plan, maxParallel);
    this.priorities = createPriorities(plan, this.locks, options.expected ?? (() => undefined));
    this.#preferred = new Uint8Array(count);
    this.#holdsLocks = new Uint8Array(count);
    this.#ready = createReadyTasks(count, (task) => this.#priorityOf(task), this.priorities.tieBreak);
    this.#states = createTaskStates(plan, {
      onTransition: options.onTransition,
      onReady: (task) => this.#ready.add(task),
      onEnd: (task) => this.priorities.finish(task),
      keeps: options.keeps,
    });
  }

  get running(): number {
    return this.#running;
  }

  get refused(): PlanScheduler["refused"] {
    return this.#refused;
  }

  get settled(): boolean {
    return this.#running === 0 && this.#waiting === 0 && this.#nextAlone === undefined && this.#ready.isEmpty;
  }

  begin(): void {
    // Only after `restore` and `leaveOut`: a task that one of them ends must not become ready through another one.
    for (const task of this.#endedBefore) this.#states.propagate(task);
    for (const [task, { after }] of this.#plan.tasks.entries()) {
      if (this.#states.status(task) !== "pending" || after.length > 0) continue;
      if (this.#options.keeps?.(task) === true) {
        this.#states.transition(task, "done", "restored");
        this.#states.propagate(task);
        continue;
      }
      this.#states.transition(task, "ready");
      this.#ready.add(task);
    }
  }

  restore(tasks: readonly TaskIndex[]): void {
    for (const task of tasks) {
      this.#states.transition(task, "done", "restored");
      this.#endedBefore.push(task);
    }
  }

  leaveOut(tasks: readonly TaskIndex[], reason: string): void {
    for (const task of tasks) {
      this.#states.leaveOut(task, reason);
      this.#endedBefore.push(task);
    }
  }

  prefer(tasks: readonly TaskIndex[]): void {
    for (const task of tasks) this.#preferred[task] = 1;
  }

  next(): TaskIndex[] {
    const started: TaskIndex[] = [];
    const passedOver: TaskIndex[] = [];
    const refused = { all: 0, waiting: 0 };
    this.#refused = refused;
    // Nothing overtakes an `alone` task that has headed the queue (9.3), whatever becomes ready meanwhile.
    if (this.#nextAlone !== undefined && this.#running > 0) return started;
    while ((!this.#stopped || this.#hasFinal) && !this.#aloneRunning && this.#running < this.#maxParallel) {
      const task = this.#nextAlone ?? this.#ready.take();
      if (task === undefined) break;
      this.#nextAlone = undefined;
      const isAlone = this.#isAlone(task);
      if (isAlone && this.#running > 0) {
        // If a parked task with a higher priority is ahead of the `alone` task, that one does not head the queue yet.
        if (this.#isBehindParked(task)) {
          passedOver.push(task);
          continue;
        }
        this.#nextAlone = task;
        break;
      }
      // A woken task still holds its locks and has passed its `when`.
      if (this.#holdsLocks[task] === 0) {
        const gate = this.locks.blocker(task);
        if (gate !== -1) {
          this.#ready.park(task, gate);
          continue;
        }
        const reason = this.#options.skips?.(task);
        if (reason !== undefined) {
          this.#states.transition(task, "skipped", reason);
          this.#ready.passOn(task);
          this.#states.propagate(task);
          this.#options.withdraw?.(task);
          continue;
        }
      }
      const hold = this.#options.hold?.(task) ?? "held";
      if (hold !== "held") {
        refused.all++;
        if (hold !== "blocked") refused.waiting++;
        passedOver.push(task);
        // No other task finds a free slot.
        if (hold === "full") break;
        continue;
      }
      this.#start(task);
      started.push(task);
      if (isAlone) break;
    }
    for (const task of passedOver) this.#ready.add(task);
    return started;
  }

  settle(task: TaskIndex, end: TaskEnd): void {
    const from = this.#states.status(task);
    if (from !== "running") throw new Error(`task ${this.#nameOf(task)} is ${from}, not running`);
    this.#running--;
    if (this.#isAlone(task)) this.#aloneRunning = false;
    if (end.status === "waiting") {
      this.#waiting++;
      this.#states.transition(task, "waiting");
      return;
    }
    if (end.status === "failed") this.#states.fail(task, end.reason);
    else this.#states.transition(task, end.status, "reason" in end ? end.reason : null);
    this.#holdsLocks[task] = 0;
    for (const gate of this.locks.release(task)) this.#ready.open(gate);
    this.#states.propagate(task);
  }

  wake(task: TaskIndex): void {
    if (this.#states.status(task) !== "waiting") throw new Error(`task ${this.#nameOf(task)} does not wait`);
    this.#waiting--;
    this.#ready.add(task);
  }

  cancelRest(reason: string, options: { readonly finally?: boolean } = {}): void {
    this.#stopped = true;
    this.#states.stop();
    for (let task = 0; task < this.#plan.tasks.length; task++) {
      const status = this.#states.status(task);
      if (status !== "pending" && status !== "ready") continue;
      if (options.finally !== true && this.#plan.tasks[task]?.finally === true) continue;
      this.#ready.forget(task);
      this.#states.transition(task, "cancelled", reason);
      this.#states.propagate(task);
      this.#options.withdraw?.(task);
    }
    this.#ready.clear();
    for (const [task, spec] of this.#plan.tasks.entries()) {
      const isReady = spec.finally === true && this.#states.status(task) === "ready";
      if (isReady && this.#ready.gateOf(task) === -1) this.#ready.add(task);
    }
    this.#nextAlone = undefined;
    this.#refused = { all: 0, waiting: 0 };
  }

  status(task: TaskIndex): TaskStatus {
    return this.#states.status(task);
  }

  reason(task: TaskIndex): string | null {
    return this.#states.reason(task);
  }

  heldBy(task: TaskIndex): string | undefined {
    const gate = this.#ready.gateOf(task);
    return gate === -1 ? undefined : this.locks.gateName(gate);
  }

  #start(task: TaskIndex): void {
    if (this.#holdsLocks[task] === 0) this.locks.hold(task);
    this.#holdsLocks[task] = 1;
    this.#running++;
    if (this.#isAlone(task)) this.#aloneRunning = true;
    this.#states.transition(task, "running");
    this.#ready.started(task);
    // A lock that several tasks may hold has room for the next task too.
    for (const gate of this.locks.sharedBy(task)) this.#ready.open(gate);
  }

  #isBehindParked(task: TaskIndex): boolean {
    const ahead = this.#ready.firstParked();
    if (ahead === undefined) return false;
    const priority = this.#priorityOf(task);
    if (ahead.priority !== priority) return ahead.priority > priority;
    const byTie = this.priorities.tieBreak(ahead.task) - this.priorities.tieBreak(task);
    return byTie === 0 ? ahead.task < task : byTie > 0;
  }

  #isAlone(task: TaskIndex): boolean {
    return this.#plan.tasks[task]?.alone === true;
  }

  #priorityOf(task: TaskIndex): number {
    return this.#preferred[task] === 1 ? Infinity : this.priorities.of(task);
  }

  #nameOf(task: TaskIndex): string {
    return this.#plan.tasks[task]?.name ?? `${task}`;
  }
}

/** Pending work with nothing running is an error, never an outcome (9.8): check `settled` and `pending` before the call. */
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
