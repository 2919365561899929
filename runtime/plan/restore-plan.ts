import type { Checkpoint, PauseItem, PendingWrite } from "../interface/checkpoint.ts";
import { stepOfPause } from "../checkpoint/pause-ids.ts";
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
  /** The numbers of executions that pause under ids of their own; 0 for all other tasks. */
  readonly executions: ReadonlyMap<TaskIndex, number>;
}

interface RestoreOptions {
  readonly keepsChanged?: boolean;
  readonly repeated?: ReadonlySet<TaskIndex> | undefined;
}

/** What a plan has before its first run. */
export const NOTHING_RESTORED: RestoredPlan = {
  tasks: new Map(),
  changed: new Set(),
  waited: [],
  executions: new Map(),
};

/**
 * Restores inputs and configuration, and returns the finished tasks (9.10). Tasks are found by name, so the plan may have new tasks.
 * Finished tasks must still exist, and their updates must fit.
 *
 * @param writes results that were stored after the checkpoint
 * @param options `keepsChanged`: a task with another call keeps its result; `repeated`: tasks that are to run again, whatever they did
 * @throws ThreadError NG_DRIFT with a list of the problems
 */
export function restorePlan(
  program: PlanProgram,
  run: Run,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  { keepsChanged = false, repeated }: RestoreOptions = {},
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
  /** By task with a stored result, the run that has made it. */
  const made = new Map<TaskIndex, number>();
  for (const write of [...(head.finished ?? []), ...writes]) {
    if (!isResult(write)) continue;
    const task = program.taskIndex.get(write.node);
    if (task === undefined) {
      problems.push(`task \`${write.node}\` is done, but no longer exists`);
      continue;
    }
    const record = readRecord(program, write.result as JsonObject);
    made.set(task, record.epoch);
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
      `thread \`${head.threadId}\` cannot be resumed with this version of plan \`${program.plan.name}\`: ${problems.join("; ")}; resume it with the plan as it was, or start a new run with \`abandon\` (\`--abandon\`)`,
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
  const asking = new Set([...pausesByTask(run, head.pauses).keys()].flatMap((id) => program.taskIndex.get(id) ?? []));
  // The answers of a failed task are used up, too, if the task is to run again.
  for (const task of repeated ?? []) if (!asking.has(task)) made.set(task, Number.POSITIVE_INFINITY);
  const executions = renumbered(program, run, head.pauses, made);
  const waited = [...asking].filter((task) => !tasks.has(task)).sort((a, b) => a - b);
  return { tasks, changed, waited, executions };
}

/**
 * A task that was done and runs again asks again: answers to its earlier questions are removed from the run, and the new questions have
 * other ids. An execution is numbered by the claim of the run in which it began, so the number of an answered question is at most that
 * of the run that has made the result.
 *
 * @param made by task that begins an execution, the last claim whose questions belong to earlier ones
 */
function renumbered(
  program: PlanProgram,
  run: Run,
  pauses: readonly PauseItem[],
  made: ReadonlyMap<TaskIndex, number>,
): ReadonlyMap<TaskIndex, number> {
  const { answers, durable } = run.shared;
  const open = new Map<TaskIndex, number>();
  for (const id of [...answers.keys(), ...pauses.map((pause) => pause.id)]) {
    const own = run.ownPauseId(id) ?? "";
    // A question of a graph or plan that a task calls has the call before it, so no task has this name.
    const at = own.lastIndexOf("@");
    const task = program.taskIndex.get(own.slice(0, Math.max(at, 0)));
    if (task === undefined) continue;
    const execution = stepOfPause(own.slice(at));
    if (execution <= (made.get(task) ?? -1)) answers.delete(id);
    else open.set(task, Math.max(open.get(task) ?? 0, execution));
  }
  const renewed = [...made.keys()].flatMap((task) =>
    open.has(task) ? [] : [[task, durable?.claim.epoch ?? 0] as const],
  );
  return new Map([...open, ...renewed]);
}
