/**
 * 1.3, 5.12 The cost of a call depends on what it reads and writes, not on the size of the file: no statement scans a
 * table.
 */
import { expect, it } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { fillStore, readStore } from "./content.ts";
import { watchStatements } from "./statements.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);

/** Statements that scan on purpose: the list of threads with its check of the waits, and the staging table, which has at most some hundred rows. */
const MAY_SCAN =
  /^(?:SELECT \* FROM threads (?:WHERE head IS (?:NOT )?NULL|ORDER BY last)|SELECT \(SELECT count\(\*\) FROM threads|SELECT \(SELECT coalesce\(sum\(signals\)|DELETE FROM tail$)/;

it("every statement of a store finds its rows by an index", async () => {
  const statements = new Set<string>();
  const stop = watchStatements((sql) => void statements.add(sql));
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  try {
    await fillStore(store);
    await readStore(store);
    store.clearWrites(store.claim("first", { owner: "x", leaseMs: 1000 }), "nothing", ["task"]);
    store.deleteThread("first");
  } finally {
    stop();
    store.close();
  }
  const database = new (loadSqlite().DatabaseSync)(path);
  let looked = 0;
  for (const sql of statements) {
    if (/^(?:BEGIN|COMMIT|PRAGMA)/.test(sql) || MAY_SCAN.test(sql)) continue;
    looked++;
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    const scans = plan.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT|tail)/.test(detail));
    expect(scans, sql).toEqual([]);
  }
  database.close();
  expect(looked).toBeGreaterThan(30);
});
