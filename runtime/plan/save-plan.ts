import type { Run } from "../run/run.ts";
import { NodeError } from "../interface/errors.ts";
import type { DriveEnd } from "./drive-plan.ts";
import { endsRunBadly } from "./plan-totals.ts";
import type { PlanOutcome } from "./plan-scheduler.ts";
import type { PlanRunStatus } from "./plan-options.ts";
import type { PlanProgram } from "./plan-program.ts";
import type { RestoredPlan } from "./restore-plan.ts";

/**
 * Writes the first checkpoint of a run: its input and the restored tasks. It is durable before anything starts (5.2).
 */
export async function saveFirstCheckpoint(program: PlanProgram, run: Run, restored: RestoredPlan): Promise<void> {
  const next = program.plan.tasks.flatMap(({ name }, task) => (restored.tasks.has(task) ? [] : [name]));
  await run.writer?.save("input", {
    status: "running",
    step: -1,
    current: program.plan.tasks.flatMap(({ name }, task) => (restored.tasks.has(task) ? [name] : [])),
    unfinished: { next, children: {} },
  });
}

/** Writes the last checkpoint of a run: the results of all tasks, and the tasks that a resume has to run. */
export async function saveLastCheckpoint(
  run: Run,
  end: DriveEnd,
  status: PlanRunStatus,
  outcome: PlanOutcome,
): Promise<void> {
  if (run.writer === undefined) return;
  const isClean = status === "completed" && (outcome === "clean" || outcome === "clean_with_flake");
  const failed = end.tasks.filter(endsRunBadly);
  const [first] = failed;
  const names = failed.map((task) => `\`${task.id}\``).join(", ");
  await run.writer.save(isClean ? "completed" : "interrupted", {
    status: status === "completed" ? (isClean ? "completed" : "failed") : status,
    ends: true,
    step: 0,
    current: end.tasks.filter((task) => task.status === "done").map(({ id }) => id),
    pauses: end.pauses,
    error:
      end.error ??
      (first === undefined
        ? undefined
        : new NodeError("NG_NODE_FAILED", first.id, `${names} failed: ${first.error ?? first.reason ?? ""}`, {
            attempts: first.attempts,
            threadId: run.shared.threadId,
          })),
    unfinished: {
      next: end.tasks.filter(isLeft).map(({ id }) => id),
      children: end.children,
    },
  });
}

/** Whether a resume runs the task: it is not done, and not skipped because of its `when`. */
function isLeft({ status, reason }: DriveEnd["tasks"][number]): boolean {
  return status !== "done" && (status !== "skipped" || reason === "left_out");
}
