import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type * as Sdk from "@restatedev/restate-sdk";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import type { RunContext } from "../../runtime/interface/context.ts";
import type { Bindings, EngineOptions } from "../../runtime/interface/engine-options.ts";
import { RunError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import { Ingress, type IngressOptions } from "./ingress.ts";
import { createNodeRequest } from "./node-request.ts";
import type { Spread } from "./dispatch.ts";
import { provideWithResolvers } from "./with-resolvers.ts";
import { createWorkerGraph, servicesOf, type WorkerGraph } from "./worker-graph.ts";

export interface ServeRestateOptions extends Omit<
  EngineOptions,
  "store" | "host" | "execute" | "wake" | "onWake" | "clock" | "random" | "mocks" | "expressions"
> {
  /** The graphs that the worker runs. Their names are different. */
  readonly tables: readonly Table[];
  /** Code of graphs by name: of `tables`, and of the graphs that they call. Code that is missing there is taken from `functions`. */
  readonly graphs?: Readonly<Record<string, Bindings>>;
  /** The ingress of Restate, as workers reach it: steps are stored through it. */
  readonly restate: string | IngressOptions;
  /** Objects for node bodies, as `context.context`. */
  readonly context?: RunContext;
  /** Which tasks other workers may execute: those that run beside others (`parallel`, the default), all, or none. */
  readonly spread?: Spread;
  /**
   * A store that receives copies of all checkpoints and labels, such as `new PostgresStore(url)`: tools that read it see the threads.
   * Copies follow within seconds, and are made again until the store accepts them. The caller closes it.
   */
  readonly copyTo?: Store;
  /** Public keys of Restate (`publickeyv1_…`). With them, requests of others are refused. */
  readonly identityKeys?: readonly string[];
  /** Receives what the SDK of Restate logs. Default: nothing is logged. */
  readonly onLog?: (level: string, message: string) => void;
}

/** A worker: an endpoint that Restate calls. */
export interface RestateWorker {
  /** The names of its services in Restate. */
  readonly services: readonly string[];
  /** Handles requests of Restate, for an HTTP/2 server of the caller. */
  readonly handler: (request: never, response: never) => void;
  /** Listens for Restate. Port 0 takes a free one. Returns the port. */
  listen(port?: number, host?: string): Promise<number>;
  /**
   * Ends the worker: runs stop at their next step, and continue on another worker. `deadline` is in milliseconds (default 10,000);
   * bodies that still run then are cancelled.
   */
  close(options?: { readonly deadline?: number }): Promise<void>;
}

/**
 * A worker that runs graphs on Restate. Any number of workers with the same graphs may serve at once, behind one address that is
 * registered with Restate (`ngc deploy`).
 *
 * @throws RunError NG_MISSING_FUNCTION, NG_MISSING_SECRET, NG_EFFECT_DENIED, NG_BAD_INPUT for two graphs with one name; TableError
 * @example
 * const worker = await serveRestate({ tables: [table], functions: { search }, restate: "http://localhost:8080" });
 * await worker.listen(9080);
 */
export async function serveRestate(options: ServeRestateOptions): Promise<RestateWorker> {
  const {
    tables,
    restate,
    context = {},
    spread = "parallel",
    identityKeys = [],
    onLog,
    copyTo,
    ...engineOptions
  } = options;
  checkNames(tables);
  const sdk = await loadSdk();
  const ingress = new Ingress(typeof restate === "string" ? { url: restate } : restate, createNodeRequest());
  const graphs = tables.map((table) => {
    const own = engineOptions.graphs?.[table.name];
    const code = own === undefined ? engineOptions : { ...engineOptions, ...own };
    return createWorkerGraph({ table, options: code, ingress, context, spread, copyTo }, createEngine);
  });
  const services = graphs.flatMap((graph) => servicesOf(sdk, graph));
  const handler = createHandler(sdk, services, identityKeys, onLog);
  const sessions = new Set<{ destroy(): void }>();
  let server: Http2Server | undefined;
  return {
    services: services.map(({ name }) => name),
    handler,
    async listen(port = 9080, host = "127.0.0.1") {
      const listening = (server = createServer(handler as never));
      // Sessions of HTTP/2 stay open after `close` of the server.
      listening.on("session", (session) => {
        sessions.add(session);
        session.once("close", () => sessions.delete(session));
      });
      await new Promise<void>((resolve, reject) => {
        listening.once("error", reject);
        listening.listen(port, host, () => resolve());
      });
      return (listening.address() as AddressInfo).port;
    },
    async close({ deadline = 10_000 } = {}) {
      for (const { drivers } of graphs) for (const driving of drivers.values()) driving.isLeaving = true;
      await Promise.all(graphs.map(({ engine }: WorkerGraph) => engine.drain({ deadline })));
      server?.close();
      // The end of a drained run reaches Restate as the end of its stream.
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const session of sessions) session.destroy();
    },
  };
}

function createHandler(
  sdk: typeof Sdk,
  services: Parameters<typeof sdk.createEndpointHandler>[0]["services"],
  identityKeys: readonly string[],
  onLog: ServeRestateOptions["onLog"],
): RestateWorker["handler"] {
  try {
    return sdk.createEndpointHandler({
      services,
      identityKeys: [...identityKeys],
      logger: ({ level }, ...message) => onLog?.(level, message.map(String).join(" ")),
    }) as RestateWorker["handler"];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RunError("NG_BAD_INPUT", `the worker cannot be served: ${reason}`, { cause });
  }
}

function checkNames(tables: readonly Table[]): void {
  const names = new Set<string>();
  for (const { name } of tables) {
    if (names.has(name)) {
      throw new RunError(
        "NG_BAD_INPUT",
        `a worker cannot run two graphs with the name \`${name}\`: rename one of them`,
      );
    }
    names.add(name);
  }
}

async function loadSdk(): Promise<typeof Sdk> {
  provideWithResolvers();
  try {
    return await import("@restatedev/restate-sdk");
  } catch (cause) {
    const message = "runs on Restate need its SDK: install it with `npm install @restatedev/restate-sdk`";
    throw new RunError("NG_MISSING_FUNCTION", message, { cause });
  }
}
