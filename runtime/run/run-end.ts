import type { PauseItem, Phase, RunFailure } from "../interface/checkpoint.ts";
import { NodeError, type NgraphError } from "../interface/errors.ts";
import type { ExpectedType } from "../interface/context.ts";
import type { SaveDetails } from "../checkpoint/checkpoint-writer.ts";
import type { Run, RunEnd } from "./run.ts";

/** How the run ends if it cannot start the next step; `undefined` if it can. */
export function nextStop(run: Run): RunEnd | undefined {
  if (run.rollsBack) return undefined;
  if (run.unrouted.length > 0) return stoppedEnd("failed", run.noRoute());
  if (run.isOver) {
    if (run.barriers.isClear) return COMPLETED;
    const incompleteBarriers = run.incompleteBarriers();
    const status = incompleteBarriers.length === 0 ? "completed" : "incomplete";
    return { status, pauses: [], incompleteBarriers, error: null };
  }
  if (run.cancellation.aborted) return cancelledEnd(run);
  const limit = run.reachedLimit();
  if (limit !== undefined) return { ...stoppedEnd("limit", run.limitError(limit)), limit };
  const gates = closedGates(run);
  if (gates.length > 0) return pausedEnd(gates);
  return isDraining(run) ? cancelledEnd(run) : undefined;
}

/** Whether the engine is drained. Without a store, a run cannot be resumed: it is not stopped. */
export function isDraining(run: Run): boolean {
  return run.writer !== undefined && run.shared.isDraining;
}

/** The end of a run that was cancelled, or whose engine was drained. */
export function cancelledEnd(run: Run): RunEnd {
  if (!isDraining(run)) return stoppedEnd("cancelled", run.cancelled());
  return { ...stoppedEnd("cancelled", run.drained()), drained: true };
}

/** `pause before` gates of the next step that are neither passed nor answered (6.3). */
function closedGates(run: Run): readonly PauseItem[] {
  return run.mayPause ? gatesOf(run) : NO_PAUSES;
}

function gatesOf(run: Run): readonly PauseItem[] {
  let gates: PauseItem[] | undefined;
  const addGate = (node: number): void => {
    const { spec } = run.program.nodes[node]!;
    // Mutation point: gate
    if (!run.pausesAt("before", node) || run.passed?.has(spec.name) === true) return;
    if (gates?.some((gate) => gate.node === spec.name) === true) return;
    const gate = gatePause(run, spec.name, "before", run.step);
    if (!run.shared.answers.has(gate.id)) (gates ??= []).push(gate);
  };
  for (const node of run.ready) addGate(node);
  for (const { node } of run.sends) addGate(node);
  return gates ?? NO_PAUSES;
}

export function gatePause(run: Run, node: string, kind: "before" | "after", step: number): PauseItem {
  return {
    id: run.pauseId(`${kind}:${node}`, step, 0),
    node,
    kind,
    payload: null,
    namespace: run.path,
    expects: RELEASE,
  };
}

export function stoppedEnd(status: "cancelled" | "limit" | "failed", error: RunEnd["error"]): RunEnd {
  return { status, pauses: [], incompleteBarriers: [], error };
}

export function pausedEnd(pauses: readonly PauseItem[]): RunEnd {
  return { status: "paused", pauses, incompleteBarriers: [], error: null };
}

/**
 * Saves a checkpoint between two steps.
 *
 * @param current names of the nodes that ran
 * @param end how the run ends; `undefined` if it continues
 * @param keepsResults stores the results that the next step already has, because the run stops before that step has ended
 */
export function saveBetweenSteps(
  run: Run,
  phase: Phase,
  step: number,
  current: readonly string[],
  end: RunEnd | undefined,
  keepsResults = false,
): Promise<void> | undefined {
  if (end !== undefined) return saveEnd(run, phase, step, current, end, keepsResults);
  return run.writer?.save(phase, {
    status: "running",
    ends: false,
    step,
    current,
    unfinished: keepsResults ? unfinishedPart(run) : undefined,
  });
}

/**
 * Saves the checkpoint of an end or a pause. If a `finally` part follows, the checkpoint records the outcome, and the run
 * is not over.
 *
 * @param keepsResults stores the results of the step that has not ended
 */
export function saveEnd(
  run: Run,
  phase: Phase,
  step: number,
  current: readonly string[],
  end: RunEnd,
  keepsResults: boolean,
): Promise<void> | undefined {
  const continues = entersFinally(run, end);
  if (continues) {
    setOutcome(run, end);
    run.endedAt = { phase, step, current, keepsResults };
  }
  // A run whose `finally` part was interrupted returns the error again.
  const keepsError = end.status === "failed" || run.outcome !== undefined || run.isFinally;
  // Mutation point: drained-status
  return run.writer?.save(phase, {
    status: continues || end.drained === true ? "running" : end.status,
    ends: !continues,
    step,
    current,
    pauses: end.pauses,
    error: keepsError ? (end.error ?? undefined) : undefined,
    unfinished: keepsResults ? unfinishedPart(run) : undefined,
  });
}

function unfinishedPart(run: Run): SaveDetails["unfinished"] {
  return { next: unfinishedNodes(run), children: run.children };
}

/** Whether the end of a run leads to its `finally` part. A pause and a drain are not ends. */
export function entersFinally(run: Run, end: RunEnd): boolean {
  if (run.program.routing.finally === undefined || run.isFinally || run.finallyEnd !== undefined) return false;
  return end.status !== "paused" && end.drained !== true;
}

/** Records how the run has ended, and counts the end: the keys of its `finally` part contain the count. */
export function setOutcome(run: Run, end: RunEnd): void {
  if (run.outcome !== undefined) return;
  run.ends++;
  run.outcome = Object.freeze({
    status: end.status as Exclude<RunEnd["status"], "paused">,
    error: end.error === null ? null : (end.failure ?? failureOf(run, end.error)),
  });
}

function failureOf(run: Run, error: NgraphError): RunFailure {
  const { code, name } = error;
  const of =
    error instanceof NodeError ? { node: error.nodeId, attempts: error.attempts } : { node: null, attempts: 0 };
  return Object.freeze({ code, name, status: null, message: run.shared.redact(error.message), ...of });
}

/** Nodes of the next step without a stored result. A `for` node is always included: only its items have results. */
export function unfinishedNodes(run: Run): string[] {
  const results = run.writer?.results;
  return run.ready.map((node) => run.nodeName(node)).filter((name) => results?.has(name) !== true);
}

/** The only answer that releases a gate. */
const RELEASE: ExpectedType = Object.freeze({
  type: Object.freeze({ kind: "literal", value: true } as const),
  types: [],
});
const NO_PAUSES: readonly PauseItem[] = Object.freeze([]);
const COMPLETED: RunEnd = Object.freeze({
  status: "completed",
  pauses: Object.freeze([]),
  incompleteBarriers: Object.freeze([]),
  error: null,
});
