/** The client of a service: plain `fetch`, for browsers and servers. */
import type { RunStatus, LimitKind, IncompleteBarrier } from "../runtime/interface/engine-options.ts";
import type { PauseItem, RunOutcome } from "../runtime/interface/checkpoint.ts";
import type { RunEvent } from "../runtime/interface/events.ts";
import type { Usage } from "../runtime/interface/usage.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import type { PlanLogPart, PlanRun, PlanRunSummary } from "./plan-runs.ts";
import { parseEvents } from "./parse-events.ts";
import type { ProblemDocument } from "./problem.ts";

export interface ClientOptions {
  /** The address of the service, with the path below which its routes are: `https://runs.example.com/api`. */
  readonly url: string;
  /** A bearer token, or a function that returns the present one. */
  readonly token?: string | (() => string | Promise<string>);
  /** Default: the `fetch` of the host. */
  readonly fetch?: typeof fetch;
}

/** The service has refused a request. `code` is the code of the problem: `NG_BAD_INPUT`, `not-found`, … */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: ProblemDocument;

  constructor(problem: ProblemDocument) {
    super(problem.detail);
    this.name = "ServiceError";
    this.status = problem.status;
    this.code = problem.code;
    this.problem = problem;
  }
}

/** A pause, with the JSON Schema of its answer. */
export type { PlanLogPart, PlanRun, PlanRunLog, PlanRunSummary, PlanRunTask, PlanSpan } from "./plan-runs.ts";

export interface ClientPause extends Omit<PauseItem, "expects"> {
  readonly schema?: { readonly [key: string]: unknown };
}

/** The error of a run as plain data. */
export interface ClientFailure {
  readonly code: string;
  readonly message: string;
  readonly node?: string;
  readonly attempts?: number;
  /** Of a thread: the messages of the chain of causes that `message` does not have. */
  readonly causes?: readonly string[];
}

/** The end or the pause of a run. */
export interface ClientResult<Output = JsonObject, State = JsonObject> {
  readonly status: RunStatus;
  readonly limit?: LimitKind;
  readonly usage?: Usage;
  readonly thread: string;
  readonly steps: readonly (readonly string[])[];
  readonly output: Output;
  readonly state: State;
  readonly pauses: readonly ClientPause[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  readonly error: ClientFailure | null;
  readonly outcome?: RunOutcome;
  readonly checkpoint: string | null;
}

export interface ClientThread<Output = JsonObject, State = JsonObject> {
  readonly thread: string;
  readonly graph: string;
  readonly status: RunStatus | "running";
  /** Whether the process that answers runs the thread. */
  readonly running: boolean;
  /** Whether a fork or an edit has made the newest checkpoint: nothing runs until a resume. */
  readonly prepared: boolean;
  readonly step: number;
  readonly next: readonly string[];
  readonly pauses: readonly ClientPause[];
  readonly output: Output;
  readonly state: State;
  readonly error: ClientFailure | null;
  readonly label: string | null;
  readonly metadata: JsonObject;
  readonly checkpoint: string;
  readonly timestamp: number;
  readonly due: number | null;
  /** Tokens and costs so far; absent if the graph calls no model. */
  readonly usage?: Usage;
}

export interface ClientThreadSummary {
  readonly thread: string;
  readonly graph: string | null;
  readonly status: RunStatus | "running" | "interrupted";
  readonly step: number;
  readonly label: string | null;
  readonly metadata: JsonObject;
  readonly timestamp: number;
  readonly due: number | null;
  readonly checkpoint: string;
  readonly checkpoints: number;
}

/** Options of a run and of a resume. */
export interface ClientExecuteOptions {
  readonly metadata?: JsonObject;
  readonly ttl?: number | null;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly pauseBefore?: readonly string[];
  readonly pauseAfter?: readonly string[];
  readonly config?: JsonObject;
  /** Ends the request; the run continues. */
  readonly signal?: AbortSignal;
}
export interface ClientRunOptions extends ClientExecuteOptions {
  readonly thread?: string;
  readonly abandon?: boolean;
  /** A second run with this key repeats nothing, and returns what the first one has. */
  readonly idempotencyKey?: string;
}
export interface ClientResumeOptions extends ClientExecuteOptions {
  readonly answer?: Json;
  readonly answers?: JsonObject;
  readonly from?: string;
  readonly at?: string;
}

/** An event of a thread. Besides the events of runs: the state after a gap, and the number of events that were dropped. */
export interface ClientEvent {
  /** For `after` of a later call; absent for events of the service itself. */
  readonly id?: string;
  readonly type: RunEvent["type"] | "state" | "dropped";
  readonly data: JsonObject;
}

export interface ClientEventOptions {
  /** The id of the last event that was received. */
  readonly after?: string;
  /** Default `now`. */
  readonly from?: "start" | "now";
  /** Ends after the end or the pause of the run. */
  readonly end?: boolean;
  readonly signal?: AbortSignal;
}

export interface ThreadFilter {
  readonly graph?: string;
  readonly status?: ClientThreadSummary["status"];
  readonly label?: string;
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: number;
}

/** What a graph takes and gives, as JSON Schemas. */
export interface ClientGraph {
  readonly name: string;
  readonly description: string | null;
  readonly digest: string;
  readonly effects: readonly string[];
  readonly input: JsonObject;
  readonly output: JsonObject;
  readonly config: JsonObject;
  /** The schema of the state of its threads. */
  readonly state: JsonObject;
  /** Its nodes, with the lines of their declarations. */
  readonly nodes: readonly { readonly name: string; readonly line: number | null }[];
}

/** The operations on one graph. */
export interface GraphClient<Input, Output, State> {
  /** Runs the graph and waits for its end or its next pause. */
  run(input: Input, options?: ClientRunOptions): Promise<ClientResult<Output, State>>;
  /** Starts a run and returns its thread at once. */
  start(input: Input, options?: ClientRunOptions): Promise<{ readonly thread: string }>;
  /** Its inputs, outputs and configuration, as JSON Schemas. */
  describe(signal?: AbortSignal): Promise<JsonObject>;
  /** Its picture as SVG. @throws ServiceError `not-found` if it has none */
  picture(signal?: AbortSignal): Promise<string>;
}

/** The operations on one thread. */
export interface ThreadClient<Output = JsonObject, State = JsonObject> {
  state(signal?: AbortSignal): Promise<ClientThread<Output, State>>;
  resume(options?: ClientResumeOptions): Promise<ClientResult<Output, State>>;
  signal(
    name: string,
    value?: Json,
    options?: { readonly id?: string },
  ): Promise<{ readonly id: string; readonly added: boolean }>;
  cancel(): Promise<ClientResult<Output, State>>;
  rollback(): Promise<ClientResult<Output, State>>;
  fork(options?: {
    readonly from?: string;
    readonly as?: string;
    readonly at?: string;
    readonly config?: JsonObject;
    readonly metadata?: JsonObject;
  }): Promise<{ readonly thread: string; readonly checkpoint: string }>;
  update(
    values: JsonObject,
    options?: {
      readonly as?: string;
      readonly in?: string;
      readonly replace?: boolean;
      readonly set?: readonly string[];
      readonly config?: JsonObject;
      readonly metadata?: JsonObject;
    },
  ): Promise<{ readonly thread: string; readonly checkpoint: string }>;
  /** Moves the thread to the present version of its graph. */
  migrate(options?: {
    /** New names by old name. */
    readonly rename?: Readonly<Record<string, string>>;
    /** Channels whose values are removed. */
    readonly drop?: readonly string[];
    /** New values by channel. */
    readonly set?: JsonObject;
    /** The former name of the graph. */
    readonly graph?: string;
    /** Checks, and writes nothing. */
    readonly dryRun?: boolean;
    readonly metadata?: JsonObject;
  }): Promise<{ readonly thread: string; readonly checkpoint: string }>;
  /** The last run as a `test` block of the graph. @throws ServiceError `no-test` for a run that makes none */
  test(signal?: AbortSignal): Promise<string>;
  label(label: string, checkpoint?: string): Promise<void>;
  history(options?: {
    readonly limit?: number;
    readonly before?: string;
    readonly namespace?: string;
    readonly all?: boolean;
    readonly values?: boolean;
  }): Promise<readonly JsonObject[]>;
  /** The events as they happen. After a lost connection it connects again and continues after the last event. */
  events(options?: ClientEventOptions): AsyncIterable<ClientEvent>;
}

/** A client of a service. */
export interface Client {
  /** The graphs that the token may read. */
  graphs(signal?: AbortSignal): Promise<readonly ClientGraph[]>;
  graph<Input = JsonObject, Output = JsonObject, State = JsonObject>(name: string): GraphClient<Input, Output, State>;
  thread<Output = JsonObject, State = JsonObject>(thread: string): ThreadClient<Output, State>;
  threads(
    filter?: ThreadFilter,
  ): Promise<{ readonly threads: readonly ClientThreadSummary[]; readonly next: number | null }>;
  /** The recorded runs of plans, newest first. */
  planRuns(filter?: { readonly plan?: string; readonly limit?: number }): Promise<readonly PlanRunSummary[]>;
  planRun(id: string, signal?: AbortSignal): Promise<PlanRun>;
  /** Ends a run of a plan: no further task starts. Repeated, it ends the tasks that run. */
  cancelPlanRun(id: string): Promise<PlanRunSummary>;
  /** A part of a log of a run, from a position in bytes. */
  planLog(id: string, log: string, from?: number, signal?: AbortSignal): Promise<PlanLogPart>;
}

interface Request {
  readonly method?: "GET" | "POST" | "PUT";
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A client of a service of `ngc serve` or `ngraph/serve`.
 *
 * @example
 * const client = createClient({ url: "http://127.0.0.1:8080" });
 * const result = await client.graph("support").run({ ticket: "…" }, { thread: "42" });
 * if (result.status === "paused") await client.thread("42").resume({ answer: "yes" });
 */
export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/\/+$/, "");
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);

  const request = async (path: string, { method = "GET", body, headers = {}, signal }: Request): Promise<Response> => {
    const { token } = options;
    const bearer = typeof token === "function" ? await token() : token;
    const response = await send(base + path, {
      method,
      headers: {
        ...headers,
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw new ServiceError(await problemOf(response));
    return response;
  };
  const ask = async <T>(path: string, settings: Request = {}): Promise<T> =>
    (await request(path, settings)).json() as Promise<T>;

  return {
    graph<Input, Output, State>(name: string): GraphClient<Input, Output, State> {
      const path = `/graphs/${encodeURIComponent(name)}`;
      const run = <T>(input: Input, given: ClientRunOptions, headers: Readonly<Record<string, string>>): Promise<T> => {
        const { idempotencyKey, signal, ...body } = given;
        const key = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
        return ask<T>(`${path}/runs`, {
          method: "POST",
          body: { input, ...body },
          headers: { ...headers, ...key },
          signal,
        });
      };
      return {
        run: (input, given = {}) => run(input, given, {}),
        async start(input, given = {}) {
          const { thread } = await run<{ thread: string }>(input, given, { prefer: "respond-async" });
          return { thread };
        },
        describe: (signal) => ask(path, { signal }),
        picture: async (signal) => (await request(`${path}/picture`, { signal })).text(),
      };
    },

    thread<Output, State>(thread: string): ThreadClient<Output, State> {
      const path = `/threads/${encodeURIComponent(thread)}`;
      const post = <T>(name: string, body: object = {}, signal?: AbortSignal): Promise<T> =>
        ask<T>(`${path}/${name}`, { method: "POST", body, signal });
      return {
        state: (signal) => ask(path, { signal }),
        resume: ({ signal, ...body } = {}) => post("resume", body, signal),
        signal: (name, value = null, more = {}) => post("signals", { name, value, ...more }),
        cancel: () => post("cancel"),
        rollback: () => post("rollback"),
        fork: (body) => post("fork", body),
        update: (values, more = {}) => post("update", { values, ...more }),
        migrate: (body) => post("migrate", body),
        test: async (signal) => (await ask<{ test: string }>(`${path}/test`, { signal })).test,
        async label(label, checkpoint) {
          const body = { label, ...(checkpoint === undefined ? {} : { checkpoint }) };
          await request(`${path}/label`, { method: "PUT", body });
        },
        async history(query = {}) {
          const found = await ask<{ checkpoints: readonly JsonObject[] }>(`${path}/history${queryOf(query)}`);
          return found.checkpoints;
        },
        events: (given = {}) => readEvents(`${path}/events`, given, request),
      };
    },

    graphs: async (signal) => (await ask<{ graphs: readonly ClientGraph[] }>("/graphs", { signal })).graphs,
    threads: (filter = {}) => ask(`/threads${queryOf(filter)}`),
    planRuns: async (filter = {}) =>
      (await ask<{ runs: readonly PlanRunSummary[] }>(`/plans/runs${queryOf(filter)}`)).runs,
    planRun: (id, signal) => ask(`/plans/runs/${encodeURIComponent(id)}`, { signal }),
    cancelPlanRun: (id) => ask(`/plans/runs/${encodeURIComponent(id)}/cancel`, { method: "POST", body: {} }),
    planLog: (id, log, from = 0, signal) =>
      ask(`/plans/runs/${encodeURIComponent(id)}/log${queryOf({ log, from })}`, { signal }),
  };
}

/** Milliseconds before a lost connection is made again; doubled after each failure in a row. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

async function* readEvents(
  path: string,
  { after, from, end, signal }: ClientEventOptions,
  request: (path: string, settings: Request) => Promise<Response>,
): AsyncGenerator<ClientEvent> {
  let last = after;
  let isFirst = true;
  for (let failures = 0; ;) {
    try {
      const headers = { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) };
      // A connection that is made again without an id would miss what happened in between.
      const start = isFirst ? from : "start";
      const query = queryOf({ ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { end }) });
      const response = await request(path + query, { headers, signal });
      isFirst = false;
      if (response.body === null) return;
      for await (const event of parseEvents(response.body)) {
        failures = 0;
        if (event.id !== undefined) last = event.id;
        yield event;
        if (end === true && isOver(event)) return;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      // What the service refuses, it refuses again, unless there were too many requests.
      if (error instanceof ServiceError && error.status < 500 && error.status !== 429) throw error;
      if (failures === 0 && isFirst) throw error;
    }
    if (signal?.aborted === true) return;
    const isAborted = await pause(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures), signal);
    if (isAborted) return;
    failures++;
  }
}

/** Waits, at most until the signal is aborted. Returns whether it is. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve(signal?.aborted === true);
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}

function isOver({ type, data }: ClientEvent): boolean {
  if (type === "state") return data["status"] !== "running";
  return (
    type === "run" && data["phase"] === "end" && Array.isArray(data["namespace"]) && data["namespace"].length === 0
  );
}

/** The problem document of a response; one is made for answers of proxies and other servers. */
async function problemOf(response: Response): Promise<ProblemDocument> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  try {
    const value = JSON.parse(text) as Partial<ProblemDocument>;
    if (typeof value.detail === "string" && typeof value.code === "string") return value as ProblemDocument;
  } catch {
    // Not the service's.
  }
  return {
    type: "about:blank",
    title: "The request has failed",
    status,
    detail: `the answer has the status ${status}`,
    code: "http",
  };
}

function queryOf(values: object): string {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? ""
    : `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)] as [string, string])).toString()}`;
}
