import type { Hono } from "hono";
import type { UpgradeWebSocket } from "hono/ws";
import type { DrainOptions, EngineOptions } from "../runtime/interface/engine-options.ts";
import type { EventListener } from "../runtime/interface/events.ts";
import type { Store } from "../runtime/interface/store.ts";
import type { Table } from "../runtime/table/table.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import type { AccessOptions } from "./access.ts";
import type { PlanRuns } from "./plan-runs.ts";
import type { Webhook } from "./webhook-request.ts";

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
  /**
   * The last run of a thread as a `test` block of its graph, for `/threads/{thread}/test`, or why it makes none. Without this function
   * no run does.
   */
  readonly recordTest?: (thread: string, table: Table) => Promise<RecordedTest>;
  /** Recorded runs of plans, for `/plans/runs`. A permission to read one names its plan as the graph. Default: none. */
  readonly plans?: PlanRuns;
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
  /** Receives the events of all runs: `traceRuns()` of `ngraph/opentelemetry`. Exceptions are ignored. */
  readonly onEvent?: EventListener;
  /**
   * Surrounds the answers of the routes: `traceRequests()` of `ngraph/opentelemetry`. `next` answers the request, with a problem document
   * if it is refused.
   */
  readonly aroundRequest?: (routed: RoutedRequest, next: () => Promise<Response>) => Promise<Response>;
  /** Receives an entry for each request and each failure. Exceptions are ignored. */
  readonly onLog?: (entry: LogEntry) => void;
}

/** A request, and the path of its route with the parameters in braces. */
export interface RoutedRequest {
  readonly request: Request;
  readonly route: string;
}

/** The text of a `test` block, or the reason why there is none. */
export type RecordedTest = { readonly test: string } | { readonly reason: string };

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
