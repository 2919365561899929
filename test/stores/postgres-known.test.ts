/** Saves over Postgres use rows that the process knows, and read them again when another process has changed them. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

function openBoth(): readonly [PostgresStore, PostgresStore] {
  const schema = `known_${++schemas}`;
  const open = () => new PostgresStore({ url: server.url, schema, connections: 2 });
  return [open(), open()];
}

/** Messages to the server while `body` runs. */
async function messagesOf(body: () => Promise<unknown>): Promise<number> {
  const { prototype } = pg.Client;
  const query = Object.getOwnPropertyDescriptor(prototype, "query")!;
  let count = 0;
  const counted = function (this: pg.Client, ...args: unknown[]): unknown {
    count++;
    return (query.value as (...given: unknown[]) => unknown).apply(this, args);
  };
  Object.defineProperty(prototype, "query", { ...query, value: counted });
  try {
    await body();
  } finally {
    Object.defineProperty(prototype, "query", query);
  }
  return count;
}

describe("a load of the head", () => {
  it("takes one message, and another one for a thread that was created again", async () => {
    const [store, other] = openBoth();
    await store.threads();
    const run = await SampleRun.start(store);
    await run.save([{ channel: "log", append: [0] }]);
    await run.save([{ channel: "text", set: "'; it\\'s $1 @." }]);
    await other.threads();
    const loads = async (expected: unknown, messages: number): Promise<void> => {
      let loaded: unknown;
      expect(await messagesOf(async () => (loaded = await other.loadLatest("thread")))).toBe(messages);
      expect(loaded).toEqual(expected);
    };
    // The first load counts the checkpoints, too.
    await loads(run.head(), 1);
    await loads(run.head(), 1);
    await store.deleteThread("thread");
    await loads(undefined, 1);
    const next = await SampleRun.start(store);
    await loads(undefined, 2);
    await next.save([{ channel: "log", append: [1] }]);
    await loads(next.head(), 1);
    await Promise.all([store.close(), other.close()]);
  });
});

describe("a save whose rows are known", () => {
  it("takes two messages, in a chain that a claim or a save has begun", async () => {
    const [store, other] = openBoth();
    await store.threads();
    let run!: SampleRun;
    expect(await messagesOf(async () => (run = await SampleRun.start(store)))).toBe(2);
    const save = (n: number) => () => run.save([{ channel: "log", append: [n] }]);
    for (let n = 0; n < 3; n++) expect(await messagesOf(save(n))).toBe(2);
    expect(await messagesOf(() => run.save([{ channel: "new", set: 1 }], {}, { releaseClaim: true }))).toBe(2);
    expect(await other.loadLatest("thread")).toEqual(run.head());
    // The next runner reads the head once.
    const next = await SampleRun.resume(other, run.head()!, "next");
    expect(await messagesOf(() => next.save([{ channel: "log", append: [3] }]))).toBe(6);
    expect(await messagesOf(() => next.save([{ channel: "log", append: [4] }]))).toBe(2);
    expect(await store.loadLatest("thread")).toEqual(next.head());
    await Promise.all([store.close(), other.close()]);
  });

  it("takes two messages in the next run, unless another process has changed the thread in between", async () => {
    const [store, other] = openBoth();
    const first = await SampleRun.start(store);
    await first.save([{ channel: "log", append: [0] }]);
    await first.save([{ channel: "log", append: [1] }], {}, { releaseClaim: true });
    const next = await SampleRun.resume(store, first.head()!, "next");
    const save = (run: SampleRun, n: number) => messagesOf(() => run.save([{ channel: "log", append: [n] }]));
    expect(await save(next, 2)).toBe(2);
    await next.save([{ channel: "log", append: [3] }], {}, { releaseClaim: true });
    expect(await other.loadLatest("thread")).toEqual(next.head());
    const foreign = await SampleRun.resume(other, next.head()!, "foreign");
    await foreign.save([{ channel: "log", append: [4] }], {}, { releaseClaim: true });
    const last = await SampleRun.resume(store, foreign.head()!, "last");
    expect(await save(last, 5)).toBe(6);
    expect(await save(last, 6)).toBe(2);
    expect(await other.loadLatest("thread")).toEqual(last.head());
    await Promise.all([store.close(), other.close()]);
  });

  it("reads the rows again after another process has pruned, labelled or renewed", async () => {
    const [store, other] = openBoth();
    const run = await SampleRun.start(store);
    const save = (n: number) => run.save([{ channel: "log", append: [n] }]);
    for (let n = 0; n < 3; n++) await save(n);
    await other.prune("thread", { keepLast: 1 });
    await save(3);
    await other.label("thread", run.head()!.id, "good");
    await save(4);
    await other.renew(run.claim, 1000);
    await save(5);
    await other.putWrites(run.claim, run.head()!.id, [{ taskId: "t", node: "n", result: 1 }]);
    await run.save([], {}, { clearWritesOf: run.head()!.id });
    expect(await other.loadLatest("thread")).toEqual(run.head());
    expect(await other.list("thread")).toHaveLength(5);
    expect(await other.prune("thread", { keepLast: 1, keepLabelled: false })).toBe(4);
    await Promise.all([store.close(), other.close()]);
  });

  it("is refused after another runner has taken the thread, and after the thread was deleted", async () => {
    const [store, other] = openBoth();
    const late = await SampleRun.start(store);
    await late.save([{ channel: "n", set: 1 }]);
    // The same owner may claim again: as after the end of the lease.
    const claim = await other.claim("thread", { owner: late.claim.owner, leaseMs: 1000 });
    await expect(late.save([{ channel: "n", set: 2 }])).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    const next = await SampleRun.resume(other, late.head()!, claim.owner);
    await next.save([{ channel: "n", set: 3 }]);
    await store.deleteThread("thread");
    await expect(next.save([{ channel: "n", set: 4 }])).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(await other.loadLatest("thread")).toBeUndefined();
    await Promise.all([store.close(), other.close()]);
  });

  it("with an id that exists is refused and changes nothing", async () => {
    const [store, other] = openBoth();
    const run = await SampleRun.start(store);
    const first = await run.save([{ channel: "n", set: 1 }]);
    const second = await run.save([{ channel: "n", set: 2 }]);
    await expect(run.save([{ channel: "n", set: 3 }], { id: first.id })).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining(first.id),
    });
    expect(await other.loadLatest("thread")).toEqual(second);
    await run.save([{ channel: "n", set: 4 }]);
    expect((await other.loadLatest("thread"))?.values).toEqual({ n: 4 });
    await Promise.all([store.close(), other.close()]);
  });

  it("stores a long list as changes, with a full value from time to time", async () => {
    const [store, other] = openBoth();
    const run = await SampleRun.start(store);
    for (let n = 0; n < 150; n++) await run.save([{ channel: "log", append: [n] }]);
    expect(await other.loadLatest("thread")).toEqual(run.head());
    await Promise.all([store.close(), other.close()]);
  });
});

describe("calls of several threads that are made together", () => {
  const names = Array.from({ length: 20 }, (_, n) => `thread ${n}`);
  const startAll = (store: PostgresStore) => Promise.all(names.map((name) => SampleRun.start(store, name)));

  it("share transactions", async () => {
    const [store, other] = openBoth();
    await store.threads();
    let runs!: readonly SampleRun[];
    expect(await messagesOf(async () => (runs = await startAll(store)))).toBeLessThan(20);
    const saveAll = () => Promise.all(runs.map((run, n) => run.save([{ channel: "log", append: [n] }])));
    expect(await messagesOf(saveAll)).toBeLessThan(20);
    expect(await messagesOf(saveAll)).toBeLessThan(20);
    for (const [n, run] of runs.entries()) expect(await other.loadLatest(names[n]!)).toEqual(run.head());
    await Promise.all([store.close(), other.close()]);
  });

  it("fail alone: an existing id, a lost claim, a thread that another runner holds", async () => {
    const [store, other] = openBoth();
    const runs = await startAll(store);
    const first = await Promise.all(runs.map((run) => run.save([{ channel: "n", set: 1 }])));
    await other.release(runs[2]!.claim);
    await other.claim(names[2]!, { owner: "other", leaseMs: 60_000 });
    const outcomes = await Promise.allSettled(
      runs.map((run, n) => run.save([{ channel: "n", set: 2 }], n === 1 ? { id: first[1]!.id } : {})),
    );
    const codes = outcomes.map((outcome) =>
      outcome.status === "fulfilled" ? "" : (outcome.reason as { code: string }).code,
    );
    expect(codes.slice(0, 3)).toEqual(["", "NG_STORE_FAILED", "NG_THREAD_CONFLICT"]);
    expect(codes.slice(3).join("")).toBe("");
    const values = await Promise.all(names.map(async (name) => (await other.loadLatest(name))?.values["n"]));
    expect(values).toEqual([2, 1, 1, ...names.slice(3).map(() => 2)]);
    const claims = await Promise.allSettled(
      [...names, "new", "new"].map((name, n) => store.claim(name, { owner: `owner ${n}`, leaseMs: 60_000 })),
    );
    expect(claims.map(({ status }) => status)).toEqual([...names.map(() => "rejected"), "fulfilled", "rejected"]);
    await Promise.all([store.close(), other.close()]);
  });

  it("do not wait for a thread that another transaction has locked", async () => {
    const [store, other] = openBoth();
    const runs = await startAll(store);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`BEGIN; SELECT * FROM known_${schemas}.threads WHERE name = '${names[0]}' FOR UPDATE`);
    const saves = runs.map((run) => run.save([{ channel: "n", set: 1 }]));
    await Promise.all(saves.slice(1));
    expect((await other.loadLatest(names[0]!))?.values["n"]).toBeUndefined();
    await client.query("COMMIT");
    await client.end();
    await saves[0];
    expect(await other.loadLatest(names[0]!)).toEqual(runs[0]!.head());
    await Promise.all([store.close(), other.close()]);
  });
});
