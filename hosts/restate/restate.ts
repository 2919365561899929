/** The client of runs on Restate: an engine whose runs are driven by workers. */
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { newId } from "../../runtime/checkpoint/ids.ts";
import type { ThreadId } from "../../runtime/interface/checkpoint.ts";
import type {
  BareAnswer,
  Engine,
  EngineOptions,
  ExecuteOptions,
  RecoverResult,
  ResumeOptions,
  RunOptions,
  RunResult,
} from "../../runtime/interface/engine-options.ts";
import { RunError } from "../../runtime/interface/errors.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import type { EngineHost } from "../../runtime/interface/host.ts";
import { notify } from "../../runtime/event/run-events.ts";
import { createRunStream } from "../../runtime/event/run-stream.ts";
import { stubBindings } from "../../runtime/program/stub-bindings.ts";
import { checkExecuteOptions } from "../../runtime/run/check-execute-options.ts";
import { checkView } from "../../runtime/run/check-options.ts";
import type { OptionKind } from "../../runtime/run/option-kinds.ts";
import {
  checkOptions,
  RESUME_OPTIONS,
  RUN_OPTIONS,
  STREAM_OPTIONS,
  STREAM_RESUME_OPTIONS,
} from "../../runtime/run/option-names.ts";
import { ROLLBACK_OPTIONS } from "../../runtime/run/thread-option-names.ts";
import type { Table } from "../../runtime/table/table.ts";
import { checkThreadId } from "../../runtime/run/check-thread-id.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import type { EventPage } from "./event-log.ts";
import { CALL_MS, Ingress, isUnavailable, type IngressOptions } from "./ingress.ts";
import { serviceNames, type ServiceNames } from "./service-names.ts";
import { scanThreads } from "./admin.ts";
import { callItemsThroughIngress, callThroughIngress } from "./store/ingress-thread.ts";
import { RestateStore, type CallThread } from "./store/restate-store.ts";
import { readResult, type WireResult } from "./wire-result.ts";
import { eitherSignal } from "../../runtime/run/either-signal.ts";

/** Runs on a Restate cluster, which workers serve (`serveRestate`, `ngc worker`). */
export interface RestateHost extends EngineHost {
  /** The store of the threads of a graph, for tools that read and edit threads. */
  store(graph: string): RestateStore;
  /**
   * Cancels the run of a thread that is in progress. It ends as `cancelled`, and its thread can be resumed. Returns whether there was
   * such a run.
   */
  cancel(graph: string, thread: ThreadId): Promise<boolean>;
  /**
   * The events of the newest run of a thread that was started with `stream` or `onEvent`, from a position on, until the run ends. Any
   * number of processes can read them. A reader that was cut off continues after the last event that it has: `position` of that event
   * plus 1. Restate keeps the newest 4,096 events of a run, for a day.
   *
   * @throws ThreadError NG_UNKNOWN_THREAD if the thread has no such run
   */
  events(
    graph: string,
    thread: ThreadId,
    options?: { readonly from?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<StreamedEvent>;
}

export interface RestateOptions extends IngressOptions {
  /**
   * Refuses runs, resumes and rollbacks with NG_OTHER_VERSION if the deployed version of the graph is not the one of the
   * client's table. Nothing is started then. Default: the deployed version runs, whatever the client has, so that clients and workers
   * can be updated one after the other.
   */
  readonly sameVersion?: boolean;
}

export interface StreamedEvent {
  readonly position: number;
  readonly event: RunEvent;
}

/**
 * A client of Restate, for `createEngine`.
 *
 * @param address the ingress of Restate: `http://localhost:8080`
 * @example
 * const engine = createEngine(table, { host: restate("http://localhost:8080") });
 * const { output } = await engine.run({ question: "…" }, { thread: "42" });
 */
export function restate(address: string | RestateOptions): RestateHost {
  const options: RestateOptions = typeof address === "string" ? { url: address } : address;
  const { sameVersion = false } = options;
  const ingress = new Ingress(options);
  const store = (graph: string): RestateStore => storeOf(ingress, serviceNames(graph), options);
  return {
    connect: (table, given) => new RestateClient(ingress, table, store(table.name), sameVersion).engine(given),
    store,
    cancel: (graph, thread) => ingress.call([serviceNames(graph).runs, thread, "cancel"], {}, SHORT),
    events: (graph, thread, given = {}) => eventsOf(ingress, serviceNames(graph), thread, given),
  };
}

/** The store of a client. A signal also wakes its thread. */
function storeOf(ingress: Ingress, names: ServiceNames, options: IngressOptions): RestateStore {
  const call = callThroughIngress(ingress, names, LIMITS);
  const withWake = (async (thread: string, method: never, input: never) => {
    if (method !== "putSignal") return call(thread, method, input);
    // The id of the signal makes a second call harmless.
    return ingress.call([names.runs, thread, "signal"], input, SHORT);
  }) as CallThread;
  return new RestateStore(withWake, {
    scan: scanThreads(options, names),
    callItems: callItemsThroughIngress(ingress, names, LIMITS),
  });
}

/** Calls that end at once, if a worker answers. */
const LIMITS = { within: CALL_MS };
const SHORT = { ...LIMITS, repeat: true };

class RestateClient {
  readonly #ingress: Ingress;
  readonly #names: ServiceNames;
  readonly #table: Table;
  readonly #store: RestateStore;
  readonly #sameVersion: boolean;

  constructor(ingress: Ingress, table: Table, store: RestateStore, sameVersion: boolean) {
    this.#sameVersion = sameVersion;
    this.#ingress = ingress;
    this.#store = store;
    this.#names = serviceNames(table.name);
    this.#table = table;
  }

  engine({ host: _host, ...given }: EngineOptions): Engine {
    refuseOptions(given);
    const stubs = stubBindings(this.#table, "workers have the code of runs on Restate");
    const { builtins = {} } = given;
    const local = createEngine(this.#table, {
      ...stubs,
      ...given,
      builtins: withStubs(this.#table, builtins),
      store: this.#store,
      wake: false,
    });
    const defaults = defaultsOf(given);
    const run = (input: JsonObject, options: RunOptions): Promise<RunResult> => {
      const { thread, ...others } = { ...defaults, ...options };
      if (thread !== undefined) return this.#execute("run", thread, others, { input });
      return this.#execute("run", newId(), others, { input, isNew: true });
    };
    const resume = (thread: ThreadId, options: ResumeOptions | BareAnswer): Promise<RunResult> => {
      const record: ResumeOptions = typeof options === "object" ? options : { answer: options };
      return this.#execute("resume", thread, { ...defaults, ...record }, {});
    };
    const noneLeft = async (): Promise<RecoverResult> => ({ results: [], conflicts: 0, failures: [] });
    return {
      ...local,
      run: async (input = {}, options = {}) => {
        checkOptions("a run", options, RUN_OPTIONS);
        return run(input, options);
      },
      resume: async (thread, options = {}) => {
        if (typeof options === "object") checkOptions("a resume", options, RESUME_OPTIONS);
        return resume(thread, options);
      },
      rollback: async (thread, options = {}) => {
        checkOptions("a rollback", options, ROLLBACK_OPTIONS);
        return this.#execute("rollback", thread, options, {});
      },
      stream: ((input: JsonObject, options: object = {}) =>
        streamOf(options, STREAM_OPTIONS, (watched) => run(input, watched))) as Engine["stream"],
      streamResume: ((thread: ThreadId, options: object = {}) =>
        streamOf(options, STREAM_RESUME_OPTIONS, (watched) => resume(thread, watched))) as Engine["streamResume"],
      // Restate continues the runs that a crash has cut off, and wakes threads.
      recover: noneLeft,
      due: noneLeft,
    };
  }

  async #execute(method: string, given: ThreadId, options: ExecuteOptions, input: object): Promise<RunResult> {
    checkExecuteOptions(options);
    const thread = checkThreadId(given);
    const { signal, onEvent, context, ...plain } = options;
    if (context !== undefined) throw notHere("context", "give it to the workers (`serveRestate({ context })`)");
    const stream = onEvent === undefined ? {} : { stream: newId() };
    const ended = new AbortController();
    const cancel = (): void => {
      void this.#ingress.call([this.#names.runs, thread, "cancel"], {}, SHORT).catch(() => undefined);
    };
    const isCancelled = (): boolean => signal?.aborted === true;
    if (!isCancelled()) await this.#ingress.reach([this.#names.runs, thread, method]);
    // Nothing has started: a call that cancels would meet the run of another client.
    if (isCancelled())
      throw new RunError("NG_CANCELLED", `the run of thread \`${thread}\` was cancelled before its start`);
    signal?.addEventListener("abort", cancel, { once: true });
    // A run that has ended has its result, also if the last events cannot be read.
    const watching = onEvent && this.#watch(stream.stream!, onEvent, ended.signal).catch(() => undefined);
    try {
      const path = [this.#names.runs, thread, method];
      const version = this.#sameVersion ? { digest: this.#table.digest } : {};
      const request = { ...input, options: plain, ...stream, ...version };
      return readResult(await this.#ingress.call<WireResult>(path, request, { idempotencyKey: newId(), repeat: true }));
    } finally {
      signal?.removeEventListener("abort", cancel);
      ended.abort();
      await watching;
    }
  }

  /** Passes the events of a stream on, until the run has ended and all of them were read. */
  async #watch(stream: string, onEvent: (event: RunEvent) => void, ended: AbortSignal): Promise<void> {
    const options = { from: 0, ended };
    for await (const { event } of readEvents(this.#ingress, this.#names, stream, options)) notify(onEvent, event);
  }
}

async function* eventsOf(
  ingress: Ingress,
  names: ServiceNames,
  thread: ThreadId,
  options: { readonly from?: number; readonly signal?: AbortSignal },
): AsyncIterable<StreamedEvent> {
  const stream = await ingress.call<string | null>([names.runs, thread, "stream"], {}, SHORT);
  if (stream === null) {
    const message = `thread \`${thread}\` has no stream of events: start its run with \`stream\` or \`onEvent\``;
    throw new ThreadError("NG_UNKNOWN_THREAD", thread, message);
  }
  // A refused run has no events, and a crash may have lost the last one.
  const isOver = async (): Promise<boolean> =>
    !(await ingress.call<boolean>([names.runs, thread, "streams"], { stream }, SHORT));
  yield* readEvents(ingress, names, stream, { ...options, isOver });
}

interface ReadOptions {
  readonly from?: number;
  readonly signal?: AbortSignal;
  /** Aborted when the run has ended: what is there then is all. */
  readonly ended?: AbortSignal;
  /** Whether the run has ended. */
  readonly isOver?: () => Promise<boolean>;
}

async function* readEvents(
  ingress: Ingress,
  names: ServiceNames,
  stream: string,
  { from = 0, signal, ended, isOver }: ReadOptions,
): AsyncIterable<StreamedEvent> {
  let position = from;
  let delay = MIN_POLL;
  let isRead = false;
  for (;;) {
    if (signal?.aborted === true) return;
    const isLast = isRead || ended?.aborted === true;
    let page: EventPage;
    try {
      page = await ingress.call<EventPage>([names.events, stream, "read"], { from: position }, SHORT);
    } catch (error) {
      // The run is still in progress: it has more patience than its events.
      if (ended === undefined || isLast || !isUnavailable(error)) throw error;
      await wait(MAX_POLL, ended);
      continue;
    }
    for (const [index, event] of page.events.entries()) {
      yield { position: page.from + index, event: event as unknown as RunEvent };
    }
    position = page.next;
    const last = page.events.at(-1);
    if (last?.["type"] === "run" && last["phase"] === "end" && (last["namespace"] as readonly string[]).length === 0)
      return;
    if (page.events.length > 0) {
      delay = MIN_POLL;
      continue;
    }
    if (isLast) return;
    isRead = delay >= ASK_DELAY && (await isOver?.()) === true;
    if (isRead) continue;
    await wait(delay, ended ?? signal);
    delay = Math.min(delay * 2, MAX_POLL);
  }
}

/** Milliseconds between two reads of a stream that has no new events. */
const MIN_POLL = 10;
const MAX_POLL = 500;
/** A stream that was silent until reads are so far apart may have ended without an event that says so. */
const ASK_DELAY = 80;

function wait(ms: number, until: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      until?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (until?.aborted === true) end();
    else until?.addEventListener("abort", end);
  });
}

function streamOf(
  given: RunOptions & ResumeOptions & { view?: "events"; views?: readonly "events"[]; buffer?: number },
  known: Readonly<Record<string, OptionKind>>,
  start: (options: RunOptions & ResumeOptions) => Promise<RunResult>,
) {
  checkOptions("a stream", given, known);
  checkView(given as never);
  const { view, views, buffer, ...options } = given;
  for (const each of views ?? [view ?? "events"]) {
    if (!STREAMED.has(each))
      throw notHere(`view: "${each}"`, "read the state of the thread, or the view `events` or `updates`");
  }
  const settings = { ...(view && { view }), ...(views && { views }), ...(buffer !== undefined && { buffer }) };
  return createRunStream(settings, ({ onEvent: watch, signal }) => {
    const { onEvent } = options;
    return start({
      ...options,
      signal: options.signal === undefined ? signal : eitherSignal(options.signal, signal),
      onEvent: (event) => {
        watch(event);
        onEvent?.(event);
      },
    });
  });
}

/** The views that events contain. */
const STREAMED: ReadonlySet<string> = new Set(["events", "updates", "custom", "tokens"]);

/** Defaults of runs among the options of an engine. */
function defaultsOf(options: EngineOptions): ExecuteOptions {
  const { maxSteps, maxTokens, maxCost, maxParallel, durability, onFailure, ttl, onEvent } = options;
  const all = { maxSteps, maxTokens, maxCost, maxParallel, durability, onFailure, ttl, onEvent };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function refuseOptions({ store, clock, execute, mocks, random }: EngineOptions): void {
  for (const [name, value] of Object.entries({ store, clock, execute, mocks, random })) {
    if (value !== undefined) throw notHere(name, "leave it out: the host has its own");
  }
}

function notHere(option: string, remedy: string): RunError {
  return new RunError("NG_BAD_INPUT", `\`${option}\` has no effect on runs of a host: ${remedy}`);
}

/** Built-in nodes that only workers have. */
function withStubs(
  table: Table,
  known: NonNullable<EngineOptions["builtins"]>,
): NonNullable<EngineOptions["builtins"]> {
  const builtins = Object.assign(
    Object.create(null) as Record<string, NonNullable<EngineOptions["builtins"]>[string]>,
    known,
  );
  const seen = new Set<Table>();
  const open = [table];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const { call } of next.nodes) {
      if (call.kind !== "builtin") continue;
      builtins[call.name] ??= () => {
        throw new Error(`${call.name} is not loaded: workers have the code of runs on Restate`);
      };
    }
    for (const called of next.graphs) open.push(called);
  }
  return builtins;
}
