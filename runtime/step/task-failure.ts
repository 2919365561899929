import { NodeError, NgraphError, StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import { describeError, emitNodeEvent, eventError } from "../event/run-events.ts";
import type { Run } from "../run/run.ts";
import { ChildStopped } from "./child-stopped.ts";
import { readThrown } from "./thrown-error.ts";
import { failedOutcome, handlesFailure, type Outcome, type Task } from "./task.ts";

/** The outcome of a task that failed for good. Reports the failure, and interrupts siblings under `onFailure: "abort"`. */
export function failTask(
  run: Run,
  task: Task,
  cause: unknown,
  attempts: number,
  children?: Outcome["children"],
): Outcome {
  const { redact } = run.shared;
  const reason = cause instanceof ChildStopped ? redact(cause.reason) : describeError(cause, redact);
  const error = nodeError(run, task, cause, reason, attempts);
  if (run.listening) emitNodeEvent(run, task, attempts, { phase: "error", error: eventError(run, error) });
  if (run.shared.onFailure === "abort" && !handlesFailure(task, { error }) && !run.aborting) {
    run.aborting = true;
    run.cancellation.interrupt(error);
  }
  const items = task.itemIndex === -1 ? [] : [task.itemIndex];
  // The code of an error of the engine itself is `error.code`.
  const thrown = { ...readThrown(cause, redact), ...(error.code === codeOf(cause) ? { status: null } : {}) };
  return failedOutcome({ error, reason, thrown, attempts, items, retryable: isRetryable(cause) }, children);
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof NgraphError ? cause.code : undefined;
}

function nodeError(run: Run, task: Task, cause: unknown, reason: string, attempts: number): NodeError | StoreError {
  const { name } = task.node.spec;
  const { threadId } = run.shared;
  const items = task.itemIndex === -1 ? [] : [task.itemIndex];
  if (cause instanceof StoreError && cause.code === "NG_NO_STORE") return cause;
  if (cause instanceof NodeError && cause.nodeId === name && cause.code !== "NG_NODE_FAILED") {
    const details = { attempts, items, threadId, ...NgraphError.causeOf(cause) };
    return new NodeError(cause.code, name, run.shared.redact(cause.message), details);
  }
  const item = task.itemIndex === -1 ? "" : ` at item ${task.itemIndex}`;
  const times = attempts === 1 ? "" : ` after ${attempts} attempts`;
  const message = `node \`${name}\` failed${item}${times}: ${reason}`;
  const origin = cause instanceof ChildStopped ? cause.error : cause;
  const code = cause instanceof ExpressionError && cause.problem === "not_null" ? "NG_NULL_VALUE" : "NG_NODE_FAILED";
  return new NodeError(code, name, message, {
    attempts,
    items,
    threadId,
    cause: origin,
    causeMessage: reason,
  });
}

/**
 * Whether an error ends the whole run instead of failing the node: the store of this run failed, or the claim is lost.
 * Only called graphs and plans use the store of this run. The same error in a node body comes from another run.
 */
export function endsTheRun({ node }: Task, error: unknown): boolean {
  const { kind } = node.call;
  return (kind === "graph" || kind === "plan") && isStoreFailure(error);
}

/** Whether an error of the store of this run ends the run. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof ThreadError || (error instanceof StoreError && error.code !== "NG_NO_STORE");
}

/** Exceptions and timeouts are retried, unless the error says `retryable: false` or would occur again (4.1). */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ChildStopped) return true;
  if (error instanceof ExpressionError) return false;
  if (error instanceof NgraphError) return error.code === "NG_NODE_TIMEOUT" || error.code === "NG_NODE_FAILED";
  try {
    // Mutation point: retryable-error
    return !(typeof error === "object" && error !== null && "retryable" in error && error.retryable === false);
  } catch {
    return true;
  }
}
