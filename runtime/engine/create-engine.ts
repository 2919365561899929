import type { Checkpoint, CheckpointId, ThreadId } from "../interface/checkpoint.ts";
import type {
  BareAnswer,
  Engine,
  EngineOptions,
  ExecuteOptions,
  ForkOptions,
  HistoryOptions,
  MigrateOptions,
  RecoverResult,
  ResumeOptions,
  RunOptions,
  RunResult,
  StreamOptions,
  UpdateOptions,
  ViewsOptions,
} from "../interface/engine-options.ts";
import { RunError, StoreError, ThreadError } from "../interface/errors.ts";
import type { EventListener, StreamViews } from "../interface/events.ts";
import { setField } from "../expression/operations.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { MemoryNodeCache } from "../run/node-cache.ts";
import type { Table } from "../table/table.ts";
import { Cancellation, linkSignal } from "../run/cancellation.ts";
import { checkMetadata, checkView } from "../run/check-options.ts";
import type { OptionKind } from "../run/option-kinds.ts";
import {
  checkOptions,
  ENGINE_OPTIONS,
  FORK_OPTIONS,
  HISTORY_OPTIONS,
  LABEL_OPTIONS,
  MIGRATE_OPTIONS,
  RUN_OPTIONS,
  STREAM_OPTIONS,
  STREAM_RESUME_OPTIONS,
  UPDATE_OPTIONS,
} from "../run/option-names.ts";
import { answeredHead } from "../checkpoint/former-names.ts";
import { checkMemory } from "../thread/check-memory.ts";
import { forkCheckpoint, programAt } from "../thread/fork-thread.ts";
import { freezeTable } from "../table/check-table.ts";
import { snapshotJson, snapshotOptions } from "../run/copy-arguments.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { compileProgram, type Program } from "../program/program.ts";
import { resumeThread } from "../thread/resume-thread.ts";
import { isOver, migrateCheckpoint, withAnswers } from "../checkpoint/restore-run.ts";
import { applyConfig } from "../run/run-config.ts";
import { applyInput, followRun } from "../run/run-input.ts";
import { beginRun } from "../step/run-loop.ts";
import { takeFirstTurn } from "../run/take-turns.ts";
import { executeRun, orCancelled, resultOf } from "../run/execute-run.ts";
import { LINKER } from "../plan/link-calls.ts";
import {
  createCore,
  createShared,
  limitsOfCall,
  ON_RESULT,
  ON_STATE,
  type EngineCore,
  type WatchedOptions,
} from "../run/run-settings.ts";
import { createRunStream } from "../event/run-stream.ts";
import { Run } from "../run/run.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { Mailbox } from "../run/mailbox.ts";
import { newId } from "../checkpoint/ids.ts";
import type { Durable } from "../run/shared.ts";
import { asRunner, checkThreadId, storeOf } from "../thread/thread-access.ts";
import { findCheckpoint, loadClaimedHead, loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { migrateThread } from "../thread/migrate-thread.ts";
import { listThreads } from "../thread/list-threads.ts";
import { recoverThreads, wakeThreads } from "../thread/recover-threads.ts";
import { pruneOwnThreads } from "../thread/prune-threads.ts";
import { signalThread } from "../thread/signal-thread.ts";
import { Waker } from "../thread/waker.ts";
import { updateCalledGraph } from "../thread/update-called-graph.ts";
import { rollbackThread } from "../thread/rollback-thread.ts";
import { undosOfThread } from "../thread/thread-undos.ts";
import { openUndos } from "../checkpoint/undo-log.ts";
import { emitEvent } from "../event/run-events.ts";
import { createThread, updateThread } from "../thread/update-thread.ts";

/**
 * Creates an engine for a table: checks the table, links it with its code once, and serves any number of runs.
 *
 * @throws TableError NG_BAD_TABLE; RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED
 * @example
 * const engine = createEngine(table, { functions: { search }, store: new MemoryStore() });
 * const { output } = await engine.run({ question: "…" });
 */
export function createEngine<Input = JsonObject, Output = JsonObject, State = JsonObject>(
  table: Table,
  options: EngineOptions = {},
): Engine<Input, Output, State> {
  checkOptions("an engine", options, ENGINE_OPTIONS);
  if (options.host !== undefined)
    return options.host.connect(table, options) as unknown as Engine<Input, Output, State>;
  freezeTable(table, "graph");
  const core = createCore(
    compileProgram(table, options, LINKER),
    options,
    (clock) => new MemoryNodeCache({ now: () => clock.now() }),
  );
  const waker = new Waker(core);
  const start = (input: JsonObject, settings: RunOptions): Promise<RunResult> => {
    const running = startRun(core, input, settings);
    return options.store === undefined ? running : watched(waker, running);
  };
  const resume = (thread: ThreadId, settings: ResumeOptions | BareAnswer): Promise<RunResult> =>
    watched(waker, resumeThread(core, thread, settings));
  const engine: Engine = {
    table,
    memory: core.memory,
    run: (input, settings = {}) => start(input, settings),
    resume: (thread, settings = {}) => resume(thread, settings),
    rollback: (thread, settings = {}) => rollbackThread(core, thread, settings),
    stream: (input, settings = {}) => streamOf(settings, STREAM_OPTIONS, (given) => start(input, given)),
    streamResume: (thread, settings = {}) =>
      streamOf(settings, STREAM_RESUME_OPTIONS, (given) => resume(thread, given)),
    state: (thread) => stateOf(core, thread),
    history: (thread, settings = {}) => historyOf(core, thread, settings),
    label: (thread, label, settings = {}) => labelCheckpoint(core, thread, label, settings),
    fork: (thread, settings = {}) => forkThread(core, thread, settings),
    update: (thread, values, settings = {}) => update(core, thread, values, settings),
    migrate: (thread, settings = {}) => migrate(core, thread, settings),
    threads: (settings = {}) => listThreads(core, settings),
    drain: (settings = {}) => {
      waker.stop();
      return core.drain.drain(core.clock, settings);
    },
    recover: (settings = {}) => watchedAll(waker, recoverThreads(core, settings)),
    due: (now, settings = {}) => watchedAll(waker, wakeThreads(core, now, settings)),
    prune: async (settings) => pruneOwnThreads(core, settings),
    signal: async (thread, name, value = null, settings = {}) => {
      const { isAwaited, ...receipt } = await signalThread(core, thread, name, snapshotJson(value), settings);
      if (isAwaited) waker.wake(thread);
      return receipt;
    },
  };
  // The caller declares the types of inputs and outputs; at run time both are checked records.
  return engine as unknown as Engine<Input, Output, State>;
}

/** The result of a run; sets the timer of its thread. */
async function watched(waker: Waker, running: Promise<RunResult>): Promise<RunResult> {
  const result = await running;
  waker.watch(result);
  return result;
}

async function watchedAll(waker: Waker, running: Promise<RecoverResult>): Promise<RecoverResult> {
  const all = await running;
  for (const result of all.results) waker.watch(result);
  return all;
}

function startRun(core: EngineCore, input: JsonObject = {}, options: RunOptions): Promise<RunResult> {
  const { store } = core.options;
  const turn = takeFirstTurn(core.clock, store !== undefined);
  if (turn !== undefined) return startLater(core, snapshotJson(input), snapshotOptions(options), turn);
  if (store === undefined) return runWithoutStore(core, input, options);
  return orCancelled(core, options, () => runOnThread(core, snapshotJson(input), snapshotOptions(options)));
}

async function startLater(
  core: EngineCore,
  input: JsonObject,
  options: RunOptions,
  turn: Promise<void>,
): Promise<RunResult> {
  await turn;
  if (core.options.store === undefined) return runWithoutStore(core, input, options);
  return orCancelled(core, options, () => runOnThread(core, input, options));
}

async function runOnThread(core: EngineCore, input: JsonObject, options: RunOptions): Promise<RunResult> {
  checkOptions("a run", options, RUN_OPTIONS);
  core.drain.refuseNewRun();
  const { program } = core;
  const limits = limitsOfCall(core, options);
  const threadId = checkThreadId(options.thread ?? newId());
  return asRunner(core, threadId, options, async (durable, cancellation) => {
    const { head: latest, isOwn } = await loadClaimedHead(durable, program);
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

/** The shortest path from input to result: no claim and no store. */
async function runWithoutStore(core: EngineCore, input: JsonObject, options: RunOptions): Promise<RunResult> {
  checkOptions("a run", options, RUN_OPTIONS);
  const { program } = core;
  const limits = limitsOfCall(core, options);
  if (program.pausingNode !== undefined) throw needsStore(program.table.name, program.pausingNode);
  const [breakpoint] = [...(options.pauseBefore ?? []), ...(options.pauseAfter ?? [])];
  if (breakpoint !== undefined) throw needsStore(program.table.name, breakpoint);
  const onFailure = options.onFailure ?? core.options.onFailure;
  const cancellation = new Cancellation(options.signal !== undefined || onFailure === "abort");
  if (program.receives && options.thread !== undefined) return runWithMailbox(core, input, options, options.thread);
  const run = new Run(program, createShared(core, options, { threadId: options.thread }), { cancellation, limits });
  applyInput(run, input);
  applyConfig(run, options.config);
  if (options.signal === undefined && !run.listening) return resultOf(run, await beginRun(run));
  const unlink = linkSignal(options.signal, cancellation);
  try {
    return await executeRun(run, false, beginRun);
  } finally {
    unlink();
  }
}

/** A run without a store whose thread can be sent signals while it is in progress. */
async function runWithMailbox(
  core: EngineCore,
  input: JsonObject,
  options: RunOptions,
  threadId: ThreadId,
): Promise<RunResult> {
  const mailbox = new Mailbox();
  const cancellation = new Cancellation(true);
  const shared = createShared(core, options, { threadId, mailbox });
  const run = new Run(core.program, shared, { cancellation, limits: limitsOfCall(core, options) });
  applyInput(run, input);
  applyConfig(run, options.config);
  core.mailboxes.set(threadId, mailbox);
  const unlink = linkSignal(options.signal, cancellation);
  try {
    return await executeRun(run, false, beginRun);
  } finally {
    unlink();
    if (core.mailboxes.get(threadId) === mailbox) core.mailboxes.delete(threadId);
  }
}

function needsStore(graph: string, node: string): StoreError {
  return new StoreError(
    "NG_NO_STORE",
    `graph \`${graph}\` pauses at node \`${node}\`, which needs a store: give the engine a \`store\``,
  );
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

function streamOf<View extends keyof StreamViews<JsonObject> = "events">(
  given: ExecuteOptions & StreamOptions<View> & Partial<ViewsOptions<View>>,
  known: Readonly<Record<string, OptionKind>>,
  start: (options: WatchedOptions) => Promise<RunResult>,
) {
  checkOptions("a stream", given, known);
  checkView(given);
  const { view, views, buffer, ...options } = given;
  const shown = { ...(view && { view }), ...(views && { views }) };
  return createRunStream<View>({ ...shown, ...(buffer !== undefined && { buffer }) }, (watch) => {
    const { onEvent, signal } = options;
    const both: EventListener = (event) => {
      watch.onEvent(event);
      onEvent?.(event);
    };
    return start({
      ...options,
      signal: signal === undefined ? watch.signal : AbortSignal.any([signal, watch.signal]),
      onEvent: both,
      ...(watch.onState === undefined ? {} : { [ON_STATE]: watch.onState }),
      ...(watch.onResult === undefined ? {} : { [ON_RESULT]: watch.onResult }),
    });
  });
}

async function stateOf(core: EngineCore, thread: ThreadId): ReturnType<Engine["state"]> {
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

async function historyOf(core: EngineCore, thread: ThreadId, options: HistoryOptions): Promise<readonly Checkpoint[]> {
  checkOptions("a history", options, HISTORY_OPTIONS);
  const store = storeOf(core, "history is kept in a store");
  const list = await asStoreError(() => store.list(thread, options));
  const [newest] = list;
  // Only the newest checkpoint can have answers that no checkpoint records.
  const writes = newest?.status === "paused" ? await loadWrites(store, thread, newest.id) : [];
  const program = programAt(core.program, (options.namespace ?? "").split("/"));
  return list.map((checkpoint) => {
    const found = checkpoint === newest ? writes : [];
    if (program === undefined) return withAnswers(checkpoint, found);
    const head = answeredHead(program, checkpoint, found);
    return { ...head, values: allValues(program, head) };
  });
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
  thread: ThreadId,
  label: string,
  options: { readonly checkpoint?: CheckpointId },
): Promise<void> {
  checkOptions("a label", options, LABEL_OPTIONS);
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

async function forkThread(core: EngineCore, thread: ThreadId, given: ForkOptions): ReturnType<Engine["fork"]> {
  checkOptions("a fork", given, FORK_OPTIONS);
  const options = snapshotOptions(given);
  checkMetadata(options.metadata);
  const store = storeOf(core, "threads are kept in a store");
  const source =
    options.from === undefined ? await loadHead(store, thread) : await findCheckpoint(store, thread, options.from);
  const target = checkThreadId(options.as ?? thread);
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
