/** The operations on graphs: what they are, and the runs that they start. */
import { NEW_THREAD, type NewThreadOptions } from "../runtime/run/new-thread.ts";
import { newId } from "../runtime/checkpoint/ids.ts";
import type { EngineOptions, ExecuteOptions, RunOptions, RunResult } from "../runtime/interface/engine-options.ts";
import { ThreadError } from "../runtime/interface/thread-error.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { digestOf } from "./access.ts";
import { chatResponse, chatTurn, messageDigest } from "./chat.ts";
import { graphDocument, IDEMPOTENCY, MESSAGE } from "./documents.ts";
import type { OperationId } from "./operations.ts";
import { Problem } from "./problem.ts";
import type { Call, RunRequests } from "./run-requests.ts";
import { json, unknownThread, type Served, type ServiceCore } from "./service-core.ts";

type Handler = (call: Call) => Promise<Response>;

/** A picture that is opened as a page runs no scripts. */
const PICTURE_HEADERS = {
  "content-type": "image/svg+xml",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "x-content-type-options": "nosniff",
};

export function graphHandlers(core: ServiceCore, runs: RunRequests) {
  const { store } = core;
  const pictures = new Map<string, Promise<string | undefined>>();
  return {
    async graphs({ principal }) {
      const tables = await core.tablesFor(principal);
      return json({ graphs: tables.map(graphDocument) });
    },

    async graph({ parameters }) {
      return json(graphDocument(core.graphNamed(parameters.graph!).table));
    },

    async picture({ parameters }) {
      const { table } = core.graphNamed(parameters.graph!);
      let drawn = pictures.get(table.name);
      if (drawn === undefined) {
        drawn = Promise.resolve(core.options.picture?.(table));
        pictures.set(table.name, drawn);
        // The next request tries again.
        drawn.catch(() => pictures.delete(table.name));
      }
      const picture = await drawn;
      if (picture === undefined) throw new Problem("not-found", `the graph \`${table.name}\` has no picture`);
      return new Response(picture, { headers: PICTURE_HEADERS });
    },

    async chat(call) {
      const graph = core.graphNamed(call.parameters.graph!);
      const thread = call.values["id"] as string;
      const found = (await store.loadLatest(thread)) && (await core.threadNamed(thread, call.principal, "resume"));
      if (found !== undefined && found.graph !== graph) throw unknownThread(thread);
      await core.refuseForeignThread(thread, call.principal);
      const message = await messageDigest(call.values);
      if (message !== undefined && found?.head.metadata[MESSAGE] === message) {
        const repeated = await runs.repeat(call.context, graph, thread);
        if (repeated !== undefined) return chatResponse(repeated);
      }
      const turn = chatTurn(call.values, graph.table, await graph.engine.state(thread));
      const metadata = { ...graph.hidden, [MESSAGE]: message ?? null };
      const request = new Request(call.request.url, { headers: { accept: "text/event-stream" } });
      const run = (more: ExecuteOptions): Promise<RunResult> =>
        "input" in turn
          ? graph.engine.run(turn.input, { ...more, thread, abandon: turn.abandon, metadata })
          : graph.engine.resume(thread, { ...more, answers: turn.answers, metadata });
      return chatResponse(await runs.execute({ ...call, request }, graph, thread, run));
    },

    async run(call) {
      const graph = core.graphNamed(call.parameters.graph!);
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
      if (given !== undefined) await core.refuseForeignThread(given as string, call.principal);
      const start = (): Promise<Response> => {
        const options: NewThreadOptions = {
          ...(settings as RunOptions),
          thread,
          metadata: {
            ...(settings["metadata"] as JsonObject | undefined),
            ...graph.hidden,
            ...(digest === undefined ? {} : { [IDEMPOTENCY]: digest }),
          },
          [NEW_THREAD]: digest !== undefined,
        };
        return runs.execute(call, graph, thread, (more) =>
          graph.engine.run(input as JsonObject, { ...options, ...more }),
        );
      };
      if (digest === undefined) return start();
      for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
        const other = await runs.replay(graph, thread, digest, call);
        if (other !== undefined) return other;
        try {
          return await start();
        } catch (error) {
          const isRace =
            error instanceof ThreadError && (error.code === "NG_THREAD_BUSY" || error.code === "NG_THREAD_CONFLICT");
          if (!isRace || wait > LAST_WAIT_MS) throw error;
        }
        // Another request with this key was faster. It has claimed the thread, but may not have stored its input yet.
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    },
  } satisfies Partial<Readonly<Record<OperationId, Handler>>>;
}

/** Waits for the input of an equal request that another process has begun: 20 ms, 40 ms and so on, five seconds in all. */
const FIRST_WAIT_MS = 20;
const LAST_WAIT_MS = 2560;

/** @throws Problem `bad-field` for a limit above that of the graph: only its author and its operator raise limits */
export function refuseHigherLimits(graph: Served, values: Readonly<Record<string, Json>>): void {
  const { limits, name: ownName } = graph.table;
  const own = (given: EngineOptions["maxSteps"], limit: number | null = null): number | null => {
    const isByName = typeof given === "object" && given !== null;
    const ofGraph = isByName ? (Object.hasOwn(given, ownName) ? given[ownName] : undefined) : given;
    return ofGraph === undefined ? limit : ofGraph;
  };
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

/**
 * A value whose records have sorted names: equal requests have one text.
 *
 * @throws Problem `bad-field` for a value that is nested too deeply for any graph
 */
function sorted(value: Json, levels = 0): Json {
  if (typeof value !== "object" || value === null) return value;
  if (levels > MOST_LEVELS) throw new Problem("bad-field", `a request has at most ${MOST_LEVELS} levels of nesting`);
  if (Array.isArray(value)) return value.map((item) => sorted(item, levels + 1));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item, levels + 1)]));
}

/** More than the engine takes in any value. */
const MOST_LEVELS = 1000;
