/** What a call over Postgres reads does not grow with the history of its thread, whatever the planner knows about the tables. */
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  // The test itself decides when the planner gets statistics.
  server = await PostgresServer.start({ settings: { autovacuum: "off" } });
}, 300_000);
afterAll(() => server.dispose());

const THREADS = 10;
const CHANNELS = ["first", "second", "third", "fourth"];
/** For each channel one look for it, one for its start and one for its cells, each of a few pages, besides the rows of the thread. */
const MAX_PAGES = 80;

/** The statements that read cells while `body` runs. */
async function cellStatements(body: () => Promise<unknown>): Promise<readonly string[]> {
  const { prototype } = pg.Client;
  const query = Object.getOwnPropertyDescriptor(prototype, "query")!;
  const found: string[] = [];
  const watched = function (this: pg.Client, ...args: [string | { text: string; values?: unknown[] }]): unknown {
    const { text, values = [] } = typeof args[0] === "string" ? { text: args[0] } : args[0];
    const whole = text.replaceAll(/\$(\d+)/g, (_, number: string) => String(values[Number(number) - 1]));
    found.push(...whole.split("; ").filter((statement) => /^WITH .*\.cells\b/.test(statement)));
    return (query.value as (...given: unknown[]) => unknown).apply(this, args);
  };
  Object.defineProperty(prototype, "query", { ...query, value: watched });
  try {
    await body();
  } finally {
    Object.defineProperty(prototype, "query", query);
  }
  return found;
}

/** The pages that a statement reads from the cache of the server and from the disk. */
async function pagesOf(statement: string): Promise<number> {
  const [row] = await server.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${statement}`,
  );
  const { Plan: plan } = row!["QUERY PLAN"][0];
  return plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
}

it("reads as many pages for the newest checkpoint of a long thread as of a short one", async () => {
  const store = new PostgresStore({ url: server.url });
  const names = Array.from({ length: THREADS }, (_, at) => `thread ${at}`);
  const runs = await Promise.all(names.map((name) => SampleRun.start(store, name)));
  const read = async (): Promise<void> => {
    for (const load of [() => store.loadLatest("thread 3"), () => store.loadById("thread 3", runs[3]!.head()!.id)]) {
      const statements = await cellStatements(async () => expect(await load()).toEqual(runs[3]!.head()));
      expect(statements).toHaveLength(1);
      expect(await pagesOf(statements[0]!)).toBeLessThan(MAX_PAGES);
    }
  };
  for (const length of [10, 150]) {
    for (let count = 0; count < length; count++) {
      const changes = CHANNELS.map((channel) => ({ channel, set: count }));
      await Promise.all(runs.map((run) => run.save(changes)));
    }
    // The statistics are missing or old at first.
    await read();
    await server.query("ANALYZE");
    await read();
  }
  await store.close();
}, 300_000);
