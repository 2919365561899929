import { describe, expect, it, vi } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine } from "../support/compiled-engine.ts";

function frozen(value: unknown): boolean {
  return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
}

describeStore({ describe, it }, "MemoryStore", () => {
  const store = new MemoryStore();
  return { store, reopen: () => store };
});

describe("MemoryStore", () => {
  it("measures leases with the given clock", () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const first = store.claim("thread", { owner: "first", leaseMs: 1000 });
    now = 600;
    store.renew(first, 1000);
    now = 1599;
    expect(() => store.claim("thread", { owner: "second", leaseMs: 1 })).toThrow(/is being run by first/);
    now = 1600;
    expect(store.claim("thread", { owner: "second", leaseMs: 1 }).epoch).toBeGreaterThan(first.epoch);
  });

  it("lists many threads in pages, in the order of their writes, without sorting all of them for each page", async () => {
    const store = new MemoryStore();
    const count = 1000;
    const runs = new Map<string, SampleRun>();
    for (let n = 0; n < count; n++) runs.set(`t${n}`, await SampleRun.start(store, `t${n}`));
    // By thread: when it was written.
    const written = new Map<string, number>();
    let time = 0;
    const write = async (thread: string): Promise<void> => {
      await runs.get(thread)!.save();
      written.set(thread, ++time);
    };
    for (let n = 0; n < count; n++) await write(`t${(n * 7) % count}`);
    const sort = vi.spyOn(Array.prototype, "sort");
    let [sorted, after, end] = [0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let page = 0; ; page++) {
      sort.mockClear();
      const listed = store.threads({ limit: 10, after }).map(({ threadId, position }) => ({ threadId, position }));
      for (const { length } of sort.mock.contexts as unknown[][]) sorted += length;
      const expected = [...written]
        .filter(([, when]) => when < end)
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 10);
      expect(listed.map(({ threadId }) => threadId)).toEqual(expected.map(([thread]) => thread));
      if (listed.length === 0) break;
      after = listed.at(-1)!.position!;
      end = expected.at(-1)![1];
      // A thread of an earlier page and one of a later page are written again, and others are deleted.
      if (page % 3 === 0) for (const thread of [listed[0]!.threadId, `t${page}`]) await write(thread);
      if (page % 4 === 0) {
        for (const thread of [listed[1]!.threadId, `t${count - 1 - page}`]) {
          store.deleteThread(thread);
          written.delete(thread);
          runs.set(thread, await SampleRun.start(store, thread));
        }
      }
    }
    sort.mockRestore();
    expect(sorted).toBeGreaterThanOrEqual(count);
    expect(sorted).toBeLessThan(2 * count);
  });

  it("5.12 shares unchanged values between checkpoints", async () => {
    const store = new MemoryStore();
    const run = await SampleRun.start(store);
    const first = await run.save([
      { channel: "large", set: { text: "x" } },
      { channel: "log", append: [{ n: 0 }] },
    ]);
    for (let n = 1; n < 50; n++) await run.save([{ channel: "log", append: [{ n }] }]);
    const [oldest, newest] = [store.loadById("thread", first.id)!, store.loadLatest("thread")!];
    expect(newest.values["large"]).toBe(oldest.values["large"]);
    expect((newest.values["log"] as Json[])[0]).toBe((oldest.values["log"] as Json[])[0]);
  });

  it("returns deeply frozen values", async () => {
    const store = new MemoryStore();
    const run = await SampleRun.start(store);
    await run.save([{ channel: "log", append: [{ deep: [{}] }] }], {
      metadata: { list: [1] },
      barrierState: { a: ["b"] },
    });
    await run.save([{ channel: "log", append: [[]] }]);
    expect(store.list("thread").every(frozen)).toBe(true);
  });

  it("returns no record of a run through which a caller changes it", async () => {
    const store = new MemoryStore();
    const engine = compiledEngine("graph g { output x: int = 0  node a = 1 into x  start -> a }", {}, { store });
    await engine.run({}, { thread: "run" });
    await engine.update("run", { x: 2 }, { metadata: { by: { user: "ada" } } });
    await engine.fork("run", { as: "copy" });
    const records = () => ["run", "copy"].map((thread) => store.loadLatest(thread)!);
    expect(records().every(frozen)).toBe(true);
    expect(store.threads().map(({ metadata }) => metadata)).toEqual(
      records()
        .reverse()
        .map(({ metadata }) => metadata),
    );
    expect(store.threads().every(({ metadata }) => frozen(metadata))).toBe(true);
  });

  it.each([
    ["a number that is none", Number.NaN],
    ["infinity", [Number.POSITIVE_INFINITY]],
    ["a date", { at: new Date(0) }],
    ["a map", new Map()],
    ["a function inside", { call: () => 1 }],
    ["undefined in a list", [undefined]],
  ])("refuses what a durable store could not give back: %s", async (_, value) => {
    const run = await SampleRun.start(new MemoryStore());
    await expect(run.save([{ channel: "x", set: value as unknown as Json }])).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining('channel "x"'),
    });
  });

  it("keeps an answer of long text without a loop over its characters", async () => {
    const ask = (context: NodeContext) => context.interrupt<string>("?");
    const text = 'graph g { output a: string = ""  node x = ask() into a  start -> x -> end }';
    const engine = compiledEngine(text, { ask }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    let loops = 0;
    const ownKeys = (target: object): readonly (string | symbol)[] => {
      loops++;
      return Reflect.ownKeys(target);
    };
    // A loop over the names of a text also visits the objects that it inherits from.
    Object.setPrototypeOf(String.prototype, new Proxy(Object.prototype, { ownKeys } as ProxyHandler<object>));
    try {
      await engine.resume("t", { answer: "a long text" });
    } finally {
      Object.setPrototypeOf(String.prototype, Object.prototype);
    }
    expect(loops).toBe(0);
    expect((await engine.state("t"))?.state).toEqual({ a: "a long text" });
  });

  it("keeps values as JSON does: no negative zero, no undefined fields", async () => {
    const store = new MemoryStore();
    const run = await SampleRun.start(store);
    await run.save([{ channel: "x", set: { zero: -0, gone: undefined } as unknown as Json }]);
    expect(store.loadLatest("thread")?.values["x"]).toStrictEqual({ zero: 0 });
  });
});
