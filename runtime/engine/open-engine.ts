import type { ThreadId } from "../interface/checkpoint.ts";
import type {
  BareAnswer,
  Engine,
  EngineOptions,
  RecoverResult,
  ResumeOptions,
  RunOptions,
  RunResult,
} from "../interface/engine-options.ts";
import { StoreError } from "../interface/errors.ts";
import type { JsonObject, MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";
import { MemoryNodeCache } from "../run/node-cache.ts";
import { refuseMissingSecrets } from "../table/missing-secrets.ts";
import type { Table } from "../table/table.ts";
import { Cancellation } from "../run/cancellation.ts";
import { NO_OPTIONS } from "../run/no-options.ts";
import { checkOptions, RUN_OPTIONS, STREAM_OPTIONS, STREAM_RESUME_OPTIONS } from "../run/option-names.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { copyArguments, snapshotJson, snapshotOptions } from "../run/copy-arguments.ts";
import type { Linker } from "../program/linker.ts";
import { compileProgram } from "../program/program.ts";
import { applyConfig } from "../run/run-config.ts";
import { applyInput } from "../run/run-input.ts";
import { beginRun } from "../step/run-loop.ts";
import { turnAfterCopy } from "../run/cut-work.ts";
import { takeFirstTurn } from "../run/take-turns.ts";
import { executeRun, orCancelled, resultOf } from "../run/execute-run.ts";
import { createCore, createShared, limitsOfCall, type EngineCore, type OpenMemory } from "../run/run-settings.ts";
import { Run } from "../run/run.ts";
import { Mailbox } from "../run/mailbox.ts";
import { Waker } from "../thread/waker.ts";
import { streamOf } from "./stream-of.ts";
import type { ThreadOperations } from "./thread-operations.ts";

/** The code that only engines with a store use. */
export interface StoreCode {
  /** The operations on threads, or their module while it loads. */
  readonly threads: () => MaybePromise<ThreadOperations>;
  readonly openMemory: OpenMemory;
}

/**
 * Creates an engine for a table that has been checked, and whose options have.
 *
 * @param linker the code that the table uses
 * @throws RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED
 */
export function openEngine(table: Table, options: EngineOptions, linker: Linker, code: StoreCode): Engine {
  return engineOf(openCore(table, options, linker, code), code);
}

/** The parts that all runs of an engine share. @throws RunError as `openEngine` */
export function openCore(table: Table, options: EngineOptions, linker: Linker, code: StoreCode): EngineCore {
  return createCore(
    compileProgram(table, options, linker),
    options,
    (clock) => new MemoryNodeCache({ now: () => clock.now() }),
    code.openMemory,
  );
}

/** The engine over its core. */
export function engineOf(core: EngineCore, code: StoreCode): Engine {
  const { options } = core;
  /**
   * Calls an operation on threads, with copies of its arguments while its module loads or others have the turn of the event loop:
   * the caller may change them.
   */
  const onThreads = <Args extends readonly unknown[], Result>(
    operation: (threads: ThreadOperations, ...args: Args) => Promise<Result>,
    ...args: Args
  ): Promise<Result> => {
    const threads = code.threads();
    const turn = takeFirstTurn(core.clock, true);
    if (turn === undefined && !isThenable(threads)) return operation(threads, ...args);
    const copies = copyArguments(args);
    return Promise.all([threads, turn]).then(([loaded]) => operation(loaded, ...copies));
  };
  const waker = new Waker(core, (thread, now) => onThreads((threads) => threads.resumeDue(core, thread, now, {})));
  /** Has copies of its arguments, and a turn. */
  const runOnThread: OnThread["run"] = (input, settings, turn) => {
    const threads = code.threads();
    if (!isThenable(threads)) return threads.run(core, input, settings, turn);
    return Promise.resolve(threads).then((loaded) => loaded.run(core, input, settings, turn));
  };
  const onThread: OnThread = { run: runOnThread, ended: (result) => waker.watch(result) };
  const start = (input: JsonObject, settings: RunOptions): Promise<RunResult> =>
    startRun(core, input, settings, onThread);
  const resume = (thread: ThreadId, settings: ResumeOptions | BareAnswer): Promise<RunResult> =>
    watched(
      waker,
      onThreads((threads, given) => threads.resume(core, thread, given), settings),
    );
  if (options.store !== undefined) void loadEarly(code);
  return {
    table: core.program.table,
    memory: core.memory,
    run: (input, settings = NO_OPTIONS) => start(input, settings),
    resume: (thread, settings = {}) => resume(thread, settings),
    rollback: (thread, settings = {}) => onThreads((threads, given) => threads.rollback(core, thread, given), settings),
    stream: (input, settings = {}) => streamOf(settings, STREAM_OPTIONS, (given) => start(input, given)),
    streamResume: (thread, settings = {}) =>
      streamOf(settings, STREAM_RESUME_OPTIONS, (given) => resume(thread, given)),
    state: (thread) => onThreads((threads) => threads.state(core, thread)),
    history: (thread, settings = {}) => onThreads((threads, given) => threads.history(core, thread, given), settings),
    label: (thread, label, settings = {}) =>
      onThreads((threads, given) => threads.label(core, thread, label, given), settings),
    fork: (thread, settings = {}) => onThreads((threads, given) => threads.fork(core, thread, given), settings),
    update: (thread, values, settings = {}) =>
      onThreads((threads, ...given) => threads.update(core, thread, ...given), values, settings),
    migrate: (thread, settings = {}) => onThreads((threads, given) => threads.migrate(core, thread, given), settings),
    threads: (settings = {}) => onThreads((threads, given) => threads.list(core, given), settings),
    cancel: async (thread) => core.drain.cancel(checkThreadId(thread)),
    drain: (settings = {}) => {
      waker.stop();
      return core.drain.drain(core.clock, settings);
    },
    recover: (settings = {}) =>
      watchedAll(
        waker,
        onThreads((threads, given) => threads.recover(core, given), settings),
      ),
    due: (now, settings = {}) =>
      watchedAll(
        waker,
        onThreads((threads, given) => threads.wake(core, now, given), settings),
      ),
    prune: async (settings) => onThreads((threads, given) => threads.prune(core, given), settings),
    signal: async (thread, name, value = null, settings = {}) => {
      const { isAwaited, ...receipt } = await onThreads(
        (threads, ...given) => threads.signal(core, thread, name, ...given),
        snapshotJson(value),
        settings,
      );
      if (isAwaited) waker.wake(thread);
      return receipt;
    },
  };
}

/** Loads the code for threads before the first run needs it. A failure is reported by the operation that needs it. */
async function loadEarly({ threads }: StoreCode): Promise<void> {
  try {
    await threads();
  } catch {
    // The import runs again with the operation.
  }
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

/** How the engine runs a graph on a thread. */
interface OnThread {
  /** @param turn what the run waits for when it has claimed its thread */
  readonly run: (input: JsonObject, options: RunOptions, turn?: Promise<void>) => Promise<RunResult>;
  readonly ended: (result: RunResult) => void;
}

function startRun(
  core: EngineCore,
  input: JsonObject = {},
  options: RunOptions,
  onThread: OnThread,
): Promise<RunResult> {
  const { store } = core.options;
  const turn = takeFirstTurn(core.clock, store !== undefined);
  if (turn !== undefined) return startLater(core, snapshotJson(input), snapshotOptions(options), turn, onThread);
  if (store === undefined) return runWithoutStore(core, input, options);
  const copy = snapshotJson(input);
  const next = turnAfterCopy(core.clock, input, copy);
  return orCancelled(core, options, () => onThread.run(copy, snapshotOptions(options), next), onThread.ended);
}

async function startLater(
  core: EngineCore,
  input: JsonObject,
  options: RunOptions,
  turn: Promise<void>,
  onThread: OnThread,
): Promise<RunResult> {
  await turn;
  if (core.options.store === undefined) return runWithoutStore(core, input, options);
  return orCancelled(core, options, () => onThread.run(input, options), onThread.ended);
}

/** The shortest path from input to result: no claim and no store. */
async function runWithoutStore(core: EngineCore, input: JsonObject, options: RunOptions): Promise<RunResult> {
  const { program } = core;
  if (options !== NO_OPTIONS) checkOptions("a run", options, RUN_OPTIONS);
  if (options.thread !== undefined) checkThreadId(options.thread);
  const limits = limitsOfCall(core, options);
  refuseMissingSecrets(core.missingSecrets);
  if (program.pausingNode !== undefined) throw needsStore(program.table.name, program.pausingNode);
  const breakpoint = options.pauseBefore?.[0] ?? options.pauseAfter?.[0];
  if (breakpoint !== undefined) throw needsStore(program.table.name, breakpoint);
  const onFailure = options.onFailure ?? core.options.onFailure;
  const cancellation = new Cancellation(options.signal !== undefined || onFailure === "abort");
  if (program.receives && options.thread !== undefined) return runWithMailbox(core, input, options, options.thread);
  const run = new Run(program, createShared(core, options, { threadId: options.thread }), { cancellation, limits });
  applyInput(run, input);
  applyConfig(run, options.config);
  if (options.signal === undefined && !run.listening) return resultOf(run, await beginRun(run));
  cancellation.link(options.signal, core.clock);
  try {
    return run.listening ? await executeRun(run, false, beginRun) : resultOf(run, await beginRun(run));
  } finally {
    cancellation.unlink();
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
  cancellation.link(options.signal, core.clock);
  try {
    return await executeRun(run, false, beginRun);
  } finally {
    cancellation.unlink();
    if (core.mailboxes.get(threadId) === mailbox) core.mailboxes.delete(threadId);
  }
}

function needsStore(graph: string, node: string): StoreError {
  return new StoreError(
    "NG_NO_STORE",
    `graph \`${graph}\` pauses at node \`${node}\`, which needs a store: give the engine a \`store\``,
  );
}
