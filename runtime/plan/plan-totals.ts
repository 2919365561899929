import type { DriveEnd } from "./drive-plan.ts";
import type { PlanTotals } from "./plan-events.ts";
import { planOutcome, type PlanOutcome, type TaskStatus } from "./plan-scheduler.ts";
import type { PlanTable } from "../table/plan-table.ts";
import type { PlanRunStatus } from "./plan-options.ts";

/** The totals of a run, and its outcome (9.8). */
export function totalsOf(plan: PlanTable, end: DriveEnd, milliseconds: number): PlanTotals {
  const count = (status: TaskStatus): number => end.tasks.filter((task) => task.status === status).length;
  const done = count("done");
  const failed = count("failed");
  const blocked = count("blocked");
  const cancelled = count("cancelled");
  // A plan of which only the `finally` tasks are done has done none of its work.
  const work = end.tasks.filter(({ status }, task) => status === "done" && plan.tasks[task]?.finally !== true).length;
  const open = count("waiting") + count("pending") + count("ready");
  return {
    outcome: outcomeOf({
      done: work,
      failed: end.tasks.filter(endsRunBadly).length,
      blocked,
      flaky: end.flaky,
      cancelled,
      open,
    }),
    done,
    failed,
    blocked,
    skipped: count("skipped"),
    cancelled,
    waiting: count("waiting"),
    total_duration_s: milliseconds / 1000,
    total_attempts: end.attempts,
    flake_retries: end.retries,
    flaky_tasks: end.flaky,
  };
}

/** Whether a task has failed and its failure is not allowed. */
export function endsRunBadly({ status, allowed }: DriveEnd["tasks"][number]): boolean {
  return status === "failed" && allowed !== true;
}

/**
 * An interrupted or waiting run has no clean outcome, even if all other tasks are done. It is catastrophic only if tasks have
 * failed and no task is left that an answer or a resume can still start.
 */
function outcomeOf(
  counts: Parameters<typeof planOutcome>[0] & { readonly cancelled: number; readonly open: number },
): PlanOutcome {
  const { done, failed, blocked, cancelled, open } = counts;
  if (failed + blocked === 0) return cancelled + open > 0 ? "partial" : planOutcome(counts);
  return done === 0 && open > 0 ? "partial" : planOutcome(counts);
}

export function statusOf(end: DriveEnd, isCancelled: boolean): PlanRunStatus {
  if (isCancelled) return "cancelled";
  if (end.error !== undefined) return "failed";
  return end.pauses.length > 0 || end.isBlocked ? "paused" : "completed";
}

/** 0 for the clean outcomes, 3 when paused, 130 when interrupted, else 1 (interface.md). */
export function exitCodeOf(status: PlanRunStatus, outcome: PlanOutcome): number {
  if (status === "cancelled") return 130;
  if (status === "paused") return 3;
  return status === "completed" && (outcome === "clean" || outcome === "clean_with_flake") ? 0 : 1;
}
