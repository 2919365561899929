import type { Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import { pausesByTask, isResult, restoreUsage } from "../checkpoint/restore-run.ts";
import type { Run } from "../run/run.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { JsonObject } from "../value/json.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { PlanProgram } from "./plan-program.ts";
import { digestOfCall, readRecord, type TaskRecord } from "./task-record.ts";
import type { TaskIndex } from "../table/plan-table.ts";

/** The state that an earlier run of a plan left. */
export interface RestoredPlan {
  readonly tasks: ReadonlyMap<TaskIndex, TaskRecord>;
  /** Tasks that were done and have another call now. They run again. */
  readonly changed: ReadonlySet<TaskIndex>;
  readonly waited: readonly TaskIndex[];
}

/**
 * Restores inputs and configuration, and returns the finished tasks (9.10). Tasks are found by name, so the plan may have new tasks.
 * Finished tasks must still exist, and their updates must fit.
 *
 * @param writes results that were stored after the checkpoint
 * @param options `keepsChanged`: a task with another call keeps its result
 * @throws ThreadError NG_DRIFT with a list of the problems
 */
export function restorePlan(
  program: PlanProgram,
  run: Run,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  { keepsChanged = false }: { readonly keepsChanged?: boolean } = {},
): RestoredPlan {
  const problems: string[] = [];
  restoreUsage(run, head, writes);
  const { channels, channelIndex } = program.program;
  for (const [name, value] of Object.entries(head.values)) {
    const index = channelIndex.get(name);
    const channel = index === undefined ? undefined : channels[index];
    // Other channels are computed from the updates of the tasks.
    const role = channel?.spec.role;
    if (index === undefined || channel === undefined || (role !== "input" && role !== "config")) continue;
    const admitted = value === null ? null : channel.admit(value);
    if (admitted instanceof Mismatch) problems.push(`${role} \`${name}\` has another type: ${admitted.describe()}`);
    else {
      run.state[index] = admitted;
      run.writer?.touch(index, null, false);
    }
  }
  const tasks = new Map<TaskIndex, TaskRecord>();
  const changed = new Set<TaskIndex>();
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (!isResult(write)) continue;
    const task = program.taskIndex.get(write.node);
    if (task === undefined) {
      problems.push(`task \`${write.node}\` is done, but no longer exists`);
      continue;
    }
    const record = readRecord(program, write.result as JsonObject);
    if (!keepsChanged && record.call !== undefined && record.call !== digestOfCall(program.plan, task))
      changed.add(task);
    else if (record.updates === undefined)
      problems.push(`the stored result of task \`${write.node}\` does not fit its outputs`);
    else {
      run.writer?.results.set(write.taskId, write);
      tasks.set(task, record);
    }
  }
  if (problems.length > 0) {
    throw new ThreadError(
      "NG_DRIFT",
      head.threadId,
      `thread \`${head.threadId}\` cannot be resumed with this version of plan \`${program.plan.name}\`: ${problems.join("; ")}`,
      { details: problems },
    );
  }
  const { writer } = run;
  if (writer !== undefined) {
    writer.headId = head.id;
    for (const [name, count] of Object.entries(head.versions)) {
      const index = channelIndex.get(name);
      if (index === undefined) continue;
      writer.versions.set(index, count);
      writer.written.add(index);
    }
  }
  const waited = [...pausesByTask(run, head.pauses).keys()].flatMap((id) => {
    const task = program.taskIndex.get(id);
    return task === undefined || tasks.has(task) ? [] : [task];
  });
  return { tasks, changed, waited: waited.sort((a, b) => a - b) };
}
