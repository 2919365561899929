import type { PauseItem } from "../interface/checkpoint.ts";
import type { Run } from "../run/run.ts";
import { RunError, type NgraphError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import { runOrRecall, storedUpdates, type CacheState } from "./cached-task.ts";
import type { PlanEventBody } from "./plan-events.ts";
import type { PlanExecuteOptions, PlanTaskResult } from "./plan-options.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";
import { createPlanScheduler, type PlanScheduler, type TaskEnd } from "./plan-scheduler.ts";
import type { Json } from "../value/json.ts";
import type { TaskIndex, TaskSpec, TaskStatusName } from "../table/plan-table.ts";
import { createPlanValues, type PlanValues } from "./plan-values.ts";
import { topologicalOrder } from "./plan-order.ts";
import { ResultKeys } from "./result-keys.ts";
import { claimOf, type RunLedger } from "./run-ledger.ts";
import { digestOfCall, recordWrite, unseen, type TaskRecord } from "./task-record.ts";
import type { PlanTaskEnd } from "./run-plan-task.ts";

/** Everything that a run of a plan needs. */
export interface DriveRequest {
  readonly program: PlanProgram;
  /** The run, with its input applied. Its cancellation ends the running tasks. */
  readonly run: Run;
  readonly options: Pick<
    PlanExecuteOptions,
    "drain" | "maxParallel" | "expected" | "taskCache" | "worktrees" | "afterTask"
  >;
  readonly emit: (body: PlanEventBody) => void;
  /** Prefix of task names in events; not empty in a plan that a task calls. */
  readonly prefix: string;
  /** What the tasks of all plans of the run hold; `undefined` in a run of a plan that calls none. */
  readonly ledger: RunLedger | undefined;
  /** Finished tasks of an earlier run whose results hold. They do not run. */
  readonly restored: ReadonlyMap<TaskIndex, TaskRecord>;
  /**
   * All results of an earlier run. One that is not in `restored` holds if the dependencies of its task turn out to have
   * the results that it was made from.
   */
  readonly records: ReadonlyMap<TaskIndex, TaskRecord>;
  /** Tasks that an earlier run has finished with another call. */
  readonly changed: ReadonlySet<TaskIndex>;
  /** Tasks that waited for an answer when the last run ended. */
  readonly waited: readonly TaskIndex[];
  /** Of tasks whose questions have ids of their own in this execution: its number. */
  readonly executions: ReadonlyMap<TaskIndex, number>;
  /** Tasks that were done and are selected to run again. */
  readonly again?: ReadonlySet<TaskIndex>;
  /** Tasks that run even if they have a cached result. */
  readonly forced?: ReadonlySet<TaskIndex> | undefined;
  /** Tasks that are not selected for this run. */
  readonly leftOut: readonly TaskIndex[];
}

export interface DriveEnd {
  readonly scheduler: PlanScheduler;
  readonly batches: readonly (readonly string[])[];
  readonly tasks: readonly PlanTaskResult[];
  readonly pauses: readonly PauseItem[];
  /** Tasks cannot start until a task of another plan of the run has its answer. */
  readonly isBlocked: boolean;
  /** Attempts in this run. */
  readonly attempts: number;
  readonly retries: number;
  readonly flaky: number;
  /** Unfinished called graphs and plans: namespace -> checkpoint id. */
  readonly children: Readonly<Record<string, string>>;
  /** The error of the first failed task that has one. */
  readonly firstFailure: NgraphError | undefined;
  /**
   * Why the run could not end normally: some tasks can never start, or the updates of different tasks do not combine.
   */
  readonly error: RunError | undefined;
}

/** The status of a matrix is the first of these that one of its tasks has. */
const STATUSES: readonly TaskStatusName[] = ["failed", "blocked", "cancelled", "done", "skipped"];

/**
 * Runs a plan until it ends or waits for answers. Rejects with an error that ends the whole run: the store failed, or
 * the claim is lost.
 */
export function drivePlan(request: DriveRequest): Promise<DriveEnd> {
  return new Drive(request).start();
}

class Drive {
  readonly #request: DriveRequest;
  readonly #scheduler: PlanScheduler;
  readonly #values: PlanValues;
  readonly #cache: CacheState;
  readonly #batches: (readonly string[])[] = [];
  readonly #attempts: Int32Array;
  readonly #started: Float64Array;
  readonly #durations: (number | null)[];
  /** By task that is done: the execution that made its result. */
  readonly #epochs = new Map<TaskIndex, number>();
  /** Tasks whose results of an earlier run hold. */
  readonly #kept = new Set<TaskIndex>();
  /** Tasks whose results come from the cache. */
  readonly #cached = new Set<TaskIndex>();
  readonly #errors = new Map<TaskIndex, string>();
  readonly #pauses = new Map<TaskIndex, readonly PauseItem[]>();
  #children: Record<string, string> = {};
  /** Failures of tasks whose `when` has no value. */
  readonly #conditionFailed = new Map<TaskIndex, PlanTaskEnd>();
  #firstFailure: NgraphError | undefined;
  #whyCancelled = "interrupted";
  #inFlight = 0;
  #pumping = false;
  /** The error that ends the whole run. */
  #fault: unknown;
  #hasFault = false;
  #resolve: (end: DriveEnd) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(request: DriveRequest) {
    const { program, run, options, emit, prefix, ledger } = request;
    this.#request = request;
    this.#values = createPlanValues(program, run);
    const cache = program.plan.tasks.some((task) => task.cache !== undefined) ? options.taskCache : undefined;
    this.#cache = { cache, keys: new ResultKeys(program, cache), forced: request.forced };
    const count = program.tasks.length;
    this.#attempts = new Int32Array(count);
    this.#started = new Float64Array(count).fill(-1);
    this.#durations = program.tasks.map(() => null);
    this.#scheduler = createPlanScheduler(program.plan, {
      ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
      ...(options.expected === undefined
        ? {}
        : { expected: (task) => options.expected?.(`${prefix}${program.plan.tasks[task]?.name ?? ""}`) }),
      skips: (task) => this.#skips(program.tasks[task] as TaskCode),
      keeps: (task) => this.#holdsStill(task),
      ...(ledger === undefined
        ? {}
        : {
            hold: (task) => ledger.tryHold(this.#holder(task), claimOf(program, program.tasks[task] as TaskCode)),
            withdraw: (task) => ledger.withdraw(this.#holder(task)),
          }),
      onTransition: ({ task, from, to, reason }) =>
        emit({
          type: "node_transition",
          node_id: `${prefix}${program.plan.tasks[task]?.name ?? ""}`,
          from,
          to,
          ...(to === "running" ? { attempt: (this.#attempts[task] ?? 0) + 1 } : {}),
          ...(reason === null ? {} : { reason }),
        }),
    });
  }

  #holder(task: TaskIndex): string {
    const { prefix, program } = this.#request;
    return `${prefix}${program.plan.tasks[task]?.name ?? ""}`;
  }

  start(): Promise<DriveEnd> {
    const { restored, waited, leftOut, options, run, ledger } = this.#request;
    const scheduler = this.#scheduler;
    const isLeftOut = new Set(leftOut);
    // The fingerprint of a task may contain those of the tasks before it.
    for (const task of topologicalOrder(this.#request.program.plan)) {
      const record = restored.get(task);
      if (record !== undefined) this.#keep(task, record);
      else if (isLeftOut.has(task)) this.#cache.keys.record(task, []);
    }
    scheduler.leaveOut(leftOut, "left_out");
    scheduler.restore([...restored.keys()]);
    scheduler.prefer(waited);
    scheduler.begin();

    const onDrain = (): void => this.#stop("interrupted", { finally: false });
    // `on failure kill` interrupts the running tasks only.
    const onCancel = (): void => this.#stop("interrupted", { finally: run.cancellation.aborted });
    run.cancellation.listen(onCancel);
    options.drain?.addEventListener("abort", onDrain, { once: true });
    const unlisten = ledger?.listen(() => this.#pumpSoon());
    return new Promise<DriveEnd>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (run.cancellation.aborted) scheduler.cancelRest("interrupted", { finally: true });
      else if (options.drain?.aborted === true) scheduler.cancelRest("interrupted");
      this.#pump();
    }).finally(() => {
      unlisten?.();
      run.cancellation.unlisten(onCancel);
      options.drain?.removeEventListener("abort", onDrain);
    });
  }

  /** Takes over a result of an earlier run. */
  #keep(task: TaskIndex, record: TaskRecord): void {
    const { updates = [], attempts, duration, epoch } = record;
    this.#values.add(task, updates);
    this.#attempts[task] = attempts;
    this.#durations[task] = duration;
    this.#epochs.set(task, epoch);
    this.#kept.add(task);
    this.#cache.keys.record(task, storedUpdates(this.#request.program, updates));
  }

  /**
   * Whether the result of an earlier run still holds now that all dependencies of the task have ended. If not, the task
   * runs again, and the reason is reported.
   */
  #holdsStill(task: TaskIndex): boolean {
    const { records, changed, emit, program } = this.#request;
    const record = records.get(task);
    const reasons =
      record === undefined
        ? changed.has(task)
          ? ["its call"]
          : []
        : unseen(program.plan, task, record, (dependency) => this.#epochs.get(dependency));
    if (reasons.length > 0) emit({ type: "node_changed", node_id: this.#holder(task), changed: reasons });
    if (record === undefined || reasons.length > 0) return false;
    // A `finally` task runs again after tasks that have run again, even if they have ended as before.
    const { after, finally: isFinal } = program.plan.tasks[task] as TaskSpec;
    if (isFinal === true && !after.every((before) => this.#kept.has(before))) return false;
    this.#keep(task, record);
    return true;
  }

  #stop(reason: string, options: { readonly finally: boolean }): void {
    this.#scheduler.cancelRest(reason, options);
    this.#pumpSoon();
  }

  /** Schedules one pump for all tasks that end in the same tick, so that the tasks they release start as one batch. */
  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    try {
      const started = this.#hasFault ? [] : this.#scheduler.next();
      if (started.length > 0) {
        const { tasks } = this.#request.program;
        this.#batches.push(started.map((task) => tasks[task]?.spec.name ?? ""));
        for (const task of started) this.#run(tasks[task] as TaskCode);
      }
    } catch (error) {
      this.#giveUp(error);
    }
    if (this.#inFlight > 0) return;
    // The ledger calls again when a task of another plan ends.
    if (!this.#hasFault && this.#scheduler.refused.waiting > 0) return;
    if (this.#hasFault) this.#reject(this.#fault);
    else this.#resolve(this.#end());
  }

  #run(task: TaskCode): void {
    this.#inFlight++;
    const { run } = this.#request;
    this.#started[task.index] = run.shared.clock.now();
    // `on failure kill` has ended the other tasks. This one runs after them.
    if (task.spec.finally === true) run.aborting = false;
    this.#work(task)
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        const { ledger } = this.#request;
        const holder = this.#holder(task.index);
        if (this.#scheduler.status(task.index) === "waiting") ledger?.suspend(holder);
        else ledger?.release(holder);
        this.#inFlight--;
        this.#pumpSoon();
      });
  }

  /** Whether an earlier run has finished a task that runs now. */
  #wasDone(task: TaskIndex): boolean {
    const { again, changed, records } = this.#request;
    return again?.has(task) === true || changed.has(task) || records.has(task);
  }

  async #work(task: TaskCode): Promise<void> {
    const { program, run, options, emit, prefix } = this.#request;
    const seen = this.#doneBefore(task);
    const condition = this.#conditionFailed.get(task.index);
    const end: PlanTaskEnd =
      condition ??
      (await runOrRecall(
        program,
        task,
        {
          run,
          values: this.#values,
          renew: this.#wasDone(task.index),
          execution: this.#request.executions.get(task.index),
          afterTask: options.afterTask,
          holder: this.#holder(task.index),
          worktrees: options.worktrees,
          drain: task.spec.finally === true ? undefined : options.drain,
          onAttempt: (attempt) => {
            this.#attempts[task.index] = attempt.attempt;
            const error = attempt.error === undefined ? {} : { error: run.shared.redact(attempt.error) };
            emit({ type: "node_attempt", ...attempt, ...error, node_id: `${prefix}${attempt.node_id}` });
          },
          onChanged: (name, changed) => emit({ type: "node_changed", node_id: `${prefix}${name}`, changed }),
        },
        this.#cache,
      ));
    this.#attempts[task.index] = Math.max(this.#attempts[task.index] ?? 0, end.attempts);
    if (end.kind === "done" && end.isCached === true) this.#cached.add(task.index);
    const now = run.shared.clock.now();
    this.#durations[task.index] = now - (this.#started[task.index] ?? now);
    await this.#settle(task, end, seen);
  }

  /** By name, the epoch of each dependency that is done. */
  #doneBefore({ spec }: TaskCode): ReadonlyMap<string, number> {
    const { tasks } = this.#request.program.plan;
    return new Map(
      spec.after.flatMap((dependency) => {
        const epoch = this.#epochs.get(dependency);
        return epoch === undefined ? [] : [[tasks[dependency]?.name ?? "", epoch] as const];
      }),
    );
  }

  async #settle(task: TaskCode, end: PlanTaskEnd, seen: ReadonlyMap<string, number>): Promise<void> {
    const { run, program } = this.#request;
    const { index } = task;
    if (end.kind !== "done" && end.children !== undefined) Object.assign(this.#children, end.children);
    switch (end.kind) {
      case "done": {
        try {
          this.#values.add(index, end.updates);
        } catch (error) {
          return this.#failTask(task, "reducer_failed", reasonOf(error));
        }
        const epoch = run.shared.durable?.claim.epoch ?? 0;
        this.#epochs.set(index, epoch);
        if (run.writer !== undefined) {
          const { updates, attempts } = end;
          const duration = this.#durations[index] ?? null;
          const call = digestOfCall(program.plan, index);
          const kept = run.writer.keep(recordWrite(program, index, { updates, attempts, duration, epoch, call, seen }));
          if (kept !== undefined) await kept;
        }
        return this.#scheduler.settle(index, { status: "done" });
      }
      case "failed":
        if (task.spec.allowFailure !== true) this.#firstFailure ??= end.error;
        return this.#failTask(task, end.reason, end.message);
      case "waiting":
        this.#pauses.set(index, end.pauses);
        return this.#scheduler.settle(index, { status: "waiting" });
      case "cancelled":
        return this.#scheduler.settle(index, { status: "cancelled", reason: this.#whyCancelled });
    }
  }

  #failTask(task: TaskCode, reason: string, message: string): void {
    const { program, run } = this.#request;
    this.#errors.set(task.index, run.shared.redact(message));
    const end: TaskEnd = { status: "failed", reason: run.shared.redact(reason) };
    this.#scheduler.settle(task.index, end);
    if (task.spec.allowFailure === true) return;
    const { onFailure } = program.plan;
    if (onFailure === "continue" || this.#whyCancelled !== "interrupted" || task.spec.finally === true) return;
    this.#whyCancelled = `stopped_by_failure:${task.spec.name}`;
    this.#scheduler.cancelRest(this.#whyCancelled);
    // Aborts the running tasks. The run itself continues to its end.
    if (onFailure === "kill") {
      run.aborting = true;
      run.cancellation.interrupt(new Error(`task ${task.spec.name} failed`));
    }
  }

  #skips(task: TaskCode): string | undefined {
    if (task.condition === undefined) return undefined;
    const { run } = this.#request;
    const { item, statuses = [] } = task.spec;
    const locals = new Map<string, Json>(item === undefined ? [] : [[item.name, item.value]]);
    for (const { name, tasks } of statuses) locals.set(name, this.#statusOf(tasks));
    try {
      this.#values.show(task);
      const holds = task.condition({ state: run.state, secrets: run.scope.secrets, error: null, locals });
      return holds === true ? undefined : "when";
    } catch (error) {
      const message = reasonOf(error);
      this.#conditionFailed.set(task.index, {
        kind: "failed",
        reason: "when_failed",
        message,
        error: undefined,
        attempts: 0,
        children: undefined,
      });
      return undefined;
    }
  }

  /**
   * How tasks that have ended did so: all tasks of a matrix together. A task that is not selected counts as done, as for the tasks
   * that depend on it.
   */
  #statusOf(tasks: readonly TaskIndex[]): TaskStatusName {
    const scheduler = this.#scheduler;
    const found = new Set(
      tasks.map((task) => (scheduler.reason(task) === "left_out" ? "done" : scheduler.status(task))),
    );
    return STATUSES.find((status) => found.has(status)) ?? "done";
  }

  #showAll(): RunError | undefined {
    try {
      this.#values.showAll();
      return undefined;
    } catch (error) {
      if (error instanceof RunError) return error;
      throw error;
    }
  }

  #giveUp(error: unknown): void {
    if (!this.#hasFault) {
      this.#hasFault = true;
      this.#fault = error;
    }
    this.#request.run.cancellation.cancel(error);
  }

  #end(): DriveEnd {
    const { program } = this.#request;
    const scheduler = this.#scheduler;
    let attempts = 0;
    let retries = 0;
    let flaky = 0;
    const stuck: string[] = [];
    const tasks = program.plan.tasks.map((spec, task): PlanTaskResult => {
      const { name } = spec;
      const status = scheduler.status(task);
      const own = this.#attempts[task] ?? 0;
      const isAllowed = status === "failed" && spec.allowFailure === true;
      const isRestored = this.#kept.has(task);
      if (!isRestored) attempts += own;
      if (status === "done" && own > 1 && !isRestored) {
        retries += own - 1;
        flaky++;
      }
      if (status === "pending" || status === "ready") stuck.push(name);
      return {
        id: name,
        status,
        ...(isAllowed ? { allowed: true } : {}),
        ...(this.#cached.has(task) ? { cached: true } : {}),
        attempts: own,
        reason: scheduler.reason(task),
        duration: this.#durations[task] ?? null,
        error: this.#errors.get(task) ?? null,
      };
    });
    const unfit = this.#showAll();
    const isBlocked = scheduler.refused.all > 0;
    const waits = this.#pauses.size > 0 || isBlocked;
    return {
      scheduler,
      batches: this.#batches,
      tasks,
      pauses: [...this.#pauses].sort(([a], [b]) => a - b).flatMap(([, pauses]) => pauses),
      isBlocked,
      attempts,
      retries,
      flaky,
      children: this.#children,
      firstFailure: this.#firstFailure,
      error:
        unfit ??
        (waits || stuck.length === 0
          ? undefined
          : new RunError(
              "NG_DEADLOCK",
              `plan \`${program.plan.name}\` is stuck: no task runs, and ${stuck.slice(0, 10).join(", ")} can never start`,
              { nodeIds: stuck },
            )),
    };
  }
}
