/** W3, 5.6: several processes wake the due threads of one database. Each thread is run by one of them, once. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createEngine, type Engine, type Store } from "../../runtime/index.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { tableOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);
const THREADS = 12;
const TEXT = `graph g { output log: string[] reduce append  node nap = sleep(3h)  node work = work() into log
  node picked = receive("x") into log  start -> nap -> work -> picked }`;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

it.each(["SQLite", "Postgres"])("%s", { timeout: 300_000 }, async (kind) => {
  const path = inDirectory("runs.db");
  const open = (): Store =>
    kind === "SQLite"
      ? new SqliteStore(path)
      : new PostgresStore({ url: server.url, schema: "waking", connections: 4 });
  const stores = [open(), open(), open()];
  const ran: string[] = [];
  const table = tableOf(TEXT, ["work"]);
  const engines = stores.map((store): Engine =>
    createEngine(table, {
      store,
      wake: false,
      builtins: { receive, sleep },
      functions: {
        work: async (context: { readonly thread: string }) => {
          ran.push(context.thread);
          await new Promise((resolve) => setTimeout(resolve, 5));
          return "worked";
        },
      },
    }),
  );
  const threads = Array.from({ length: THREADS }, (_, n) => `t${n}`);
  for (const thread of threads) await engines[0]!.run({}, { thread });
  expect((await engines[1]!.due()).results).toEqual([]);

  const wake = async (now?: number): Promise<string[]> => {
    const all = await Promise.all(engines.map((engine) => engine.due(now)));
    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    return all.flatMap(({ results }) => results.map(({ thread }) => thread!)).sort();
  };
  expect(await wake(Date.now() + 4 * 3_600_000)).toEqual([...threads].sort());
  expect([...ran].sort()).toEqual([...threads].sort());
  for (const thread of threads) {
    await Promise.all(engines.map((engine) => engine.signal(thread, "x", "signal", { id: "one" })));
  }
  expect(await wake()).toEqual([...threads].sort());
  for (const thread of threads) {
    const state = await engines[2]!.state(thread);
    expect(state).toMatchObject({ status: "completed", state: { log: ["worked", "signal"] } });
    expect(await stores[0]!.getSignals!(thread)).toEqual([]);
  }
  for (const store of stores) await store.close?.();
});
