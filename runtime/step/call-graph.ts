import { NodeError } from "../interface/errors.ts";
import type { JsonObject } from "../value/json.ts";
import { Cancellation } from "../run/cancellation.ts";
import { ChildStopped } from "./child-stopped.ts";
import { PauseSignal } from "./pause-signal.ts";
import type { Program } from "../program/program.ts";
import type { ToolCallPlace } from "../program/tool-segment.ts";
import { beginRun } from "./run-loop.ts";
import { inheritConfig } from "../run/run-config.ts";
import { applyInput } from "../run/run-input.ts";
import { placeOfCall, Run, type RunEnd } from "../run/run.ts";
import { limitsOf } from "../run/limits.ts";
import type { Attempt } from "./attempt.ts";
import { NO_ENTRIES, openUndos, setUndos, undoLog } from "../checkpoint/undo-log.ts";

/**
 * Runs a graph as a node (7.2): with its own state and limit, under the caller's namespace. After a resume of the caller, it
 * continues the unfinished run of the called graph, or returns the result of a finished one. A retry starts a new run.
 *
 * @param tool the call of the graph as a tool, in an attempt of its own (`call-tool.ts`)
 */
export async function callGraph(
  attempt: Attempt,
  program: Program,
  input: JsonObject,
  tool?: ToolCallPlace,
): Promise<JsonObject> {
  const { run: caller, task } = attempt;
  const { shared } = caller;
  const cancellation = new Cancellation(true);
  attempt.onAbort = (reason) => cancellation.cancel(reason);
  const child = new Run(program, shared, {
    cancellation,
    limits: limitsOf(shared.limits, program),
    caller,
    place: placeOfCall(caller, task, tool),
  });
  const { durable } = shared;
  const stored = durable === undefined ? undefined : await durable.code.openCall(attempt, child, input, durable);
  let end: RunEnd;
  if (stored !== undefined) {
    if (stored.status === "completed") return completed(attempt, child);
    if (stored.status === "rolled_back") throw rolledBack(attempt, program, tool);
    end = await durable!.code.continueRun(child, stored);
  } else {
    if (durable === undefined) {
      applyInput(child, input);
      inheritConfig(child, caller);
      // A retry does not undo what earlier attempts have done.
      setUndos(child, attempt.called ?? NO_ENTRIES);
    }
    end = await beginRun(child);
  }
  if (end.status === "completed") return completed(attempt, child);
  attempt.called = openUndos([...undoLog(child), ...child.unapplied]);
  if (child.writer !== undefined && child.writer.headId !== null) {
    attempt.children = { ...child.children, [child.namespace]: child.writer.headId };
  }
  if (end.status === "paused") throw new PauseSignal(end.pauses);
  if (end.status === "rolled_back") throw rolledBack(attempt, program, tool);
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

function rolledBack({ task, number, run }: Attempt, { table }: Program, tool?: ToolCallPlace): Error {
  const { name } = task.node.spec;
  const reason = `graph \`${table.name}\` has rolled back`;
  const details = { attempts: number, threadId: run.shared.threadId };
  const error = new NodeError("NG_ROLLED_BACK", name, `node \`${name}\` failed: ${reason}`, details);
  // A result for the caller of the tool.
  return tool === undefined ? error : new ChildStopped(error, reason);
}
