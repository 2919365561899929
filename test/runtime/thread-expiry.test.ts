/** The time to live of threads: which threads a listing reports as expired. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../runtime/interface/clock.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph g { state ok: string  output n: int = 0  node wait = ask("go?") into ok  node count = n + 1 into n
  start -> wait -> count }`;

function setup(ttl?: number | null, store = new MemoryStore()) {
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now, advance: (ms: number) => void (now += ms) };
  const engine = engineOf(GRAPH, {}, { store, clock, ...(ttl === undefined ? {} : { ttl }) });
  const expired = async () => (await engine.threads({ expiredAt: clock.now() })).map(({ thread }) => thread);
  return { clock, store, engine, expired };
}

describe("a thread with a time to live", () => {
  test("expires after its last checkpoint; a resume keeps the time and renews the thread", async () => {
    const { clock, engine, expired } = setup();
    await engine.run({}, { thread: "short", ttl: 1000 });
    await engine.run({}, { thread: "never" });
    const short = (await engine.threads()).find(({ thread }) => thread === "short");
    expect(short?.expires).toBe(clock.now() + 1000);
    clock.advance(999);
    expect(await expired()).toEqual([]);
    clock.advance(1);
    expect(await expired()).toEqual(["short"]);
    await engine.resume("short", { answer: "yes" });
    expect(await expired()).toEqual([]);
    clock.advance(1000);
    expect(await expired()).toEqual(["short"]);
  });

  test("a new run on the thread, a fork and an edit keep the time; `null` removes it", async () => {
    const { clock, engine, expired } = setup();
    await engine.run({}, { thread: "a", ttl: 1000 });
    await engine.resume("a", { answer: "yes" });
    await engine.run({}, { thread: "a" });
    await engine.fork("a", { as: "b" });
    await engine.update("a", { n: 5 });
    clock.advance(1000);
    expect((await expired()).sort()).toEqual(["a", "b"]);
    await engine.resume("a", { answer: "yes", ttl: null });
    expect(await expired()).toEqual(["b"]);
    clock.advance(10_000);
    expect(await expired()).toEqual(["b"]);
  });

  test("the engine's default applies to its threads", async () => {
    const { clock, engine, expired } = setup(1000);
    await engine.run({}, { thread: "a" });
    await engine.run({}, { thread: "b", ttl: null });
    clock.advance(1000);
    expect(await expired()).toEqual(["a"]);
  });

  test.each([0, -1, Number.NaN, "1h" as unknown as number])("refuses the time %j", async (ttl) => {
    const { engine } = setup();
    await expect(engine.run({}, { thread: "a", ttl })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringContaining("`ttl` is a number of milliseconds above 0"),
    });
  });
});

describe("prune of many threads", () => {
  test("deletes the expired threads of the graph, except those that a run holds", async () => {
    const { clock, store, engine } = setup();
    const other = engineOf(GRAPH.replace("graph g", "graph h"), {}, { store, clock });
    await other.run({}, { thread: "other", ttl: 1 });
    for (const thread of ["a", "b", "held"]) await engine.run({}, { thread, ttl: 1000 });
    await engine.run({}, { thread: "never" });
    clock.advance(1000);
    await engine.run({}, { thread: "fresh", ttl: 1000 });
    const claim = store.claim("held", { owner: "a run", leaseMs: 60_000 });
    const before = store.threads();
    const preview = await engine.prune({ expiredAt: clock.now(), dryRun: true, threads: ["a", "fresh"] });
    expect(preview).toEqual({ deleted: ["a"], pruned: [], held: 0, failures: [] });
    expect(store.threads()).toEqual(before);
    expect(await engine.prune({ expiredAt: clock.now(), limit: 1 })).toMatchObject({ deleted: ["b"], held: 1 });
    expect(await engine.prune({ expiredAt: clock.now() })).toMatchObject({ deleted: ["a"], held: 1 });
    store.release(claim);
    expect(await engine.prune({ expiredAt: clock.now() })).toMatchObject({ deleted: ["held"], held: 0 });
    expect(store.threads().map(({ threadId }) => threadId)).toEqual(["fresh", "never", "other"]);
  });

  test("keeps a thread that a run has renewed since the listing", async () => {
    class BusyStore extends MemoryStore {
      meanwhile: (() => Promise<unknown>) | undefined;
      override async deleteThread(thread: string): Promise<void> {
        super.deleteThread(thread);
        await this.meanwhile?.();
      }
    }
    const store = new BusyStore();
    const { clock, engine } = setup(undefined, store);
    for (const thread of ["a", "b"]) await engine.run({}, { thread, ttl: 1000 });
    clock.advance(1000);
    // `b` is the first of the listing; `a` is resumed while `b` is deleted.
    store.meanwhile = () => engine.resume("a", { answer: "yes" });
    expect(await engine.prune({ expiredAt: clock.now() })).toMatchObject({ deleted: ["b"], held: 0, failures: [] });
    expect((await engine.state("a"))?.status).toBe("completed");
  });

  test("reads the listing in pages, and removes old checkpoints of each thread", async () => {
    const { store, engine } = setup();
    for (let n = 0; n < 501; n++) {
      const claim = store.claim(`t${n}`, { owner: "o", leaseMs: 1000 });
      const header = { ...SAMPLE, id: `c${n}`, threadId: `t${n}` };
      store.save(claim, { header, changes: [], snapshot: () => ({ values: {}, versions: {} }), expectedHead: null });
      store.release(claim);
    }
    await engine.run({}, { thread: "real" });
    const { pruned } = await engine.prune({ keepLast: 1 });
    expect(pruned).toHaveLength(502);
    expect(pruned[0]).toEqual({ thread: "real", checkpoints: 1 });
    expect(await engine.resume("real", { answer: "yes" })).toMatchObject({ status: "completed" });
  });

  test("with a limit, each call goes on with threads that have more to remove", async () => {
    const { engine } = setup();
    for (const thread of ["a", "b", "c", "d", "e"]) await engine.run({}, { thread });
    await engine.label("c", "kept");
    const calls: string[][] = [];
    do {
      const { pruned } = await engine.prune({ keepLast: 1, limit: 2 });
      calls.push(pruned.map(({ thread }) => thread));
      for (const { checkpoints } of pruned) expect(checkpoints).toBe(1);
    } while (calls.at(-1)!.length > 0);
    expect(calls).toEqual([["e", "d"], ["c", "b"], ["a"], []]);
    // Without a limit, and for threads that are named, those with nothing to remove are reported too.
    expect((await engine.prune({ keepLast: 1 })).pruned).toHaveLength(5);
    const named = { keepLast: 1, limit: 1, threads: ["a", "b"] };
    expect((await engine.prune(named)).pruned).toEqual([{ thread: "a", checkpoints: 0 }]);
  });

  test("refuses options that contradict each other", async () => {
    const { engine } = setup();
    const refused = { code: "NG_BAD_INPUT" };
    await expect(engine.prune({})).rejects.toMatchObject(refused);
    await expect(engine.prune({ expiredAt: 1, keepLast: 1 })).rejects.toMatchObject(refused);
    await expect(engine.prune({ expiredAt: 1, olderThan: 1 })).rejects.toMatchObject(refused);
    await expect(engine.prune({ keepLast: 1, dryRun: true })).rejects.toMatchObject(refused);
    await expect(engine.prune({ expiredAt: Number.NaN })).rejects.toMatchObject(refused);
    await expect(engine.prune({ keepLast: 0, threads: ["a"] })).rejects.toMatchObject(refused);
    expect((await engine.prune({ keepLast: 1, olderThan: Infinity, threads: ["a"] })).failures).toMatchObject([
      { error: { code: "NG_STORE_FAILED" } },
    ]);
  });
});

const SAMPLE = {
  ...{ schemaVersion: 1, runId: "r", namespace: "", parentId: null, step: -1, phase: "input" as const },
  ...{ currentNodes: [], nextNodes: [], pendingSends: [], barrierState: {}, pauses: [], answers: [], errors: {} },
  ...{ status: "completed" as const, label: null, metadata: {}, timestamp: 1, digest: "sha256:", graph: "g" },
};
