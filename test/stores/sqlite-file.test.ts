/** The file of an SQLite store: its creation, refused files, and content that the store never changes. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StoreErrorCode } from "../../runtime/interface/errors.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { Connection } from "../../runtime/stores/sqlite/connection.ts";
import { loadSqlite, type SqliteDatabase } from "../../runtime/stores/sqlite/driver.ts";
import { copySnapshot } from "../../runtime/stores/sqlite/snapshot-copy.ts";
import { runProgram } from "./program.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);

describe("a file that leaves its place while it is open", () => {
  it.each(["wal", "rollback"] as const)("is not written further, with the journal %s", async (journal) => {
    for (const leave of [
      (path: string) => rmSync(path),
      (path: string) => renameSync(path, `${path}.moved`),
      (path: string) => {
        new SqliteStore(`${path}.other`).close();
        renameSync(`${path}.other`, path);
      },
    ]) {
      const path = inDirectory("runs.db");
      const store = new SqliteStore({ path, journal });
      const run = await SampleRun.start(store);
      await run.save([{ channel: "x", set: 1 }]);
      leave(path);
      const refusal = {
        code: "NG_STORE_FAILED",
        message: expect.stringContaining("was deleted, moved or replaced while it was open: put it back"),
      };
      await expect(run.save([{ channel: "x", set: 2 }])).rejects.toMatchObject(refusal);
      store.close();
      rmSync(path, { force: true });
    }
  });
});

describe("creating a file", () => {
  it("creates missing directories, and finds the same content when opened again", async () => {
    const path = inDirectory("some/where/deep/runs.db");
    const run = await SampleRun.start(new SqliteStore(path));
    const saved = await run.save([{ channel: "x", set: 1 }]);
    const again = new SqliteStore({ path });
    expect(again.loadLatest("thread")).toEqual(saved);
    again.close();
  });

  it("accepts an empty file", async () => {
    const path = inDirectory("runs.db");
    writeFileSync(path, "");
    const run = await SampleRun.start(new SqliteStore(path));
    expect((await run.save()).id).toBe("thread/1");
  });

  it("refuses a database whose write-ahead log was deleted, and leaves it as it is", () => {
    const path = inDirectory("runs.db");
    new SqliteStore({ path }).close();
    writeFileSync(`${path}-shm`, "");
    const before = readFileSync(path);
    const message = expect.stringMatching(
      /lost its write-ahead log.*restore .*runs\.db-wal, or delete .*runs\.db-shm/,
    ) as string;
    const open = (): unknown => new SqliteStore({ path }).loadLatest("thread");
    expect(open).toThrow(expect.objectContaining({ code: "NG_CORRUPT_RECORD", message }) as Error);
    expect(() => copySnapshot(path)).toThrow(expect.objectContaining({ message }) as Error);
    expect(readFileSync(path)).toEqual(before);
    rmSync(`${path}-shm`);
    expect(open()).toBeUndefined();
  });

  it("reads a path literally: `file:` is not a URI, and `%` and `?` are plain characters", async () => {
    for (const name of ["file:runs.db", "runs.db?mode=memory", "100%25.db", "späce und ö.db"]) {
      const path = inDirectory(name);
      const store = new SqliteStore(path);
      await (await SampleRun.start(store)).save();
      store.close();
      expect(existsSync(path)).toBe(true);
    }
  });

  it.each(["wal", "rollback"] as const)("keeps synchronous FULL (%s)", (journal) => {
    const connection = new Connection({ path: inDirectory("runs.db"), journal });
    expect({ ...connection.get<object>("PRAGMA synchronous") }).toEqual({ synchronous: 2 });
    const mode = journal === "wal" ? "wal" : "truncate";
    expect({ ...connection.get<object>("PRAGMA journal_mode") }).toEqual({ journal_mode: mode });
    connection.close();
  });

  it("uses a write-ahead log where SQLite is new enough, and a rollback journal below", () => {
    const connection = new Connection({ path: inDirectory("runs.db") });
    const { version } = connection.get<{ version: string }>("SELECT sqlite_version() AS version")!;
    const isNew = version.localeCompare("3.51.3", "en", { numeric: true }) >= 0;
    const mode = isNew ? "wal" : "truncate";
    expect({ ...connection.get<object>("PRAGMA journal_mode") }).toEqual({ journal_mode: mode });
    connection.close();
  });

  it("switches between journals, and shares a file that another connection keeps in a log", async () => {
    const path = inDirectory("runs.db");
    const rollback = new SqliteStore({ path, journal: "rollback" });
    const run = await SampleRun.start(rollback);
    await run.save([{ channel: "log", append: [1] }]);
    rollback.close();
    const wal = new SqliteStore({ path, journal: "wal" });
    expect(wal.loadLatest("thread")?.values).toEqual({ log: [1] });
    const error = storeError(() => new SqliteStore({ path, journal: "rollback", busyTimeout: 0 }));
    expect(error.code).toBe("NG_STORE_FAILED");
    expect(error.message).toContain("journal mode wal");
    wal.close();
  });
});

describe("closing", () => {
  it("leaves one file, without its log", async () => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore({ path, journal: "wal" });
    await (await SampleRun.start(store)).save([{ channel: "log", append: [1] }]);
    expect(existsSync(`${path}-wal`)).toBe(true);
    store.close();
    expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false]);
    const again = new SqliteStore({ path, journal: "wal" });
    expect(again.loadLatest("thread")?.values).toEqual({ log: [1] });
    again.close();
  });

  it("keeps the log while another connection has the file open", async () => {
    const path = inDirectory("runs.db");
    const [first, second] = [new SqliteStore({ path, journal: "wal" }), new SqliteStore({ path, journal: "wal" })];
    const run = await SampleRun.start(first);
    await run.save([{ channel: "log", append: [1] }]);
    first.close();
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(second.loadLatest("thread")?.values).toEqual({ log: [1] });
    second.renew(run.claim, 1000);
    second.close();
  });
});

describe("a file of another program is refused and not changed", () => {
  const foreign: readonly [what: string, code: StoreErrorCode, make: (path: string) => void][] = [
    [
      "a text",
      "NG_CORRUPT_RECORD",
      (path) => writeFileSync(path, "notes of mine, and quite a few of them\n".repeat(500)),
    ],
    ["a very short text", "NG_CORRUPT_RECORD", (path) => writeFileSync(path, "x")],
    ["zeros", "NG_CORRUPT_RECORD", (path) => writeFileSync(path, Buffer.alloc(8192))],
    ["a database with a table", "NG_STORE_FAILED", (path) => makeDatabase(path, "CREATE TABLE t (a)")],
    ["a database of another application", "NG_STORE_FAILED", (path) => makeDatabase(path, "PRAGMA application_id = 1")],
    ["a database with a version", "NG_STORE_FAILED", (path) => makeDatabase(path, "PRAGMA user_version = 1")],
    [
      "a store of a newer version",
      "NG_UNKNOWN_VERSION",
      (path) => {
        new SqliteStore({ path, journal: "rollback" }).close();
        makeDatabase(path, "PRAGMA user_version = 4");
      },
    ],
    [
      "a store that lost its version",
      "NG_CORRUPT_RECORD",
      (path) => {
        new SqliteStore({ path, journal: "rollback" }).close();
        makeDatabase(path, "PRAGMA user_version = 0");
      },
    ],
  ];

  it.each(foreign)("%s", (_, code, make) => {
    const path = inDirectory("theirs");
    make(path);
    const before = readFileSync(path);
    const error = storeError(() => new SqliteStore(path));
    expect(error.code).toBe(code);
    expect(error.message).toContain(path);
    expect(readFileSync(path)).toEqual(before);
  });

  it("a directory, a path under a file, no path, a path with NUL", () => {
    mkdirSync(inDirectory("directory"));
    writeFileSync(inDirectory("file"), "text");
    for (const path of [inDirectory("directory"), join(inDirectory("file"), "runs.db"), "", "a\0b"]) {
      expect(storeError(() => new SqliteStore(path)).code).toBe("NG_STORE_FAILED");
    }
    expect(readFileSync(inDirectory("file"), "utf8")).toBe("text");
  });
});

describe("a file in use", () => {
  it("that is locked for too long is an error, and the store works afterwards", async () => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore({ path, journal: "rollback", busyTimeout: 0 });
    const run = await SampleRun.start(store);
    const head = await run.save();
    const other = new (loadSqlite().DatabaseSync)(path);
    other.exec("BEGIN EXCLUSIVE");
    for (const call of [() => store.renew(run.claim, 1000), () => store.list("thread")]) {
      const error = storeError(call);
      expect(error.code).toBe("NG_STORE_FAILED");
      expect(error.message).toMatch(/runs\.db.*locked/);
    }
    other.exec("ROLLBACK");
    other.close();
    expect(store.list("thread")).toEqual([head]);
    await run.save();
    store.close();
  });

  it("that cannot be written is refused with a remedy, and not changed", async () => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore({ path, journal: "rollback" });
    await (await SampleRun.start(store)).save([], {}, { releaseClaim: true });
    store.close();
    const before = readFileSync(path);
    for (const [file, directory] of [
      [0o444, 0o555],
      [0o444, 0o777],
      [0o000, 0o777],
    ] as const) {
      chmodSync(path, file);
      chmodSync(inDirectory("."), directory);
      const program = runProgram("open-read-only", path);
      const lines = [await program.line(), await program.line()];
      expect(await program.ended).toBe(0);
      const refused = lines.find((line) => line !== "ok");
      expect(refused).toMatch(/^NG_STORE_FAILED: .*runs\.db.*(cannot be written|cannot be opened|permission)/i);
      chmodSync(inDirectory("."), 0o777);
      chmodSync(path, 0o666);
      expect(readFileSync(path)).toEqual(before);
    }
  });

  it("a full disk is reported, and what was stored before is kept", async () => {
    const path = inDirectory("runs.db");
    const program = runProgram("append-until-refused", path, { fileBlocks: 800 });
    const lines: string[] = [];
    for (let line = await program.line(); line !== undefined; line = await program.line()) lines.push(line);
    expect(await program.ended).toBe(0);
    const failures = lines.filter((line) => line.startsWith("NG_"));
    expect(failures.length).toBe(2);
    for (const failure of failures) expect(failure).toMatch(/^NG_STORE_FAILED: database .*runs\.db.*(space|full)/);
    const store = new SqliteStore(path);
    expect(store.loadLatest("thread")?.values["log"]).toHaveLength(lines.length - 2);
    expect(lines.length - 2).toBeGreaterThan(2);
    store.close();
  });
});

it("without SQLite the error names the package to install; with Node's own driver nothing is printed", async () => {
  const program = runProgram("rival", inDirectory("runs.db"), { packages: false });
  const first = await program.line();
  program.process.stdin!.end("go\n");
  const hasBuiltin = (process.getBuiltinModule as (name: string) => object | undefined)("node:sqlite") !== undefined;
  expect(first).toBe(hasBuiltin ? "ready" : "NG_STORE_FAILED");
  if (!hasBuiltin) expect(await program.line()).toContain("npm install @photostructure/sqlite");
  await program.ended;
  expect(program.errors()).toBe("");
});

it("5.12 1,000 turns of chat, two checkpoints each, stay under 2 MB", async () => {
  const path = inDirectory("runs.db");
  const store = new SqliteStore(path);
  const run = await SampleRun.start(store);
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  for (let turn = 0; turn < 1000; turn++) {
    const header = { runId: crypto.randomUUID(), digest, nextNodes: ["answer"] };
    const message = `${turn}: ${"what people say ".repeat(20)}`.slice(0, 200);
    await run.save([{ channel: "messages", append: [message] }], {
      ...header,
      id: crypto.randomUUID(),
      phase: "input",
    });
    await run.save([{ channel: "answer", set: turn }], {
      ...header,
      id: crypto.randomUUID(),
      currentNodes: ["answer"],
    });
  }
  store.close();
  expect(statSync(path).size).toBeLessThan(2_000_000);
});

function makeDatabase(path: string, sql: string): void {
  const database: SqliteDatabase = new (loadSqlite().DatabaseSync)(path);
  database.exec(sql);
  database.close();
}

function storeError(call: () => unknown): StoreError {
  try {
    call();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error("expected a StoreError");
}
