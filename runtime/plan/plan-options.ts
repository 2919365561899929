/** Plans as their users see them: what a runner takes, what it gives. The code behind it starts at `plan-runner.ts`. */
import type { PauseItem, ThreadId } from "../interface/checkpoint.ts";
import type { EngineOptions, GivenStepLimits } from "../interface/engine-options.ts";
import type { NgraphError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { PlanEvent, PlanEventListener, PlanTotals } from "./plan-events.ts";
import type { PlanOutcome, TaskStatus } from "./plan-scheduler.ts";
import type { PlanTable } from "../table/plan-table.ts";
import type { TaskCache } from "./task-cache.ts";

/** `onEvent` hears of the graphs that tasks call; of the plan itself, that of a run's options does. */
export type PlanRunnerOptions = Omit<EngineOptions, "maxSteps" | "onFailure">;

/** What a run and a resume have in common. */
export interface PlanExecuteOptions {
  /** Aborting it ends what runs: the run is `cancelled`, and can be resumed. */
  readonly signal?: AbortSignal;
  /** Aborting it starts nothing more and lets what runs end. */
  readonly drain?: AbortSignal;
  /** Replaces `max parallel`. */
  readonly maxParallel?: number;
  /** Only these tasks: all others are left out, and nobody waits for them. A matrix task's name means all of its tasks. */
  readonly only?: readonly string[];
  /** Only this task and those that come after it. */
  readonly fromTask?: string;
  /** How long tasks took before, in milliseconds; comes before estimates in the order of the schedule. */
  readonly expected?: (task: string) => number | undefined;
  /** Called synchronously, in order; what it throws is ignored. */
  readonly onEvent?: PlanEventListener;
  /**
   * Limits of steps of the graphs that tasks call, by their names (a plan has no steps). A number given to a resume is for those that have
   * stopped at a lower limit.
   */
  readonly maxSteps?: GivenStepLimits;
  /** Stored with the run. */
  readonly metadata?: JsonObject;
  /** Results of tasks with a `cache` policy; without one they always run. */
  readonly taskCache?: TaskCache;
  /** Done as the one runner of the thread, before anything starts: for whoever has to end what a crash left running. */
  readonly beforeStart?: (run: PlanRunInfo) => Promise<void> | void;
  /** After each task that has run, before whoever comes after it starts. Failing here fails the task. */
  readonly afterTask?: (task: string) => Promise<string | undefined> | string | undefined;
}

export interface PlanRunInfo {
  readonly runId: string;
  readonly resumedFrom: string | null;
  readonly thread: ThreadId | null;
  /** The last run on the thread, where there was one: this one goes on with it, or gives it up. */
  readonly lastRun: { readonly runId: string; readonly metadata: JsonObject } | null;
}

export interface PlanRunOptions extends PlanExecuteOptions {
  /** With a store: where the run is kept. Made up when absent. */
  readonly thread?: ThreadId;
  /** Start although the thread's last run is paused, failed or unfinished; that run is given up. */
  readonly abandon?: boolean;
}

export interface PlanResumeOptions extends PlanExecuteOptions {
  /** Answers by pause id. */
  readonly answers?: Readonly<Record<string, Json>>;
  /** The answer, when exactly one task waits. */
  readonly answer?: Json;
}

/** `completed`: every task has ended, well or not. `failed`: the run itself could not go on (`error`). */
export type PlanRunStatus = "completed" | "paused" | "cancelled" | "failed";

export interface PlanTaskResult {
  readonly id: string;
  readonly status: TaskStatus;
  /** How often its body was started, in this run or in the one that it was restored from. */
  readonly attempts: number;
  readonly reason: string | null;
  /** Milliseconds from its start to its end, waits between attempts included; `null` for one that did not run. */
  readonly duration: number | null;
  /** What its last attempt failed with. */
  readonly error: string | null;
}

export interface PlanRunResult {
  readonly status: PlanRunStatus;
  readonly outcome: PlanOutcome;
  readonly runId: string;
  readonly resumedFrom: string | null;
  readonly thread: ThreadId | null;
  /** Names of tasks in start order, grouped by the moment they started. */
  readonly batches: readonly (readonly string[])[];
  /** In file order. */
  readonly tasks: readonly PlanTaskResult[];
  readonly totals: PlanTotals;
  /** Output channels by name. */
  readonly output: JsonObject;
  readonly pauses: readonly PauseItem[];
  readonly error: NgraphError | null;
  /** 0 for the clean outcomes, 3 when paused, 130 when interrupted, else 1. */
  readonly exitCode: number;
}

/**
 * Runs one plan; serves any number of runs at once. Made by `createPlanRunner`. Calls reject with the errors of `errors.ts` when they
 * cannot do what was asked (unknown thread, bad input, a lost claim); tasks that fail are part of the result.
 */
export interface PlanRunner {
  readonly table: PlanTable;
  run(input?: JsonObject, options?: PlanRunOptions): Promise<PlanRunResult>;
  /** A new run on the thread: what was done stays done, the rest starts again (9.10). */
  resume(thread: ThreadId, options?: PlanResumeOptions): Promise<PlanRunResult>;
  /** The run's events in order. Leaving the loop early cancels the run. */
  stream(input?: JsonObject, options?: PlanRunOptions & PlanStreamOptions): PlanRunStream;
  streamResume(thread: ThreadId, options?: PlanResumeOptions & PlanStreamOptions): PlanRunStream;
}

export interface PlanStreamOptions {
  /**
   * How many events wait for a slow consumer (default 1,024). Beyond it the oldest are dropped, and an item `dropped` says how many; the run
   * never waits (8.2).
   */
  readonly buffer?: number;
}

export interface PlanRunStream extends AsyncIterable<PlanEvent | { readonly type: "dropped"; readonly count: number }> {
  /** Settles when the run ends, whether or not the events are read. */
  readonly result: Promise<PlanRunResult>;
}
