import type { Tool } from "../interface/context.ts";
import { NodeError } from "../interface/errors.ts";
import { underCall } from "../checkpoint/undo-log.ts";
import { setField } from "../expression/operations.ts";
import type { Program } from "../program/program.ts";
import { nodeOfSegment } from "../program/tool-segment.ts";
import { segmentOfCall } from "../run/run.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { Attempt } from "./attempt.ts";
import { callGraph } from "./call-graph.ts";
import { beginCall } from "./call-parts.ts";
import { ChildStopped } from "./child-stopped.ts";
import { PauseSignal } from "./pause-signal.ts";
import { isStoreFailure } from "./task-failure.ts";

/** A graph as a tool: its inputs are the parameters, its outputs the result. */
export function graphTool(
  attempt: Attempt,
  program: Program,
  details: Pick<Tool, "name" | "description" | "needsApproval">,
): Tool {
  const { channels, types } = program.table;
  const parameters = channels.flatMap(({ role, name, type, initial }): Tool["parameters"] => {
    if (role !== "input") return [];
    return [{ name, type, ...(initial === undefined ? {} : { optional: true as const }) }];
  });
  const call: Tool["call"] = (args, key) => {
    const given: Record<string, Json> = {};
    parameters.forEach(({ name }, at) => {
      const value = args[at];
      if (value !== undefined) setField(given, name, value);
    });
    return callAsTool(attempt, program, given, details.name, key);
  };
  return { ...details, parameters, types, call };
}

/**
 * Runs a graph that the body of a task calls as a tool. Each call has a namespace of its own in the task, and continues its stored
 * run whenever the body runs again: after a crash, a pause, and also in a retry of the task.
 *
 * @param key of the call within the task
 * @throws ChildStopped if the graph has failed; PauseSignal while it waits
 */
async function callAsTool(
  attempt: Attempt,
  program: Program,
  input: JsonObject,
  name: string,
  key: string,
): Promise<JsonObject> {
  const { run, task } = attempt;
  refuseIfOver(attempt);
  const place = { name, key, number: await beginCall(run, task, name, key) };
  refuseIfOver(attempt);
  // Its number is 1: the attempts of the task are not those of the call.
  const own = new Attempt(run, task, 1);
  const segment = segmentOfCall(task, place);
  const work = callGraph(own, program, input, place);
  const forget = watchCall(attempt, own, work);
  try {
    return await work;
  } catch (error) {
    throw escaping(attempt, own, error);
  } finally {
    forget();
    attempt.addToolUndos(underCall(own.called ?? [], nodeOfSegment(segment), segment));
  }
}

function refuseIfOver(attempt: Attempt): void {
  if (attempt.closed || attempt.isInterrupted) throw attempt.signal.reason ?? new Error("the attempt is over");
  if (attempt.pause !== undefined) throw attempt.pause;
}

/** Lets the attempt stop the call until the returned function is called. */
function watchCall(attempt: Attempt, own: Attempt, work: Promise<unknown>): () => void {
  const before = attempt.stopCalls;
  const stop = async (reason: unknown): Promise<void> => {
    own.onAbort?.(reason);
    await Promise.allSettled([work, before?.(reason)]);
  };
  attempt.stopCalls = stop;
  return () => {
    // A body that calls several graphs at once has calls above this one, which stop it in vain.
    if (attempt.stopCalls === stop) attempt.stopCalls = before;
  };
}

/** Records in the attempt how it ends if the call has not ended: a body that catches the error cannot continue. */
function escaping(attempt: Attempt, own: Attempt, error: unknown): unknown {
  const isPause = error instanceof PauseSignal;
  const code = error instanceof ChildStopped ? error.error.code : undefined;
  const isStopped = code === "NG_DRAINED" || code === "NG_CANCELLED";
  // A rollback that has failed: the engine continues it.
  const isRollback = error instanceof NodeError && error.code === "NG_ROLLED_BACK";
  if (!isPause && !isStoreFailure(error) && !isStopped && !isRollback) return error;
  if (own.children !== undefined) attempt.children = { ...attempt.children, ...own.children };
  if (isPause) return (attempt.pause = new PauseSignal([...(attempt.pause?.pauses ?? []), ...error.pauses]));
  if (code !== "NG_CANCELLED") attempt.ending = error;
  return error instanceof ChildStopped ? error.error : error;
}
