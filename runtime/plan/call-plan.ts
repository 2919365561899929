import { NodeError } from "../interface/errors.ts";
import { continuesCall } from "../step/stored-call.ts";
import { ChildStopped } from "../step/child-stopped.ts";
import { Cancellation } from "../run/cancellation.ts";
import { PauseSignal } from "../step/pause-signal.ts";
import { inheritConfig } from "../run/run-config.ts";
import { followRun } from "../run/follow-run.ts";
import { applyInput } from "../run/run-input.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { placeOfCall, Run } from "../run/run.ts";
import type { Attempt } from "../step/attempt.ts";
import { loadCall } from "../checkpoint/load-checkpoint.ts";
import type { JsonObject } from "../value/json.ts";
import { listed } from "../value/shown.ts";
import { drivePlan, type DriveEnd } from "./drive-plan.ts";
import { expandMatrix } from "./expand-matrix.ts";
import { planContext } from "./plan-hooks.ts";
import type { PlanProgram } from "./plan-program.ts";
import { ledgerOf } from "./run-ledger.ts";
import { certainRecords } from "./task-record.ts";
import { NOTHING_RESTORED, restorePlan } from "./restore-plan.ts";
import { saveFirstCheckpoint, saveLastCheckpoint } from "./save-plan.ts";
import { endsRunBadly, exitCodeOf, statusOf, totalsOf } from "./plan-totals.ts";

/**
 * Runs a plan as a task of another plan, or as a node: with its own slots, values and paths, under the caller's
 * namespace. After a resume it continues with the unfinished tasks. A retry starts a new run.
 */
export async function callPlan(attempt: Attempt, linked: PlanProgram, input: JsonObject): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const program = expandMatrix(linked, input);
  const { shared } = caller;
  const { durable } = shared;
  const cancellation = new Cancellation(true);
  attempt.onAbort = (reason) => cancellation.cancel(reason);
  const run = new Run(program.program, shared, {
    cancellation,
    limits: NO_LIMITS,
    place: {
      ...placeOfCall(caller, task),
      // The tasks of a matrix have the name of the task that calls it, with their value.
      ...(program.plan.matrix === undefined ? {} : { names: caller.names }),
    },
    caller,
  });
  const call = durable === undefined ? undefined : await loadCall(durable, run, caller.children);
  const head = call?.head;
  let restored = NOTHING_RESTORED;
  if (call !== undefined && head !== undefined && continuesCall(attempt, run, head, input)) {
    restored = restorePlan(program, run, head, call.writes);
    inheritConfig(run, caller);
  } else {
    applyInput(run, input);
    inheritConfig(run, caller);
    followRun(run, head);
  }
  // The next checkpoint has all values of the plan.
  if (call !== undefined && call.stored !== head) run.writer?.branch(call.latest?.id ?? null, null);
  await saveFirstCheckpoint(program, run, restored);
  const begin = shared.clock.now();
  const { emit, options, prefix } = planContext(shared);
  const end = await drivePlan({
    program,
    run,
    emit: (body) => emit?.(body),
    prefix: `${prefix}${run.names.map((name) => `${name}/`).join("")}`,
    ledger: ledgerOf(shared),
    options,
    restored: certainRecords(program.plan, restored.tasks),
    records: restored.tasks,
    changed: restored.changed,
    waited: restored.waited,
    executions: restored.executions,
    leftOut: [],
  });
  const totals = totalsOf(program.plan, end, shared.clock.now() - begin);
  const status = statusOf(end, cancellation.aborted);
  await saveLastCheckpoint(run, end, status, totals.outcome);
  if (exitCodeOf(status, totals.outcome) === 0) {
    return program.plan.matrix === undefined ? run.output() : writtenOutput(program, end, run.output());
  }
  if (run.writer !== undefined && run.writer.headId !== null) {
    attempt.children = { ...end.children, [run.namespace]: run.writer.headId };
  }
  if (status === "paused") throw new PauseSignal(end.pauses);
  const bad = end.tasks.filter(endsRunBadly);
  const failed = bad.map(({ id }) => id);
  const why = end.error?.message ?? (failed.length === 0 ? totals.outcome : `${listed(failed)} failed`);
  const first = bad.find(({ error }) => error !== null)?.error;
  const reason =
    program.plan.matrix === undefined
      ? `plan \`${program.plan.name}\`: ${why}`
      : `${why}${first === undefined ? "" : `: ${first}`}`;
  throw new ChildStopped(new NodeError("NG_NODE_FAILED", failed[0] ?? task.node.spec.name, reason), reason);
}

/** The outputs of a matrix in which some task is done: without such a task, nothing is written. */
function writtenOutput(program: PlanProgram, { scheduler }: DriveEnd, output: JsonObject): JsonObject {
  return program.tasks.some(({ index }) => scheduler.status(index) === "done") ? output : {};
}
