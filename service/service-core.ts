/** What the requests of a service share: its graphs, their threads, permissions, events and figures. */
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Checkpoint } from "../runtime/interface/checkpoint.ts";
import type { Engine } from "../runtime/interface/engine-options.ts";
import { ThreadError } from "../runtime/interface/thread-error.ts";
import type { Store } from "../runtime/interface/store.ts";
import { similarName } from "../runtime/run/option-names.ts";
import type { Table } from "../runtime/table/table.ts";
import { namesOf } from "../runtime/thread/list-threads.ts";
import { CancelWatch } from "../runtime/thread/cancel-requests.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { builtinNodes } from "../stdlib/builtin-nodes.ts";
import { Gatekeeper, type Action, type Principal } from "./access.ts";
import { EventLog } from "./event-log.ts";
import { Metrics } from "./metrics.ts";
import { Problem } from "./problem.ts";
import { RecentHeads } from "./recent-heads.ts";
import type { LogEntry, ServedGraph, ServiceOptions } from "./service-options.ts";
import { Webhooks } from "./webhooks.ts";

/** How often streams look for what other processes do with their threads. */
export const POLL_MS = 1_000;

export interface Served extends ServedGraph {
  readonly engine: Engine;
  readonly hidden: JsonObject;
}

export class ServiceCore {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly log = new EventLog();
  readonly metrics = serviceMetrics();
  readonly gatekeeper: Gatekeeper;
  readonly webhooks: Webhooks;
  readonly served = new Map<string, Served>();
  /** What other processes do with the threads that streams watch. */
  readonly heads: RecentHeads;
  /** What other processes ask for. */
  readonly cancellations: CancelWatch;
  /** Aborts when the service is drained. */
  readonly closing = new AbortController();

  /** @throws TableError, RunError as `createEngine`; RangeError for two graphs with one name */
  constructor(options: ServiceOptions) {
    this.options = options;
    this.store = options.store;
    this.gatekeeper = new Gatekeeper(options);
    this.heads = new RecentHeads(options.store, POLL_MS);
    this.webhooks = new Webhooks({
      hooks: options.webhooks ?? [],
      store: options.store,
      engines: () => new Map([...this.served].map(([name, { engine }]) => [name, engine])),
      onFailure: (message, error) => this.fail(message, error),
      onSent: (result) => this.metrics.add("ngraph_webhooks_total", { result }),
    });
    this.cancellations = new CancelWatch({
      store: options.store,
      cancel: async (thread) => {
        for (const { engine } of this.served.values()) if (await engine.cancel(thread)) return true;
        return false;
      },
      onFailure: (error) => this.fail("requests to cancel runs cannot be read", error),
    });
    for (const graph of options.graphs) this.#add(graph);
  }

  say(entry: LogEntry): void {
    try {
      this.options.onLog?.(entry);
    } catch {
      // A log that fails does not fail requests.
    }
  }

  fail(message: string, error: unknown): void {
    this.say({ type: "failure", time: Date.now(), message, error });
  }

  graphNamed(name: string): Served {
    const found = this.served.get(name);
    if (found !== undefined) return found;
    const similar = similarName(name, [...this.served.keys()]);
    throw new Problem(
      "not-found",
      `there is no graph \`${name.slice(0, 100)}\`${similar === undefined ? "" : `; did you mean \`${similar}\`?`}`,
    );
  }

  /** The graph of a stored thread, under its present name or a former one; `undefined` if it is not served. */
  graphOf(stored: NamesGraph): Served | undefined {
    const name = nameOf(stored);
    return this.served.get(name) ?? [...this.served.values()].find(({ table }) => namesOf(table).includes(name));
  }

  /** The tables of the graphs that a principal may read. */
  async tablesFor(principal: Principal): Promise<readonly Table[]> {
    const tables: Table[] = [];
    for (const { table } of this.served.values())
      if (await this.gatekeeper.permits({ principal, action: "read", graph: table.name, thread: null }))
        tables.push(table);
    return tables;
  }

  /** The graph of a thread. Threads that the principal may not use look as if they did not exist. */
  async threadNamed(
    thread: string,
    principal: Principal,
    action: Action,
  ): Promise<{ readonly graph: Served; readonly head: Checkpoint }> {
    const head = await this.store.loadLatest(thread);
    if (head === undefined) throw unknownThread(thread);
    const graph = this.graphOf(head);
    if (
      graph === undefined ||
      !(await this.gatekeeper.permits({ principal, action: "read", graph: graph.table.name, thread }))
    ) {
      throw unknownThread(thread);
    }
    if (action !== "read" && !(await this.gatekeeper.permits({ principal, action, graph: graph.table.name, thread }))) {
      throw new Problem("forbidden", `the principal \`${principal.name}\` has no permission to ${action} this thread`);
    }
    return { graph, head };
  }

  /** A run on an existing thread reads its memory: the principal must be permitted to. */
  async refuseForeignThread(thread: string, principal: Principal): Promise<void> {
    // Every run would pay for reading its thread.
    if (this.options.authorize === undefined) return;
    const head = await this.store.loadLatest(thread);
    if (head === undefined) return;
    const graph = this.graphOf(head)?.table.name ?? nameOf(head);
    if (await this.gatekeeper.permits({ principal, action: "run", graph, thread })) return;
    throw new Problem("forbidden", `the principal \`${principal.name}\` has no permission to use this thread`);
  }

  #add(graph: ServedGraph): void {
    const { table, metadata = {}, ...engineOptions } = graph;
    if (this.served.has(table.name)) throw new RangeError(`two graphs have the name \`${table.name}\``);
    const engine = createEngine(table, {
      ...engineOptions,
      builtins: { ...builtinNodes, ...engineOptions.builtins },
      store: this.store,
      onEvent: (event) => {
        this.log.publish(event);
        return this.options.onEvent?.(event);
      },
      onWake: ({ result, error, thread }) => {
        if (error !== null) this.fail(`thread \`${thread}\` could not be resumed`, error);
        else {
          this.metrics.add("ngraph_runs_total", { graph: table.name, status: result.status });
          void this.webhooks.add(table.name, result);
        }
      },
    });
    this.served.set(table.name, { ...graph, engine, hidden: metadata });
  }
}

/** A checkpoint or a listed thread. Those of old versions have the name in their metadata. */
type NamesGraph = { readonly graph?: string | null; readonly metadata: JsonObject };

function nameOf({ graph, metadata }: NamesGraph): string {
  return graph ?? String(metadata["graph"]);
}

export function unknownThread(thread: string): ThreadError {
  return new ThreadError("NG_UNKNOWN_THREAD", thread, `there is no thread \`${thread.slice(0, 100)}\``);
}

export function busy(thread: string): ThreadError {
  return new ThreadError(
    "NG_THREAD_BUSY",
    thread,
    `thread \`${thread}\` has a run under way: wait for its end, or cancel it`,
  );
}

export function json(document: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

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
