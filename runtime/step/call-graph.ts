import type { Checkpoint } from "../interface/checkpoint.ts";
import { NodeError, type NgraphError } from "../interface/errors.ts";
import type { JsonObject } from "../value/json.ts";
import { Cancellation } from "./cancellation.ts";
import { refuseDrift } from "../thread/drift.ts";
import { asStoreError } from "../thread/journal.ts";
import { PauseSignal } from "./pause-signal.ts";
import type { Program } from "../program/program.ts";
import { restoreRun } from "../thread/restore-run.ts";
import { beginRun, continueRun } from "./run-loop.ts";
import { applyInput, followRun } from "../engine/run-input.ts";
import { placeOfCall, Run, type RunEnd } from "./run.ts";
import { raisedLimitOf, stepLimitOf } from "./step-limits.ts";
import type { Attempt } from "./task-context.ts";
import { loadChildHead } from "../thread/thread-access.ts";

/** A called graph ended otherwise than completed: the failure of the node that called it. */
export class ChildStopped extends Error {
  readonly error: NgraphError;
  readonly reason: string;

  constructor(error: NgraphError, reason: string) {
    super(reason);
    this.error = error;
    this.reason = reason;
  }
}

/**
 * Runs a graph as a node (7.2): with its own state and limit, under the caller's namespace. After a resume it goes on inside
 * an unfinished run of it, or gives the result of a finished one; a further try begins anew.
 */
export async function callGraph(attempt: Attempt, program: Program, input: JsonObject): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const { shared } = caller;
  const cancellation = new Cancellation(true);
  attempt.onGivenUp = (reason) => cancellation.cancel(reason);
  const child = new Run(program, shared, {
    cancellation,
    maxSteps: stepLimitOf(shared.stepLimits, program),
    place: placeOfCall(caller, task),
  });
  const { durable } = shared;
  const head = durable === undefined ? undefined : await loadChildHead(durable, child.namespace);
  let end: RunEnd;
  if (head !== undefined && durable !== undefined && goesOn(attempt, child, head)) {
    const { getWrites } = durable.store;
    const writes =
      getWrites === undefined ? [] : await asStoreError(() => getWrites.call(durable.store, durable.threadId, head.id));
    refuseDrift(program, head, writes);
    restoreRun(child, head, writes);
    if (head.status === "completed") return child.output();
    if (head.status === "step_limit") child.maxSteps = raisedLimitOf(shared.stepLimits, program);
    end = await continueRun(child, head);
  } else {
    applyInput(child, input);
    // Runs of a called graph share a namespace, not memory of state: each begins a chain of its own.
    followRun(child, head);
    end = await beginRun(child);
  }
  if (end.status === "completed") return child.output();
  if (child.chain !== undefined && child.chain.headId !== null) {
    attempt.children = { ...child.children, [child.namespace]: child.chain.headId };
  }
  if (end.status === "paused") throw new PauseSignal(end.pauses);
  const { name } = program.table;
  if (end.status === "incomplete") {
    const waiting = end.incompleteBarriers.map(
      ({ target, missing }) => `\`${target}\` waits for ${missing.join(", ")}`,
    );
    const reason = `graph \`${name}\` ended incomplete: ${waiting.join("; ")}`;
    const { target } = end.incompleteBarriers[0]!;
    throw new ChildStopped(new NodeError("NG_NODE_FAILED", target, reason, { attempts: 0 }), reason);
  }
  const error = end.error!;
  throw new ChildStopped(error, `graph \`${name}\`: ${error.message}`);
}

/**
 * Whether a call goes on with the run that stands there, after a resume, or begins one of its own. Tries that were under way
 * count; a resume after a failure has all of them again, like every other node.
 *
 * @param head of the called graph's namespace
 */
export function goesOn(attempt: Attempt, child: Run, head: Checkpoint): boolean {
  const round = head.runId.startsWith(child.runId) ? ROUND.exec(head.runId.slice(child.runId.length)) : null;
  if (round === null) return false;
  const last = Number(round[1] ?? 1);
  if (attempt.number > 1) {
    child.round = last + 1;
    child.attempt = attempt.number;
    return false;
  }
  child.round = last;
  if (head.status === "paused" || head.status === "running" || head.status === "cancelled") {
    attempt.number = child.attempt = head.attempt ?? 1;
  }
  return true;
}

/** What the id of a run of a call ends with, from the second run on. */
const ROUND = /^(?:\.(\d+))?$/;
