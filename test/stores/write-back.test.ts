import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { Connection } from "../../runtime/stores/sqlite/connection.ts";
import { WriteBack } from "../../runtime/stores/sqlite/write-back.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();

interface Length {
  readonly log: number;
  readonly checkpointed: number;
}

/** A log whose length grows by some pages with each transaction. */
function logOf(pages: number, canCount = true) {
  let length: Length = { log: 0, checkpointed: 0 };
  const statements: string[] = [];
  const connection = {
    get: (sql: string) => {
      statements.push(sql);
      if (sql.includes("PASSIVE")) length = { log: length.log, checkpointed: length.log };
      return length;
    },
  };
  const log = new WriteBack(connection as unknown as Connection, canCount);
  const commit = (): void => {
    // A log that is written back begins again.
    const begun = length.log === length.checkpointed ? 0 : length.log;
    length = pages < 0 ? { log: -1, checkpointed: -1 } : { log: begun + pages, checkpointed: 0 };
    log.afterCommit();
  };
  return { commit, statements };
}

test("the log is written back at 500 pages, in a turn of its own", async () => {
  const { commit, statements } = logOf(100);
  const writeBacks = () => statements.filter((sql) => sql === "PRAGMA wal_checkpoint(PASSIVE)").length;
  for (let round = 1; round <= 3; round++) {
    for (let n = 0; n < 4; n++) commit();
    await setImmediate();
    await setImmediate();
    expect(writeBacks()).toBe(round - 1);
    for (let n = 0; n < 3; n++) commit();
    expect(writeBacks()).toBe(round - 1);
    await setImmediate();
    await setImmediate();
    expect(writeBacks()).toBe(round);
  }
});

test("a database without such a log, and an SQLite that cannot count, are not asked again", () => {
  for (const [{ commit, statements }, asked] of [
    [logOf(-1), 1],
    [logOf(100, false), 0],
  ] as const) {
    for (let n = 0; n < 10; n++) commit();
    expect(statements).toHaveLength(asked);
  }
});

test("the transactions of a single run write back nothing themselves", async () => {
  const store = new SqliteStore({ path: inDirectory("runs.db"), journal: "wal" });
  const run = await SampleRun.start(store);
  const lengths: Length[] = [];
  const { get } = Connection.prototype;
  Connection.prototype.get = function <T>(this: Connection, ...parameters: Parameters<typeof get>) {
    const found = get.apply(this, parameters) as T | undefined;
    if (parameters[0] === "PRAGMA wal_checkpoint(NOOP)") lengths.push(found as Length);
    return found;
  };
  try {
    for (let n = 0; n < 40; n++) {
      await run.save([{ channel: "text", set: `${n}`.repeat(100_000) }]);
      await setImmediate();
      await setImmediate();
    }
  } finally {
    Connection.prototype.get = get;
  }
  // From 1,000 pages on, SQLite writes the log back within the commit.
  expect(Math.max(...lengths.map(({ log }) => log))).toBeLessThan(1000);
  expect(Math.max(...lengths.map(({ log, checkpointed }) => log - checkpointed))).toBeGreaterThanOrEqual(500);
  store.close();
});
