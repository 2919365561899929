import { tell } from "../event/run-events.ts";
import type { TaskStatus, PlanOutcome } from "./plan-scheduler.ts";

/**
 * What a plan's run tells those who watch it, in the order in which things happened; a line of the run's log is one of these as JSON (9.10).
 * `ts` is for people; order is that of `seq`, and of the lines.
 */
export type PlanEvent =
  | (PlanEventBase & {
      readonly type: "run_start";
      readonly plan: string;
      readonly total_nodes: number;
      /** The run whose finished tasks this one starts with. */
      readonly resumed_from?: string;
    })
  | (PlanEventBase & {
      readonly type: "node_transition";
      readonly node_id: string;
      readonly from: TaskStatus;
      readonly to: TaskStatus;
      /** When `to` is `running`. */
      readonly attempt?: number;
      /** A kind, then details after a colon: `ancestor_failed:a,b`. */
      readonly reason?: string;
    })
  | (PlanEventBase & TaskAttempt & { readonly type: "node_attempt" })
  /** A task with a `cache` policy runs, because of what has changed since it ran last. */
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

/** One attempt of a task, with its checks. Tasks of a plan that a task calls are named `caller/task`. */
export interface TaskAttempt {
  readonly node_id: string;
  readonly attempt: number;
  /** Of the task and its checks. */
  readonly duration_s: number;
  readonly converged: boolean;
  /** How long it waited before; absent on the first attempt. */
  readonly backoff_s?: number;
  readonly done_when_results: readonly CheckResult[];
  /** Why the task's own call failed, where it did. */
  readonly error?: string;
  /** The result was taken from the cache. */
  readonly cached?: true;
}

export interface CheckResult {
  /** The command, or what stands for it. */
  readonly cmd: string;
  readonly rc: number;
  readonly duration_s: number;
  /** Where `rc` is not 0: the end of what it printed, at most 4,096 bytes. */
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
  /** Attempts beyond the first of tasks that were done in the end. */
  readonly flake_retries: number;
  /** Tasks that were done, but not at the first attempt. */
  readonly flaky_tasks: number;
}

export type PlanEventListener = (event: PlanEvent) => void;

export type PlanEventBody = PlanEvent extends infer E
  ? E extends PlanEvent
    ? Omit<E, keyof PlanEventBase>
    : never
  : never;

/** Gives events their number, time and run. What a listener throws is ignored: whoever watches cannot break a run. */
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
    for (const listener of listeners) tell(listener, event);
  };
}
