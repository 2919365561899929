/**
 * What a save costs: saves a second beside bare transactions of the same count and bytes in the same run, batch by batch in
 * turns; whether saves slow down as a conversation grows; what it takes on disk, and how long reading takes.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SaveRequest } from "../runtime/store.ts";
import { SampleRun } from "../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { Connection } from "../runtime/stores/sqlite/connection.ts";

const BATCH = 100;
const BATCHES = 30;
const TURNS = 1000;
const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));

try {
  for (const journal of ["wal", "rollback"] as const) await besideBareTransactions(journal);
  for (const journal of ["wal", "rollback"] as const) await conversation(journal);
  await inMemory();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** A step of one task: its result lands in one channel, its checkpoint supersedes the former. */
async function besideBareTransactions(journal: "wal" | "rollback"): Promise<void> {
  const store = new SqliteStore({ path: join(directory, `saves-${journal}.db`), journal });
  const run = await SampleRun.start(store);
  let head = await run.save();
  const next = (): SaveRequest => {
    const { checkpoint, changes } = run.next([{ channel: "value", set: text(head.step) }], { id: randomUUID() }, head);
    const { values, versions, ...header } = checkpoint;
    const request = { header, changes, snapshot: () => ({ values, versions }), expectedHead: head.id };
    head = checkpoint;
    return request;
  };
  const bare = bareTransactions(journal, JSON.stringify(head).length + text(0).length);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const requests = Array.from({ length: BATCH }, next);
    ours.push(await milliseconds(() => requests.forEach((request) => store.save(run.claim, request))));
    theirs.push(await milliseconds(() => bare.run(BATCH)));
  }
  store.close();
  bare.close();
  const ratio = median(ours.map((time, batch) => time / theirs[batch]!));
  const rate = (times: readonly number[]) => Math.round((BATCH * 1000) / median(times)).toLocaleString("en");
  console.log(
    `sqlite ${journal}: ${rate(ours)} saves/s, ${rate(theirs)} bare transactions/s of the same bytes: ${ratio.toFixed(2)}x (target 1.3x)`,
  );
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

/** The same bytes in one row, made durable the same way. */
function bareTransactions(journal: "wal" | "rollback", bytes: number) {
  const connection = new Connection({ path: join(directory, `bare-${journal}.db`), journal });
  connection.write(() => connection.run("CREATE TABLE bare (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT"));
  const data = "x".repeat(bytes);
  return {
    run(count: number): void {
      for (let n = 0; n < count; n++)
        connection.write(() => connection.run("INSERT INTO bare (data) VALUES (?)", data));
    },
    close: () => connection.close(),
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
