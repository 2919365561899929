import type { JsonObject } from "../value/json.ts";
import type { FinallyResult, RunOptions, RunResult } from "../interface/engine-options.ts";
import { isAbandoned } from "../checkpoint/abandoned-call.ts";
import { emitEvent, eventError } from "../event/run-events.ts";
import { Cancellation } from "./cancellation.ts";
import { createShared, type EngineCore } from "./run-settings.ts";
import { NO_LIMITS } from "./limits.ts";
import { Run, type RunEnd } from "./run.ts";
import { stoppedEnd } from "./run-end.ts";

/**
 * Runs `work` between the events for the start and the end of the run, and returns the result. A run that is cancelled while the store
 * does not answer ends as cancelled: the thread keeps its last stored checkpoint.
 */
export async function executeRun(
  run: Run,
  resumed: boolean,
  work: (run: Run) => RunEnd | Promise<RunEnd>,
): Promise<RunResult> {
  if (run.listening) emitEvent(run, { type: "run", phase: "start", graph: run.program.table.name, resumed });
  let end: RunEnd;
  try {
    end = await work(run);
    // A run that has lost its claim was not cancelled on request: another process may run its thread.
    const { fault, reason } = run.cancellation;
    if (end.status === "cancelled" && fault !== undefined && reason === fault) throw fault;
  } catch (error) {
    if (!isAbandoned(error) || run.cancellation.fault !== undefined) {
      if (run.listening) emitEvent(run, { type: "run", phase: "error", error: eventError(run, error) });
      throw error;
    }
    end = stoppedEnd("cancelled", run.cancelled(error));
  }
  if (run.listening) {
    const error = end.error === null ? {} : { error: eventError(run, end.error) };
    emitEvent(run, { type: "run", phase: "end", status: end.status, ...error });
  }
  return resultOf(run, end);
}

/**
 * Like `executeRun`, for the work before the run exists: a cancelled call whose store does not respond ends as
 * cancelled.
 *
 * @param ended receives the result
 */
export async function orCancelled(
  core: EngineCore,
  options: RunOptions,
  work: () => Promise<RunResult>,
  ended?: (result: RunResult) => void,
): Promise<RunResult> {
  let result: RunResult;
  try {
    result = await work();
  } catch (error) {
    if (!isAbandoned(error) || options.signal?.aborted !== true) throw error;
    const cancellation = new Cancellation(true);
    cancellation.cancel(options.signal.reason);
    const run = new Run(core.program, createShared(core, {}, { threadId: options.thread }), {
      cancellation,
      limits: NO_LIMITS,
    });
    result = resultOf(run, stoppedEnd("cancelled", run.cancelled(error)));
  }
  ended?.(result);
  return result;
}

export function resultOf(run: Run, end: RunEnd): RunResult {
  const isLarge = run.program.channels.length > LARGE_STATE;
  const { status, pauses, incompleteBarriers, error } = end;
  const output = run.output();
  const state = isLarge ? {} : run.values();
  const thread = run.shared.threadId ?? null;
  const checkpointId = run.writer?.storedId ?? null;
  const parts = optionalParts(run, end);
  // A literal costs a small part of what spreads cost.
  const result: RunResult =
    parts === undefined
      ? { status, output, state, steps: run.steps, pauses, incompleteBarriers, error, thread, checkpointId }
      : {
          status,
          ...parts.first,
          output,
          state,
          steps: run.steps,
          pauses,
          incompleteBarriers,
          error,
          ...parts.ends,
          thread,
          checkpointId,
          ...parts.last,
        };
  return isLarge ? withLazyState(result, run) : result;
}

/** The parts that the results of few runs have, in the order of the document. */
function optionalParts({ usage, outcome, finallyEnd }: Run, { limit, rollback }: RunEnd) {
  if (!(limit ?? usage ?? outcome ?? finallyEnd ?? rollback)) return undefined;
  return {
    first: { ...(limit === undefined ? {} : { limit }), ...(usage === undefined ? {} : { usage }) },
    ends: {
      ...(outcome === undefined ? {} : { outcome }),
      ...(finallyEnd === undefined ? {} : { finally: shownFinally(finallyEnd) }),
    },
    last: rollback === undefined ? {} : { rollback },
  };
}

function shownFinally({ status, error, steps }: FinallyResult): FinallyResult {
  return { status, error, steps };
}

/**
 * Maximum number of channels for which `state` is built at once. With more channels, it is built on first access: the
 * cost of a run must not depend on the size of the graph.
 */
const LARGE_STATE = 100;

function withLazyState(result: RunResult, run: Run): RunResult {
  let state: JsonObject | undefined;
  return Object.defineProperty(result, "state", { get: () => (state ??= run.values()), enumerable: true });
}
