/** `inspectPostgres` reports any damage of a real database, with its thread, and needs only the right to read. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { inspectPostgres } from "../../runtime/stores/postgres/inspect.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { fillStore, ITEM } from "./content.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

beforeEach(async () => {
  await server.query("DROP SCHEMA IF EXISTS ngraph CASCADE");
  const store = new PostgresStore(server.url);
  await fillStore(store);
  await store.close();
});

it("finds a new store sound", async () => {
  expect(await inspectPostgres({ url: server.url })).toMatchObject({ threads: 3, problems: [] });
});

it("finds a store with a long-term memory sound", async () => {
  const store = new PostgresStore(server.url);
  await store.putItem(ITEM);
  await store.close();
  expect(await inspectPostgres({ url: server.url })).toMatchObject({ threads: 3, problems: [] });
});

it("creates nothing where there is no store", async () => {
  const options = { url: server.url, schema: "elsewhere" };
  expect(await inspectPostgres(options)).toMatchObject({ threads: 0, checkpoints: 0, problems: [] });
  expect(await server.query("SELECT FROM pg_namespace WHERE nspname = 'elsewhere'")).toEqual([]);
});

it("finds a store in a schema with another name sound", async () => {
  const options = { url: server.url, schema: "cells" };
  const store = new PostgresStore(options);
  await fillStore(store);
  await store.close();
  expect(await inspectPostgres(options)).toMatchObject({ threads: 3, problems: [] });
});

it.each([
  [
    "a deleted checkpoint in the middle",
    "DELETE FROM ngraph.checkpoints WHERE ord = (SELECT parent FROM ngraph.checkpoints WHERE ord = (SELECT head FROM ngraph.threads WHERE name = 'first'))",
    "first",
    /its parent, no\. \d+, is missing/,
  ],
  [
    "a deleted first checkpoint",
    "DELETE FROM ngraph.checkpoints WHERE ord = (SELECT min(ord) FROM ngraph.checkpoints)",
    "first",
    /should have \d+ checkpoints, but has \d+/,
  ],
  [
    "a deleted value",
    "DELETE FROM ngraph.cells WHERE channel = 'score' AND chain = (SELECT min(chain) FROM ngraph.checkpoints)",
    "first",
    /rows of its channels are missing/,
  ],
  ["a changed value", "UPDATE ngraph.cells SET data = '[0]'", "first", /checksum does not match/],
  ["a deleted pending result", "DELETE FROM ngraph.writes", "second", /should have 1 writes, but has 0/],
  [
    "checkpoints of no thread",
    "DELETE FROM ngraph.threads WHERE name = 'second'",
    null,
    /`checkpoints` belong to thread/,
  ],
  ["an old count of claims", "SELECT setval('ngraph.epochs', 1)", null, /the count of claims/],
  [
    "a dropped index",
    "DROP INDEX ngraph.checkpoints_by_label",
    null,
    /index `checkpoints_by_label` is missing: create it again with `CREATE UNIQUE INDEX checkpoints_by_label ON "ngraph"\.checkpoints USING btree/,
  ],
  [
    "a dropped constraint",
    "ALTER TABLE ngraph.threads DROP CONSTRAINT threads_v_check",
    null,
    /constraint `threads_v_check` is missing/,
  ],
  [
    "a trigger",
    "CREATE FUNCTION ngraph.spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER spy BEFORE INSERT ON ngraph.cells FOR EACH ROW EXECUTE FUNCTION ngraph.spy()",
    null,
    /trigger `spy` was not created by ngraph: drop it/,
  ],
  ["a rule", "CREATE RULE spy AS ON DELETE TO ngraph.writes DO INSTEAD NOTHING", null, /rule `spy` was not created/],
  ["a view", "CREATE VIEW ngraph.spy AS SELECT 1 AS x", null, /view `spy` was not created/],
  ["row security", "ALTER TABLE ngraph.cells ENABLE ROW LEVEL SECURITY", null, /table `cells` differs/],
  ["another column", "ALTER TABLE ngraph.cells ADD COLUMN x int", null, /table `cells` differs/],
  ["a dropped table", "DROP TABLE ngraph.writes", null, /table `writes` is missing/],
  ["an older schema", "UPDATE ngraph.meta SET value = 1 WHERE name = 'version'", null, /has schema version 1: open it/],
])("reports %s", async (_, sql, thread, message) => {
  await server.query(sql);
  const { problems } = await inspectPostgres({ url: server.url });
  expect(problems).toContainEqual(expect.objectContaining({ thread, message: expect.stringMatching(message) }));
});

it("needs only the right to read", async () => {
  await server.query(
    "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA ngraph TO reader; " +
      "GRANT SELECT ON ALL TABLES IN SCHEMA ngraph TO reader; GRANT SELECT ON ALL SEQUENCES IN SCHEMA ngraph TO reader",
  );
  const url = server.url.replace("tester@", "reader@");
  expect(await inspectPostgres({ url })).toMatchObject({ threads: 3, problems: [] });
  await server.query("DROP OWNED BY reader; DROP ROLE reader");
});
