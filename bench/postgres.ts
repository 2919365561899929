/**
 * Runs of three nodes over Postgres, each on a new thread: runs a second, messages to the server and commits a run, and the longest
 * time without a turn of the event loop. The server syncs each commit to the disk.
 */
import pg from "pg";
import { createEngine } from "../runtime/engine/create-engine.ts";
import { PostgresStore } from "../runtime/stores/postgres.ts";
import { PostgresServer } from "../test/stores/postgres-server.ts";
import { chainTable, functions } from "./support/chain.ts";
import { longestStall } from "./support/stall.ts";

const RUNS = 600;

const server = await PostgresServer.start({ settings: { fsync: "on" } });
const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
let messages = 0;
const { query } = prototype;
prototype.query = function (...args) {
  messages++;
  return query.apply(this, args);
};

try {
  const rates: number[] = [];
  for (const threads of [1, 10, 200]) {
    const store = new PostgresStore({ url: server.url, schema: `threads_${threads}` });
    const engine = createEngine(chainTable(), { functions, store });
    await engine.run({ n: 0 }, { thread: "first" });
    messages = 0;
    const commitsBefore = await commits();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < RUNS) {
        const n = next++;
        await engine.run({ n }, { thread: `thread ${n}` });
      }
    };
    const cpu = process.cpuUsage();
    const begin = performance.now();
    const { longest } = await longestStall(() => Promise.all(Array.from({ length: threads }, work)));
    const seconds = (performance.now() - begin) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const perRun = (count: number): string => (count / RUNS).toFixed(1);
    const sent = messages;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    rates.push(RUNS / seconds);
    console.log(
      `postgres, ${threads} at a time: ${rates.at(-1)!.toFixed(0)} runs/s, ${perRun(sent)} messages and ` +
        `${perRun((await commits()) - commitsBefore)} transactions a run, ${perRun(user + system)} µs CPU of this process a run, ` +
        `no turn for ${longest.toFixed(0)} ms at most`,
    );
    await store.close();
  }
  console.log(`postgres: 200 at a time are ${(rates.at(-1)! / rates[0]!).toFixed(1)}x as fast as 1`);
} finally {
  await server.dispose();
}

/** Transactions that the server has committed, as far as it has counted them. */
async function commits(): Promise<number> {
  const [row] = await server.query<{ count: string }>(
    "SELECT xact_commit AS count FROM pg_stat_database WHERE datname = 'postgres'",
  );
  return Number(row?.count);
}
