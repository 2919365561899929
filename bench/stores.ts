/**
 * The cost of saves, of history, and of runs on a store. Saves are compared with bare transactions of the same count and bytes,
 * batch by batch in one process; runs with a store are compared with runs without one.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { SaveRequest, Store } from "../runtime/interface/store.ts";
import { SampleRun } from "../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { loadSqlite } from "../runtime/stores/sqlite/driver.ts";
import { chainTable, functions, tableOf } from "./support/chain.ts";
import { longestStall } from "./support/stall.ts";

/** Short turns, so that other work of the machine affects both alike. */
const BATCH = 20;
const BATCHES = 200;
const WARM_UP = 50;
const TURNS = 1000;
const CHAIN_RUNS = 200;
const CHAIN_BLOCKS = 300;
const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));

try {
  for (const journal of ["wal", "rollback"] as const) await besideBareTransactions(journal);
  for (const journal of ["wal", "rollback"] as const) await conversation(journal);
  await inMemory();
  await history();
  await chains();
  await items();
  await concurrentRuns();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/**
 * A step of one task writes one channel and one checkpoint. Each bare transaction writes one row with the same number of bytes,
 * through the same driver, journal and `synchronous`.
 */
async function besideBareTransactions(journal: "wal" | "rollback"): Promise<void> {
  const path = join(directory, `saves-${journal}.db`);
  const store = new SqliteStore({ path, journal });
  const run = await SampleRun.start(store);
  const { id, values: _, versions: __, ...rest } = await run.save();
  let head = id;
  let step = 0;
  const next = (): SaveRequest => {
    const header = { ...rest, id: randomUUID(), parentId: head, step: ++step };
    const changes = [{ channel: "value", version: step, kind: "set", value: text(step) } as const];
    const snapshot = () => ({ values: { value: text(step) }, versions: { value: step } });
    const request = { header, changes, snapshot, expectedHead: head };
    head = header.id;
    return request;
  };
  const save = (request: SaveRequest): void => store.save(run.claim, request);
  const requests = (): SaveRequest[] => Array.from({ length: BATCH }, next);

  for (let n = 0; n < WARM_UP; n++) requests().forEach(save);
  const bare = bareTransactions(journal, storedBytes(path));
  for (let n = 0; n < WARM_UP; n++) bare.run(BATCH);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const batchOfRequests = requests();
    ours.push(await milliseconds(() => batchOfRequests.forEach(save)));
    theirs.push(await milliseconds(() => bare.run(BATCH)));
  }
  store.close();
  bare.close();
  const ratio = median(ours.map((time, batch) => time / theirs[batch]!));
  const whole = sum(ours) / sum(theirs);
  const rate = (times: readonly number[]) => Math.round((BATCH * 1000) / median(times)).toLocaleString("en");
  console.log(
    `sqlite ${journal}: ${rate(ours)} saves/s, ${rate(theirs)} bare transactions/s of the same bytes: ` +
      `${ratio.toFixed(2)}x in the median of ${BATCHES} rounds, ${whole.toFixed(2)}x over all of them (target 1.3x)`,
  );
}

/** Average size of a step in the tables: the bytes of all columns. */
function storedBytes(path: string): number {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  const length = (table: string) => {
    const columns = (database.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(
      ({ name }) => name,
    );
    const bytes = columns.map((column) => `length(coalesce(CAST(${column} AS BLOB), ''))`).join(" + ");
    const row = database.prepare(`SELECT sum(${bytes}) AS bytes, count(*) AS rows FROM ${table}`).get();
    return row as { bytes: number; rows: number };
  };
  const [checkpoints, cells] = [length("checkpoints"), length("cells")];
  database.close();
  return Math.round((checkpoints.bytes + cells.bytes) / checkpoints.rows);
}

async function conversation(journal: "wal" | "rollback"): Promise<void> {
  const path = join(directory, `chat-${journal}.db`);
  const store = new SqliteStore({ path, journal });
  const run = await SampleRun.start(store);
  await run.save();
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    times.push(await milliseconds(() => run.save([{ channel: "messages", append: [text(turn)] }])));
  }
  const [early, late] = [median(times.slice(0, 100)), median(times.slice(-100))];
  const loads: number[] = [];
  for (let n = 0; n < 20; n++) loads.push(await milliseconds(() => store.loadLatest("thread")));
  const load = median(loads);
  const list = await milliseconds(() => store.list("thread"));
  store.close();
  console.log(
    `sqlite ${journal}: ${TURNS} turns of 200 bytes: ${(statSync(path).size / 1e6).toFixed(2)} MB (target below 2), ` +
      `last hundred saves ${(late / early).toFixed(2)}x the first hundred (target 1.2x), ` +
      `load ${load.toFixed(1)} ms, history of 100 ${list.toFixed(1)} ms`,
  );
}

async function inMemory(): Promise<void> {
  const run = await SampleRun.start(new MemoryStore());
  const time = await milliseconds(async () => {
    for (let n = 0; n < 10_000; n++) await run.save([{ channel: "value", set: text(n) }]);
  });
  console.log(`memory: ${Math.round(10_000_000 / time).toLocaleString("en")} saves/s`);
}

/** Reading 20,000 checkpoints in pages of 500, of a thread with a list of 10,000 items. */
async function history(): Promise<void> {
  const stores = [new MemoryStore(), new SqliteStore({ path: join(directory, "history.db"), journal: "wal" })];
  for (const store of stores) {
    const run = await SampleRun.start(store);
    const { id, values: _, versions: __, ...rest } = await run.save([{ channel: "log", append: [] }]);
    let head = id;
    for (let step = 1; step < 20_000; step++) {
      const header = { ...rest, id: `checkpoint ${step}`, parentId: head, step };
      const items = step % 2 === 0 ? [] : [`item ${step}`];
      const changes = [{ channel: "log", version: step + 1, kind: "append", items } as const];
      store.save(run.claim, { header, changes, snapshot: noSnapshot, expectedHead: head });
      head = header.id;
    }
    let count = 0;
    const time = await milliseconds(() => {
      for (let before: string | undefined; ;) {
        const page = store.list("thread", { limit: 500, ...(before === undefined ? {} : { before }) });
        if (page.length === 0) break;
        count += page.length;
        before = page.at(-1)!.id;
      }
    });
    store.close();
    console.log(`${nameOf(store)}: history of ${count}: ${(time / count).toFixed(3)} ms a checkpoint (target 0.1)`);
  }
}

/** CPU time of a run of three nodes, each on a new thread: the fastest and the median of many short blocks, in turns. */
async function chains(): Promise<void> {
  const table = chainTable();
  const engines = [{}, { store: new MemoryStore() }].map((store) => createEngine(table, { functions, ...store }));
  const times = engines.map((): number[] => []);
  for (let block = 0; block < CHAIN_BLOCKS; block++) {
    for (const [at, engine] of engines.entries()) {
      const before = process.cpuUsage();
      for (let n = 0; n < CHAIN_RUNS; n++) await engine.run({ n });
      const { user, system } = process.cpuUsage(before);
      times[at]!.push((user + system) / CHAIN_RUNS);
    }
  }
  const shown = times.map((all) => `${Math.min(...all).toFixed(1)} µs (median ${median(all).toFixed(1)})`);
  console.log(`chain of 3: ${shown[0]} CPU without a store, ${shown[1]} in memory (target 12)`);
}

/** A `for` node over 1,000 items: their results are pending writes. */
async function items(): Promise<void> {
  const table = tableOf(`graph items { input xs: int[]  output out: int[] = []
    node every = add(x) for x in xs into out  start -> every }`);
  const xs = Array.from({ length: 1000 }, (_, index) => index);
  const times = new Map<string, number[]>();
  for (let round = 0; round < 10; round++) {
    for (const durability of ["sync", "async", "exit"] as const) {
      const store = new SqliteStore({ path: join(directory, `items-${durability}-${round}.db`), journal: "wal" });
      const engine = createEngine(table, { functions, store });
      const time = await milliseconds(() => engine.run({ xs }, { thread: "thread", durability }));
      times.set(durability, [...(times.get(durability) ?? []), time]);
      store.close();
    }
  }
  const shown = [...times].map(([durability, all]) => `${durability} ${Math.min(...all).toFixed(1)} ms`);
  console.log(`1,000 items of a \`for\` over SQLite: ${shown.join(", ")} (target for sync 25 ms)`);
}

/** Runs of three nodes on one SQLite file, and the longest time without a turn of the event loop. */
async function concurrentRuns(): Promise<void> {
  const table = chainTable();
  const rates: number[] = [];
  for (const threads of [1, 200]) {
    const store = new SqliteStore({ path: join(directory, `threads-${threads}.db`), journal: "wal" });
    const engine = createEngine(table, { functions, store });
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < 600) {
        const n = next++;
        await engine.run({ n }, { thread: `thread ${n}` });
      }
    };
    let longest = 0;
    const time = await milliseconds(async () => {
      ({ longest } = await longestStall(() => Promise.all(Array.from({ length: threads }, work))));
    });
    store.close();
    rates.push((600 * 1000) / time);
    console.log(
      `sqlite wal, ${threads} at a time: ${rates.at(-1)!.toFixed(0)} runs/s, no turn for ${longest.toFixed(0)} ms at most`,
    );
  }
  console.log(`sqlite wal: 200 at a time are ${(rates[1]! / rates[0]!).toFixed(1)}x as fast as 1 (target 3x)`);
}

function nameOf(store: Store): string {
  return store instanceof MemoryStore ? "memory" : "sqlite wal";
}

function noSnapshot(): never {
  throw new Error("a snapshot is only due at the start of a chain");
}

/** One insert between BEGIN IMMEDIATE and COMMIT, all three prepared. */
function bareTransactions(journal: "wal" | "rollback", bytes: number) {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(join(directory, `bare-${journal}.db`));
  database.exec(`PRAGMA journal_mode = ${journal === "wal" ? "WAL" : "TRUNCATE"}; PRAGMA synchronous = FULL`);
  database.exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT");
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  const insert = database.prepare("INSERT INTO bare (data) VALUES (?)");
  const data = "x".repeat(bytes);
  return {
    run(count: number): void {
      for (let n = 0; n < count; n++) {
        begin.run();
        insert.run(data);
        commit.run();
      }
    },
    close: () => database.close(),
  };
}

function text(n: number): string {
  return `${n} `.padEnd(200, "the quick brown fox jumps over the lazy dog ");
}

async function milliseconds(body: () => unknown): Promise<number> {
  const start = performance.now();
  await body();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
