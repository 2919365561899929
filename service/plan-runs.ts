/** Recorded runs of plans, which a host may show beside the threads of graphs: who reads the records is the host's. */
import type { MaybePromise } from "../runtime/value/json.ts";

/** A run in a list. */
export interface PlanRunSummary {
  readonly id: string;
  readonly plan: string;
  readonly thread: string | null;
  /** RFC 3339. */
  readonly startedAt: string;
  /** `null` for a run that has not ended, or was killed. */
  readonly outcome: string | null;
  /** Whether a process executes it. */
  readonly running: boolean;
}

/** A time in milliseconds from the start of the run. */
export interface PlanSpan {
  readonly start: number;
  readonly end: number;
}

export interface PlanRunTask {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  /** When it really ran. A span that is open ends now. */
  readonly spans: readonly PlanSpan[];
  /** The ends of attempts after which it was tried again. */
  readonly retries: readonly number[];
  readonly cached: boolean;
  /** When the schedule at the start of the run expected it; `null` for a task that the schedule does not have. */
  readonly planned: PlanSpan | null;
  /** Whether it is on the critical path of the schedule. */
  readonly critical: boolean;
  /** Why it has its status: `ancestor_failed:a,b`. */
  readonly reason: string | null;
  /** Of its last attempt. */
  readonly error: string | null;
}

/** What an attempt of a task, or of one of its checks, has printed. */
export interface PlanRunLog {
  /** Names it in requests. */
  readonly log: string;
  readonly task: string;
  /** 1-based, if it is a check. */
  readonly check: number | null;
  readonly attempt: number;
  readonly bytes: number;
}

export interface PlanRun extends PlanRunSummary {
  readonly resumedFrom: string | null;
  /** Milliseconds from its start to its end, or to now. */
  readonly length: number;
  /** The schedule at its start. `unit` is `tasks` if no duration was known: each task counts as 1. */
  readonly planned: { readonly makespan: number; readonly unit: "ms" | "tasks"; readonly maxParallel: number } | null;
  readonly tasks: readonly PlanRunTask[];
  readonly logs: readonly PlanRunLog[];
}

/** A part of a log. */
export interface PlanLogPart {
  readonly text: string;
  /** The position behind the part. */
  readonly next: number;
  /** The size of the log in bytes. */
  readonly bytes: number;
  /** Whether the run has ended: nothing will be added. */
  readonly over: boolean;
}

export interface PlanRuns {
  /** Newest first. Read as far as an answer needs them. */
  list(filter: { readonly plan?: string }): MaybePromise<Iterable<PlanRunSummary>>;
  /** `undefined` for a run that is not recorded. */
  find(id: string): MaybePromise<PlanRunSummary | undefined>;
  run(id: string): MaybePromise<PlanRun | undefined>;
  /** A part of a log from a position in bytes. */
  log(id: string, log: string, from: number): MaybePromise<PlanLogPart | undefined>;
  /**
   * Asks the process that executes a run to end it: it starts no further task and no further attempt. Asked again, it ends the tasks that
   * run. Returns why it could not be asked. Absent: runs are cancelled elsewhere.
   */
  cancel?(id: string): MaybePromise<{ readonly reason: string } | undefined>;
}
