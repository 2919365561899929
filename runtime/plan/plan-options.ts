/** The public interface of plans: options and results of a runner. The implementation starts at `plan-runner.ts`. */
import type { PauseItem, ThreadId } from "../interface/checkpoint.ts";
import type { EngineOptions, GivenLimits, SomeConfig } from "../interface/engine-options.ts";
import type { NgraphError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { PlanEvent, PlanEventListener, PlanTotals } from "./plan-events.ts";
import type { PlanOutcome, TaskStatus } from "./plan-scheduler.ts";
import type { PlanTable } from "../table/plan-table.ts";
import type { TaskCache } from "./task-cache.ts";
import type { TaskWorktrees } from "./task-worktrees.ts";

/** `onEvent` receives the events of graphs that tasks call. The `onEvent` of a run receives the events of the plan. */
export type PlanRunnerOptions = Omit<
  EngineOptions,
  "maxSteps" | "maxTokens" | "maxCost" | "onFailure" | "wake" | "onWake" | "execute" | "host"
>;

/** Options of both runs and resumes. */
export interface PlanExecuteOptions {
  /** Aborting it ends the running tasks: the run is `cancelled`, and can be resumed. */
  readonly signal?: AbortSignal;
  /** Aborting it starts no further task; running tasks finish. */
  readonly drain?: AbortSignal;
  /** Replaces `max parallel`. */
  readonly maxParallel?: number;
  /**
   * Runs only these tasks. All others are left out, and no task waits for them. The name of a matrix task selects all
   * of its tasks.
   */
  readonly only?: readonly string[];
  /** Runs only this task and the tasks that depend on it. */
  readonly fromTask?: string;
  /** Recorded durations of tasks, in milliseconds. They override estimates in the order of the schedule. */
  readonly expected?: (task: string) => number | undefined;
  /** Called synchronously, in order. Exceptions are ignored. */
  readonly onEvent?: PlanEventListener;
  /**
   * Step limits of the graphs that tasks call, by name (a plan has no steps). A number given to a resume raises the
   * limit of graphs that have stopped at a lower limit.
   */
  readonly maxSteps?: GivenLimits;
  /** Limits of the tokens of graphs that tasks call, by name. */
  readonly maxTokens?: GivenLimits;
  /** Limits of the cost of graphs that tasks call, by name. */
  readonly maxCost?: GivenLimits;
  /** Stored with the run. */
  readonly metadata?: JsonObject;
  /** The cache for tasks with a `cache` policy. Without it these tasks always run. */
  readonly taskCache?: TaskCache;
  /** Working trees for tasks with the policy `worktree`. Without it these tasks fail. */
  readonly worktrees?: TaskWorktrees;
  /**
   * Called by the runner that holds the thread's claim, before anything starts: to end processes that a crash left
   * running.
   */
  readonly beforeStart?: (run: PlanRunInfo) => Promise<void> | void;
  /**
   * Called after each task that has run, before its dependents start. An exception or a returned reason fails the task.
   */
  readonly afterTask?: (task: string) => Promise<string | undefined> | string | undefined;
}

export interface PlanRunInfo {
  readonly runId: string;
  readonly resumedFrom: string | null;
  readonly thread: ThreadId | null;
  /** The last run on the thread, if any. This run resumes it, or abandons it. */
  readonly lastRun: { readonly runId: string; readonly metadata: JsonObject } | null;
}

export interface PlanRunOptions<Config = JsonObject> extends PlanExecuteOptions {
  /** With a store: the thread of the run. Generated if absent. */
  readonly thread?: ThreadId;
  /** Start even if the thread's last run is paused, failed or unfinished. That run is abandoned. */
  readonly abandon?: boolean;
  /** Values of the plan's `config` and of the `config` of all graphs and plans that it calls, by name. */
  readonly config?: Config;
}

export interface PlanResumeOptions<Config = JsonObject> extends PlanExecuteOptions {
  /** Answers by pause id. */
  readonly answers?: Readonly<Record<string, Json>>;
  /** The answer, if exactly one task waits. */
  readonly answer?: Json;
  /**
   * Runs these tasks again, even if they were done, with the tasks that are not done and those that depend on what runs
   * again. The name of a matrix task selects all of its tasks. Excludes `only` and `fromTask`.
   */
  readonly retry?: readonly string[];
  /** New values of the configuration, by name; all others keep theirs. */
  readonly config?: SomeConfig<Config>;
}

/** `completed`: every task has ended, well or not. `failed`: the run itself could not continue (`error`). */
export type PlanRunStatus = "completed" | "paused" | "cancelled" | "failed";

export interface PlanTaskResult {
  readonly id: string;
  readonly status: TaskStatus;
  /** The task has failed, and its policy `allow failure` allows it. */
  readonly allowed?: true;
  /** Its result comes from the cache: nothing that it depends on has changed. */
  readonly cached?: true;
  /** How often its body started, in this run or in the run that it was restored from. */
  readonly attempts: number;
  readonly reason: string | null;
  /** Milliseconds from its start to its end, including waits between attempts; `null` if it did not run. */
  readonly duration: number | null;
  /** The error of its last attempt. */
  readonly error: string | null;
}

export interface PlanRunResult {
  readonly status: PlanRunStatus;
  readonly outcome: PlanOutcome;
  readonly runId: string;
  readonly resumedFrom: string | null;
  readonly thread: ThreadId | null;
  /** Names of tasks in start order, grouped by the time of their start. */
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
 * Runs one plan. A runner serves any number of runs at once; `createPlanRunner` creates it. A call rejects with an
 * error of `errors.ts` if it cannot do its work (unknown thread, bad input, a lost claim). Tasks that fail are part of
 * the result.
 */
export interface PlanRunner {
  readonly table: PlanTable;
  run(input?: JsonObject, options?: PlanRunOptions): Promise<PlanRunResult>;
  /** A new run on the thread: finished tasks are restored, the rest start as pending (9.10). */
  resume(thread: ThreadId, options?: PlanResumeOptions): Promise<PlanRunResult>;
  /** The run's events in order. Leaving the loop early cancels the run. */
  stream(input?: JsonObject, options?: PlanRunOptions & PlanStreamOptions): PlanRunStream;
  streamResume(thread: ThreadId, options?: PlanResumeOptions & PlanStreamOptions): PlanRunStream;
}

export interface PlanStreamOptions {
  /**
   * Maximum number of events that wait for a slow consumer (default 1,024). Beyond it the oldest are dropped, and an
   * item `dropped` reports how many. The run never waits (8.2).
   */
  readonly buffer?: number;
}

export interface PlanRunStream extends AsyncIterable<PlanEvent | { readonly type: "dropped"; readonly count: number }> {
  /** Settles when the run ends, whether or not the events are read. */
  readonly result: Promise<PlanRunResult>;
}
