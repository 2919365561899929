/** Runs that requests start: one of a thread at a time, answered at once, later, or as a stream. */
import type { Context } from "hono";
import type { ExecuteOptions, RunResult } from "../runtime/interface/engine-options.ts";
import type { Json } from "../runtime/value/json.ts";
import type { Principal } from "./access.ts";
import { IDEMPOTENCY, runDocument, stateDocument } from "./documents.ts";
import { isUpgrade, socketEvents } from "./event-socket.ts";
import { eventStream, serverSentEvents, socketMessages } from "./event-stream.ts";
import { Problem, problemOf } from "./problem.ts";
import { busy, json, type Served, type ServiceCore } from "./service-core.ts";

/** A request that has passed the checks of its operation. */
export interface Call {
  readonly request: Request;
  readonly context: Context;
  readonly principal: Principal;
  readonly values: Readonly<Record<string, Json>>;
  readonly parameters: { readonly graph?: string; readonly thread?: string; readonly run?: string };
}

/** A run under way in this process. */
interface ActiveRun {
  readonly controller: AbortController;
  /** The position of its first event. */
  readonly from: number;
  readonly result: Promise<RunResult>;
}

type StreamSettings = Omit<Parameters<typeof eventStream>[0], "log" | "signal" | "onClose">;

const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };

export class RunRequests {
  readonly active = new Map<string, ActiveRun>();
  readonly #core: ServiceCore;
  #streams = 0;

  constructor(core: ServiceCore) {
    this.#core = core;
  }

  /** A stream of events as the answer to a request. @throws Problem `not-acceptable`, `too-busy` */
  openStream(context: Context, settings: StreamSettings): Promise<Response> | Response {
    const { upgradeWebSocket } = this.#core.options;
    const isSocket = isUpgrade(context.req.raw);
    if (isSocket && upgradeWebSocket === undefined) {
      throw new Problem("not-acceptable", "the service has no WebSockets: the events are server-sent");
    }
    this.#refuseMoreStreams();
    // A handshake that is cut off opens no stream.
    if (isSocket)
      return upgradeWebSocket!(
        context,
        socketEvents(() => this.#stream(settings, socketMessages)),
      );
    return this.#serverSent(settings);
  }

  #serverSent(settings: StreamSettings): Response {
    return new Response(this.#stream(settings, serverSentEvents), { headers: STREAM_HEADERS });
  }

  #stream<T>(settings: StreamSettings, encode: Parameters<typeof eventStream<T>>[1]): ReadableStream<T> {
    const { log, metrics, closing } = this.#core;
    this.#streams++;
    metrics.add("ngraph_streams_open", {});
    const onClose = (): void => {
      this.#streams--;
      metrics.add("ngraph_streams_open", {}, -1);
    };
    return eventStream({ ...settings, log, signal: closing.signal, onClose }, encode);
  }

  #refuseMoreStreams(): void {
    const most = this.#core.options.limits?.streams ?? 1000;
    if (this.#streams < most) return;
    throw new Problem("too-busy", `${most} streams are open`, { headers: { "retry-after": "5" } });
  }

  /** Starts a run or a resume as the run of its thread, and answers as the request prefers. */
  async execute(
    { request }: Call,
    graph: Served,
    thread: string,
    start: (more: Pick<ExecuteOptions, "signal" | "onEvent">) => Promise<RunResult>,
  ): Promise<Response> {
    const { options, log, metrics, webhooks } = this.#core;
    const most = options.limits?.runs ?? 1000;
    if (this.active.size >= most) {
      throw new Problem("too-busy", `${most} runs are under way`, { headers: { "retry-after": "5" } });
    }
    if (this.active.has(thread)) throw busy(thread);
    const wantsStream = (request.headers.get("accept") ?? "").includes("text/event-stream");
    // Refused before the run has begun: a client that is refused may repeat its request.
    if (wantsStream) this.#refuseMoreStreams();
    const from = log.end(thread);
    const controller = new AbortController();
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const name = graph.table.name;
    metrics.add("ngraph_runs_active", { graph: name });
    const result = start({
      signal: controller.signal,
      // The input is stored: from now on the run can be resumed, and its failure is its result.
      onEvent: (event) => {
        if (event.type === "checkpoint" || (event.type === "step" && event.phase === "start")) begin();
      },
    })
      // The webhook is stored before the answer is sent: a client that has the answer may rely on it.
      .then(async (ended) => {
        await webhooks.add(name, ended);
        return ended;
      })
      .finally(() => {
        this.active.delete(thread);
        metrics.add("ngraph_runs_active", { graph: name }, -1);
      });
    this.active.set(thread, { controller, from, result });
    result.then(
      ({ status }) => metrics.add("ngraph_runs_total", { graph: name, status }),
      () => undefined,
    );
    await Promise.race([begun, result]);
    const location = { location: `/threads/${encodeURIComponent(thread)}` };
    if (wantsStream) {
      const response = this.#serverSent({ thread, from, end: endOf(result) });
      response.headers.set("location", location.location);
      return response;
    }
    const ended = await orLater(result, preferredWait(request.headers.get("prefer")));
    if (ended === undefined) {
      result.catch((error: unknown) => this.#core.fail(`the run of thread \`${thread}\` has failed`, error));
      return json({ thread, status: "running" }, 202, location);
    }
    return json(runDocument(ended), 200, location);
  }

  /**
   * The events of the run under way in this process, from its start, or the end of the last one; `undefined` if another process runs
   * the thread, or it was cut off.
   */
  async repeat(context: Context, graph: Served, thread: string): Promise<Response | undefined> {
    const run = this.active.get(thread);
    if (run !== undefined) {
      return this.openStream(context, { thread, from: run.from, end: endOf(run.result) });
    }
    const [state, head] = [await graph.engine.state(thread), await this.#core.store.loadLatest(thread)];
    if (state === undefined || head === undefined || state.status === "running") return undefined;
    const data = stateDocument(graph.table, state, head, false, graph.hidden);
    const end = Promise.resolve({ event: "result", data });
    return this.openStream(context, { thread, from: this.#core.log.end(thread), end });
  }

  /** The answer to an earlier request with this key; `undefined` if there was none. */
  async replay(graph: Served, thread: string, digest: string, { request }: Call): Promise<Response | undefined> {
    const head = await this.#core.store.loadLatest(thread);
    if (head === undefined) return undefined;
    if (head.metadata[IDEMPOTENCY] !== digest) {
      throw new Problem("key-reused", "an earlier request with this `Idempotency-Key` had another body");
    }
    const headers = { location: `/threads/${encodeURIComponent(thread)}`, "idempotent-replayed": "true" };
    const run = this.active.get(thread);
    if (run !== undefined) {
      const ended = await orLater(run.result, preferredWait(request.headers.get("prefer")));
      if (ended !== undefined) return json(runDocument(ended), 200, headers);
      return json({ thread, status: "running" }, 202, headers);
    }
    const state = await graph.engine.state(thread);
    if (state === undefined) return undefined;
    if (state.status === "running") return json({ thread, status: "running" }, 202, headers);
    return json(stateDocument(graph.table, state, head, false, graph.hidden), 200, headers);
  }
}

/** The last event of the stream of a run. */
function endOf(result: Promise<RunResult>): Promise<{ readonly event: string; readonly data: object }> {
  return result.then(
    (value) => ({ event: "result", data: runDocument(value) }),
    (error: unknown) => ({ event: "problem", data: problemOf(error) }),
  );
}

/** Seconds that a request waits for the end of its run (RFC 7240); `undefined`: until it ends. */
export function preferredWait(prefer: string | null): number | undefined {
  if (prefer === null) return undefined;
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(prefer) ?? [];
  if (seconds !== undefined) return Number(seconds);
  return /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer) ? 0 : undefined;
}

/** The result, or `undefined` if it takes longer. */
export async function orLater<T>(result: Promise<T>, seconds: number | undefined): Promise<T | undefined> {
  if (seconds === undefined) return result;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), seconds * 1000);
  });
  try {
    return await Promise.race([result, later]);
  } finally {
    clearTimeout(timer);
  }
}
