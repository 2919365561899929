import type { Checkpoint } from "../interface/checkpoint.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { InnerCalls } from "../checkpoint/inner-calls.ts";
import { loadCall, loadChildHead, roundOf, type StoredCall } from "../checkpoint/load-checkpoint.ts";
import { isResult, restoreRun } from "../checkpoint/restore-run.ts";
import { undosOfResults } from "../checkpoint/stored-undos.ts";
import { NO_ENTRIES, openUndos, readLog, setUndos } from "../checkpoint/undo-log.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { followRun } from "../run/follow-run.ts";
import { raisedLimitsOf } from "../run/limits.ts";
import { inheritConfig } from "../run/run-config.ts";
import { applyInput, hasInput } from "../run/run-input.ts";
import type { Run } from "../run/run.ts";
import type { Durable, StoredOutcome } from "../run/shared.ts";
import { UNDO_NAME } from "../table/hidden-channels.ts";
import type { JsonObject } from "../value/json.ts";
import type { Attempt } from "./attempt.ts";
import { parentOf, replaceHead } from "./replace-head.ts";

/**
 * Restores the run of a called graph from the store, or prepares a new one.
 *
 * @param child the run of the called graph
 * @returns the checkpoint that the run continues or has ended with; `undefined` for a new run
 */
export async function openStoredCall(
  attempt: Attempt,
  child: Run,
  input: JsonObject,
  durable: Durable,
): Promise<Checkpoint | undefined> {
  const { program, shared } = child;
  const caller = attempt.run;
  const call = await loadCall(durable, child, caller.children);
  const { latest, head, stored, writes } = call;
  // Another item may have used the namespace since the caller recorded the call.
  const isMoved = stored?.id !== latest?.id || stored !== head;
  // Mutation point: continued-call
  if (head !== undefined && continuesCall(attempt, child, head, input)) {
    const present = await refuseDrift(program, durable.store, head, writes, { stored });
    restoreRun(child, present.head, present.writes, present.moved);
    inheritConfig(child, caller);
    if (head.status === "completed" || head.status === "rolled_back") return head;
    const continued = isMoved ? withKnownCalls(present.head, child, caller, stored!) : present.head;
    if (isMoved) await replaceHead(child, latest, continued, stored!);
    if (head.status === "limit") child.limits = raisedLimitsOf(shared.limits, program);
    return continued;
  }
  applyInput(child, input);
  inheritConfig(child, caller);
  // Runs of a called graph share a namespace but no state: each one starts its own chain of checkpoints.
  const before = undosBefore(attempt, child, call);
  if (head === undefined) await rememberFormerCall(child, durable);
  else followRun(child, head, { isElsewhere: stored?.namespace !== head.namespace });
  setUndos(child, before);
  if (isMoved) child.writer?.branch(latest?.id ?? null, parentOf(child, stored!));
  return undefined;
}

/** A fork knows calls of the graphs that it continues which their own checkpoints do not record: their process died before. */
function withKnownCalls(head: Checkpoint, { namespace }: Run, { children }: Run, stored: Checkpoint): Checkpoint {
  if (children[namespace] !== stored.id) return head;
  let calls = innerCalls.get(children);
  if (calls === undefined) innerCalls.set(children, (calls = new InnerCalls(children)));
  const inner = calls.of(namespace);
  return inner === undefined ? head : { ...head, children: { ...head.children, ...inner } };
}

/** By the record of a run's calls, which is replaced as a whole. */
const innerCalls = new WeakMap<object, InnerCalls>();

/** What earlier runs of this call have done: a retry, or a call with edited arguments, does not undo it. */
function undosBefore(attempt: Attempt, child: Run, { head, writes }: StoredCall): readonly UndoEntry[] {
  if (attempt.called !== undefined) return attempt.called;
  const isEarlier = head !== undefined && roundOf(head, child.callId) !== undefined && head.status !== "completed";
  if (!isEarlier || !child.program.hasUndo) return NO_ENTRIES;
  const results = [...(head.finished ?? []), ...writes].filter(isResult);
  return openUndos([
    ...readLog(head.values[UNDO_NAME]),
    ...undosOfResults(child.program, results as readonly { taskId: string; result: Pick<StoredOutcome, "undo"> }[]),
  ]);
}

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
  // A task of a plan that was done runs again, or a check: under other keys, because the finished work is to be repeated.
  if (head.status === "completed" && attempt.task.renew === true) {
    child.round = last + 1;
    child.argumentsRound = before + 1;
    return false;
  }
  // A resume after the caller has failed runs a graph that has rolled back again, under other keys: its undos have run.
  if (head.status === "rolled_back" && attempt.run.children[child.namespace] === head.id) {
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
