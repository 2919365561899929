import type { Checkpoint, CheckpointId, PendingWrite, ThreadId } from "../interface/checkpoint.ts";
import type {
  Engine,
  ForkOptions,
  HistoryOptions,
  MigrateOptions,
  RunResult,
  UpdateOptions,
} from "../interface/engine-options.ts";
import { NgraphError, RunError, StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Store } from "../interface/store.ts";
import { setField } from "../expression/operations.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { checkMetadata } from "../run/check-execute-options.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { NEW_THREAD, type NewThreadOptions } from "../run/new-thread.ts";
import { checkOptions, RUN_OPTIONS } from "../run/option-names.ts";
import {
  FORK_OPTIONS,
  HISTORY_OPTIONS,
  LABEL_OPTIONS,
  MIGRATE_OPTIONS,
  UPDATE_OPTIONS,
} from "../run/thread-option-names.ts";
import { answeredHead } from "../checkpoint/former-names.ts";
import { checkMemory } from "../thread/check-memory.ts";
import { forkCheckpoint, programAt } from "../thread/fork-thread.ts";
import { turnAfterCopy } from "../run/cut-work.ts";
import { snapshotJson, snapshotOptions } from "../run/copy-arguments.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { refuseEncoded } from "../checkpoint/refuse-encoded.ts";
import type { Program } from "../program/program.ts";
import { resumeDue, resumeThread } from "../thread/resume-thread.ts";
import { isOver } from "../checkpoint/is-over.ts";
import { migrateCheckpoint, withAnswers } from "../checkpoint/restore-run.ts";
import { applyConfig } from "../run/run-config.ts";
import { followRun } from "../run/follow-run.ts";
import { applyInput } from "../run/run-input.ts";
import { beginRun } from "../step/run-loop.ts";
import { executeRun } from "../run/execute-run.ts";
import { takeFirstTurn } from "../run/take-turns.ts";
import { createShared, limitsOfCall, type EngineCore } from "../run/run-settings.ts";
import { Run } from "../run/run.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { newId } from "../checkpoint/ids.ts";
import { isThenable } from "../value/promise.ts";
import type { Durable } from "../run/shared.ts";
import { asRunner, storeOf } from "../thread/thread-access.ts";
import { findCheckpoint, loadClaimedHead, loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { migrateThread } from "../thread/migrate-thread.ts";
import { listThreads } from "../thread/list-threads.ts";
import { recoverThreads, wakeThreads } from "../thread/recover-threads.ts";
import { pruneOwnThreads } from "../thread/prune-threads.ts";
import { openMemory } from "../memory/long-term-memory.ts";
import { rollBack } from "../step/roll-back.ts";
import { signalThread } from "../thread/signal-thread.ts";
import { updateCalledGraph } from "../thread/update-called-graph.ts";
import { rollbackThread } from "../thread/rollback-thread.ts";
import { undosOfThread } from "../thread/thread-undos.ts";
import { openUndos } from "../checkpoint/undo-log.ts";
import { emitEvent } from "../event/run-events.ts";
import { createThread, updateThread } from "../thread/update-thread.ts";
import { refuseMissingSecrets } from "../table/missing-secrets.ts";

/** What an engine does with the threads in its store. */
export const THREAD_OPERATIONS = {
  run: runOnThread,
  resume: resumeThread,
  resumeDue,
  rollback: rollbackThread,
  state: stateOf,
  history: historyOf,
  label: labelCheckpoint,
  fork: forkThread,
  update,
  migrate,
  list: listThreads,
  recover: recoverThreads,
  wake: wakeThreads,
  prune: pruneOwnThreads,
  signal: signalThread,
  rollBack,
  openMemory,
};

export type ThreadOperations = typeof THREAD_OPERATIONS;

/**
 * @param turn what the run waits for under its claim: a later call on the thread does not overtake one with a long input
 * @throws RunError, ThreadError at once: no promise for that, because each run calls this function
 */
function runOnThread(
  core: EngineCore,
  input: JsonObject,
  options: NewThreadOptions,
  turn?: Promise<void>,
): Promise<RunResult> {
  checkOptions("a run", options, RUN_OPTIONS);
  core.drain.refuseNewRun();
  const { program } = core;
  const limits = limitsOfCall(core, options);
  refuseMissingSecrets(core.missingSecrets);
  const threadId = options.thread === undefined ? newId() : checkThreadId(options.thread);
  return asRunner(core, threadId, options, async (durable, cancellation) => {
    if (turn !== undefined) await turn;
    const loading = loadClaimedHead(durable, program);
    const { head: latest, isOwn } = isThenable(loading) ? await loading : loading;
    if (latest !== undefined && options[NEW_THREAD] === true) throw existing(threadId);
    const head = latest === undefined || isOwn ? latest : await checkMemory(core, durable, latest);
    if (head !== undefined && options.abandon !== true) refuseUnfinished(head);
    const shared = createShared(core, options, { threadId, durable, ttl: head?.ttl });
    const run = new Run(program, shared, { cancellation, limits });
    applyInput(run, input);
    applyConfig(run, options.config);
    followRun(run, head, { isAdmitted: isOwn });
    // Signals of the abandoned run.
    const isAbandoned = head !== undefined && !isOver(head);
    if (isAbandoned) await dropSignals(run);
    if (isAbandoned) await dropUndos(core, durable, run, head);
    return executeRun(run, false, beginRun);
  });
}

/** R6: a run that abandons another one drops its undo log. */
async function dropUndos(core: EngineCore, durable: Durable, run: Run, head: Checkpoint): Promise<void> {
  if (!run.listening) return;
  for (const { nodes, task, call, key } of openUndos(await undosOfThread(core, durable, head))) {
    emitEvent(run, { type: "undo", phase: "dropped", node: nodes.at(-1) ?? "", taskId: task, call, key });
  }
}

function existing(thread: ThreadId): ThreadError {
  return new ThreadError("NG_THREAD_BUSY", thread, `thread \`${thread}\` already exists`);
}

function refuseUnfinished(head: Checkpoint): void {
  // Mutation point: unfinished-run
  if (isOver(head)) return;
  const how = head.status === "paused" ? "waits for an answer" : `has not finished (${head.status.replace("_", " ")})`;
  throw new ThreadError(
    "NG_THREAD_BUSY",
    head.threadId,
    `the last run of thread \`${head.threadId}\` ${how}: resume it, or start with \`abandon\` to abandon it`,
  );
}

async function stateOf(core: EngineCore, given: ThreadId): ReturnType<Engine["state"]> {
  const thread = checkThreadId(given);
  const store = storeOf(core, "threads are kept in a store");
  const found = await asStoreError(() => store.loadLatest(thread));
  if (found === undefined) return undefined;
  const stored = migrateCheckpoint(found, { threadId: thread });
  const head = answeredHead(core.program, stored, await loadWrites(store, thread, found.id));
  const { id, status, step, nextNodes, pendingSends, pauses, label, metadata } = head;
  const next = [...new Set([...nextNodes, ...pendingSends.map(({ node }) => node)])];
  const state = allValues(core.program, head);
  const expires = found.ttl === undefined ? {} : { expires: found.timestamp + found.ttl };
  const graph = found.graph ?? null;
  return { thread, checkpointId: id, status, step, state, next, pauses, label, metadata, graph, ...expires };
}

async function historyOf(core: EngineCore, given: ThreadId, options: HistoryOptions): Promise<readonly Checkpoint[]> {
  const thread = checkThreadId(given);
  checkOptions("a history", options, HISTORY_OPTIONS);
  const store = storeOf(core, "history is kept in a store");
  const program = programAt(core.program, (options.namespace ?? "").split("/"));
  const found: Checkpoint[] = [];
  for await (const list of historyParts(core, store, thread, options)) {
    // Only the newest checkpoint can have answers that no checkpoint records.
    const newest = found.length === 0 ? list[0] : undefined;
    for (const { codec } of list) refuseEncoded(thread, codec);
    const writes = newest?.status === "paused" ? await loadWrites(store, thread, newest.id) : [];
    for (const checkpoint of list) found.push(asAnswered(program, checkpoint, checkpoint === newest ? writes : []));
  }
  return found;
}

function asAnswered(program: Program | undefined, checkpoint: Checkpoint, writes: readonly PendingWrite[]): Checkpoint {
  if (program === undefined) return withAnswers(checkpoint, writes);
  const head = answeredHead(program, checkpoint, writes);
  return { ...head, values: allValues(program, head) };
}

/** Checkpoints that are read in one turn of the event loop. */
const LISTED_IN_TURN = 50;

/**
 * The same of all branches. Each part also reads where the branches of the whole thread begin, so parts grow with what was
 * read: the number of parts, and with it the cost, stays low.
 */
const LISTED_OF_ALL = 250;

function sizeOfPart({ all }: HistoryOptions, listed: number): number {
  return all === true ? Math.max(LISTED_OF_ALL, listed >> 4) : LISTED_IN_TURN;
}

/** A history in parts with turns between them: a synchronous store would keep everything else of the process waiting. */
async function* historyParts(
  { clock }: EngineCore,
  store: Store,
  thread: ThreadId,
  options: HistoryOptions,
): AsyncGenerator<readonly Checkpoint[]> {
  const { limit = 100 } = options;
  if (!Number.isSafeInteger(limit) || limit <= sizeOfPart(options, 0)) {
    yield await asStoreError(() => store.list(thread, options));
    return;
  }
  let { before } = options;
  let left = limit;
  while (left > 0) {
    const part = {
      ...options,
      limit: Math.min(sizeOfPart(options, limit - left), left),
      ...(before === undefined ? {} : { before }),
    };
    const list = await nextPart(store, thread, part, left < limit);
    yield list;
    left -= list.length;
    before = list.at(-1)?.id;
    if (list.length < part.limit) return;
    await takeFirstTurn(clock, true);
  }
}

/** @param isFurther an earlier part ends where this one begins: a prune may have removed that checkpoint, and all before it */
async function nextPart(
  store: Store,
  thread: ThreadId,
  options: HistoryOptions,
  isFurther: boolean,
): Promise<readonly Checkpoint[]> {
  try {
    return await asStoreError(() => store.list(thread, options));
  } catch (error) {
    if (isFurther && error instanceof NgraphError && error.code === "NG_UNKNOWN_CHECKPOINT") return [];
    throw error;
  }
}

/**
 * Stores keep written values only. A channel that was never written has its start value. The end of a run has what its
 * `finally` part has written.
 */
function allValues(program: Program, checkpoint: Checkpoint): JsonObject {
  const values: Record<string, Json> = {};
  const known = { ...checkpoint.values, ...checkpoint.finally?.values };
  for (const { name, index } of program.channels) {
    setField(values, name, Object.hasOwn(known, name) ? known[name]! : program.initial[index]!);
  }
  return values;
}

async function labelCheckpoint(
  core: EngineCore,
  given: ThreadId,
  label: string,
  options: { readonly checkpoint?: CheckpointId },
): Promise<void> {
  checkOptions("a label", options, LABEL_OPTIONS);
  const thread = checkThreadId(given);
  const { checkpoint } = options;
  const store = storeOf(core, "labels are kept in a store");
  if (typeof label !== "string" || label === "") {
    throw new RunError("NG_BAD_INPUT", "a label is a string of at least one character");
  }
  if (store.label === undefined) throw new StoreError("NG_STORE_FAILED", "this store does not support labels");
  const { id } =
    checkpoint === undefined ? await loadHead(store, thread) : await findCheckpoint(store, thread, checkpoint);
  await asStoreError(() => store.label!(thread, id, label));
}

async function forkThread(core: EngineCore, threadId: ThreadId, given: ForkOptions): ReturnType<Engine["fork"]> {
  checkOptions("a fork", given, FORK_OPTIONS);
  const thread = checkThreadId(threadId);
  const options = snapshotOptions(given);
  checkMetadata(options.metadata);
  const store = storeOf(core, "threads are kept in a store");
  const source =
    options.from === undefined ? await loadHead(store, thread) : await findCheckpoint(store, thread, options.from);
  const target = options.as === undefined ? thread : checkThreadId(options.as);
  return asRunner(core, target, {}, async (durable, cancellation) => {
    const head = await asStoreError(() => store.loadLatest(target));
    if (options.as !== undefined && head !== undefined) {
      throw new ThreadError(
        "NG_THREAD_BUSY",
        target,
        `thread \`${target}\` already exists: a fork with \`as\` needs a new thread`,
      );
    }
    // Another runner may have changed the thread before the claim: the head under the claim counts.
    const isOfHead = options.from === undefined && target === thread;
    const from = isOfHead && head !== undefined ? migrateCheckpoint(head, { threadId: thread }) : source;
    const metadata = { ...from.metadata, ...options.metadata };
    const { at, config } = options;
    const fork = await forkCheckpoint(core, durable, cancellation, { source: from, head, at, config, metadata });
    return { thread: target, checkpointId: fork.id };
  });
}

async function update(
  core: EngineCore,
  thread: ThreadId,
  given: JsonObject,
  settings: UpdateOptions,
): ReturnType<Engine["update"]> {
  checkOptions("an update", settings, UPDATE_OPTIONS);
  const values = snapshotJson(given);
  const options = snapshotOptions(settings);
  checkMetadata(options.metadata);
  const store = storeOf(core, "threads are kept in a store");
  const threadId = checkThreadId(thread);
  // A node or `start` says where the run of a new thread begins.
  const mayCreate = options.as !== undefined && options.as !== "end" && options.in === undefined;
  if (!mayCreate) await loadHead(store, threadId);
  return asRunner(core, thread, { durability: "sync" }, async (durable, cancellation) => {
    // Under the claim: a later call on this thread does not overtake a long edit.
    await turnAfterCopy(core.clock, given, values);
    if (mayCreate && (await asStoreError(() => durable.store.loadLatest(threadId))) === undefined) {
      return { thread, checkpointId: await createThread(core, durable, cancellation, values, options) };
    }
    const update = options.in === undefined ? updateThread : updateCalledGraph;
    const checkpointId = await update(core, durable, cancellation, values, options);
    return { thread, checkpointId };
  });
}

async function migrate(core: EngineCore, thread: ThreadId, options: MigrateOptions): ReturnType<Engine["migrate"]> {
  checkOptions("a migration", options, MIGRATE_OPTIONS);
  checkMetadata(options.metadata);
  const store = storeOf(core, "threads are kept in a store");
  const threadId = checkThreadId(thread);
  await loadHead(store, threadId);
  // A check does not disturb a run.
  if (options.dryRun === true) return { thread, checkpointId: await migrateThread(core, { store, threadId }, options) };
  return asRunner(core, thread, { durability: "sync" }, async (durable) => {
    const checkpointId = await migrateThread(core, durable, options);
    return { thread, checkpointId };
  });
}
