import type { Checkpoint } from "../interface/checkpoint.ts";
import { NodeError } from "../interface/errors.ts";
import type { JsonObject } from "../value/json.ts";
import { Cancellation } from "../run/cancellation.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import type { Durable } from "../run/shared.ts";
import { ChildStopped } from "./child-stopped.ts";
import { PauseSignal } from "./pause-signal.ts";
import type { Program } from "../program/program.ts";
import { restoreRun } from "../checkpoint/restore-run.ts";
import { beginRun, continueRun } from "./run-loop.ts";
import { inheritConfig } from "../run/run-config.ts";
import { applyInput, followRun, hasInput } from "../run/run-input.ts";
import { placeOfCall, Run, type RunEnd } from "../run/run.ts";
import { parentOf, replaceHead } from "./replace-head.ts";
import { limitsOf, raisedLimitsOf } from "../run/limits.ts";
import type { Attempt } from "./attempt.ts";
import { loadCall, loadChildHead, roundOf, type StoredCall } from "../checkpoint/load-checkpoint.ts";

/**
 * Runs a graph as a node (7.2): with its own state and limit, under the caller's namespace. After a resume of the caller, it
 * continues the unfinished run of the called graph, or returns the result of a finished one. A retry starts a new run.
 */
export async function callGraph(attempt: Attempt, program: Program, input: JsonObject): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const { shared } = caller;
  const cancellation = new Cancellation(true);
  attempt.onAbort = (reason) => cancellation.cancel(reason);
  const child = new Run(program, shared, {
    cancellation,
    limits: limitsOf(shared.limits, program),
    caller,
    place: placeOfCall(caller, task),
  });
  const { durable } = shared;
  const { latest, head, stored, writes } =
    durable === undefined ? NO_CALL : await loadCall(durable, child, caller.children);
  const isMoved = stored !== head;
  let end: RunEnd;
  // Mutation point: continued-call
  if (head !== undefined && durable !== undefined && continuesCall(attempt, child, head, input)) {
    const present = await refuseDrift(program, durable.store, head, writes, { stored });
    restoreRun(child, present.head, present.writes, present.moved);
    inheritConfig(child, caller);
    if (head.status === "completed") return child.output();
    if (isMoved) await replaceHead(child, latest, present.head, stored!);
    if (head.status === "limit") child.limits = raisedLimitsOf(shared.limits, program);
    end = await continueRun(child, present.head);
  } else {
    applyInput(child, input);
    inheritConfig(child, caller);
    // Runs of a called graph share a namespace but no state: each one starts its own chain of checkpoints.
    if (head === undefined && durable !== undefined) await rememberFormerCall(child, durable);
    else followRun(child, head, { isElsewhere: stored?.namespace !== head?.namespace });
    if (isMoved) child.writer?.branch(latest?.id ?? null, parentOf(child, stored!));
    end = await beginRun(child);
  }
  if (end.status === "completed") return child.output();
  if (child.writer !== undefined && child.writer.headId !== null) {
    attempt.children = { ...child.children, [child.namespace]: child.writer.headId };
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

const NO_CALL: StoredCall = { latest: undefined, head: undefined, stored: undefined, writes: [] };

/** The memory of a graph whose calling node was renamed (`was`) is stored under the former name. */
async function rememberFormerCall(child: Run, durable: Durable): Promise<void> {
  for (const { namespace } of child.formerPlaces) {
    const head = await loadChildHead(durable, namespace);
    if (head === undefined) continue;
    followRun(child, head, { isElsewhere: true });
    return;
  }
}

/**
 * Whether a call continues the stored run of the called graph (after a resume) or starts a new run. Sets the round and the
 * attempt of `child` accordingly. An attempt in progress keeps its number; a resume after a failure starts at attempt 1
 * again, as for every other node.
 *
 * @param head the newest checkpoint in the namespace of the called graph
 */
export function continuesCall(attempt: Attempt, child: Run, head: Checkpoint, input: JsonObject): boolean {
  const last = roundOf(head, child.runId);
  // Mutation point: round-of-call
  if (last === undefined) return false;
  const before = head.argumentsRound ?? 1;
  child.argumentsRound = before;
  if (attempt.number > 1) {
    child.round = last + 1;
    child.attempt = attempt.number;
    return false;
  }
  // An edit of the state or the graph has changed the arguments: the stored run belongs to another call.
  if (!hasInput(child.program, head, input)) {
    child.round = last + 1;
    child.argumentsRound = before + 1;
    return false;
  }
  child.round = last;
  if (head.status === "paused" || head.status === "running" || head.status === "cancelled") {
    attempt.number = child.attempt = head.attempt ?? 1;
  }
  return true;
}
