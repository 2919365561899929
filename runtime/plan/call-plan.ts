import { NodeError } from "../interface/errors.ts";
import { ChildStopped, goesOn } from "../step/call-graph.ts";
import { Cancellation } from "../step/cancellation.ts";
import { PauseSignal } from "../step/pause-signal.ts";
import { applyInput, followRun } from "../engine/run-input.ts";
import { placeOfCall, Run } from "../step/run.ts";
import type { Attempt } from "../step/task-context.ts";
import { loadChildHead, loadWrites } from "../thread/thread-access.ts";
import type { JsonObject } from "../value/json.ts";
import { drivePlan } from "./drive-plan.ts";
import { planSurroundings } from "./plan-hooks.ts";
import type { PlanProgram } from "./plan-program.ts";
import { restorePlan, type RestoredPlan } from "./restore-plan.ts";
import { beginChain, endChain } from "./save-plan.ts";
import { exitCodeOf, statusOf, totalsOf } from "./plan-totals.ts";

/**
 * Runs a plan as a task of another (or as a node): with its own slots, values and paths, under the caller's namespace. After a
 * resume it goes on with what was not done; a further try begins anew.
 */
export async function callPlan(attempt: Attempt, program: PlanProgram, input: JsonObject): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const { shared } = caller;
  const { durable } = shared;
  const cancellation = new Cancellation(true);
  attempt.onGivenUp = (reason) => cancellation.cancel(reason);
  const run = new Run(program.program, shared, {
    cancellation,
    maxSteps: null,
    place: placeOfCall(caller, task),
  });
  const head = durable === undefined ? undefined : await loadChildHead(durable, run.namespace);
  let restored: RestoredPlan = { tasks: new Map(), waited: [] };
  if (head !== undefined && durable !== undefined && goesOn(attempt, run, head)) {
    restored = restorePlan(program, run, head, await loadWrites(durable.store, durable.threadId, head.id));
  } else {
    applyInput(run, input);
    followRun(run, head);
  }
  await beginChain(program, run, restored);
  const begin = shared.clock.now();
  const { emit, options, prefix } = planSurroundings(shared);
  const end = await drivePlan({
    program,
    run,
    emit: (body) => emit?.(body),
    prefix: `${prefix}${run.path.join("/")}/`,
    options,
    restored: restored.tasks,
    waited: restored.waited,
    leftOut: [],
  });
  const totals = totalsOf(end, shared.clock.now() - begin);
  const status = statusOf(end, cancellation.aborted);
  await endChain(run, end, status, totals.outcome);
  if (exitCodeOf(status, totals.outcome) === 0) return run.output();
  if (run.chain !== undefined && run.chain.headId !== null) {
    attempt.children = { ...end.children, [run.namespace]: run.chain.headId };
  }
  if (status === "paused") throw new PauseSignal(end.pauses);
  const failed = end.tasks.filter((one) => one.status === "failed").map(({ id }) => id);
  const why = end.error?.message ?? (failed.length === 0 ? totals.outcome : `${failed.join(", ")} failed`);
  const reason = `plan \`${program.plan.name}\`: ${why}`;
  throw new ChildStopped(new NodeError("NG_NODE_FAILED", failed[0] ?? task.node.spec.name, reason), reason);
}
