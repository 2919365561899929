import { Hono, type Context } from "hono";
import { cors } from "hono/cors";
import type { UpgradeWebSocket } from "hono/ws";
import { newId } from "../runtime/checkpoint/ids.ts";
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Checkpoint } from "../runtime/interface/checkpoint.ts";
import type {
  DrainOptions,
  Engine,
  EngineOptions,
  ExecuteOptions,
  ResumeOptions,
  RunOptions,
  RunResult,
} from "../runtime/interface/engine-options.ts";
import { ThreadError } from "../runtime/interface/errors.ts";
import type { Store } from "../runtime/interface/store.ts";
import { similarName } from "../runtime/run/option-names.ts";
import type { Table } from "../runtime/table/table.ts";
import { checkpointDocument } from "../runtime/checkpoint/checkpoint-document.ts";
import { threadsOf } from "../runtime/thread/list-threads.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { builtinNodes } from "../stdlib/builtin-nodes.ts";
import { digestOf, Gatekeeper, RateLimit, type AccessOptions, type Action, type Principal } from "./access.ts";
import { chatResponse, chatTurn } from "./chat.ts";
import { graphDocument, IDEMPOTENCY, runDocument, stateDocument, summaryDocument, withoutHidden } from "./documents.ts";
import { EventLog } from "./event-log.ts";
import { isUpgrade, socketEvents } from "./event-socket.ts";
import { eventStream, serverSentEvent, socketMessage } from "./event-stream.ts";
import { readFields, readQuery } from "./fields.ts";
import { Metrics } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { OPERATIONS, type Operation, type OperationId } from "./operations.ts";
import { Problem, problemOf, problemResponse } from "./problem.ts";
import { readBody } from "./request-body.ts";
import type { Webhook } from "./webhook-request.ts";
import { Webhooks } from "./webhooks.ts";

/** A graph that a service runs: its table, its code, and options of its engine. The service adds the store. */
export interface ServedGraph extends Omit<EngineOptions, "store" | "onEvent" | "onWake"> {
  readonly table: Table;
  /** Stored with each checkpoint of its runs, and not shown to clients. */
  readonly metadata?: JsonObject;
}

export interface ServiceOptions extends AccessOptions {
  readonly graphs: readonly ServedGraph[];
  readonly store: Store;
  /**
   * Draws a graph as SVG, for `/graphs/{graph}/picture`; the service keeps the picture. `undefined`: the graph has no picture. Without
   * this function no graph has one.
   */
  readonly picture?: (table: Table) => Promise<string | undefined>;
  readonly limits?: {
    /** Bytes of the body of a request; default 1 MiB. */
    readonly body?: number;
    /** Requests of one principal in a minute; default: no limit. */
    readonly requestsPerMinute?: number;
    /** Runs that are under way at once; default 1,000. */
    readonly runs?: number;
    /** Streams of events that are open at once; default 1,000. */
    readonly streams?: number;
  };
  /**
   * Milliseconds between two looks for threads that are due or that a dead process has left; default 5,000. Several processes may
   * look at one store.
   */
  readonly recoverEveryMs?: number;
  /** Hono's `upgradeWebSocket` of the host, for events through WebSockets. Default: events are server-sent. */
  readonly upgradeWebSocket?: UpgradeWebSocket;
  /**
   * Addresses that receive a signed request for each pause and each end of a run, at least once (Standard Webhooks). They need a
   * store with a long-term memory, and `start()`. Services with different graphs on one store need different addresses.
   */
  readonly webhooks?: readonly Webhook[];
  /** Receives an entry for each request and each failure. Exceptions are ignored. */
  readonly onLog?: (entry: LogEntry) => void;
}

/** An entry of the log of a service. */
export type LogEntry =
  | {
      readonly type: "request";
      readonly time: number;
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly milliseconds: number;
      readonly principal: string | null;
    }
  | { readonly type: "failure"; readonly time: number; readonly message: string; readonly error: unknown };

export interface Service {
  /** The routes, to mount in another app. */
  readonly app: Hono;
  /** Answers a request: a handler for Node, Bun, Deno and edge runtimes. */
  readonly fetch: (request: Request, env?: object) => Promise<Response>;
  /** Begins to look for threads that are due or interrupted. */
  start(): void;
  /** Ends the streams, lets each run end at its next step, and refuses new ones. */
  drain(options?: DrainOptions): Promise<void>;
}

interface Served extends ServedGraph {
  readonly engine: Engine;
  readonly hidden: JsonObject;
}

/** A run under way in this process. */
interface ActiveRun {
  readonly controller: AbortController;
  readonly result: Promise<RunResult>;
}

/** A request that has passed the checks of its operation. */
interface Call {
  readonly request: Request;
  readonly context: Context;
  readonly principal: Principal;
  readonly values: Readonly<Record<string, Json>>;
  readonly parameters: { readonly graph?: string; readonly thread?: string };
}

const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
/** A picture that is opened as a page runs no scripts. */
const PICTURE_HEADERS = {
  "content-type": "image/svg+xml",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "x-content-type-options": "nosniff",
};
/** How often a stream looks for what other processes do with its thread. */
const POLL_MS = 1_000;

/**
 * An HTTP service that runs graphs: an app of Hono for any host.
 *
 * @throws TableError, RunError as `createEngine`; RangeError for two graphs with one name
 * @example
 * const service = createService({ graphs: [{ table, functions }], store: new MemoryStore(), tokens: { shop: "…" } });
 * Bun.serve({ fetch: service.fetch });
 */
export function createService(options: ServiceOptions): Service {
  const log = new EventLog();
  const metrics = serviceMetrics();
  const say = (entry: LogEntry): void => {
    try {
      options.onLog?.(entry);
    } catch {
      // A log that fails does not fail requests.
    }
  };
  const fail = (message: string, error: unknown): void => say({ type: "failure", time: Date.now(), message, error });
  const served = new Map<string, Served>();
  const webhooks = new Webhooks({
    hooks: options.webhooks ?? [],
    store: options.store,
    engines: () => new Map([...served].map(([name, { engine }]) => [name, engine])),
    onFailure: fail,
    onSent: (result) => metrics.add("ngraph_webhooks_total", { result }),
  });
  for (const graph of options.graphs) {
    const { table, metadata = {}, ...engineOptions } = graph;
    if (served.has(table.name)) throw new RangeError(`two graphs have the name \`${table.name}\``);
    const engine = createEngine(table, {
      ...engineOptions,
      builtins: { ...builtinNodes, ...engineOptions.builtins },
      store: options.store,
      onEvent: (event) => log.publish(event),
      onWake: ({ result, error, thread }) => {
        if (error !== null) fail(`thread \`${thread}\` could not be resumed`, error);
        else {
          metrics.add("ngraph_runs_total", { graph: table.name, status: result.status });
          void webhooks.add(table.name, result);
        }
      },
    });
    served.set(table.name, { ...graph, engine, hidden: metadata });
  }
  const gatekeeper = new Gatekeeper(options);
  const rate =
    options.limits?.requestsPerMinute === undefined ? undefined : new RateLimit(options.limits.requestsPerMinute);
  const active = new Map<string, ActiveRun>();
  const closing = new AbortController();
  let streams = 0;
  const pictures = new Map<string, Promise<string | undefined>>();

  const graphNamed = (name: string): Served => {
    const found = served.get(name);
    if (found !== undefined) return found;
    const similar = similarName(name, [...served.keys()]);
    throw new Problem(
      "not-found",
      `there is no graph \`${name.slice(0, 100)}\`${similar === undefined ? "" : `; did you mean \`${similar}\`?`}`,
    );
  };

  const unknownThread = (thread: string): ThreadError =>
    new ThreadError("NG_UNKNOWN_THREAD", thread, `there is no thread \`${thread.slice(0, 100)}\``);

  /** The graph of a thread. Threads that the principal may not use look as if they did not exist. */
  const threadNamed = async (
    thread: string,
    principal: Principal,
    action: Action,
  ): Promise<{ readonly graph: Served; readonly head: Checkpoint }> => {
    const head = await options.store.loadLatest(thread);
    if (head === undefined) throw unknownThread(thread);
    const name = head.graph ?? String(head.metadata["graph"]);
    const graph = served.get(name) ?? [...served.values()].find(({ table }) => table.was?.includes(name) === true);
    if (
      graph === undefined ||
      !(await gatekeeper.permits({ principal, action: "read", graph: graph.table.name, thread }))
    ) {
      throw unknownThread(thread);
    }
    if (action !== "read" && !(await gatekeeper.permits({ principal, action, graph: graph.table.name, thread }))) {
      throw new Problem("forbidden", `the principal \`${principal.name}\` has no permission to ${action} this thread`);
    }
    return { graph, head };
  };

  const openStream = async (
    context: Context,
    settings: Omit<Parameters<typeof eventStream>[0], "log" | "signal" | "onClose">,
  ): Promise<Response> => {
    const { upgradeWebSocket } = options;
    const isSocket = isUpgrade(context.req.raw);
    if (isSocket && upgradeWebSocket === undefined) {
      throw new Problem("not-acceptable", "the service has no WebSockets: the events are server-sent");
    }
    const most = options.limits?.streams ?? 1000;
    if (streams >= most) {
      throw new Problem("too-busy", `${most} streams are open`, { headers: { "retry-after": "5" } });
    }
    const open = <T>(encode: Parameters<typeof eventStream<T>>[1]): ReadableStream<T> => {
      streams++;
      metrics.add("ngraph_streams_open", {});
      const onClose = (): void => {
        streams--;
        metrics.add("ngraph_streams_open", {}, -1);
      };
      return eventStream({ ...settings, log, signal: closing.signal, onClose }, encode);
    };
    // A handshake that is cut off opens no stream.
    if (isSocket)
      return upgradeWebSocket!(
        context,
        socketEvents(() => open(socketMessage)),
      );
    return new Response(open(serverSentEvent), { headers: STREAM_HEADERS });
  };

  /** Starts a run or a resume as the run of its thread, and answers as the request prefers. */
  const execute = async (
    { request, context }: Call,
    graph: Served,
    thread: string,
    start: (more: Pick<ExecuteOptions, "signal" | "onEvent">) => Promise<RunResult>,
  ): Promise<Response> => {
    const most = options.limits?.runs ?? 1000;
    if (active.size >= most) {
      throw new Problem("too-busy", `${most} runs are under way`, { headers: { "retry-after": "5" } });
    }
    if (active.has(thread)) throw busy(thread);
    const wantsStream = (request.headers.get("accept") ?? "").includes("text/event-stream");
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
      // Whoever has the answer may rely on the webhook.
      .then(async (ended) => {
        await webhooks.add(name, ended);
        return ended;
      })
      .finally(() => {
        active.delete(thread);
        metrics.add("ngraph_runs_active", { graph: name }, -1);
      });
    active.set(thread, { controller, result });
    result.then(
      ({ status }) => metrics.add("ngraph_runs_total", { graph: name, status }),
      () => undefined,
    );
    await Promise.race([begun, result]);
    const location = { location: `/threads/${encodeURIComponent(thread)}` };
    if (wantsStream) {
      const end = result.then(
        (value) => ({ event: "result", data: runDocument(value) }),
        (error: unknown) => ({ event: "problem", data: problemOf(error) }),
      );
      const response = await openStream(context, { thread, from, end });
      response.headers.set("location", location.location);
      return response;
    }
    const wait = preferredWait(request.headers.get("prefer"));
    const ended = await orLater(result, wait);
    if (ended === undefined) {
      result.catch((error: unknown) => fail(`the run of thread \`${thread}\` has failed`, error));
      return json({ thread, status: "running" }, 202, location);
    }
    return json(runDocument(ended), 200, location);
  };

  const handlers: Readonly<Record<OperationId, (call: Call) => Promise<Response>>> = {
    async graphs({ principal }) {
      const shown: object[] = [];
      for (const { table } of served.values()) {
        if (await gatekeeper.permits({ principal, action: "read", graph: table.name, thread: null }))
          shown.push(graphDocument(table));
      }
      return json({ graphs: shown });
    },

    async graph({ parameters }) {
      return json(graphDocument(graphNamed(parameters.graph!).table));
    },

    async picture({ parameters }) {
      const { table } = graphNamed(parameters.graph!);
      let drawn = pictures.get(table.name);
      if (drawn === undefined) {
        drawn = Promise.resolve(options.picture?.(table));
        pictures.set(table.name, drawn);
        // The next request tries again.
        drawn.catch(() => pictures.delete(table.name));
      }
      const picture = await drawn;
      if (picture === undefined) throw new Problem("not-found", `the graph \`${table.name}\` has no picture`);
      return new Response(picture, { headers: PICTURE_HEADERS });
    },

    async chat(call) {
      const graph = graphNamed(call.parameters.graph!);
      const thread = call.values["id"] as string;
      const found = (await options.store.loadLatest(thread)) && (await threadNamed(thread, call.principal, "resume"));
      if (found !== undefined && found.graph !== graph) throw unknownThread(thread);
      await refuseForeignThread(thread, call.principal);
      const turn = chatTurn(call.values, graph.table, await graph.engine.state(thread));
      const request = new Request(call.request.url, { headers: { accept: "text/event-stream" } });
      const run = (more: ExecuteOptions): Promise<RunResult> =>
        "input" in turn
          ? graph.engine.run(turn.input, { ...more, thread, abandon: turn.abandon, metadata: graph.hidden })
          : graph.engine.resume(thread, { ...more, answers: turn.answers });
      return chatResponse(await execute({ ...call, request }, graph, thread, run));
    },

    async run(call) {
      const graph = graphNamed(call.parameters.graph!);
      const { input = {}, thread: given, ...settings } = call.values;
      const key = call.request.headers.get("idempotency-key");
      if (key !== null && given !== undefined) {
        throw new Problem(
          "bad-request",
          "a request has either an `Idempotency-Key` or a `thread`: the key determines the thread",
        );
      }
      if (key !== null && (key === "" || key.length > 255)) {
        throw new Problem("bad-request", "an `Idempotency-Key` has 1 to 255 characters");
      }
      refuseHigherLimits(graph, call.values);
      const owner = `${graph.table.name}\n${call.principal.name}\n${key}`;
      const thread =
        key === null ? ((given as string | undefined) ?? newId()) : `key-${(await digestOf(owner)).slice(0, 32)}`;
      const digest = key === null ? undefined : await digestOf(JSON.stringify(sorted(call.values)));
      if (given !== undefined) await refuseForeignThread(given as string, call.principal);
      const start = (): Promise<Response> =>
        execute(call, graph, thread, (more) =>
          graph.engine.run(input as JsonObject, {
            ...(settings as RunOptions),
            ...more,
            thread,
            metadata: {
              ...(settings["metadata"] as JsonObject | undefined),
              ...graph.hidden,
              ...(digest === undefined ? {} : { [IDEMPOTENCY]: digest }),
            },
          }),
        );
      if (digest === undefined) return start();
      const before = await replay(graph, thread, digest, call);
      if (before !== undefined) return before;
      try {
        return await start();
      } catch (error) {
        // Another request with this key was faster.
        const isRace =
          error instanceof ThreadError && (error.code === "NG_THREAD_BUSY" || error.code === "NG_THREAD_CONFLICT");
        const other = isRace ? await replay(graph, thread, digest, call) : undefined;
        if (other !== undefined) return other;
        throw error;
      }
    },

    async threads({ principal, values }) {
      const { graph, limit = 100, ...filter } = values;
      if (graph !== undefined) graphNamed(graph as string);
      const page = await threadsOf(
        options.store,
        { ...filter, limit: limit as number, ...(graph === undefined ? {} : { graph: graph as string }) },
        (error) => fail("a thread cannot be read", error),
      );
      const shown: object[] = [];
      for (const summary of page) {
        const name = summary.graph ?? String(summary.metadata["graph"]);
        const known = served.get(name);
        if (known === undefined) continue;
        const { thread } = summary;
        if (await gatekeeper.permits({ principal, action: "read", graph: name, thread })) {
          shown.push(summaryDocument(summary, known.hidden));
        }
      }
      return json({ threads: shown, next: page.length === limit ? page.at(-1)!.position : null });
    },

    async state({ principal, parameters }) {
      const thread = parameters.thread!;
      const { graph, head } = await threadNamed(thread, principal, "read");
      const state = await graph.engine.state(thread);
      if (state === undefined) throw unknownThread(thread);
      return json(stateDocument(graph.table, state, head, active.has(thread), graph.hidden));
    },

    async history({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "read");
      const { values: withValues, ...settings } = values;
      const list = await graph.engine.history(thread, settings);
      const checkpoints = list.map((checkpoint) => ({
        ...checkpointDocument(checkpoint),
        metadata: withoutHidden(checkpoint.metadata, graph.hidden),
        ...(withValues === true ? { values: checkpoint.values } : {}),
      }));
      return json({ checkpoints });
    },

    async events({ principal, parameters, values, request, context }) {
      const thread = parameters.thread!;
      const { graph, head } = await threadNamed(thread, principal, "read");
      const last = request.headers.get("last-event-id") ?? (values["after"] as string | undefined) ?? null;
      const known = last === null ? undefined : log.after(thread, last);
      const isLost = last !== null && known === undefined;
      const stateOf = async (): Promise<{ readonly data: object; readonly isOver: boolean } | undefined> => {
        const [state, latest] = [await graph.engine.state(thread), await options.store.loadLatest(thread)];
        if (state === undefined || latest === undefined) return undefined;
        const data = stateDocument(graph.table, state, latest, active.has(thread), graph.hidden);
        return { data, isOver: state.status !== "running" };
      };
      let seen = head.id;
      // The events before are not kept here: the state takes their place.
      const first = isLost ? await stateOf() : undefined;
      // Nothing runs that could end.
      const isOver =
        values["end"] === true && !active.has(thread) && (head.status !== "running" || head.prepared === true);
      const over = isOver ? await stateOf() : undefined;
      return openStream(context, {
        thread,
        from: known ?? (values["from"] === "start" || isLost ? log.start(thread) : log.end(thread)),
        ...(first === undefined ? {} : { first: [{ event: "state", data: first.data }] }),
        untilEnd: values["end"] === true,
        ...(over === undefined ? {} : { end: Promise.resolve({ event: "state", data: over.data }) }),
        poll: {
          everyMs: POLL_MS,
          async look() {
            if (active.has(thread)) return undefined;
            const latest = await options.store.loadLatest(thread);
            if (latest === undefined || latest.id === seen) return undefined;
            seen = latest.id;
            return stateOf();
          },
        },
      });
    },

    async resume(call) {
      const thread = call.parameters.thread!;
      const { graph } = await threadNamed(thread, call.principal, "resume");
      refuseHigherLimits(graph, call.values);
      return execute(call, graph, thread, (more) =>
        graph.engine.resume(thread, { ...(call.values as ResumeOptions), ...more }),
      );
    },

    async signal({ principal, parameters, values, request }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "signal");
      const id = values["id"] ?? request.headers.get("idempotency-key");
      const settings = typeof id === "string" && id !== "" ? { id } : {};
      const receipt = await graph.engine.signal(thread, values["name"] as string, values["value"] ?? null, settings);
      return json(receipt, 202);
    },

    async cancel({ principal, parameters }) {
      const thread = parameters.thread!;
      await threadNamed(thread, principal, "cancel");
      const run = active.get(thread);
      if (run === undefined) {
        throw new Problem("not-running", `thread \`${thread}\` does not run in this process: it has nothing to cancel`);
      }
      run.controller.abort();
      return json(runDocument(await run.result));
    },

    async rollback(call) {
      const thread = call.parameters.thread!;
      const { graph } = await threadNamed(thread, call.principal, "rollback");
      return execute(call, graph, thread, (more) => graph.engine.rollback(thread, more));
    },

    async fork({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "fork");
      if (values["as"] === undefined && active.has(thread)) throw busy(thread);
      const made = await graph.engine.fork(thread, values);
      return json({ thread: made.thread, checkpoint: made.checkpointId }, 201);
    },

    async update({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "update");
      const { values: channels, ...settings } = values;
      const made = await graph.engine.update(thread, channels as JsonObject, settings);
      return json({ thread, checkpoint: made.checkpointId }, 201);
    },

    async migrate({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "migrate");
      const made = await graph.engine.migrate(thread, values);
      return json({ thread, checkpoint: made.checkpointId }, 201);
    },

    async label({ principal, parameters, values }) {
      const thread = parameters.thread!;
      const { graph } = await threadNamed(thread, principal, "label");
      const { label, checkpoint } = values;
      await graph.engine.label(
        thread,
        label as string,
        checkpoint === undefined ? {} : { checkpoint: checkpoint as string },
      );
      return new Response(null, { status: 204 });
    },
  };

  /** A run on an existing thread reads its memory: the principal must be permitted to. */
  async function refuseForeignThread(thread: string, principal: Principal): Promise<void> {
    const head = await options.store.loadLatest(thread);
    if (head === undefined) return;
    const graph = head.graph ?? String(head.metadata["graph"]);
    if (await gatekeeper.permits({ principal, action: "run", graph, thread })) return;
    throw new Problem("forbidden", `the principal \`${principal.name}\` has no permission to use this thread`);
  }

  /** The answer to an earlier request with this key; `undefined` if there was none. */
  async function replay(
    graph: Served,
    thread: string,
    digest: string,
    { request }: Call,
  ): Promise<Response | undefined> {
    const head = await options.store.loadLatest(thread);
    if (head === undefined) return undefined;
    if (head.metadata[IDEMPOTENCY] !== digest) {
      throw new Problem("key-reused", "an earlier request with this `Idempotency-Key` had another body");
    }
    const headers = { location: `/threads/${encodeURIComponent(thread)}`, "idempotent-replayed": "true" };
    const run = active.get(thread);
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

  const handle = async (operation: Operation, id: OperationId, context: Context): Promise<Response> => {
    const request = context.req.raw;
    const principal = await gatekeeper.principalOf(request);
    context.set("principal", principal.name);
    rate?.take(principal.name, Date.now());
    const parameters = { graph: context.req.param("graph"), thread: context.req.param("thread") };
    if (operation.action !== undefined && parameters.graph !== undefined) {
      const { table } = graphNamed(parameters.graph);
      if (!(await gatekeeper.permits({ principal, action: operation.action, graph: table.name, thread: null }))) {
        throw new Problem(
          "forbidden",
          `the principal \`${principal.name}\` has no permission to ${operation.action} this graph`,
        );
      }
    }
    const values =
      operation.body === undefined
        ? readQuery(new URL(request.url).searchParams, operation.query ?? {})
        : readFields(await readBody(request, operation, options.limits?.body ?? 1024 * 1024), operation.body);
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return handlers[id]({ request, context, principal, values, parameters: Object.fromEntries(given) });
  };

  const app = new Hono<{ Variables: { principal: string } }>();
  app.use(async (context, next) => {
    const begin = performance.now();
    await next();
    const { method } = context.req;
    const { status } = context.res;
    metrics.add("ngraph_http_requests_total", { method: METHODS.has(method) ? method : "other", status });
    say({
      type: "request",
      time: Date.now(),
      method,
      path: context.req.path,
      status,
      milliseconds: Math.round(performance.now() - begin),
      principal: context.get("principal") ?? null,
    });
  });
  app.use(async (context, next) => {
    gatekeeper.checkHost(context.req.raw);
    gatekeeper.checkOrigin(context.req.raw);
    await next();
  });
  if (options.origins !== undefined) {
    app.use(
      cors({
        origin: [...options.origins],
        allowHeaders: ["authorization", "content-type", "idempotency-key", "last-event-id", "prefer"],
        exposeHeaders: ["location", "idempotent-replayed", "retry-after"],
      }),
    );
  }
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(operation.method.toUpperCase(), path, (context) => handle(operation, id, context));
    // A path that exists with another method.
    const methods = Object.values(OPERATIONS).flatMap((each: Operation) =>
      each.path === operation.path ? [each.method.toUpperCase()] : [],
    );
    app.all(path, () => {
      throw new Problem("method-not-allowed", `the methods of ${operation.path} are ${methods.join(", ")}`, {
        headers: { allow: methods.join(", ") },
      });
    });
  }
  const document = openApiDocument(
    [...served.values()].map(({ table }) => table),
    options.tokens !== undefined,
  );
  app.get("/openapi.json", () => json(document));
  app.get("/health", () => json({ status: "ok" }));
  app.get("/ready", async () => {
    if (closing.signal.aborted) throw new Problem("too-busy", "the service is shutting down");
    await threadsOf(options.store, { limit: 1 }, () => undefined);
    return json({ status: "ok" });
  });
  app.get("/metrics", () => new Response(metrics.text(), { headers: { "content-type": "text/plain; version=0.0.4" } }));
  app.notFound((context) =>
    problemResponse(
      new Problem("not-found", `there is no ${context.req.path.slice(0, 200)}; /openapi.json has the paths`),
    ),
  );
  app.onError((error) => {
    const { status } = problemOf(error);
    if (status >= 500) fail(error.message, error);
    return problemResponse(error);
  });

  let timer: ReturnType<typeof setTimeout> | undefined;
  /** One look after the other: a slow store is not asked twice at a time. */
  const look = async (): Promise<void> => {
    for (const [name, { engine }] of served) {
      for (const resume of [
        () => engine.recover({ signal: closing.signal }),
        () => engine.due(undefined, { signal: closing.signal }),
      ]) {
        if (closing.signal.aborted) return;
        try {
          const { results, failures } = await resume();
          for (const result of results) await webhooks.add(name, result);
          for (const { thread, error } of failures) fail(`thread \`${thread}\` could not be resumed`, error);
        } catch (error) {
          if (!closing.signal.aborted) fail("threads could not be resumed", error);
        }
      }
    }
  };
  const schedule = (): void => {
    if (closing.signal.aborted) return;
    timer = setTimeout(() => void look().finally(schedule), options.recoverEveryMs ?? 5_000);
  };
  return {
    app: app as unknown as Hono,
    fetch: async (request, env) => app.fetch(request, env),
    start() {
      if (timer === undefined) void look().finally(schedule);
      webhooks.start();
    },
    async drain(settings = {}) {
      clearTimeout(timer);
      const ending = Promise.all([...served.values()].map(({ engine }) => engine.drain(settings)));
      closing.abort();
      await ending;
      await webhooks.stop();
    },
  };
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH"]);

function serviceMetrics(): Metrics {
  const metrics = new Metrics();
  metrics.declare("ngraph_runs_total", "counter", "Runs that have ended or paused, by graph and status");
  metrics.declare("ngraph_runs_active", "gauge", "Runs under way that requests have started");
  metrics.declare("ngraph_http_requests_total", "counter", "Requests, by method and status");
  metrics.declare(
    "ngraph_webhooks_total",
    "counter",
    "Requests to webhooks: delivered, failed (with another attempt), abandoned",
  );
  metrics.declare("ngraph_streams_open", "gauge", "Open streams of events");
  return metrics;
}

function busy(thread: string): ThreadError {
  return new ThreadError(
    "NG_THREAD_BUSY",
    thread,
    `thread \`${thread}\` has a run under way: wait for its end, or cancel it`,
  );
}

/** @throws Problem `bad-field` for a limit above that of the graph: only its author and its operator raise limits */
function refuseHigherLimits(graph: Served, values: Readonly<Record<string, Json>>): void {
  const { limits } = graph.table;
  const own = (given: EngineOptions["maxSteps"], limit: number | null | undefined): number | null =>
    typeof given === "number" ? given : (limit ?? null);
  const bounds = [
    ["maxSteps", own(graph.maxSteps, limits.steps)],
    ["maxTokens", own(graph.maxTokens, limits.tokens)],
    ["maxCost", own(graph.maxCost, limits.cost)],
  ] as const;
  for (const [name, bound] of bounds) {
    const value = values[name];
    if (typeof value === "number" && bound !== null && value > bound) {
      throw new Problem("bad-field", `\`${name}\` is at most ${bound}, the limit of the graph`);
    }
  }
}

/** Seconds that a request waits for the end of its run (RFC 7240); `undefined`: until it ends. */
function preferredWait(prefer: string | null): number | undefined {
  if (prefer === null) return undefined;
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(prefer) ?? [];
  if (seconds !== undefined) return Number(seconds);
  return /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer) ? 0 : undefined;
}

/** The result, or `undefined` if it takes longer. */
async function orLater(result: Promise<RunResult>, seconds: number | undefined): Promise<RunResult | undefined> {
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

/** A value whose records have sorted names: equal requests have one text. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}

function json(document: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
