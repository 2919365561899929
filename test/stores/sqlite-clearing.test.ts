/** Many superseded results: they are gone for readers with the transaction of the save, and from the file some turns later. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { inspectSqlite } from "../../runtime/stores/sqlite/inspect.ts";
import { watchStatements } from "./statements.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();
const COUNT = 10_000;
const results = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ taskId: `each~0.${n}`, node: "each", result: { n } }));

/** A thread whose head has superseded a checkpoint with many results. Returns the id of that one. */
async function superseded(store: SqliteStore): Promise<{ readonly run: SampleRun; readonly id: string }> {
  const run = await SampleRun.start(store);
  const { id } = await run.save([{ channel: "value", set: 0 }]);
  store.putWrites(run.claim, id, results(COUNT));
  expect(store.getWrites("thread", id)).toHaveLength(COUNT);
  await run.save([{ channel: "value", set: 1 }], {}, { clearWritesOf: id });
  return { run, id };
}

function rowsIn(path: string): number {
  const database = new (loadSqlite().DatabaseSync)(path);
  const { rows } = database.prepare("SELECT count(*) AS rows FROM writes").get() as { rows: number };
  database.close();
  return rows;
}

/** What a process that ends now leaves behind. */
function crashed(path: string): string {
  const at = inDirectory("crashed");
  mkdirSync(at);
  for (const end of ["", "-wal", "-journal"]) {
    if (existsSync(path + end)) copyFileSync(path + end, join(at, `runs.db${end}`));
  }
  return join(at, "runs.db");
}

async function untilEmpty(path: string): Promise<void> {
  for (let turn = 0; turn < 100 && rowsIn(path) > 0; turn++) await nextTurn();
  expect(rowsIn(path)).toBe(0);
  expect((await inspectSqlite(path)).problems).toEqual([]);
}

it.each(["wal", "rollback"] as const)("a save removes many results in turns (%s)", async (journal) => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore({ path, journal });
  const { run, id } = await superseded(store);
  expect(store.getWrites("thread", id)).toEqual([]);
  expect(rowsIn(path)).toBeGreaterThan(COUNT / 2);
  // The run continues between two turns.
  await nextTurn();
  const { id: next } = await run.save([{ channel: "value", set: 2 }]);
  store.putWrites(run.claim, next, results(1));
  for (let turn = 0; turn < 100 && rowsIn(path) > 1; turn++) await nextTurn();
  expect(store.getWrites("thread", next)).toEqual(results(1));
  store.clearWrites(run.claim, next);
  await untilEmpty(path);
  store.close();
});

it("`clearWrites` removes many results in turns, too", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const run = await SampleRun.start(store);
  const { id } = await run.save();
  store.putWrites(run.claim, id, results(COUNT));
  store.clearWrites(run.claim, id);
  store.clearWrites(run.claim, id);
  expect(store.getWrites("thread", id)).toEqual([]);
  await untilEmpty(path);
  store.close();
});

it("results that a crash has left in the file are never read again, and the end of the next run removes them", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const { run, id } = await superseded(store);
  await nextTurn();
  const copy = crashed(path);
  store.close();
  expect(rowsIn(copy)).toBeGreaterThan(COUNT / 2);
  expect((await inspectSqlite(copy)).problems).toEqual([]);

  const after = new SqliteStore(copy);
  expect(after.getWrites("thread", id)).toEqual([]);
  const heir = await SampleRun.resume(after, run.head()!);
  await heir.save([{ channel: "value", set: 2 }], { status: "completed" }, { releaseClaim: true });
  await untilEmpty(copy);
  after.close();
});

it("the end of a run finds what is left without reading all results of the thread", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const { run, id } = await superseded(store);
  const { id: next } = await run.save([{ channel: "value", set: 2 }]);
  store.putWrites(run.claim, next, results(2));
  const statements: string[] = [];
  const stop = watchStatements((sql) => void statements.push(sql));
  await run.save([{ channel: "value", set: 3 }], { status: "completed" }, { releaseClaim: true }).finally(stop);
  expect(store.getWrites("thread", id)).toEqual([]);
  store.close();
  const database = new (loadSqlite().DatabaseSync)(path);
  const searches = statements
    .filter((sql) => /^SELECT .* FROM writes /.test(sql))
    .flatMap((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
    .map(({ detail }) => detail);
  database.close();
  expect(searches).not.toEqual([]);
  // The thread alone has all results.
  for (const detail of searches) expect(detail).toMatch(/\(thread=\? AND checkpoint[=>]/);
});

it("results are stored without a statement for each of them, and a second result replaces the first in its place", async () => {
  const store = new SqliteStore(inDirectory("runs.db"));
  const run = await SampleRun.start(store);
  const { id } = await run.save();
  store.putWrites(run.claim, id, results(3));
  let statements = 0;
  const stop = watchStatements(() => statements++);
  const more = results(260).slice(3);
  store.putWrites(run.claim, id, more);
  stop();
  expect(statements).toBeLessThan(more.length / 4);
  const second = { ...results(2)[1]!, result: "second" };
  store.putWrites(run.claim, id, [second, ...results(300).slice(260)]);
  expect(store.getWrites("thread", id)).toEqual(results(300).map((each, n) => (n === 1 ? second : each)));
  store.close();
});

it("a checkpoint that gets new results has these alone", async () => {
  const store = new SqliteStore(inDirectory("runs.db"));
  const { run, id } = await superseded(store);
  await nextTurn();
  store.putWrites(run.claim, id, results(2));
  expect(store.getWrites("thread", id)).toEqual(results(2));
  store.clearWrites(run.claim, id, ["each~0.0"]);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(store.getWrites("thread", id)).toEqual(results(2).slice(1));
  store.close();
});

it("a save that fails keeps all results", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const run = await SampleRun.start(store);
  const { id } = await run.save();
  store.putWrites(run.claim, id, results(COUNT));
  const same = { id };
  await expect(run.save([], same, { clearWritesOf: id })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(store.getWrites("thread", id)).toHaveLength(COUNT);
  store.close();
});

it.each([
  ["closing", (store: SqliteStore) => store.close()],
  ["deletion", (store: SqliteStore) => store.deleteThread("thread")],
  ["pruning", (store: SqliteStore) => expect(store.prune("thread", { keepLast: 1 })).toBe(1)],
])("%s leaves no row", async (_name, act) => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  await superseded(store);
  act(store);
  await untilEmpty(path);
  store.close();
});
