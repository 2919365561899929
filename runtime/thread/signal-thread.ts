import type { Checkpoint, PauseItem, PendingWrite, ThreadId } from "../interface/checkpoint.ts";
import type { SignalOptions, SignalReceipt } from "../interface/engine-options.ts";
import { RunError, StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Store } from "../interface/store.ts";
import { newId } from "../checkpoint/ids.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { answeredHead } from "../checkpoint/former-names.ts";
import { presentPauses } from "../checkpoint/present-pauses.ts";
import { otherGraph } from "../checkpoint/drift.ts";
import { withAnswers } from "../checkpoint/restore-run.ts";
import { admitGiven } from "./admit-given.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { checkOptions } from "../run/option-names.ts";
import { SIGNAL_OPTIONS } from "../run/thread-option-names.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { Json } from "../value/json.ts";
import { compileAdmit, Mismatch } from "../value/validate.ts";
import { storeOf } from "./thread-access.ts";

/** The pauses that still wait, from the newest checkpoint and what was stored after it. */
type PausesOf = (head: Checkpoint, writes: readonly PendingWrite[]) => readonly PauseItem[];

/** A signal that was put into an inbox. */
export interface SentSignal extends SignalReceipt {
  /** Whether the thread is paused at a node that waits for it. */
  readonly isAwaited: boolean;
}

/** Puts a signal into the inbox of a thread of this graph. */
export async function signalThread(
  core: EngineCore,
  thread: ThreadId,
  name: string,
  value: Json,
  options: SignalOptions,
): Promise<SentSignal> {
  const { program } = core;
  if (!program.receives) {
    const message = `graph \`${program.table.name}\` has no node that receives signals (\`receive("name")\`)`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  const threadId = checkThreadId(thread);
  if (core.options.store === undefined) {
    const signal = readSignal(threadId, name, value, options);
    const mailbox = core.mailboxes.get(threadId);
    if (mailbox !== undefined) return { id: signal.id, added: mailbox.put(signal), isAwaited: false };
    throw new ThreadError("NG_UNKNOWN_THREAD", threadId, `no run with the thread \`${threadId}\` is in progress`);
  }
  const store = storeOf(core, "signals are kept in a store");
  return signalStore(store, threadId, name, value, options, (head, writes) => {
    const present = answeredHead(program, head, writes);
    const { graph } = present;
    if (graph !== undefined && graph !== program.table.name) throw otherGraph(head, program.table.name);
    return presentPauses(program, present);
  });
}

/**
 * Puts a signal into the inbox of a thread, without an engine.
 *
 * @param pausesOf throws if the thread belongs to another graph
 * @throws ThreadError NG_UNKNOWN_THREAD, NG_BAD_ANSWER; RunError NG_BAD_INPUT
 */
export async function signalStore(
  store: Store,
  threadId: ThreadId,
  name: string,
  value: Json,
  options: SignalOptions = {},
  pausesOf: PausesOf = (head, writes) => withAnswers(head, writes).pauses,
): Promise<SentSignal> {
  const signal = readSignal(threadId, name, value, options);
  const latest = await loadHead(store, threadId);
  const pauses = pausesOf(latest, await loadWrites(store, threadId, latest.id));
  const { putSignal } = store;
  if (putSignal === undefined) throw new StoreError("NG_STORE_FAILED", "this store keeps no signals");
  const waiter = pauses.find((pause) => awaits(pause, name));
  if (waiter?.expects !== undefined) {
    const { type, types } = waiter.expects;
    const admitted = compileAdmit(type, types)(signal.value);
    if (admitted instanceof Mismatch) {
      const message = `the signal \`${name}\` does not fit node \`${waiter.node}\`, which waits for it: ${admitted.describe()}`;
      throw new ThreadError("NG_BAD_ANSWER", threadId, message);
    }
  }
  const added = await asStoreError(() => putSignal.call(store, threadId, signal));
  // Read again: a run that has paused since the first read has not seen the signal.
  const now = waiter === undefined ? await loadHead(store, threadId) : latest;
  const isAwaited = now.status === "paused" && now.pauses.some((pause) => awaits(pause, name));
  return { id: signal.id, added, isAwaited: added && isAwaited };
}

function awaits({ kind, payload }: PauseItem, name: string): boolean {
  return kind === "signal" && payload === name;
}

/** Events, messages and pauses repeat the name; databases index the id. */
const MAX_SIGNAL_NAME = 2000;

function readSignal(threadId: ThreadId, name: unknown, value: unknown, options: SignalOptions) {
  checkOptions("a signal", options, SIGNAL_OPTIONS);
  const { id = newId() } = options;
  if (typeof name !== "string" || name === "") {
    throw new RunError("NG_BAD_INPUT", "the name of a signal is a string of at least one character");
  }
  if (name.length > MAX_SIGNAL_NAME) {
    const message = `the name of a signal has at most ${MAX_SIGNAL_NAME} characters, not ${name.length}`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  // With the empty text, all signals whose ids were lost would count as one.
  if (typeof id !== "string" || id === "" || id.length > MAX_SIGNAL_NAME) {
    const message = `the \`id\` of a signal is a string of 1 to ${MAX_SIGNAL_NAME} characters`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  const refused = (problem: string): ThreadError =>
    new ThreadError("NG_BAD_ANSWER", threadId, `the value of signal \`${name}\` ${problem}`);
  return { id, name, value: admitGiven(value, refused) };
}
