/** 5.11 Damaged files: every read returns the right value or throws a typed error. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { StoreError } from "../../runtime/interface/errors.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { fillStore, readStore } from "./content.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";
import { scale } from "../support/depth.ts";

const CODES = /^error NG_(?:CORRUPT_RECORD|STORE_FAILED|UNKNOWN_VERSION)$/;
const HEADER_BYTES = 100;
/** Coprime to page and cell sizes, so that every region is hit. */
const STRIDE = 197;

const inDirectory = temporaryDirectory(FAST_DIRECTORY);
let good: Buffer;
let answers: ReadonlyMap<string, string>;

beforeAll(async () => {
  const store = new SqliteStore({ path: ":memory:" });
  await fillStore(store);
  answers = await readStore(store);
  store.close();
});

describe("a file whose bytes were changed", () => {
  it.each([0x01, 0x20, 0xff])("returns the right value or throws a typed error (bits %i)", async (bits) => {
    const path = await goodFile();
    let refused = 0;
    for (
      let position = 0;
      position < good.length;
      position += position < HEADER_BYTES ? 1 : scale(STRIDE, 10 * STRIDE)
    ) {
      const bytes = Buffer.from(good);
      bytes[position]! ^= bits;
      if (await isRefused(path, bytes, `byte ${position}`)) refused++;
    }
    expect(refused).toBeGreaterThan(20);
  });

  it("returns the right value or throws a typed error when a page is zeroed or copied from another page", async () => {
    const path = await goodFile();
    const pages = good.length / 4096;
    let refused = 0;
    for (let page = 0; page < pages; page++) {
      const zeroed = Buffer.from(good).fill(0, page * 4096, (page + 1) * 4096);
      if (await isRefused(path, zeroed, `zeroed page ${page}`)) refused++;
      const swapped = Buffer.from(good);
      good.copy(swapped, page * 4096, ((page + 1) % pages) * 4096, (((page + 1) % pages) + 1) * 4096);
      await isRefused(path, swapped, `swapped page ${page}`);
    }
    // All pages except the pages that only claims and new signals read, and empty pages.
    const free = good.readUInt32BE(36);
    expect(refused).toBe(pages - 2 - free);
  });

  it("returns the right value or throws a typed error when the file is truncated", async () => {
    const path = await goodFile();
    for (const length of [1, 15, 16, 50, 99, 100, 511, 512, 4095, 4096, 5000, good.length - 4096]) {
      writeFileSync(path, good);
      truncateSync(path, length);
      expect(await isRefused(path, readFileSync(path), `cut to ${length}`), `cut to ${length}`).toBe(true);
    }
  });
});

it("5.11 a write to a damaged file is correct or refused", async () => {
  const path = await goodFile();
  const log = JSON.parse(answers.get('first: head of ""')!) as {
    readonly values: { readonly log: readonly unknown[] };
  };
  let written = 0;
  let refused = 0;
  for (let position = HEADER_BYTES; position < good.length; position += STRIDE) {
    const bytes = Buffer.from(good);
    bytes[position]! ^= 0x10;
    for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
    writeFileSync(path, bytes);
    let store: SqliteStore | undefined;
    try {
      store = new SqliteStore({ path, journal: "rollback" });
      appendTo(store, "now");
      written++;
      expect(store.loadLatest("first")?.values["log"], `byte ${position}`).toEqual([...log.values.log, "now"]);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      refused++;
    }
    // The data of the other thread is unchanged, or reading it is refused.
    const found = store === undefined ? new Map<string, string>() : await readStore(store);
    for (const [question, answer] of found) {
      if (!question.startsWith("second") || answer === answers.get(question)) continue;
      expect(answer, `byte ${position}: ${question}`).toMatch(CODES);
    }
    store?.close();
  }
  expect(written).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(10);
});

function appendTo(store: SqliteStore, item: string): void {
  const head = store.loadLatest("first")!;
  const claim = store.claim("first", { owner: "now", leaseMs: 1000 });
  const { values, versions, ...header } = head;
  store.save(claim, {
    header: { ...header, id: "now", parentId: head.id },
    changes: [{ channel: "log", version: versions["log"]! + 1, kind: "append", items: [item] }],
    snapshot: () => ({ values, versions }),
    expectedHead: head.id,
  });
}

describe("a row that was changed is named in the error", () => {
  const changes: readonly [sql: string, code: string, named: RegExp][] = [
    [
      "UPDATE checkpoints SET header = '{}' WHERE id = 'first/8'",
      "NG_CORRUPT_RECORD",
      /checkpoint "first\/8".*`checkpoints`.*checksum/,
    ],
    [
      "UPDATE checkpoints SET v = 2 WHERE id = 'first/8'",
      "NG_UNKNOWN_VERSION",
      /checkpoint "first\/8".*`checkpoints`.*version 2/,
    ],
    ["UPDATE checkpoints SET parent = NULL WHERE id = 'first/8'", "NG_CORRUPT_RECORD", /checkpoint "first\/8"/],
    ["UPDATE cells SET data = '[]' WHERE channel = 'log'", "NG_CORRUPT_RECORD", /channel "log".*`cells`.*checksum/],
    [
      "DELETE FROM cells WHERE channel = 'log' AND ord = (SELECT max(ord) FROM cells)",
      "NG_CORRUPT_RECORD",
      /"first\/8".*missing.*`cells`/,
    ],
    ["DELETE FROM cells WHERE channel = 'score'", "NG_CORRUPT_RECORD", /"first\/8".*missing.*`cells`/],
    ["DELETE FROM checkpoints WHERE id = 'first/8'", "NG_CORRUPT_RECORD", /thread "first".*`threads`.*missing/],
    ["UPDATE threads SET head = NULL", "NG_CORRUPT_RECORD", /thread "first".*`threads`.*checksum/],
    ["UPDATE threads SET epoch = epoch + 1, owner = 'me'", "NG_CORRUPT_RECORD", /thread "first".*`threads`.*checksum/],
  ];
  it.each(changes)("%s", async (sql, code, named) => {
    const path = await goodFile();
    // Reading flushes the staging table, so that the statements find the rows.
    const reader = new SqliteStore(path);
    reader.threads();
    reader.close();
    const database = new (loadSqlite().DatabaseSync)(path);
    database.exec(sql);
    database.close();
    const store = new SqliteStore(path);
    const load = () => store.loadLatest("first");
    expect(load).toThrow(expect.objectContaining({ code, message: expect.stringMatching(named) }));
    expect(load).toThrow(StoreError);
    store.close();
  });
});

/** A filled store in a separate file with a rollback journal, so that the store is one file. */
async function goodFile(): Promise<string> {
  const path = inDirectory("runs.db");
  const store = new SqliteStore({ path, journal: "rollback" });
  await fillStore(store);
  store.close();
  good = readFileSync(path);
  return path;
}

/** Whether the store refuses any read. Fails the test if a value is wrong. */
async function isRefused(path: string, bytes: Buffer, what: string): Promise<boolean> {
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
  writeFileSync(path, bytes);
  let store: SqliteStore;
  try {
    store = new SqliteStore({ path, journal: "rollback" });
  } catch (error) {
    expect(error, what).toBeInstanceOf(StoreError);
    return true;
  }
  const found = await readStore(store);
  store.close();
  let refused = false;
  for (const [question, answer] of found) {
    if (answer === answers.get(question)) continue;
    expect(answer, `${what}: ${question}`).toMatch(CODES);
    refused = true;
  }
  return refused;
}
