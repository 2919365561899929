import { notify } from "../event/run-events.ts";
import type { TaskStatus, PlanOutcome } from "./plan-scheduler.ts";

/**
 * Events of a plan's run, in the order in which things happened. Each line of the run's log is one event as JSON
 * (9.10). `ts` is for display; `seq` and the order of lines define the order.
 */
export type PlanEvent =
  | (PlanEventBase & {
      readonly type: "run_start";
      readonly plan: string;
      readonly total_nodes: number;
      /** The run whose finished tasks are restored. */
      readonly resumed_from?: string;
    })
  | (PlanEventBase & {
      readonly type: "node_transition";
      readonly node_id: string;
      readonly from: TaskStatus;
      readonly to: TaskStatus;
      /** Set if `to` is `running`. */
      readonly attempt?: number;
      /** A kind, optionally with details after a colon: `ancestor_failed:a,b`. */
      readonly reason?: string;
    })
  | (PlanEventBase & TaskAttempt & { readonly type: "node_attempt" })
  /** A task with a `cache` policy runs because of these changes since its last run. */
  | (PlanEventBase & {
      readonly type: "node_changed";
      readonly node_id: string;
      readonly changed: readonly string[];
    })
  | (PlanEventBase & PlanTotals & { readonly type: "run_end"; readonly exit_code: number });

export interface PlanEventBase {
  /** From 0 in each run. */
  readonly seq: number;
  /** RFC 3339 in UTC, with milliseconds. */
  readonly ts: string;
  readonly run_id: string;
}

/** One attempt of a task, with its checks. Tasks of a called plan are named `caller/task`. */
export interface TaskAttempt {
  readonly node_id: string;
  readonly attempt: number;
  /** Duration of the task and its checks. */
  readonly duration_s: number;
  readonly converged: boolean;
  /** Wait before the attempt; absent for the first one. */
  readonly backoff_s?: number;
  readonly done_when_results: readonly CheckResult[];
  /** Why the task's own call failed. */
  readonly error?: string;
  /** The result comes from the cache. */
  readonly cached?: true;
}

export interface CheckResult {
  /** The command, or the name of what is called. */
  readonly cmd: string;
  readonly rc: number;
  readonly duration_s: number;
  /** If `rc` is not 0: the end of the output, at most 4,096 bytes. */
  readonly tail?: string;
  readonly truncated?: true;
}

export interface PlanTotals {
  readonly outcome: PlanOutcome;
  readonly done: number;
  readonly failed: number;
  readonly blocked: number;
  readonly skipped: number;
  readonly cancelled: number;
  readonly waiting: number;
  readonly total_duration_s: number;
  readonly total_attempts: number;
  /** Attempts beyond the first, of tasks that ended as done. */
  readonly flake_retries: number;
  /** Tasks that are done, but needed more than one attempt. */
  readonly flaky_tasks: number;
}

export type PlanEventListener = (event: PlanEvent) => void;

export type PlanEventBody = PlanEvent extends infer E
  ? E extends PlanEvent
    ? Omit<E, keyof PlanEventBase>
    : never
  : never;

/** Adds number, time and run to events. Exceptions of listeners are ignored: a listener cannot affect the run. */
export function createPlanEmitter(
  runId: string,
  now: () => number,
  listeners: readonly PlanEventListener[],
): (body: PlanEventBody) => void {
  let seq = 0;
  return (body) => {
    if (listeners.length === 0) return;
    const { type, ...rest } = body;
    const event = { type, seq: seq++, ts: new Date(now()).toISOString(), run_id: runId, ...rest } as PlanEvent;
    for (const listener of listeners) notify(listener, event);
  };
}
