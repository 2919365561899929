import type { Checkpoint } from "../interface/checkpoint.ts";
import { NodeError } from "../interface/errors.ts";
import type { JsonObject } from "../value/json.ts";
import { Cancellation } from "../run/cancellation.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import type { Durable, StoredOutcome } from "../run/shared.ts";
import { ChildStopped } from "./child-stopped.ts";
import { PauseSignal } from "./pause-signal.ts";
import type { Program } from "../program/program.ts";
import { isResult, restoreRun } from "../checkpoint/restore-run.ts";
import { beginRun, continueRun } from "./run-loop.ts";
import { inheritConfig } from "../run/run-config.ts";
import { applyInput, followRun, hasInput } from "../run/run-input.ts";
import { placeOfCall, Run, type RunEnd } from "../run/run.ts";
import { parentOf, replaceHead } from "./replace-head.ts";
import { limitsOf, raisedLimitsOf } from "../run/limits.ts";
import type { Attempt } from "./attempt.ts";
import { loadCall, loadChildHead, roundOf, type StoredCall } from "../checkpoint/load-checkpoint.ts";
import { NO_ENTRIES, openUndos, readLog, setUndos, undoLog } from "../checkpoint/undo-log.ts";
import { undosOfResults } from "../checkpoint/stored-undos.ts";
import { UNDO_NAME } from "../table/hidden-channels.ts";
import type { UndoEntry } from "../interface/undo.ts";

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
  const call = durable === undefined ? NO_CALL : await loadCall(durable, child, caller.children);
  const { latest, head, stored, writes } = call;
  const isMoved = stored !== head;
  let end: RunEnd;
  // Mutation point: continued-call
  if (head !== undefined && durable !== undefined && continuesCall(attempt, child, head, input)) {
    const present = await refuseDrift(program, durable.store, head, writes, { stored });
    restoreRun(child, present.head, present.writes, present.moved);
    inheritConfig(child, caller);
    if (head.status === "completed") return completed(attempt, child);
    if (head.status === "rolled_back") throw rolledBack(attempt, program);
    if (isMoved) await replaceHead(child, latest, present.head, stored!);
    if (head.status === "limit") child.limits = raisedLimitsOf(shared.limits, program);
    end = await continueRun(child, present.head);
  } else {
    applyInput(child, input);
    inheritConfig(child, caller);
    // Runs of a called graph share a namespace but no state: each one starts its own chain of checkpoints.
    const before = undosBefore(attempt, child, call);
    if (head === undefined && durable !== undefined) await rememberFormerCall(child, durable);
    else followRun(child, head, { isElsewhere: stored?.namespace !== head?.namespace });
    setUndos(child, before);
    if (isMoved) child.writer?.branch(latest?.id ?? null, parentOf(child, stored!));
    end = await beginRun(child);
  }
  if (end.status === "completed") return completed(attempt, child);
  attempt.called = openUndos([...undoLog(child), ...child.unapplied]);
  if (child.writer !== undefined && child.writer.headId !== null) {
    attempt.children = { ...child.children, [child.namespace]: child.writer.headId };
  }
  if (end.status === "paused") throw new PauseSignal(end.pauses);
  if (end.status === "rolled_back") throw rolledBack(attempt, program);
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
  // A rollback with open undos: a retry would repeat what some of them have undone. A resume continues the rollback.
  if (child.rollsBack && end.status === "failed") {
    const message = `node \`${task.node.spec.name}\` failed: graph \`${name}\` has not rolled back: ${error.message}`;
    throw new NodeError("NG_ROLLED_BACK", task.node.spec.name, message, { attempts: attempt.number, cause: error });
  }
  throw new ChildStopped(error, `graph \`${name}\`: ${error.message}`);
}

/** The outputs of a completed call. What it has done is undone with its caller (R5). */
function completed(attempt: Attempt, child: Run): JsonObject {
  // Mutation point: handed-undos
  attempt.called = openUndos(undoLog(child));
  return child.output();
}

function rolledBack({ task, number, run }: Attempt, { table }: Program): NodeError {
  const { name } = task.node.spec;
  const message = `node \`${name}\` failed: graph \`${table.name}\` has rolled back`;
  return new NodeError("NG_ROLLED_BACK", name, message, { attempts: number, threadId: run.shared.threadId });
}

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
