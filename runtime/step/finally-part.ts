/**
 * The `finally` part of a run that has ended (F1). It runs as a called graph does: with its own steps, on a copy of the
 * state, in the namespace `finally` of the run.
 */
import type { Checkpoint } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { setField } from "../expression/operations.ts";
import { equal } from "../expression/equal.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { Cancellation } from "../run/cancellation.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { pausedEnd, saveEnd } from "../run/run-end.ts";
import { placeOfFinally, Run, type RunEnd } from "../run/run.ts";

interface OpenPart {
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
 * @param children the unfinished runs of the checkpoint that has recorded the outcome; absent for an end that was reached just now
 */
async function openFinally(run: Run, children: Readonly<Record<string, string>> | undefined): Promise<OpenPart> {
  const { shared, program, outcome } = run;
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
  const { durable } = shared;
  const stored = durable === undefined ? undefined : await durable.code.openFinally(run, child, children, durable);
  if (stored?.head !== undefined) return { child, head: stored.head, ended: stored.ended, close };
  copyState(run, child);
  if (stored?.latest !== undefined) durable?.code.followFinally(child, stored.latest);
  return { child, head: undefined, ended: undefined, close };
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

function copyState(run: Run, child: Run): void {
  const { program } = child;
  const isWritten = (index: number): boolean =>
    run.writer === undefined ? run.state[index] !== program.initial[index] : run.writer.written.has(index);
  for (const { index } of program.channels) {
    if (!isWritten(index)) continue;
    child.writer?.touch(index, null, false);
    child.state[index] = run.state[index]!;
  }
  if (run.error !== null) child.setError(run.error);
}

/** Stores the pause of the `finally` part, or its end and with it the end of the run. */
async function saveFinally(run: Run, end: RunEnd, child: Run, ended: RunEnd): Promise<RunEnd> {
  const { phase, step, current, keepsResults } = run.endedAt ?? NOT_SAVED;
  const keepChildren = (): void => {
    const headId = child.writer?.headId;
    run.finallyChildren = headId == null ? child.children : { ...child.children, [child.namespace]: headId };
  };
  if (ended.drained === true) {
    // The head of the thread says that the part is in progress: `recover` continues it.
    if (run.shared.durable?.durability !== "exit") return ended;
    keepChildren();
    await saveEnd(run, phase, step, current, { ...end, drained: true }, keepsResults);
    return ended;
  }
  if (ended.status === "paused") {
    keepChildren();
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

export const FINALLY_PART = { open: openFinally, save: saveFinally };

/** What the run of a `finally` part consists of besides its steps. */
export type FinallyPart = typeof FINALLY_PART;
