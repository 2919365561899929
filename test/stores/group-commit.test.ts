/** Group commit: calls of one turn share a transaction, fail alone, and are durable when they settle. */
import { describe, expect, it } from "vitest";
import type { Json } from "../../runtime/value/json.ts";
import { runViewOf } from "../../runtime/interface/run-view.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { SqliteRunView } from "../../runtime/stores/sqlite/run-view.ts";
import { Connection } from "../../runtime/stores/sqlite/connection.ts";
import { inspectSqlite } from "../../runtime/stores/sqlite/inspect.ts";
import { engineOf } from "../support/graph.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();

async function startRuns(store: SqliteStore, count: number): Promise<SampleRun[]> {
  const view = runViewOf(store);
  const names = Array.from({ length: count }, (_, index) => `thread ${index}`);
  return Promise.all(names.map((name) => SampleRun.start(view, name)));
}

/** Statements of all stores in this process while `body` runs. */
async function statementsOf(body: () => Promise<unknown>): Promise<string[]> {
  const { run } = Connection.prototype;
  const statements: string[] = [];
  Connection.prototype.run = function (this: Connection, sql, ...parameters) {
    statements.push(sql);
    return run.call(this, sql, ...parameters);
  };
  try {
    await body();
  } finally {
    Connection.prototype.run = run;
  }
  return statements;
}

describe("5.3 concurrent runs on one SQLite file", () => {
  it("share transactions", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const runs = await startRuns(store, 20);
    const statements = await statementsOf(() =>
      Promise.all(runs.map((run, index) => run.save([{ channel: "n", set: index }]))),
    );
    // One transaction, unless the calls take so long that other events run between them.
    expect(statements.filter((sql) => sql === "COMMIT").length).toBeLessThan(runs.length);
    for (const run of runs) expect(store.loadLatest(run.threadId)).toEqual(run.head());
    store.close();
  });

  it("continue in several turns of the event loop when each of them works for long", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const count = 40;
    const runs = await startRuns(store, count);
    let ended = 0;
    const all = Promise.all(
      runs.map(async (run, index) => {
        await run.save([{ channel: "n", set: index }]);
        for (const end = Date.now() + 2; Date.now() < end;);
        ended++;
      }),
    );
    let most = 0;
    for (let before = 0; before < count; before = ended) {
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, ended - before);
    }
    await all;
    expect(most).toBeLessThan(count / 2);
    store.close();
  });

  it("a call that fails leaves no trace, and the others of its group succeed", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const runs = await startRuns(store, 5);
    const before = await runs[2]!.save([{ channel: "n", set: "before" }]);
    const saved = await Promise.allSettled([
      runs[0]!.save([{ channel: "n", set: 0 }]),
      runs[1]!.save([{ channel: "n", set: 1n as unknown as Json }]),
      runs[2]!.save([{ channel: "n", set: 2 }], { id: before.id }),
      runs[3]!.save([{ channel: "n", set: 3 }], {}, { expectedHead: "another" }),
      runs[4]!.save([{ channel: "n", set: 4 }]),
    ]);
    expect(saved.map(({ status }) => status)).toEqual([
      "fulfilled",
      ...["rejected", "rejected", "rejected"],
      "fulfilled",
    ]);
    const values = runs.map(({ threadId }) => store.loadLatest(threadId)?.values["n"]);
    expect(values).toEqual([0, undefined, "before", undefined, 4]);
    await runs[1]!.save([{ channel: "n", set: "again" }]);
    expect(store.loadLatest("thread 1")?.values["n"]).toBe("again");
    store.close();
  });

  it("when the commit fails all calls of the group fail, and nothing was written", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const runs = await startRuns(store, 3);
    const { run } = Connection.prototype;
    Connection.prototype.run = function (this: Connection, sql, ...parameters) {
      if (sql === "COMMIT") throw new Error("disk I/O error");
      return run.call(this, sql, ...parameters);
    };
    try {
      const results = await Promise.allSettled(runs.map((one) => one.save([{ channel: "n", set: 1 }])));
      for (const result of results) {
        expect(result).toMatchObject({ status: "rejected", reason: { code: "NG_STORE_FAILED" } });
      }
    } finally {
      Connection.prototype.run = run;
    }
    for (const { threadId } of runs) expect(store.loadLatest(threadId)).toBeUndefined();
    await Promise.all(runs.map((one) => one.save([{ channel: "n", set: 2 }])));
    for (const { threadId } of runs) expect(store.loadLatest(threadId)?.values["n"]).toBe(2);
    store.close();
  });

  it("closing commits the calls that wait", async () => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore(path);
    const runs = await startRuns(store, 3);
    const saves = runs.map((run) => run.save([{ channel: "n", set: 1 }]));
    await Promise.resolve();
    store.close();
    await Promise.all(saves);
    const reopened = new SqliteStore(path);
    for (const { threadId } of runs) expect(reopened.loadLatest(threadId)?.values["n"]).toBe(1);
    reopened.close();
  });

  it("write the log back outside of their transactions, and the file stays sound", async () => {
    const path = inDirectory("runs.db");
    const store = new SqliteStore({ path, journal: "wal" });
    const engine = engineOf("graph g { output n: int = 0  node one = n + 1 into n  start -> one }", {}, { store });
    const { get } = Connection.prototype;
    let writeBacks = 0;
    let isOpen = false;
    Connection.prototype.get = function (this: Connection, sql, ...parameters) {
      if (sql === "PRAGMA wal_checkpoint(PASSIVE)") {
        writeBacks++;
        expect(isOpen).toBe(false);
      }
      return get.call(this, sql, ...parameters) as never;
    };
    const { run } = Connection.prototype;
    Connection.prototype.run = function (this: Connection, sql, ...parameters) {
      isOpen = sql.startsWith("BEGIN") || (isOpen && sql !== "COMMIT");
      return run.call(this, sql, ...parameters);
    };
    const threads = Array.from({ length: 40 }, (_, index) => `thread ${index}`);
    try {
      for (let round = 0; round < 10; round++) await Promise.all(threads.map((thread) => engine.run({}, { thread })));
    } finally {
      Connection.prototype.get = get;
      Connection.prototype.run = run;
    }
    expect(writeBacks).toBeGreaterThan(0);
    expect((await inspectSqlite(path)).problems).toEqual([]);
    store.close();
  });

  it("a single run does not wait for a turn", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const view = runViewOf(store) as SqliteRunView;
    const claim = view.claim("thread", { owner: "only", leaseMs: 1000 });
    expect(claim).not.toBeInstanceOf(Promise);
    expect(view.loadLatest("thread")).toBeUndefined();
    store.close();
  });
});

describe("5.3 a run on one SQLite file", () => {
  it("of n steps takes n + 2 write transactions: the claim, the input and each step, whose last releases the claim", async () => {
    const store = new SqliteStore(inDirectory("runs.db"));
    const nodes = (length: number): string[] => Array.from({ length }, (_, n) => `step_${n}`);
    for (const length of [1, 3, 10]) {
      const names = nodes(length);
      const text = `graph g { output n: int = 0  ${names.map((name) => `node ${name} = n + 1 into n`).join("  ")}
        start -> ${names.join(" -> ")} }`;
      const engine = engineOf(text, {}, { store });
      await engine.run({}, { thread: `first of ${length}` });
      const statements = await statementsOf(() => engine.run({}, { thread: `second of ${length}` }));
      const begun = statements.filter((sql) => sql.startsWith("BEGIN"));
      expect(begun.filter((sql) => sql === "BEGIN IMMEDIATE")).toHaveLength(length + 2);
      expect(begun.length - (length + 2)).toBeLessThanOrEqual(1);
    }
    store.close();
  });
});
