import type { Checkpoint, PauseItem, ThreadId } from "../interface/checkpoint.ts";
import type { BareAnswer, ResumeOptions, RunResult } from "../interface/engine-options.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Store } from "../interface/store.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { readSignals } from "../checkpoint/inbox.ts";
import { someContinue } from "../checkpoint/waits.ts";
import { isGate, takeAnswers } from "./answers.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { isOver } from "../checkpoint/is-over.ts";
import { executeRun, orCancelled } from "../run/execute-run.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { answeredHead, presentPauseId, underPresentNames } from "../checkpoint/former-names.ts";
import type { Program } from "../program/program.ts";
import { forkCheckpoint, programAt } from "./fork-thread.ts";
import { moveCalled, moveCalledWrites, renewPauseId } from "../checkpoint/move-called.ts";
import { snapshotOptions } from "../run/copy-arguments.ts";
import { checkOptions, RESUME_OPTIONS } from "../run/option-names.ts";
import {
  answerWrite,
  hasOpenWork,
  restoreRun,
  withAnswers,
  wokenPauses,
  wokenWrite,
} from "../checkpoint/restore-run.ts";
import { continueRun } from "../step/continue-run.ts";
import { nextStop } from "../run/run-end.ts";
import { createShared, limitsOfCall, type EngineCore } from "../run/run-settings.ts";
import { Run, type RunEnd } from "../run/run.ts";
import { isPlainRecord } from "../value/plain-object.ts";
import { readRecord } from "../value/read-record.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { Durable } from "../run/shared.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { asRunner, beforeClaim, storeOf } from "./thread-access.ts";
import { updateThread } from "./update-thread.ts";
import { findCheckpoint, loadHead, loadRecorded, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { refuseMissingSecrets } from "../table/missing-secrets.ts";

/** Resumes a thread from its head, or from another checkpoint or node, which forks inside the thread (5.9). */
export async function resumeThread(
  core: EngineCore,
  thread: ThreadId,
  given: ResumeOptions | BareAnswer,
): Promise<RunResult> {
  const options = snapshotOptions(withBareAnswer(given));
  checkOptions("a resume", options, RESUME_OPTIONS);
  core.drain.refuseNewRun();
  refuseMissingSecrets(core.missingSecrets);
  storeOf(core, "a thread can only be resumed from a store");
  const threadId = checkThreadId(thread);
  limitsOfCall(core, options);
  return orCancelled(core, { ...options, thread: threadId }, async () => {
    // An unknown thread is not claimed.
    await beforeClaim(core, options, (store) => loadHead(store, threadId));
    return asRunner(core, threadId, options, (durable, cancellation) =>
      resumeClaimed(core, durable, cancellation, options),
    );
  });
}

/** Why a thread is not resumed: another process holds or has resumed it, or nothing of it continues without an answer. */
export type NotResumed = "conflict" | "waits";

/** Resumes a paused thread if one of its pauses is due at `now`, or waits for a signal that is in its inbox. */
export async function resumeDue(
  core: EngineCore,
  threadId: ThreadId,
  now: number,
  options: Pick<ResumeOptions, "signal">,
): Promise<RunResult | NotResumed> {
  core.drain.refuseNewRun();
  const continues = async (store: Store): Promise<Checkpoint | NotResumed> => {
    const latest = await loadHead(store, threadId);
    const head = answeredHead(core.program, latest, await loadWrites(store, threadId, latest.id));
    if (head.status !== "paused") return "conflict";
    const isWoken = await someContinue(head.pauses, now, () => readSignals(store, threadId));
    // A signal in the inbox may have a name that no node waits for.
    return isWoken ? latest : "waits";
  };
  // A thread that another process runs is not claimed.
  const found = await beforeClaim(core, options, continues);
  if (typeof found === "string") return found;
  refuseMissingSecrets(core.missingSecrets);
  return asRunner(core, threadId, options, async (durable, cancellation) => {
    // Mutation point: due-under-claim
    const head = await continues(durable.store);
    // The thread was due a moment ago.
    if (typeof head === "string") return "conflict";
    // An empty record of answers opens no gate.
    return resumeHead(core, durable, cancellation, head, { ...options, answers: {} }, now);
  });
}

/** Resumes a thread if its run was cut off; otherwise another process has resumed it in the meantime. */
export async function resumeInterrupted(
  core: EngineCore,
  threadId: ThreadId,
  options: Pick<ResumeOptions, "signal">,
): Promise<RunResult | "conflict"> {
  return asRunner(core, threadId, options, async (durable, cancellation) => {
    const { store } = durable;
    const latest = await loadHead(store, threadId);
    const found = await loadWrites(store, threadId, latest.id);
    const { head, writes } = underPresentNames(core.program, latest, found);
    // A fork may have prepared a paused thread. Its stored answers come from a run, so `prepared` does not count.
    const isPrepared = head.prepared === true && head.status !== "paused";
    const isCutOff = withAnswers(head, writes).status === "running" && !isPrepared;
    if (!isCutOff && !hasOpenWork(head, writes)) return "conflict";
    refuseMissingSecrets(core.missingSecrets);
    // An empty record of answers opens no gate.
    return resumeHead(core, durable, cancellation, latest, { ...options, answers: {} });
  });
}

async function resumeClaimed(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  options: ResumeOptions,
): Promise<RunResult> {
  const { store, threadId } = durable;
  const latest = await loadHead(store, threadId);
  const source = options.from === undefined ? latest : await findCheckpoint(store, threadId, options.from);
  if (source.id === latest.id && options.at === undefined) {
    if (options.config === undefined) return resumeHead(core, durable, cancellation, latest, options);
    await checkResume(core, store, latest, options);
    await updateThread(core, durable, cancellation, {}, { config: options.config });
    return resumeHead(core, durable, cancellation, await loadHead(store, threadId), options);
  }
  // Checks the answers before the fork is made: a wrong answer leaves the thread unchanged.
  const present = underPresentNames(core.program, source, await loadWrites(store, threadId, source.id));
  const waiting = options.at === undefined ? present.head : { ...present.head, pauses: [] };
  await takeAnswers(store, waiting, present.writes, withPresentIds(core.program, options), presentId(core.program));
  const metadata = { ...source.metadata, ...options.metadata };
  const request = { source, head: latest, at: options.at, config: options.config, metadata };
  const fork = await forkCheckpoint(core, durable, cancellation, request);
  return resumeHead(
    core,
    durable,
    cancellation,
    fork,
    renewAnswers(withPresentIds(core.program, options), source, fork),
  );
}

/** Checks what a resume needs before the thread is changed: a wrong answer leaves the thread unchanged. */
async function checkResume(core: EngineCore, store: Store, latest: Checkpoint, options: ResumeOptions): Promise<void> {
  const { head, writes } = underPresentNames(core.program, latest, await loadWrites(store, latest.threadId, latest.id));
  await takeAnswers(store, head, writes, withPresentIds(core.program, options), presentId(core.program));
  refuseOver(head, options);
}

/** `resume(thread, "yes")` and `{ answers: "yes" }` answer the one pause that waits. */
function withBareAnswer(given: ResumeOptions | BareAnswer): ResumeOptions {
  if (typeof given !== "object") return { answer: given };
  if (!isPlainRecord(given)) return given;
  const { answers, ...others } = given;
  return typeof answers === "string" || typeof answers === "number" || typeof answers === "boolean"
    ? { ...others, answer: answers }
    : given;
}

async function resumeHead(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  stored: Checkpoint,
  given: ResumeOptions,
  now?: number,
): Promise<RunResult> {
  const { store, threadId, claim } = durable;
  const found = await loadWrites(store, threadId, stored.id);
  const { head, writes, moved } = await refuseDrift(core.program, store, stored, found);
  const options = withPresentIds(core.program, given);
  const { answers, fresh } = await takeAnswers(store, head, writes, options, presentId(core.program));
  const byId = new Map(stored.pauses.map((pause) => [presentPauseId(core.program, pause.id), pause]));
  // Writes behind a checkpoint use its names, which may be former ones: readers without the graph find the pauses.
  // Mutation point: stored-names
  const asStored = (pause: PauseItem): PauseItem => byId.get(pause.id) ?? pause;
  const named = hasAnswers(options);
  refuseOver(head, options);
  if (fresh.length > 0) {
    const answered = fresh.map(({ pause }) => pause);
    await refuseCalledDrift(core.program, durable, head, answered);
  }
  if (fresh.length > 0 && store.putWrites !== undefined) {
    const records = fresh.map(({ pause, value }) => answerWrite(asStored(pause), value));
    const written = durable.journal.write(() => store.putWrites!(claim, head.id, records), true);
    if (written !== undefined) await written;
  }
  const woken = await wokenCalls(store, head);
  if (woken.length > 0 && store.putWrites !== undefined) {
    await durable.journal.write(() => store.putWrites!(claim, head.id, woken.map(asStored).map(wokenWrite)), true);
  }
  const shared = createShared(core, options, {
    threadId,
    runId: head.runId,
    ttl: head.ttl,
    durable,
    answers,
    // Opens only the gate at which the thread waits: a called graph may reach a gate that was never reported (6.3).
    openedGates: new Set(named ? [] : onlyGate(head, answers)),
    isResume: true,
    metadata: { ...head.metadata, ...options.metadata },
    ...(now === undefined ? {} : { now }),
  });
  const run = new Run(core.program, shared, { cancellation, limits: limitsOfCall(core, options) });
  restoreRun(run, head, writes, moved);
  run.woken = new Set([...woken.map(({ id }) => id), ...wokenPauses(writes)]);
  return executeRun(run, true, (restored) => (isOver(head) ? asItStands(restored, head) : continueRun(restored, head)));
}

function presentId(program: Program): (id: string) => string {
  return (id) => presentPauseId(program, id);
}

/** A node may have been renamed after the caller read the ids of pauses. */
function withPresentIds(program: Program, options: ResumeOptions): ResumeOptions {
  const { answers } = options;
  const record = readRecord(answers);
  if (record instanceof Mismatch) return options;
  const renamed = Object.entries(record).map(([id, value]) => [presentPauseId(program, id), value] as const);
  return { ...options, answers: Object.fromEntries(renamed) };
}

/** Pauses of called graphs whose signals have come. */
async function wokenCalls(store: Store, { threadId, pauses }: Checkpoint): Promise<readonly PauseItem[]> {
  const waiting = pauses.filter(({ kind, namespace }) => kind === "signal" && namespace.length > 0);
  if (waiting.length === 0) return [];
  const names = new Set<unknown>((await asStoreError(() => readSignals(store, threadId))).map(({ name }) => name));
  return waiting.filter(({ payload }) => names.has(payload));
}

/** A resume without answers releases a gate only if nothing else waits. */
function onlyGate(head: Checkpoint, answers: ReadonlyMap<string, unknown>): readonly string[] {
  const open = head.pauses.filter(({ id }) => !answers.has(id));
  return open.length === 1 && isGate(open[0]!) ? [open[0]!.id] : [];
}

function hasAnswers({ answers, answer }: ResumeOptions): boolean {
  return answers !== undefined || answer !== undefined;
}

/** @throws ThreadError NG_NOT_PAUSED for a resume without an answer of a run that has ended */
function refuseOver(head: Checkpoint, options: ResumeOptions): void {
  if (hasAnswers(options) || !isOver(head)) return;
  throw new ThreadError(
    "NG_NOT_PAUSED",
    head.threadId,
    `the last run of thread \`${head.threadId}\` is ${head.status.replace("_", " ")}: nothing is left to resume`,
  );
}

/** The result of a run that has already ended, for a repeated answer. */
async function asItStands(run: Run, { status }: Checkpoint): Promise<RunEnd> {
  if (status !== "rolled_back") return nextStop(run)!;
  return { status, pauses: [], incompleteBarriers: [], error: null };
}

/** The caller of a fork uses the pause ids of the forked checkpoint. */
function renewAnswers(options: ResumeOptions, source: Checkpoint, fork: Checkpoint): ResumeOptions {
  if (options.answers === undefined) return options;
  const answers = Object.entries(options.answers).map(
    ([id, value]) => [renewPauseId(id, source.runId, fork.runId), value] as const,
  );
  return { ...options, answers: Object.fromEntries(answers) };
}

/**
 * Refuses answers to pauses of called graphs that an edit has changed too much to resume. The check comes before an answer is
 * stored: a refused resume leaves the thread unchanged.
 *
 * @throws ThreadError NG_DRIFT
 */
async function refuseCalledDrift(
  program: Program,
  durable: Pick<Durable, "store" | "threadId">,
  head: Checkpoint,
  answered: readonly PauseItem[],
): Promise<void> {
  if (head.digest === program.table.digest) return;
  const callers = new Set(
    answered.flatMap(({ namespace }) => namespace.map((_, depth) => namespace.slice(0, depth + 1).join("/"))),
  );
  for (const namespace of callers) {
    const id = head.children?.[namespace];
    const called = programAt(program, namespace.split("/"));
    if (id === undefined || called === undefined) continue;
    const stored = await loadRecorded(durable, id, head.runId);
    if (stored === undefined || stored.digest === called.table.digest) continue;
    const place = { namespace, runId: head.runId };
    const writes = moveCalledWrites(await loadWrites(durable.store, durable.threadId, stored.id), stored, place);
    await refuseDrift(called, durable.store, moveCalled(stored, place), writes, { stored });
  }
}
