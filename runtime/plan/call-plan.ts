import { NodeError } from "../interface/errors.ts";
import { continuesCall } from "../step/call-graph.ts";
import { ChildStopped } from "../step/child-stopped.ts";
import { Cancellation } from "../run/cancellation.ts";
import { PauseSignal } from "../step/pause-signal.ts";
import { inheritConfig } from "../run/run-config.ts";
import { applyInput, followRun } from "../run/run-input.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { placeOfCall, Run } from "../run/run.ts";
import type { Attempt } from "../step/attempt.ts";
import { loadCall } from "../checkpoint/load-checkpoint.ts";
import type { JsonObject } from "../value/json.ts";
import { drivePlan } from "./drive-plan.ts";
import { planContext } from "./plan-hooks.ts";
import type { PlanProgram } from "./plan-program.ts";
import { ledgerOf } from "./run-ledger.ts";
import { certainRecords } from "./task-record.ts";
import { restorePlan, type RestoredPlan } from "./restore-plan.ts";
import { saveFirstCheckpoint, saveLastCheckpoint } from "./save-plan.ts";
import { endsRunBadly, exitCodeOf, statusOf, totalsOf } from "./plan-totals.ts";

/**
 * Runs a plan as a task of another plan, or as a node: with its own slots, values and paths, under the caller's
 * namespace. After a resume it continues with the unfinished tasks. A retry starts a new run.
 */
export async function callPlan(attempt: Attempt, program: PlanProgram, input: JsonObject): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const { shared } = caller;
  const { durable } = shared;
  const cancellation = new Cancellation(true);
  attempt.onAbort = (reason) => cancellation.cancel(reason);
  const run = new Run(program.program, shared, {
    cancellation,
    limits: NO_LIMITS,
    place: placeOfCall(caller, task),
    caller,
  });
  const call = durable === undefined ? undefined : await loadCall(durable, run, caller.children);
  const head = call?.head;
  let restored: RestoredPlan = { tasks: new Map(), changed: new Set(), waited: [] };
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
    prefix: `${prefix}${run.path.join("/")}/`,
    ledger: ledgerOf(shared),
    options,
    restored: certainRecords(program.plan, restored.tasks),
    records: restored.tasks,
    changed: restored.changed,
    waited: restored.waited,
    leftOut: [],
  });
  const totals = totalsOf(program.plan, end, shared.clock.now() - begin);
  const status = statusOf(end, cancellation.aborted);
  await saveLastCheckpoint(run, end, status, totals.outcome);
  if (exitCodeOf(status, totals.outcome) === 0) return run.output();
  if (run.writer !== undefined && run.writer.headId !== null) {
    attempt.children = { ...end.children, [run.namespace]: run.writer.headId };
  }
  if (status === "paused") throw new PauseSignal(end.pauses);
  const failed = end.tasks.filter(endsRunBadly).map(({ id }) => id);
  const why = end.error?.message ?? (failed.length === 0 ? totals.outcome : `${failed.join(", ")} failed`);
  const reason = `plan \`${program.plan.name}\`: ${why}`;
  throw new ChildStopped(new NodeError("NG_NODE_FAILED", failed[0] ?? task.node.spec.name, reason), reason);
}
