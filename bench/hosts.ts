/**
 * Runs on Restate beside runs in one process: the latency of a step that follows another and of a whole run, and the items of a `for`
 * node on 1, 2 and 4 workers. The floor is a bare handler of Restate that makes the same calls, on the same workers: one for each step
 * or item, and one more before a body that may not run again once its result is stored. Beside times, the
 * processor time of the server and the workers for each unit is measured: other work of the machine does not change it. Needs the
 * package `@restatedev/restate-server`.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Sdk from "@restatedev/restate-sdk";
import { createEngine } from "../api/create-engine.ts";
import { restate, serveRestate } from "../api/hosts/restate.ts";
import { provideWithResolvers } from "../hosts/restate/with-resolvers.ts";
import type { EngineOptions, RunOptions } from "../runtime/interface/engine-options.ts";
import type { Table } from "../runtime/index.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { PostgresStore } from "../runtime/stores/postgres.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { Balancer } from "../test/hosts/balancer.ts";
import { cpuOf, findRestate, RestateServer } from "../test/hosts/restate-server.ts";
import { PostgresServer } from "../test/stores/postgres-server.ts";
import { tableOf } from "../test/support/graph.ts";

const STEPS = 200;
/** Runs of one step in a turn. */
const RUNS = 20;
const ITEMS = 800;
/** Milliseconds that an item waits, as for a model or a service. */
const ITEM_MS = 20;
const TURNS = 7;

const COUNT = tableOf(`graph count { limit steps none  output n: int = 0
  node next = n + 1 into n  start -> next -> next when n < ${STEPS}  next -> end otherwise }`);
const ONE = tableOf(`graph one { output n: int = 0  node next = n + 1 into n  start -> next -> end }`);
const BODY = tableOf(`graph body { output n: int = 0  node next = add(n) into n  start -> next -> end }`, ["add"]);
const SHARE = tableOf(
  `graph share { max parallel ${ITEMS}  input list: int[]  output done: int[]
  node each1 = wait(i) for i in list into done  start -> each1 -> end }`,
  ["wait"],
);
const wait = async (n: number): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, ITEM_MS));
  return n;
};
const add = (n: number): number => n + 1;
const graphs = { share: { functions: { wait } }, body: { functions: { add } } };
const list = Array.from({ length: ITEMS }, (_, index) => index);

if (process.argv[2] === "worker") await work(process.argv[3]!);
else if ("missing" in findRestate()) console.log("hosts: the server of Restate is not installed");
else await main();

async function work(address: string): Promise<void> {
  const worker = await serveRestate({ tables: [COUNT, ONE, BODY, SHARE], graphs, restate: address });
  console.log(`${await worker.listen(0)} ${await serveBare()}`);
}

/** Bare handlers: one call of a service for each step or item, in the process of a worker. Returns their port. */
async function serveBare(): Promise<number> {
  provideWithResolvers();
  const sdk: typeof Sdk = await import("@restatedev/restate-sdk");
  const options = { journalRetention: 0 };
  const unit = sdk.service({
    name: "bare.unit",
    handlers: {
      next: async (_: Sdk.Context, n: number) => n + 1,
      wait: (_: Sdk.Context, n: number) => wait(n),
      waitInRun: (ctx: Sdk.Context, n: number) => ctx.run("body", () => wait(n)),
    },
    options,
  });
  const thread = sdk.object({
    name: "bare.thread",
    handlers: {
      store: async (ctx: Sdk.ObjectContext, n: number) => {
        if ((await ctx.get<number>("n")) !== n) ctx.set("n", n);
      },
    },
    options,
  });
  const all = sdk.object({
    name: "bare.all",
    handlers: {
      steps: async (ctx: Sdk.ObjectContext, count: number) => {
        let n = 0;
        while (n < count) {
          n = await ctx.serviceClient(unit).next(n);
          ctx.set("n", n);
        }
        return n;
      },
      /** The input is stored before the body runs, and the result after it. */
      body: async (ctx: Sdk.ObjectContext, n: number) => {
        const own = ctx.objectClient(thread, ctx.key);
        await own.store(n);
        const next = add(n);
        await own.store(next);
        ctx.set("n", next);
        return next;
      },
      items: async (ctx: Sdk.ObjectContext, numbers: number[]) =>
        ctx.set("done", await sdk.RestatePromise.all(numbers.map((n) => ctx.serviceClient(unit).wait(n)))),
      itemsInRuns: async (ctx: Sdk.ObjectContext, numbers: number[]) =>
        ctx.set("done", await sdk.RestatePromise.all(numbers.map((n) => ctx.serviceClient(unit).waitInRun(n)))),
    },
    options,
  });
  const endpoint = createServer(sdk.createEndpointHandler({ services: [unit, thread, all], logger: () => undefined }));
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  return (endpoint.address() as AddressInfo).port;
}

interface Worker {
  readonly process: ChildProcess;
  readonly ports: readonly number[];
}

async function main(): Promise<void> {
  console.log(`${availableParallelism()} processors, Node ${process.version}`);
  const directory = mkdtempSync(join(tmpdir(), "ngraph-hosts-"));
  const [server, postgres] = await Promise.all([RestateServer.start(), PostgresServer.start()]);
  const [balancer, bareBalancer] = await Promise.all([Balancer.start(), Balancer.start()]);
  const stores = [
    ["Postgres store, one process", new PostgresStore(postgres.url)],
    ["SQLite store, one process", new SqliteStore(join(directory, "runs.db"))],
    ["memory store, one process", new MemoryStore()],
  ] as const;
  const workers: Worker[] = [];
  const use = async (count: number): Promise<void> => {
    while (workers.length < count) workers.push(await startWorker(server.url));
    balancer.use(workers.map(({ ports }) => ports[0]!));
    bareBalancer.use(workers.map(({ ports }) => ports[1]!));
  };
  let keys = 0;
  const bare =
    (handler: string, body: unknown, times = 1) =>
    async (): Promise<void> => {
      for (let run = 0; run < times; run++) await post(`${server.url}/bare.all/${++keys}/${handler}`, body);
    };
  const runs =
    (table: Table, options: EngineOptions, input: JsonObject, times = 1, limits: RunOptions = {}) =>
    async (): Promise<void> => {
      const engine = createEngine(table, options);
      for (let run = 0; run < times; run++) {
        const { status } = await engine.run(input, limits);
        if (status !== "completed") throw new Error(`a run is ${status}`);
      }
    };
  const onRestate = { host: restate(server.url) };
  const beside = (table: Table, input: JsonObject, times?: number, limits?: RunOptions): readonly Row[] =>
    stores.map(([name, store]) => [
      name,
      runs(table, { ...graphs[table.name as "share"], store }, input, times, limits),
    ]);
  const cpu = (): number => server.cpuMs() + workers.reduce((sum, { process: { pid } }) => sum + cpuOf(pid!), 0);
  const table = (title: string, units: number, rows: readonly Row[]): Promise<void> => print(title, units, rows, cpu);
  try {
    await use(1);
    await server.register(balancer.url);
    await server.register(bareBalancer.url);
    const unlimited = { maxSteps: null };
    await table(`${STEPS} steps, one after the other`, STEPS, [
      ["Restate, bare handler", bare("steps", STEPS)],
      ["Restate, ngraph", runs(COUNT, onRestate, {}, 1, unlimited)],
      ...beside(COUNT, {}, 1, unlimited),
    ]);
    await table("a run of one step", RUNS, [
      ["Restate, bare handler", bare("steps", 1, RUNS)],
      ["Restate, ngraph", runs(ONE, onRestate, {}, RUNS)],
      ...beside(ONE, {}, RUNS),
    ]);
    await table("a run of one step with a function", RUNS, [
      ["Restate, bare handler", bare("body", 0, RUNS)],
      ["Restate, ngraph", runs(BODY, onRestate, {}, RUNS)],
      ...beside(BODY, {}, RUNS),
    ]);
    for (const count of [1, 2, 4]) {
      await use(count);
      await table(`items of ${ITEM_MS} ms, ${count} worker${count === 1 ? "" : "s"}`, ITEMS, [
        ["Restate, bare handler", bare("items", list)],
        ["Restate, bare handler, `ctx.run`", bare("itemsInRuns", list)],
        ["Restate, ngraph", runs(SHARE, onRestate, { list })],
        ...(count === 4 ? beside(SHARE, { list }) : []),
      ]);
    }
  } finally {
    for (const worker of workers) worker.process.kill("SIGKILL");
    balancer.stop();
    bareBalancer.stop();
    await Promise.all(stores.map(([, store]) => store.close()));
    await Promise.all([server.stop(), postgres.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startWorker(address: string): Promise<Worker> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "worker", address], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { process: child, ports: line.toString().split(" ").map(Number) };
}

async function post(url: string, body: unknown): Promise<void> {
  // As a client of ngraph, which asks again after a lost connection.
  const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.text();
}

type Row = readonly [name: string, body: () => Promise<void>];

/** The first row is the floor. Rows take turns, so that other work of the machine affects all of them alike. The first turn warms up. */
async function print(title: string, units: number, rows: readonly Row[], cpu: () => number): Promise<void> {
  const hasCpu = existsSync("/proc/self/stat");
  const turns = rows.map((): { ms: number; cpu: number }[] => []);
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [index, [, body]] of rows.entries()) {
      const before = { ms: performance.now(), cpu: hasCpu ? cpu() : 0 };
      await body();
      const used = { ms: performance.now() - before.ms, cpu: (hasCpu ? cpu() : 0) - before.cpu };
      if (turn > 0) turns[index]!.push({ ms: used.ms / units, cpu: used.cpu / units });
    }
  }
  const columns = ["median ms", "a second", "times floor", "CPU ms", "times floor"];
  console.log(`\n${title.padEnd(36)}${columns.map((name) => name.padStart(13)).join("")}`);
  const floor = { ms: median(turns[0]!.map(({ ms }) => ms)), cpu: mean(turns[0]!.map((each) => each.cpu)) };
  for (const [index, [name]] of rows.entries()) {
    const ms = median(turns[index]!.map((each) => each.ms));
    const used = mean(turns[index]!.map((each) => each.cpu));
    const isHere = name.startsWith("Restate");
    const cells = [ms.toFixed(3), Math.round(1000 / ms).toString(), isHere ? (ms / floor.ms).toFixed(2) : ""];
    cells.push(...(isHere && hasCpu ? [used.toFixed(2), (used / floor.cpu).toFixed(2)] : ["", ""]));
    console.log(`${name.padEnd(36)}${cells.map((cell) => cell.padStart(13)).join("")}`);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
