/** `inspectSqlite` reports any damage of a real database, with its thread, and changes no file. */
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { inspectSqlite } from "../../runtime/stores/sqlite/inspect.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { fillStore, ITEM } from "./content.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();

async function filled(): Promise<string> {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  await fillStore(store);
  // Reading flushes the staging table.
  store.threads();
  store.close();
  return path;
}

function execute(path: string, sql: string): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/**
 * The files of the directory with hashes of their contents. A reader of a write-ahead log creates it and its index, and SQLite
 * removes them when the next writer closes the database: an empty log holds nothing.
 */
function filesOf(): Record<string, string> {
  const directory = inDirectory(".");
  const hash = (name: string): string =>
    createHash("sha256")
      .update(readFileSync(inDirectory(name)))
      .digest("hex");
  const isContent = (name: string): boolean => !name.endsWith("-shm") && readFileSync(inDirectory(name)).length > 0;
  return Object.fromEntries(
    readdirSync(directory)
      .filter(isContent)
      .map((name) => [name, hash(name)]),
  );
}

describe("inspectSqlite", () => {
  it("finds a store sound, and changes no file", async () => {
    const path = await filled();
    const before = filesOf();
    const report = await inspectSqlite(path);
    expect(report).toMatchObject({ threads: 3, problems: [] });
    expect(report.checkpoints).toBeGreaterThan(5);
    expect(filesOf()).toEqual(before);
  });

  it("finds a store with staged rows sound while a run holds it", async () => {
    const path = await filled();
    const store = new SqliteStore(path);
    const run = await SampleRun.start(store, "staged", "x");
    for (let step = 0; step < 20; step++) await run.save([{ channel: "log", append: [step] }]);
    expect(await inspectSqlite(path)).toMatchObject({ threads: 4, problems: [] });
    await run.save([{ channel: "log", append: ["end"] }]);
    store.close();
    expect(await inspectSqlite(path)).toMatchObject({ threads: 4, problems: [] });
  });

  it("finds a store with a long-term memory sound", async () => {
    const path = await filled();
    const store = new SqliteStore(path);
    store.putItem(ITEM);
    store.close();
    expect(await inspectSqlite(path)).toMatchObject({ problems: [] });
  });

  it("finds an empty database sound", async () => {
    execute(inDirectory("runs.db"), "VACUUM");
    expect(await inspectSqlite(inDirectory("runs.db"))).toMatchObject({ threads: 0, problems: [] });
  });

  it.each([
    [
      "a deleted checkpoint in the middle",
      "DELETE FROM checkpoints WHERE ord = (SELECT parent FROM checkpoints WHERE ord = (SELECT head FROM threads WHERE name = 'first'))",
      "first",
      /its parent, no\. \d+, is missing/,
    ],
    [
      "a deleted first checkpoint",
      "DELETE FROM checkpoints WHERE ord = (SELECT min(ord) FROM checkpoints)",
      "first",
      /should have \d+ checkpoints, but has \d+/,
    ],
    [
      "a deleted head",
      "DELETE FROM checkpoints WHERE ord = (SELECT head FROM threads WHERE name = 'second')",
      "second",
      /its newest checkpoint, no\. \d+, is missing/,
    ],
    ["a deleted head of a namespace", "DELETE FROM heads", "first", /should have 1 namespaces, but has 0/],
    [
      "a deleted value",
      "DELETE FROM cells WHERE channel = 'score' AND chain = 1",
      "first",
      /rows of its channels are missing/,
    ],
    [
      "a changed value",
      "UPDATE cells SET data = '[0]' WHERE chain = 1 AND ord = 1",
      "first",
      /checksum does not match/,
    ],
    ["a changed header", "UPDATE checkpoints SET header = '{}' WHERE ord = 2", "first", /checksum does not match/],
    [
      "a changed thread",
      "UPDATE threads SET checkpoints = 0 WHERE name = 'second'",
      "second",
      /checksum does not match/,
    ],
    ["a deleted pending result", "DELETE FROM writes", "second", /should have 1 writes, but has 0/],
    [
      "checkpoints of no thread",
      "DELETE FROM threads WHERE name = 'second'",
      null,
      /`checkpoints` belong to thread no\. \d+, which does not exist/,
    ],
    [
      "values of no checkpoint",
      "INSERT INTO cells SELECT NULL, 9999, channel, ord, kind, version, base, count, slack, data, v, sum FROM cells LIMIT 1",
      null,
      /`cells` belong to chain 9999/,
    ],
    ["an old count of claims", "UPDATE meta SET value = 0", null, /the count of claims/],
    [
      "a dropped index",
      "DROP INDEX checkpoints_by_label",
      null,
      /index `checkpoints_by_label` is missing: create it again with `CREATE UNIQUE INDEX/,
    ],
    [
      "another index",
      "DROP INDEX threads_by_hash; CREATE INDEX threads_by_hash ON threads (name)",
      null,
      /index `threads_by_hash` differs/,
    ],
    [
      "a trigger",
      "CREATE TRIGGER spy AFTER INSERT ON cells BEGIN SELECT 1; END",
      null,
      /trigger `spy` was not created by ngraph: drop it/,
    ],
    ["a view", "CREATE VIEW spy AS SELECT * FROM cells", null, /view `spy` was not created by ngraph/],
    ["a table", "CREATE TABLE other (x)", null, /table `other` was not created by ngraph/],
    ["a dropped table", "DROP TABLE writes", null, /table `writes` is missing: restore the store from a backup/],
  ])("reports %s", async (_, sql, thread, message) => {
    const path = await filled();
    execute(path, sql);
    const before = filesOf();
    const { problems } = await inspectSqlite(path);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems).toContainEqual(expect.objectContaining({ thread, message: expect.stringMatching(message) }));
    expect(filesOf()).toEqual(before);
  });

  it("reports a changed id, wherever the file contains it", async () => {
    const path = await filled();
    // Deleted rows, which may contain the id too, are left out.
    execute(path, "VACUUM");
    const content = readFileSync(path);
    let changes = 0;
    for (let at = content.indexOf("first/8"); at !== -1; at = content.indexOf("first/8", at + 1)) {
      const changed = Buffer.from(content);
      changed.write("x", at);
      writeFileSync(path, changed);
      const { problems } = await inspectSqlite(path);
      expect(problems.length, `at ${at}`).toBeGreaterThan(0);
      changes++;
    }
    // The row, and its entry in the index.
    expect(changes).toBeGreaterThanOrEqual(2);
  });

  it("inspects a database that a crash has left in a transaction, from a copy", async () => {
    const path = await filled();
    const { DatabaseSync } = loadSqlite();
    const database = new DatabaseSync(path);
    database.exec(
      "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE checkpoints SET header = hex(randomblob(4000)); UPDATE cells SET data = hex(randomblob(4000))",
    );
    const left = inDirectory("left.db");
    copyFileSync(path, left);
    copyFileSync(`${path}-journal`, `${left}-journal`);
    database.exec("ROLLBACK");
    database.close();
    const before = filesOf();
    expect(await inspectSqlite(left)).toMatchObject({ threads: 3, problems: [] });
    expect(filesOf()).toEqual(before);
  });
});
