/** 5.11 A schema migration is atomic, one of several processes runs it, and older programs refuse the new schema. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { StoreError } from "../../runtime/interface/errors.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite, type SqliteDatabase, type SqliteStatement } from "../../runtime/stores/sqlite/driver.ts";
import { migrate } from "../../runtime/stores/sqlite/open-database.ts";
import { SCHEMA_VERSION } from "../../runtime/stores/sqlite/schema.ts";
import { expectGolden, golden } from "./golden.ts";
import { runProgram } from "./program.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);

it.each(["wal", "rollback"] as const)(
  "a process that ends while it migrates leaves the old version (%s)",
  async (journal) => {
    const path = inDirectory("runs.db");
    copyFileSync(golden("schema-1.db"), path);
    const database = new (loadSqlite().DatabaseSync)(path);
    database.exec(`PRAGMA journal_mode = ${journal === "wal" ? "WAL" : "TRUNCATE"}`);
    const crashes: string[] = [];
    // A process that ends now leaves the files as they are now.
    const watched = watchedDatabase(database, () => {
      const at = inDirectory(String(crashes.length));
      mkdirSync(at);
      for (const end of ["", "-wal", "-journal"]) {
        if (existsSync(path + end)) copyFileSync(path + end, join(at, `runs.db${end}`));
      }
      crashes.push(join(at, "runs.db"));
    });
    migrate(watched, path);
    watched.exec("PRAGMA user_version");
    database.close();
    const found = crashes.map((crash) => versionOf(crash));
    expect(found.length).toBeGreaterThan(7);
    expect(found.indexOf(SCHEMA_VERSION)).toBeGreaterThan(found.lastIndexOf(1));
    for (const crash of crashes) {
      const store = new SqliteStore({ path: crash, journal });
      await expectGolden(store, 1);
      store.close();
    }
  },
);

it("of several processes that open an old file at once, one migrates it and the others use it", async () => {
  const path = inDirectory("runs.db");
  copyFileSync(golden("schema-1.db"), path);
  const programs = ["a", "b", "c", "d"].map((owner) => runProgram("rival", path, owner));
  expect(await Promise.all(programs.map((program) => program.line()))).toEqual(programs.map(() => "ready"));
  for (const program of programs) program.process.stdin!.end("go\n");
  const results = await Promise.all(programs.map((program) => program.line()));
  await Promise.all(programs.map((program) => program.ended));
  expect(results).toContain("won");
  const store = new SqliteStore(path);
  store.deleteThread("thread");
  await expectGolden(store, 1);
  store.close();
});

it("a store that is open while a newer program migrates its file fails closed", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const run = await SampleRun.start(store);
  await run.save([{ channel: "log", append: [1] }]);
  await run.save([{ channel: "log", append: [2] }]);
  const { checkpoint, changes } = run.next([{ channel: "log", append: [3] }], {}, run.head());
  const { values, versions, ...header } = checkpoint;
  const request = { header, changes, snapshot: () => ({ values, versions }), expectedHead: run.head()!.id };
  const newer = new (loadSqlite().DatabaseSync)(path);
  newer.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  newer.close();
  const calls = [
    () => store.save(run.claim, request),
    () => store.loadLatest("thread"),
    () => store.claim("thread", { owner: "heir", leaseMs: 1000 }),
    () => store.renew(run.claim, 1000),
    () => store.threads(),
    () => new SqliteStore(path),
  ];
  for (const call of calls) {
    expect(call).toThrow(StoreError);
    expect(call).toThrow(
      expect.objectContaining({
        code: "NG_UNKNOWN_VERSION",
        message: expect.stringMatching(/runs\.db has schema version \d+.*update ngraph/),
      }),
    );
  }
  store.close();
});

it("a program of version 1 cannot create a thread in a migrated file, and refuses the existing threads", () => {
  const path = inDirectory("runs.db");
  copyFileSync(golden("schema-1.db"), path);
  new SqliteStore(path).close();
  const old = new (loadSqlite().DatabaseSync)(path);
  // Its statement for a new thread, and the first rows that it reads of an existing thread.
  const insert =
    "INSERT INTO threads (epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum, " +
    "thread, name, hash) VALUES (1, 'me', 1, '', 1, '', NULL, 0, 0, 0, 0, 1, 0, 99, 'new', 0)";
  expect(() => old.exec(insert)).toThrow("CHECK constraint");
  expect(
    old
      .prepare("SELECT DISTINCT v FROM threads")
      .all()
      .map((row) => ({ ...(row as object) })),
  ).toEqual([{ v: 2 }]);
  old.close();
});

it("an old file that cannot be written is refused with both versions, and not changed", async () => {
  const path = inDirectory("runs.db");
  copyFileSync(golden("schema-1.db"), path);
  chmodSync(path, 0o444);
  chmodSync(inDirectory("."), 0o777);
  const before = readFileSync(path);
  const program = runProgram("open-read-only", path);
  expect(await program.line()).toMatch(
    /^NG_STORE_FAILED: database .*runs\.db has schema version 1 and could not be brought to 3.*cannot be written/,
  );
  await program.ended;
  expect(readFileSync(path)).toEqual(before);
});

function versionOf(path: string): number {
  const database = new (loadSqlite().DatabaseSync)(path);
  const { user_version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  database.close();
  return user_version;
}

/** Calls `before` ahead of every statement. */
function watchedDatabase(database: SqliteDatabase, before: () => void): SqliteDatabase {
  return {
    exec: (sql) => {
      before();
      database.exec(sql);
    },
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const run: SqliteStatement["run"] = (...parameters) => {
        before();
        return statement.run(...parameters);
      };
      return { run, get: (...given) => statement.get(...given), all: (...given) => statement.all(...given) };
    },
    close: () => database.close(),
  };
}
