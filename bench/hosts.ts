/**
 * Runs on Restate beside runs in one process: the latency of a step that follows another and of a whole run, and the items of a `for`
 * node on 1, 2 and 4 workers. The floor is a bare handler of Restate that makes the same calls, on the same workers. Needs the package `@restatedev/restate-server`.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Sdk from "@restatedev/restate-sdk";
import type { Table } from "../runtime/index.ts";
import { createEngine } from "../api/create-engine.ts";
import { restate, serveRestate } from "../api/hosts/restate.ts";
import { provideWithResolvers } from "../hosts/restate/with-resolvers.ts";
import type { Engine } from "../runtime/interface/engine-options.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { PostgresStore } from "../runtime/stores/postgres.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { Balancer } from "../test/hosts/balancer.ts";
import { findRestate, RestateServer } from "../test/hosts/restate-server.ts";
import { PostgresServer } from "../test/stores/postgres-server.ts";
import { tableOf } from "../test/support/graph.ts";

const STEPS = 200;
const TURNS = 5;
/** Runs of one step. */
const RUNS = 60;
const ITEMS = 800;
/** Milliseconds that an item waits, as for a model or a service. */
const ITEM_MS = 20;

const COUNT = tableOf(`graph count { limit steps none  output n: int = 0
  node next = n + 1 into n  start -> next -> next when n < ${STEPS}  next -> end otherwise }`);
const ONE = tableOf(`graph one { output n: int = 0  node next = n + 1 into n  start -> next -> end }`);
const SHARE = tableOf(
  `graph share { max parallel 400  input list: int[]  output done: int[]
  node each1 = wait(i) for i in list into done  start -> each1 -> end }`,
  ["wait"],
);
const functions = {
  wait: async (n: number) => {
    await new Promise((resolve) => setTimeout(resolve, ITEM_MS));
    return n;
  },
};

if (process.argv[2] === "worker") await work(process.argv[3]!);
else if ("missing" in findRestate()) console.log("hosts: the server of Restate is not installed");
else await main();

async function work(address: string): Promise<void> {
  const worker = await serveRestate({ tables: [SHARE], functions, restate: address });
  console.log(`${await worker.listen(0)} ${await serveBareItems()}`);
}

async function main(): Promise<void> {
  console.log(`${availableParallelism()} processors, Node ${process.version}\n`);
  const directory = mkdtempSync(join(tmpdir(), "ngraph-hosts-"));
  const server = await RestateServer.start();
  try {
    await steps(server, directory);
    await items(server, directory);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function steps(server: RestateServer, directory: string): Promise<void> {
  const worker = await serveRestate({ tables: [COUNT, ONE], restate: server.url });
  await server.register(`http://127.0.0.1:${await worker.listen(0)}`);
  const bare = await bareHandler(server);
  const postgres = await PostgresServer.start();
  const stores = [
    new PostgresStore(postgres.url),
    new SqliteStore(join(directory, "runs.db")),
    new MemoryStore(),
  ] as const;
  const hosts = [{ host: restate(server.url) }, ...stores.map((store) => ({ store }))];
  const names = ["Restate, ngraph", "Postgres store", "SQLite store", "memory store"];
  const rowsOf = (table: Table, count: number): readonly Row[] => [
    ["Restate, bare handler: one call a step", () => bare(count)],
    ...hosts.map((options, index): Row => {
      const engine = createEngine(table, options);
      return [names[index]!, async () => void (await engine.run({}, { maxSteps: null }))];
    }),
  ];
  const many = rowsOf(COUNT, STEPS);
  const best = await fastest(many, TURNS);
  console.log(
    `${STEPS} steps, one after the other`.padEnd(44),
    "ms a step".padStart(10),
    "steps a second".padStart(16),
  );
  for (const [index, [name]] of many.entries()) {
    const ms = best[index]! / STEPS;
    const rate = Math.round(1000 / ms).toString();
    console.log(name.padEnd(44), ms.toFixed(3).padStart(10), rate.padStart(16));
  }
  console.log(`ngraph / bare handler: ${(best[1]! / best[0]!).toFixed(2)}\n`);
  const one = rowsOf(ONE, 1);
  const times = await timesOf(one, RUNS);
  console.log("a run of one step".padEnd(44), "median ms".padStart(10), "99 % ms".padStart(16));
  for (const [index, [name]] of one.entries()) {
    const sorted = times[index]!.sort((a, b) => a - b);
    const at = (part: number): string => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(2);
    console.log(name.padEnd(44), at(0.5).padStart(10), at(0.99).padStart(16));
  }
  console.log("");
  await Promise.all(stores.map((store) => store.close()));
  await postgres.stop();
  await worker.close();
}

/** A handler that calls a service for each step, and keeps its state. */
async function bareHandler(server: RestateServer): Promise<(steps: number) => Promise<void>> {
  provideWithResolvers();
  const sdk: typeof Sdk = await import("@restatedev/restate-sdk");
  const step = sdk.service({ name: "bare.step", handlers: { next: async (_: Sdk.Context, n: number) => n + 1 } });
  const loop = sdk.object({
    name: "bare.loop",
    handlers: {
      run: async (ctx: Sdk.ObjectContext, count: number) => {
        let n = 0;
        while (n < count) {
          n = await ctx.serviceClient(step).next(n);
          ctx.set("n", n);
        }
        return n;
      },
    },
    options: { journalRetention: 0 },
  });
  const endpoint = createServer(sdk.createEndpointHandler({ services: [step, loop], logger: () => undefined }));
  endpoint.listen(0, "127.0.0.1");
  endpoint.unref();
  await once(endpoint, "listening");
  await server.register(`http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`);
  let runs = 0;
  return async (steps) => {
    const url = `${server.url}/bare.loop/${++runs}/run`;
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: String(steps) });
  };
}

async function items(server: RestateServer, directory: string): Promise<void> {
  const [balancer, bare] = await Promise.all([Balancer.start(), Balancer.start()]);
  const workers: { readonly process: ChildProcess; readonly ports: readonly number[] }[] = [];
  const postgres = await PostgresServer.start();
  const stores = [new PostgresStore(postgres.url), new SqliteStore(join(directory, "items.db"))] as const;
  const list = Array.from({ length: ITEMS }, (_, index) => index);
  const run = (engine: Engine) => async (): Promise<void> => void (await engine.run({ list }));
  let runs = 0;
  const post = (url: string, body: unknown): Promise<Response> =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const onRestate: readonly Row[] = [
    [
      "Restate, bare handler: one call an item",
      async () => void (await post(`${server.url}/bare.items/${++runs}/run`, list)),
    ],
    ["Restate, ngraph", run(createEngine(SHARE, { host: restate(server.url) }))],
  ];
  const embedded: readonly Row[] = [
    ["Postgres store, one process", run(createEngine(SHARE, { functions, store: stores[0] }))],
    ["SQLite store, one process", run(createEngine(SHARE, { functions, store: stores[1] }))],
  ];
  console.log(
    `${ITEMS} items of ${ITEM_MS} ms`.padEnd(44),
    "items a second".padStart(16),
    "ngraph / bare".padStart(16),
  );
  try {
    for (const count of [1, 2, 4]) {
      while (workers.length < count) {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "worker", server.url], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        workers.push({ process: child, ports: line.toString().split(" ").map(Number) });
      }
      balancer.use(workers.map(({ ports }) => ports[0]!));
      bare.use(workers.map(({ ports }) => ports[1]!));
      await server.register(balancer.url);
      await server.register(bare.url);
      const best = await fastest(onRestate, 4);
      for (const [index, [name]] of onRestate.entries()) {
        const label = `${name}, ${count} worker${count === 1 ? "" : "s"}`;
        const ratio = index === 0 ? "" : (best[index]! / best[0]!).toFixed(2);
        console.log(label.padEnd(44), rateOf(best[index]!).padStart(16), ratio.padStart(16));
      }
    }
    const best = await fastest(embedded, 4);
    for (const [index, [name]] of embedded.entries()) console.log(name.padEnd(44), rateOf(best[index]!).padStart(16));
  } finally {
    for (const worker of workers) worker.process.kill("SIGKILL");
    balancer.stop();
    bare.stop();
    await Promise.all(stores.map((store) => store.close()));
    await postgres.stop();
  }
}

function rateOf(ms: number): string {
  return Math.round(ITEMS / (ms / 1000)).toString();
}

type Row = readonly [name: string, body: () => Promise<void>];

/** Milliseconds of the fastest turn of each. */
async function fastest(rows: readonly Row[], turns: number): Promise<readonly number[]> {
  return (await timesOf(rows, turns)).map((times) => Math.min(...times));
}

/** Turn by turn, so that other work of the machine affects all rows alike. The first turn warms up. */
async function timesOf(rows: readonly Row[], turns: number): Promise<number[][]> {
  const times: number[][] = rows.map(() => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [index, [, body]] of rows.entries()) {
      const ms = await timed(body);
      if (turn > 0) times[index]!.push(ms);
    }
  }
  return times;
}

/** A handler that calls a service for each item, in the process of a worker. Returns its port. */
async function serveBareItems(): Promise<number> {
  const sdk: typeof Sdk = await import("@restatedev/restate-sdk");
  const item = sdk.service({
    name: "bare.item",
    handlers: { wait: (ctx: Sdk.Context, n: number) => ctx.run("body", () => functions.wait(n)) },
  });
  const all = sdk.object({
    name: "bare.items",
    handlers: {
      run: async (ctx: Sdk.ObjectContext, list: number[]) => {
        const calls = list.map((n) => ctx.serviceClient(item).wait(n));
        ctx.set("done", await sdk.RestatePromise.all(calls));
      },
    },
    options: { journalRetention: 0 },
  });
  const endpoint = createServer(sdk.createEndpointHandler({ services: [item, all], logger: () => undefined }));
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  return (endpoint.address() as AddressInfo).port;
}

async function timed(body: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await body();
  return performance.now() - start;
}
