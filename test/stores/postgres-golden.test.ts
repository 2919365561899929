/**
 * Postgres databases that earlier versions have written. `golden/postgres-schema-N.sql` contains the tables and rows that a
 * store created in the schema `golden` when schema version N was new, and is never generated again.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SCHEMA_VERSION } from "../../runtime/stores/postgres/schema.ts";
import { expectGolden, expectGoldenRuns, golden } from "./golden.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1);

it.each(versions)("5.11 a schema of version %i can be read and written", async (version) => {
  await server.query("DROP SCHEMA IF EXISTS golden CASCADE");
  await server.query(readFileSync(golden(`postgres-schema-${version}.sql`), "utf8"));
  const store = new PostgresStore({ url: server.url, schema: "golden" });
  try {
    await expectGolden(store, version);
    // New numbers are greater than those of the old rows: a new thread gets an unused number.
    const claim = await store.claim("new", { owner: "now", leaseMs: 1000 });
    expect(claim.epoch).toBeGreaterThan(3);
    await store.putWrites(claim, "now", [{ taskId: "task", node: "node", result: 1 }]);
    expect(await store.getWrites("new", "now")).toEqual([{ taskId: "task", node: "node", result: 1 }]);
    expect(await server.query("SELECT value::int FROM golden.meta")).toEqual([{ value: SCHEMA_VERSION }]);
  } finally {
    await store.close();
  }
});

it.each(versions)("5.11 the runs in a schema of version %i resume", async (version) => {
  await server.query("DROP SCHEMA IF EXISTS golden CASCADE");
  await server.query(readFileSync(golden(`postgres-runs-${version}.sql`), "utf8"));
  const store = new PostgresStore({ url: server.url, schema: "golden" });
  await expectGoldenRuns(store);
  await store.close();
});

it("a program fails closed when another program migrates its open schema", async () => {
  await server.query("DROP SCHEMA IF EXISTS golden CASCADE");
  await server.query(readFileSync(golden("postgres-schema-1.sql"), "utf8"));
  const store = new PostgresStore({ url: server.url, schema: "golden" });
  const claim = await store.claim("first", { owner: "now", leaseMs: 60_000 });
  await server.query(`UPDATE golden.meta SET value = ${SCHEMA_VERSION + 1} WHERE name = 'version'`);
  const unknown = {
    code: "NG_UNKNOWN_VERSION",
    message: expect.stringContaining(`schema version ${SCHEMA_VERSION + 1}`),
  };
  await expect(store.loadLatest("first")).rejects.toMatchObject(unknown);
  await expect(store.renew(claim, 1000)).rejects.toMatchObject(unknown);
  await expect(store.threads()).rejects.toMatchObject(unknown);
  await store.close();
  // A program of version 1 does not check the version: its new threads are refused, and it refuses the rows of
  // existing ones.
  const old = "INSERT INTO golden.threads SELECT 99, 'new', 1, null, null, null, null, null, null, 0, 0, 0, 0, 1, 0";
  await expect(server.query(old)).rejects.toThrow("check constraint");
  expect(await server.query("SELECT DISTINCT v::int FROM golden.threads")).toEqual([{ v: 2 }]);
});

it("of several stores that open an old schema at once, one migrates it", async () => {
  await server.query("DROP SCHEMA IF EXISTS golden CASCADE");
  await server.query(readFileSync(golden("postgres-schema-1.sql"), "utf8"));
  const stores = Array.from({ length: 6 }, () => new PostgresStore({ url: server.url, schema: "golden" }));
  const claims = await Promise.all(stores.map((store, n) => store.claim(`new ${n}`, { owner: "now", leaseMs: 1000 })));
  expect(new Set(claims.map(({ epoch }) => epoch)).size).toBe(stores.length);
  await expectGolden(stores[0]!, 1);
  await Promise.all(stores.map((store) => store.close()));
});
