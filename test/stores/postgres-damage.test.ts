/** 5.11 in Postgres: after any manual change of rows, reads return correct values or fail. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { fillStore, readStore } from "./content.ts";
import { PostgresServer } from "./postgres-server.ts";

const CODES = /^error NG_(?:CORRUPT_RECORD|UNKNOWN_VERSION)$/;
const TABLES = ["threads", "heads", "checkpoints", "cells", "writes", "signals", "waits"];

let server: PostgresServer;
let store: PostgresStore;
let answers: Map<string, string>;
beforeAll(async () => {
  server = await PostgresServer.start();
  store = new PostgresStore({ url: server.url, schema: "damage", connections: 2 });
  await fillStore(store);
  answers = await readStore(store);
}, 300_000);
afterAll(async () => {
  await store.close();
  await server.dispose();
});

/** Damages the rows, reads, and repairs them. Returns the number of refused reads. */
async function refusals(table: string, damage: string): Promise<number> {
  await server.query(`CREATE TABLE damage.copy AS SELECT * FROM damage.${table}`);
  try {
    await server.query(damage);
    let refused = 0;
    for (const [question, answer] of await readStore(store)) {
      if (answer === answers.get(question)) continue;
      expect(answer, `${damage}: ${question}`).toMatch(CODES);
      refused++;
    }
    return refused;
  } finally {
    const overriding = table === "writes" || table === "signals" ? "OVERRIDING SYSTEM VALUE " : "";
    await server.query(
      `DELETE FROM damage.${table}; INSERT INTO damage.${table} ${overriding}SELECT * FROM damage.copy; DROP TABLE damage.copy`,
    );
  }
}

async function columnsOf(table: string): Promise<{ readonly name: string; readonly type: string }[]> {
  return server.query(
    "SELECT column_name AS name, data_type AS type FROM information_schema.columns " +
      `WHERE table_schema = 'damage' AND table_name = '${table}' ORDER BY ordinal_position`,
  );
}

/** One row in the middle. */
const someRow = (table: string): string =>
  `ctid = (SELECT ctid FROM damage.${table} ORDER BY ctid OFFSET (SELECT count(*) / 2 FROM damage.${table}) LIMIT 1)`;

it.each(TABLES)("a changed column in a row of `%s`", async (table) => {
  for (const { name, type } of await columnsOf(table)) {
    const changed = type === "bigint" ? `coalesce(${name}, 0) + 1000` : `coalesce(${name}, '') || 'x'`;
    // A renamed thread is a missing thread: no other row mentions it.
    if (table === "threads" && name === "name") continue;
    for (const value of [changed, "NULL"]) {
      const damage = `UPDATE damage.${table} SET ${name} = ${value} WHERE ${someRow(table)}`;
      const isRefused = await refusals(table, damage).catch((error: unknown) => {
        // The schema itself forbids some changes: null, and generated numbers.
        if (["23502", "428C9"].includes((error as { code?: string }).code ?? "")) return undefined;
        throw error;
      });
      if (value !== "NULL" && isRefused !== undefined) expect(isRefused, damage).toBeGreaterThan(0);
    }
  }
});

const OF_THREADS = TABLES.filter((table) => table !== "threads");

it.each(OF_THREADS)("a deleted row of `%s`", async (table) => {
  expect(await refusals(table, `DELETE FROM damage.${table} WHERE ${someRow(table)}`)).toBeGreaterThan(0);
  expect(await refusals(table, `DELETE FROM damage.${table}`)).toBeGreaterThan(0);
});

it.each(OF_THREADS.filter((table) => table !== "waits"))("a row of `%s` with the key of another row", async (table) => {
  const key = { heads: "namespace", checkpoints: "id", cells: "channel", writes: "task", signals: "id" }[table]!;
  const damage = `UPDATE damage.${table} SET ${key} = 'foreign' WHERE ${someRow(table)}`;
  expect(await refusals(table, damage)).toBeGreaterThan(0);
});

it("repaired rows are returned as before", async () => {
  expect(await readStore(store)).toEqual(answers);
});
