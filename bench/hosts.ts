/**
 * Runs on Restate beside runs in one process: the latency of a step that follows another, against a bare handler of Restate that makes
 * one call for each step, and the items of a `for` node on 1, 2 and 4 workers. Needs the package `@restatedev/restate-server`.
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
const ITEMS = 800;
/** Milliseconds that an item waits, as for a model or a service. */
const ITEM_MS = 20;

const COUNT = tableOf(`graph count { limit steps none  output n: int = 0
  node next = n + 1 into n  start -> next -> next when n < ${STEPS}  next -> end otherwise }`);
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
  console.log(await worker.listen(0));
}

async function main(): Promise<void> {
  console.log(`${availableParallelism()} processors, Node ${process.version}\n`);
  const directory = mkdtempSync(join(tmpdir(), "ngraph-hosts-"));
  const server = await RestateServer.start();
  try {
    await steps(server, directory);
    await items(server);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Turn by turn, so that other work of the machine affects all rows alike. The fastest turn of each counts. */
async function steps(server: RestateServer, directory: string): Promise<void> {
  const worker = await serveRestate({ tables: [COUNT], restate: server.url });
  await server.register(`http://127.0.0.1:${await worker.listen(0)}`);
  const bare = await bareHandler(server);
  const postgres = await PostgresServer.start();
  const stores = [
    new PostgresStore(postgres.url),
    new SqliteStore(join(directory, "runs.db")),
    new MemoryStore(),
  ] as const;
  const run = (engine: Engine) => async (): Promise<void> => void (await engine.run({}, { maxSteps: null }));
  const rows: readonly (readonly [string, () => Promise<void>])[] = [
    ["Restate, bare handler: one call a step", bare],
    ["Restate, ngraph", run(createEngine(COUNT, { host: restate(server.url) }))],
    ["Postgres store", run(createEngine(COUNT, { store: stores[0] }))],
    ["SQLite store", run(createEngine(COUNT, { store: stores[1] }))],
    ["memory store", run(createEngine(COUNT, { store: stores[2] }))],
  ];
  const best = rows.map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [index, [, body]] of rows.entries()) {
      const ms = await timed(body);
      // The first turn warms up.
      if (turn > 0) best[index] = Math.min(best[index]!, ms);
    }
  }
  console.log(
    `${STEPS} steps, one after the other`.padEnd(44),
    "ms a step".padStart(10),
    "steps a second".padStart(16),
  );
  for (const [index, [name]] of rows.entries()) {
    const ms = best[index]! / STEPS;
    console.log(
      name.padEnd(44),
      ms.toFixed(3).padStart(10),
      Math.round(1000 / ms)
        .toString()
        .padStart(16),
    );
  }
  console.log(`ngraph / bare handler: ${(best[1]! / best[0]!).toFixed(2)}\n`);
  await Promise.all(stores.map((store) => store.close()));
  await postgres.stop();
  await worker.close();
}

/** A handler that calls a service for each step, and keeps its state. */
async function bareHandler(server: RestateServer): Promise<() => Promise<void>> {
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
  return async () => {
    const url = `${server.url}/bare.loop/${++runs}/run`;
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: String(STEPS) });
  };
}

async function items(server: RestateServer): Promise<void> {
  const balancer = await Balancer.start();
  const workers: { readonly process: ChildProcess; readonly port: number }[] = [];
  const engine = createEngine(SHARE, { host: restate(server.url) });
  const list = Array.from({ length: ITEMS }, (_, index) => index);
  console.log(`${ITEMS} items of ${ITEM_MS} ms`.padEnd(44), "items a second".padStart(16));
  try {
    for (const count of [1, 2, 4]) {
      while (workers.length < count) {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "worker", server.url], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const [line] = (await once(child.stdout, "data")) as [Buffer];
        workers.push({ process: child, port: Number(line.toString()) });
      }
      balancer.use(workers.map(({ port }) => port));
      await server.register(balancer.url);
      const times: number[] = [];
      for (let turn = 0; turn < 4; turn++) times.push(await timed(async () => void (await engine.run({ list }))));
      const rate = ITEMS / (Math.min(...times.slice(1)) / 1000);
      console.log(`${count} worker${count === 1 ? "" : "s"}`.padEnd(44), Math.round(rate).toString().padStart(16));
    }
  } finally {
    for (const worker of workers) worker.process.kill("SIGKILL");
    balancer.stop();
  }
}

async function timed(body: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await body();
  return performance.now() - start;
}
