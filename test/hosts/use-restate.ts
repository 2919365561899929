/** A Restate server for the tests of a file, with workers in this process. */
import { afterAll, beforeAll } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate, serveRestate, type RestateHost, type RestateWorker } from "../../api/hosts/restate.ts";
import type { Engine, Table } from "../../runtime/index.ts";
import { RestateServer } from "./restate-server.ts";

export interface UsedRestate {
  readonly server: RestateServer;
  readonly host: RestateHost;
  /** Starts a worker with a graph, and makes it known. Returns a client. */
  serve(table: Table, functions?: object): Promise<Engine>;
}

/** The parts are there when the tests run. */
export function useRestate(): UsedRestate {
  let server: RestateServer | undefined;
  let host: RestateHost;
  const workers: RestateWorker[] = [];
  beforeAll(async () => {
    server = await RestateServer.start();
    host = restate({ url: server.url, admin: server.admin });
  }, 300_000);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close({ deadline: 0 })));
    await server?.stop();
  });
  return {
    get server() {
      return server!;
    },
    get host() {
      return host;
    },
    serve: async (table, functions = {}) => {
      const worker = await serveRestate({ tables: [table], functions: functions as never, restate: server!.url });
      workers.push(worker);
      await server!.register(`http://127.0.0.1:${await worker.listen(0)}`);
      return createEngine(table, { host });
    },
  };
}
