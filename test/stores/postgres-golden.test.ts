/**
 * What earlier versions have written into a Postgres database. `golden/postgres-schema-N.sql` holds the tables and rows that a
 * store made when schema version N was new, in the schema `golden`, and is never written again.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SCHEMA_VERSION } from "../../runtime/stores/postgres/schema.ts";
import { expectGolden, golden } from "./golden.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server.dispose());

const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1);

it.each(versions)("5.11 a schema of version %i is read, and written on", async (version) => {
  await server.query("DROP SCHEMA IF EXISTS golden CASCADE");
  await server.query(readFileSync(golden(`postgres-schema-${version}.sql`), "utf8"));
  const store = new PostgresStore({ url: server.url, schema: "golden" });
  try {
    await expectGolden(store, version);
    // Numbers go on after those that the old rows have: a thread of its own gets its own.
    const claim = await store.claim("new", { owner: "now", leaseMs: 1000 });
    expect(claim.epoch).toBeGreaterThan(3);
    await store.putWrites(claim, "now", [{ taskId: "task", node: "node", result: 1 }]);
    expect(await store.getWrites("new", "now")).toEqual([{ taskId: "task", node: "node", result: 1 }]);
    expect(await server.query("SELECT value::int FROM golden.meta")).toEqual([{ value: SCHEMA_VERSION }]);
  } finally {
    await store.close();
  }
});
