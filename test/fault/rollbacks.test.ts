/** Rules R1 to R6 for a process that dies before or after each of its writes. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { createEngine } from "../../runtime/index.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";
import { isDeep, scale } from "../support/depth.ts";
import { ROLLBACK_CASES } from "./rollback-cases.ts";
import { simulateRollbacks } from "./rollback-simulation.ts";

test("a rollback continues after a crash, and undoes everything once", { timeout: 300_000 }, async () => {
  const problems = await simulateRollbacks(undefined, scale(1, 7));
  expect(problems.slice(0, 20)).toEqual([]);
});

test("a rollback in SQLite", { timeout: 300_000 }, async () => {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-rollback-"));
  const stores: SqliteStore[] = [];
  const makeStore = (now: () => number): SqliteStore => {
    const store = new SqliteStore({ path: join(directory, `${stores.length}.db`), now });
    stores.push(store);
    return store;
  };
  try {
    expect(await simulateRollbacks({ createEngine, makeStore }, scale(11, 37))).toEqual([]);
  } finally {
    for (const store of stores) store.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

// A server takes seconds to start.
if (isDeep)
  test("a rollback in Postgres", { timeout: 300_000 }, async () => {
    const server = await PostgresServer.start();
    const pool = new pg.Pool({ connectionString: server.url, max: 4 });
    pool.on("error", () => {});
    let schemas = 0;
    const makeStore = (): PostgresStore => new PostgresStore({ pool, schema: `rollback_${++schemas}` });
    // The server has a clock of its own. A busy machine renews a shorter lease too late.
    const outlive = (leaseMs: number): Promise<void> => sleep(1.2 * leaseMs);
    try {
      const cases = ROLLBACK_CASES.filter(({ namespace, failingUndos }) => namespace !== undefined || failingUndos);
      expect(await simulateRollbacks({ createEngine, makeStore, outlive, leaseMs: 1_000 }, 23, cases)).toEqual([]);
    } finally {
      await pool.end();
      await server.dispose();
    }
  });
