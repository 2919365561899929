/**
 * The `finally` part of a run that has ended (F1). It runs as a called graph does: with its own steps, on a copy of the
 * state, in the namespace `finally` of the run.
 */
import type { Checkpoint } from "../interface/checkpoint.ts";
import { StoreError, ThreadError } from "../interface/errors.ts";
import { setField } from "../expression/operations.ts";
import { equal } from "../expression/equal.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadCall, type StoredCall } from "../checkpoint/load-checkpoint.ts";
import { errorOf, restoreRun } from "../checkpoint/restore-run.ts";
import { ERROR_NAME, errorChannel } from "../table/hidden-channels.ts";
import { Cancellation } from "../run/cancellation.ts";
import { inheritConfig } from "../run/run-config.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { limitOfCode } from "../run/limits.ts";
import { pausedEnd, saveEnd } from "../run/run-end.ts";
import { replaceHead } from "./replace-head.ts";
import { placeOfFinally, Run, type RunEnd } from "../run/run.ts";

interface FinallyPart {
  readonly child: Run;
  /** The checkpoint that the part continues with; `undefined` if it has not begun. */
  readonly head: Checkpoint | undefined;
  /** Set if the part had ended when its process died. */
  readonly ended: RunEnd | undefined;
  /** The part no longer follows the cancellation of the run. */
  readonly close: () => void;
}

/**
 * Opens the `finally` part of a run whose outcome is set: restores it from the store, or copies the state of the run.
 *
 * @param children the unfinished runs that the checkpoint of the run refers to
 */
export async function openFinally(run: Run, children: Readonly<Record<string, string>>): Promise<FinallyPart> {
  const { shared, program, outcome } = run;
  const { durable } = shared;
  // A run that was cancelled cleans up under a fresh signal.
  const cancellation = new Cancellation(true);
  const child = new Run(program, shared, {
    cancellation,
    // What the part uses counts for the run, but the part has limits of its own.
    limits: run.limits,
    caller: run,
    place: placeOfFinally(run),
    outcome: outcome!,
  });
  child.attempt = run.attempt;
  const close = linkFaults(run, cancellation);
  const {
    latest,
    head: called,
    stored,
    writes,
  } = durable === undefined ? NO_CALL : await loadCall(durable, child, children);
  // Mutation point: continued-finally
  if (durable === undefined || called === undefined || called.runId !== child.runId) {
    copyState(run, child, latest);
    return { child, head: undefined, ended: undefined, close };
  }
  const present = await refuseDrift(program, durable.store, called, writes, { stored });
  const { head } = present;
  restoreRun(child, head, present.writes, present.moved);
  inheritConfig(child, run);
  if (stored !== called) await replaceHead(child, latest, head, stored!);
  child.woken = run.woken;
  const isOver = head.status !== "running" && head.status !== "paused";
  return { child, head, ended: isOver ? endedPart(child, head) : undefined, close };
}

/**
 * The run that has ended does not cancel its `finally` part, except where it cannot continue: the claim is lost, the store
 * does not answer, or the deadline of a drain has passed.
 */
function linkFaults(run: Run, cancellation: Cancellation): () => void {
  const onCancel = (reason: unknown): void => {
    const isFault =
      run.cancellation.fault !== undefined || reason instanceof ThreadError || reason instanceof StoreError;
    if (isFault || run.shared.isDraining) cancellation.cancel(reason);
  };
  run.cancellation.listen(onCancel);
  return () => run.cancellation.unlisten(onCancel);
}

/** Copies the state of the run. @param latest the last checkpoint in the namespace: that of another end, or another run */
function copyState(run: Run, child: Run, latest: Checkpoint | undefined): void {
  const { program } = child;
  const { writer } = child;
  const isWritten = (index: number): boolean =>
    run.writer === undefined ? run.state[index] !== program.initial[index] : run.writer.written.has(index);
  for (const { index } of program.channels) {
    if (!isWritten(index)) continue;
    writer?.touch(index, null, false);
    child.state[index] = run.state[index]!;
  }
  if (run.error !== null) child.setError(run.error);
  if (writer === undefined || latest === undefined) return;
  writer.headId = writer.storedId = latest.id;
  for (const [name, count] of Object.entries(latest.versions)) {
    const index = name === ERROR_NAME ? errorChannel(program) : program.channelIndex.get(name);
    if (index !== undefined) writer.versions.set(index, count);
  }
  for (const name of Object.keys(latest.values)) {
    const index = name === ERROR_NAME ? errorChannel(program) : program.channelIndex.get(name);
    if (index !== undefined && writer.written.has(index)) continue;
    const version = (Object.hasOwn(latest.versions, name) ? latest.versions[name]! : 0) + 1;
    if (index !== undefined) writer.versions.set(index, version);
    writer.reset(name, version);
  }
}

const NO_CALL: StoredCall = { latest: undefined, head: undefined, stored: undefined, writes: [] };

/** How a part had ended when its process died. */
function endedPart(child: Run, { status, failure }: Checkpoint): RunEnd {
  const error = failure === undefined ? null : errorOf(failure, child.shared.threadId);
  const incompleteBarriers = status === "incomplete" ? child.incompleteBarriers() : [];
  return { status: status as Exclude<Checkpoint["status"], "running">, pauses: [], incompleteBarriers, error };
}

/** How a run had ended whose `finally` part was interrupted. */
export function restoredEnd(run: Run, { outcome, failure }: Checkpoint): RunEnd {
  const { status, error: cause } = outcome!;
  // A fork records the outcome only.
  const known = failure ?? (cause === null ? undefined : { ...cause, node: cause.node ?? undefined });
  const error = known === undefined ? null : errorOf(known, run.shared.threadId);
  const incompleteBarriers = status === "incomplete" ? run.incompleteBarriers() : [];
  return {
    status: status as RunEnd["status"],
    ...(status === "limit" ? { limit: limitOfCode(error?.code) } : {}),
    pauses: [],
    incompleteBarriers,
    error,
  };
}

/** Stores the pause of the `finally` part, or its end and with it the end of the run. */
export async function saveFinally(run: Run, end: RunEnd, child: Run, ended: RunEnd): Promise<RunEnd> {
  // The head of the thread says that the part is in progress: `recover` continues it.
  if (ended.drained === true) return ended;
  const { phase, step, current, keepsResults } = run.endedAt ?? NOT_SAVED;
  if (ended.status === "paused") {
    const headId = child.writer?.headId;
    run.finallyChildren = headId == null ? child.children : { ...child.children, [child.namespace]: headId };
    await saveEnd(run, phase, step, current, { ...pausedEnd(ended.pauses), error: end.error }, keepsResults);
    return ended;
  }
  const { status, error } = ended;
  run.finallyChildren = undefined;
  const isOwn = (namespace: string): boolean => `${namespace}/`.startsWith(`${child.namespace}/`);
  run.children = Object.fromEntries(Object.entries(run.children).filter(([namespace]) => !isOwn(namespace)));
  // A `finally` part never rolls back.
  run.finallyEnd = {
    status: status as Exclude<typeof status, "rolled_back">,
    error,
    steps: child.steps,
    values: writtenBy(run, child),
  };
  const emptied = dropSignals(run, end);
  if (emptied !== undefined) await emptied;
  await saveEnd(run, phase, step, current, end, keepsResults);
  return end;
}

const NOT_SAVED = { phase: "completed", step: -1, current: [], keepsResults: false } as const;

/** The values that the part has changed, by channel. */
function writtenBy(run: Run, child: Run): JsonObject {
  const values: Record<string, Json> = {};
  for (const { name, index } of run.program.channels) {
    if (!equal(run.state[index]!, child.state[index]!)) setField(values, name, child.state[index]!);
  }
  return Object.freeze(values);
}
