/**
 * What a save costs: saves a second beside bare transactions of the same count and bytes in the same run, batch by batch in
 * turns; whether saves slow down as a conversation grows; what it takes on disk, and how long reading takes.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SaveRequest } from "../runtime/interface/store.ts";
import { SampleRun } from "../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { loadSqlite } from "../runtime/stores/sqlite/driver.ts";

/** Short turns, so that what else the machine does falls on both alike. */
const BATCH = 20;
const BATCHES = 200;
const WARM_UP = 50;
const TURNS = 1000;
const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));

try {
  for (const journal of ["wal", "rollback"] as const) await besideBareTransactions(journal);
  for (const journal of ["wal", "rollback"] as const) await conversation(journal);
  await inMemory();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/**
 * A step of one task: its result lands in one channel, its checkpoint supersedes the former. The bare ones write what ours has
 * stored, to the byte: one row of that length a transaction, through the same driver, journal and `synchronous`.
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

/** What a step leaves in the tables on average: the bytes of all columns. */
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
