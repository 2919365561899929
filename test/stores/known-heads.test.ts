import { expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { KnownHeads } from "../../runtime/stores/contract/known-heads.ts";
import type { HeadRow, ThreadRow } from "../../runtime/stores/contract/rows.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();
const thread = (namespaces: number) => ({ thread: 1, namespaces }) as ThreadRow;
const heads = (...names: string[]) => names.map((namespace) => ({ namespace }) as HeadRow);

it("1.3 a new namespace is recognised without reading all heads again, as long as the count agrees", () => {
  const known = new KnownHeads();
  expect(known.excludes(thread(0), "a")).toBe(false);
  known.note(thread(0), []);
  for (let n = 0; n < 10_000; n++) {
    expect(known.excludes(thread(n), `call/each[${n}]`)).toBe(true);
    known.add(1, `call/each[${n}]`);
  }
  expect(known.excludes(thread(10_000), "call/each[7]")).toBe(false);
  // Written by another process, or not written because the transaction failed.
  expect(known.excludes(thread(10_001), "new")).toBe(false);
  expect(known.excludes(thread(9_999), "new")).toBe(false);
  known.note(thread(2), heads("a", "b"));
  expect(known.excludes(thread(2), "new")).toBe(true);
  expect(known.excludes({ ...thread(2), thread: 2 }, "new")).toBe(false);
});

it("5.11 a head that disappears while the store is open is reported", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const run = await SampleRun.start(store);
  await run.save();
  for (const namespace of ["a", "b"]) {
    expect(store.loadLatest("thread", namespace)).toBeUndefined();
    await run.save([], { namespace });
  }
  expect(store.loadLatest("thread", "c")).toBeUndefined();
  const other = new (loadSqlite().DatabaseSync)(path);
  other.exec("DELETE FROM heads WHERE namespace = 'a'");
  other.close();
  expect(() => store.loadLatest("thread", "a")).toThrow(/thread "thread".*2 namespaces, but has 1/);
  store.close();
});
