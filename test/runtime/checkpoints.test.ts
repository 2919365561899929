/** Execution, section 5: what is stored and when, and how resumes, forks and edits use it. */
import { describe, expect, test } from "vitest";
import type { Checkpoint, Durability, EngineOptions, NodeContext, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";
import { withOperation } from "../support/hanging-store.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const CHAIN = `graph g {
  input start_at: int   output x: int = 0   output list: string[] = [] reduce append
  node a = a(start_at) into { x, list }   node b = b(x) into { x, list }   node c = c(x) into { x, list }
  start -> a -> b -> c
}`;
const chain = (ran: string[] = []) => {
  const node = (name: string) => (x: number) => (ran.push(name), { x: x + 1, list: name });
  return { a: node("a"), b: node("b"), c: node("c") };
};
const pick = <T extends object, K extends keyof T>(value: T, ...keys: K[]): Pick<T, K> =>
  Object.fromEntries(keys.map((key) => [key, value[key]])) as Pick<T, K>;

describe("5.1 what a checkpoint records", () => {
  test("a chain from the input to the end, newest first", async () => {
    const engine = engineOf(CHAIN, chain(), { store: new MemoryStore(), clock: new VirtualClock(5000) });
    const result = await engine.run({ start_at: 5 }, { thread: "t", metadata: { who: "me" } });
    const history = await engine.history("t");
    expect(history.map((item) => pick(item, "step", "phase", "currentNodes", "nextNodes", "status"))).toEqual([
      { step: 2, phase: "completed", currentNodes: ["c"], nextNodes: [], status: "completed" },
      { step: 1, phase: "completed", currentNodes: ["b"], nextNodes: ["c"], status: "running" },
      { step: 0, phase: "completed", currentNodes: ["a"], nextNodes: ["b"], status: "running" },
      { step: -1, phase: "input", currentNodes: [], nextNodes: ["a"], status: "running" },
    ]);
    expect(history.map((item) => item.values["x"] ?? 0)).toEqual([8, 7, 6, 0]);
    expect(history.map((item) => item.versions["x"] ?? 0)).toEqual([3, 2, 1, 0]);
    expect(history[0]!.id).toBe(result.checkpointId);
    for (const [index, item] of history.entries()) {
      expect(item.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(item.parentId).toBe(history[index + 1]?.id ?? null);
      expect(item).toMatchObject({
        threadId: "t",
        runId: history[0]!.runId,
        namespace: "",
        timestamp: 5000,
        schemaVersion: 1,
        digest: engine.table.digest,
        metadata: { who: "me" },
        label: null,
      });
    }
  });

  test("a thread id is generated if none is given", async () => {
    const engine = engineOf(CHAIN, chain(), { store: new MemoryStore() });
    const [one, two] = [await engine.run({ start_at: 1 }), await engine.run({ start_at: 1 })];
    expect(one.thread).not.toBe(two.thread);
    expect(await engine.history(one.thread!)).toHaveLength(4);
  });

  test("records of schema version 0, from before versions, are migrated on resume", async () => {
    const ran: string[] = [];
    const inner = new MemoryStore();
    const first = engineOf(CHAIN, { ...chain(ran), b: () => Promise.reject(new Error("no")) }, { store: inner });
    await first.run({ start_at: 5 }, { thread: "t" });
    const old = (item: Checkpoint | undefined): Checkpoint | undefined => {
      if (item === undefined) return undefined;
      const { pendingSends: _a, barrierState: _b, pauses: _c, answers: _d, errors: _e, finished: _f, ...rest } = item;
      return { ...rest, schemaVersion: 0 } as unknown as Checkpoint;
    };
    const store: Store = new Proxy(inner, {
      get(target, name) {
        if (name === "loadLatest") return (thread: string, space?: string) => old(target.loadLatest(thread, space));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const result = await engineOf(CHAIN, chain(ran), { store }).resume("t");
    expect(result).toMatchObject({ status: "completed", output: { x: 8, list: ["a", "b", "c"] } });
    expect(ran).toEqual(["a", "b", "c"]);
  });
});

describe("5.2 - 5.5 crashes", () => {
  const WIDE = `graph g {
    input n: int   output x: int = 0   output list: string[] = [] reduce append
    state docs: string[] = ["p", "q"]
    node a = a(n) into { x, list }
    node b = item("b") into list   node c = item("c") into list
    node every = item(doc) for doc in docs into list
    node d = a(x) into { x, list }
    start -> a -> b, c, every   all(b, c, every) -> d   d -> end
  }`;

  /** Runs to the end through any number of crashes. Returns the bodies that ran, by key. */
  async function runThroughCrashes(writes: number, when: "before" | "after", again: boolean) {
    let now = 0;
    const disk = new MemoryStore({ now: () => now });
    const bodies: { key: string; task: string }[] = [];
    const functions = {
      a: (x: number, context: NodeContext) => {
        bodies.push({ key: context.idempotencyKey, task: `a${x}` });
        return { x: x + 1, list: `a${x}` };
      },
      item: async (name: string, context: NodeContext) => {
        bodies.push({ key: context.idempotencyKey, task: name });
        return name;
      },
    };
    const logs: string[] = [];
    for (let life = 0; life < 50; life++) {
      const store = new CrashingStore(disk, life === 0 || again ? writes : 1000, when);
      const engine = engineOf(WIDE, functions, { store, leaseMs: 1000 });
      try {
        const known = disk.loadLatest("t") !== undefined;
        if (known && disk.loadLatest("t")!.status === "completed") return { bodies, end: disk.loadLatest("t")!, logs };
        await (known ? engine.resume("t") : engine.run({ n: 1 }, { thread: "t" }));
      } catch {
        // The process died. Another one starts when the claim has expired.
      }
      await settle();
      logs.push(...store.log);
      now += 10_000;
    }
    throw new Error("no progress");
  }

  test.each(["before", "after"] as const)(
    "dying %s any write, the run ends as if nothing had happened",
    async (when) => {
      for (let writes = 0; writes < 9; writes++) {
        const { bodies, end, logs } = await runThroughCrashes(writes, when, false);
        expect(end.values).toMatchObject({ x: 3, list: ["a1", "b", "c", "p", "q", "a2"] });
        // One key for each task, equal in every run of its body.
        const keys = new Map(bodies.map(({ key, task }) => [key, task]));
        expect(new Set(keys.values()).size).toBe(keys.size);
        expect(keys.size).toBe(6);
        // A body with a stored result never ran again: it ran once more for each process that died before the write.
        const stored = logs.filter((entry) => entry.startsWith("put")).length;
        expect(new Set(logs.filter((entry) => entry.startsWith("put"))).size).toBe(stored);
      }
    },
  );

  test("dying again and again after one write, every life gets one write further", async () => {
    for (const writes of [1, 2, 3]) {
      const { end } = await runThroughCrashes(writes, "after", true);
      expect(end.values).toMatchObject({ x: 3, list: ["a1", "b", "c", "p", "q", "a2"] });
    }
  });

  test("5.2: the input is durable before the first node runs", async () => {
    const store = new MemoryStore();
    let atFirst: Checkpoint | undefined;
    const engine = engineOf(
      CHAIN,
      {
        ...chain(),
        a: (x: number) => {
          atFirst = store.loadLatest("t");
          return { x, list: "a" };
        },
      },
      { store },
    );
    for (const durability of ["sync", "async", "exit"] as const) {
      await engine.run({ start_at: 5 }, { thread: "t", durability });
      expect(atFirst).toMatchObject({ phase: "input", values: { start_at: 5 }, nextNodes: ["a"] });
    }
  });

  test("5.3: a finished node's result is in the store while its sibling is still at work", async () => {
    const store = new MemoryStore();
    let seen: readonly string[] = [];
    const engine = engineOf(
      "graph g { output n: int = 0  output m: int = 0  node a = 1 into n  node b = look() into m  start -> a, b }",
      {
        look: async () => {
          // Results of one turn of the event loop are stored together, at its end.
          await new Promise((resolve) => setImmediate(resolve));
          seen = store.getWrites("t", store.loadLatest("t")!.id).map(({ taskId }) => taskId);
          return 2;
        },
      },
      { store },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("completed");
    expect(seen).toEqual(["a"]);
    expect(store.getWrites("t", store.loadLatest("t")!.id)).toEqual([]);
  });

  test("5.3: a step of one task is one transaction, of n tasks at most n + 1", async () => {
    const store = new CrashingStore(new MemoryStore(), 1000);
    await engineOf(CHAIN, chain(), { store }).run({ start_at: 1 }, { thread: "t" });
    expect(store.log).toEqual(["save input -1", "save completed 0", "save completed 1", "save completed 2"]);
    const wide = new CrashingStore(new MemoryStore(), 1000);
    await engineOf(
      WIDE,
      { a: (x: number) => ({ x: x + 1, list: "a" }), item: async (name: string) => name },
      { store: wide },
    ).run({ n: 1 }, { thread: "t" });
    const ofStep1 = wide.log.slice(wide.log.indexOf("save completed 0") + 1, wide.log.indexOf("save completed 1") + 1);
    expect(ofStep1.length).toBeLessThanOrEqual(5);
    expect(ofStep1.at(-1)).toBe("save completed 1");
  });

  test("5.3: nothing is left of pending writes once their step is committed", async () => {
    const store = new MemoryStore();
    const engine = engineOf(WIDE, { a: (x: number) => ({ x, list: "a" }), item: (name: string) => name }, { store });
    await engine.run({ n: 1 }, { thread: "t" });
    for (const { id } of await engine.history("t")) expect(store.getWrites("t", id)).toEqual([]);
  });

  test("a store without pending writes replays the step", async () => {
    const inner = new MemoryStore();
    const store: Store = new Proxy(inner, {
      get(target, name) {
        if (name === "putWrites" || name === "getWrites" || name === "clearWrites") return undefined;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    let broken = true;
    const engine = engineOf(
      WIDE,
      {
        a: (x: number) => ({ x: x + 1, list: `a${x}` }),
        item: async (name: string) => (broken && name === "q" ? Promise.reject(new Error("no")) : name),
      },
      { store },
    );
    expect((await engine.run({ n: 1 }, { thread: "t" })).status).toBe("failed");
    broken = false;
    expect((await engine.resume("t")).output).toEqual({ x: 3, list: ["a1", "b", "c", "p", "q", "a2"] });
  });

  test("5.5: keys differ between tasks, steps, items, runs and threads", async () => {
    const keys: string[] = [];
    const engine = engineOf(
      `graph g {
        output n: int = 0
        node a = a()   node every = a() for i in [1, 2]   node count = n + 1 into n
        start -> a, every   a -> count   every -> end   count -> a when n < 2   count -> end otherwise
      }`,
      { a: (context: NodeContext) => void keys.push(context.idempotencyKey) },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "one" });
    await engine.run({}, { thread: "one" });
    await engine.run({}, { thread: "two" });
    expect(keys).toHaveLength(12);
    expect(new Set(keys).size).toBe(12);
    const bare: string[] = [];
    const without = engineOf(`graph g { node a = a()  start -> a }`, {
      a: (context: NodeContext) => void bare.push(context.idempotencyKey, context.thread),
    });
    await without.run({});
    await without.run({});
    expect(new Set(bare).size).toBe(4);
  });
});

describe("5.6 one runner a thread", () => {
  test("a second one is refused before it has run or written anything", async () => {
    const gate = deferred();
    const ran: string[] = [];
    const store = new MemoryStore();
    const functions = {
      ...chain(ran),
      a: async (x: number) => {
        ran.push("a");
        await gate.promise;
        return { x, list: "a" };
      },
    };
    const first = engineOf(CHAIN, functions, { store }).run({ start_at: 1 }, { thread: "t" });
    await settle();
    const before = store.list("t");
    const rival = engineOf(CHAIN, functions, { store });
    await expect(rival.run({ start_at: 2 }, { thread: "t", abandon: true })).rejects.toMatchObject({
      code: "NG_THREAD_CONFLICT",
    });
    await expect(rival.resume("t")).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    await expect(rival.update("t", { x: 1 })).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(store.list("t")).toEqual(before);
    expect(ran).toEqual(["a"]);
    gate.resolve();
    expect((await first).status).toBe("completed");
  });

  test("the claim is renewed while a node takes its time, and given back at the end", async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ now: () => clock.now() });
    const gate = deferred();
    const functions = { ...chain(), a: async (x: number) => (await gate.promise, { x, list: "a" }) };
    const first = engineOf(CHAIN, functions, { store, clock, leaseMs: 1000 }).run({ start_at: 1 }, { thread: "t" });
    await clock.advance(100_000);
    const rival = engineOf(CHAIN, chain(), { store, clock });
    await expect(rival.resume("t")).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    gate.resolve();
    expect((await first).status).toBe("completed");
    expect((await rival.run({ start_at: 1 }, { thread: "t" })).status).toBe("completed");
    expect(clock.waiting).toEqual([]);
  });

  test("the claim of a dead runner is taken over, and its late writes are refused", async () => {
    const clock = new VirtualClock();
    let renewals = true;
    const inner = new MemoryStore({ now: () => clock.now() });
    const store: Store = new Proxy(inner, {
      get(target, name) {
        if (name === "renew" && !renewals) return () => Promise.reject(new Error("the network is down"));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const gate = deferred();
    const functions = { ...chain(), a: async (x: number) => (await gate.promise, { x, list: "late" }) };
    const first = engineOf(CHAIN, functions, { store, clock, leaseMs: 1000 }).run({ start_at: 1 }, { thread: "t" });
    await settle();
    renewals = false;
    await clock.advance(5000);
    const second = await engineOf(CHAIN, chain(), { store: inner, clock, leaseMs: 1000 }).resume("t");
    expect(second.output).toEqual({ x: 4, list: ["a", "b", "c"] });
    gate.resolve();
    await expect(first).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(inner.loadLatest("t")?.values).toMatchObject({ list: ["a", "b", "c"] });
  });
});

describe("5.7 another table", () => {
  const text = (extra: string, x = "int"): string => `graph g {
    output x: ${x} = ${x === "int" ? "0" : '""'}   ${extra}
  }`;
  const stopped = async (store: Store): Promise<void> => {
    const engine = engineOf(
      text(`state old: string = ""  node a = ["seen"] into list  node b = b() into x   node w = 1   node j = 1
        output list: string[] = [] reduce append
        start -> a, w   a -> b   all(a, w, b) -> j   w -> end   any(b, j) -> end`).replace('["seen"]', '"seen"'),
      { b: () => Promise.reject(new Error("no")) },
      { store },
    );
    await engine.run({}, { thread: "t" });
  };

  test("is refused unless everything that is pending still exists, with a list of what does not", async () => {
    const store = new MemoryStore();
    await stopped(store);
    const other = engineOf(text("node a = 1  start -> a -> end"), {}, { store });
    const error: unknown = await other.resume("t").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "NG_DRIFT", threadId: "t" });
    const details = (error as { details: readonly string[] }).details.join("\n");
    for (const name of ["`b`", "`j`", "`list`"]) expect(details).toContain(name);
  });

  test("is accepted when it does", async () => {
    const store = new MemoryStore();
    await stopped(store);
    const other = engineOf(
      text(`state fresh: int = 3  node more = 1  node a = "seen" into list  node b = fresh into x   node w = 1   node j = 1
        output list: string[] = [] reduce append
        start -> a, w, more   a -> b   all(a, w, b) -> j   any(w, more) -> end   any(b, j) -> end`),
      {},
      { store },
    );
    expect(await other.resume("t")).toMatchObject({ status: "completed", output: { x: 3, list: ["seen"] } });
  });

  test("a channel whose values are of another type now is listed", async () => {
    const store = new MemoryStore();
    const first = engineOf(CHAIN, { ...chain(), b: () => Promise.reject(new Error("no")) }, { store });
    await first.run({ start_at: 1 }, { thread: "t" });
    const other = engineOf(
      CHAIN.replace("output x: int = 0", 'output x: string = ""')
        .replace("b(x)", "b(start_at)")
        .replace("c(x)", "c(start_at)"),
      chain(),
      { store },
    );
    await expect(other.resume("t")).rejects.toMatchObject({ code: "NG_DRIFT" });
  });
});

describe("5.8 durability", () => {
  const saves = async (durability: Durability): Promise<string[]> => {
    const store = new CrashingStore(new MemoryStore(), 1000);
    const engine = engineOf(CHAIN, chain(), { store });
    expect((await engine.run({ start_at: 1 }, { thread: "t", durability })).output).toEqual({
      x: 4,
      list: ["a", "b", "c"],
    });
    expect(store.loadLatest("t")).toMatchObject({ status: "completed", values: { x: 4, list: ["a", "b", "c"] } });
    return store.log;
  };

  test("exit stores the input and the end", async () => {
    expect(await saves("exit")).toEqual(["save input -1", "save completed 2"]);
  });

  test("sync and async store every step, in order", async () => {
    const all = ["save input -1", "save completed 0", "save completed 1", "save completed 2"];
    expect(await saves("sync")).toEqual(all);
    expect(await saves("async")).toEqual(all);
  });

  test("sync: a step is durable before the next starts; async: the next starts at once, and saves stay in order", async () => {
    for (const durability of ["sync", "async"] as const) {
      const inner = new MemoryStore();
      const trace: string[] = [];
      const store: Store = new Proxy(inner, {
        get(target, name) {
          if (name === "save") {
            return async (...args: Parameters<Store["save"]>) => {
              await settle();
              target.save(...args);
              trace.push(`saved ${args[1].header.step}`);
            };
          }
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      await engineOf(CHAIN, chain(trace), { store }).run({ start_at: 1 }, { thread: "t", durability });
      expect(trace).toEqual(
        durability === "sync"
          ? ["saved -1", "a", "saved 0", "b", "saved 1", "c", "saved 2"]
          : ["saved -1", "a", "b", "c", "saved 0", "saved 1", "saved 2"],
      );
      const list = inner.list("t");
      expect(list.map((item) => item.values["list"] ?? [])).toEqual([["a", "b", "c"], ["a", "b"], ["a"], []]);
    }
  });

  test("pauses are durable in every mode before the run returns", async () => {
    for (const durability of ["sync", "async", "exit"] as const) {
      const store = new MemoryStore();
      const engine = engineOf(
        `graph g { output x: int = 0  node a = 1 into x  node b = x + 1 into x { pause before }  start -> a -> b }`,
        {},
        { store },
      );
      expect((await engine.run({}, { thread: "t", durability })).status).toBe("paused");
      expect(store.loadLatest("t")).toMatchObject({ phase: "before", status: "paused", values: { x: 1 } });
      expect((await engine.resume("t", { durability })).output).toEqual({ x: 2 });
    }
  });

  test("a store that fails rejects the run, and the state of the thread is what was written", async () => {
    for (const durability of ["sync", "async"] as const) {
      const disk = new MemoryStore();
      const store = new CrashingStore(disk, 2);
      const run = engineOf(CHAIN, chain(), { store }).run({ start_at: 1 }, { thread: "t", durability });
      await expect(run).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
      expect(disk.loadLatest("t")).toMatchObject({ step: 0, values: { x: 2 } });
    }
  });
});

describe("5.9 time travel", () => {
  const build = (options: EngineOptions = {}, ran: string[] = []) =>
    engineOf(CHAIN, chain(ran), { store: new MemoryStore(), ...options });

  test("a resume from an old checkpoint continues from there in the same thread, and rewrites nothing", async () => {
    const ran: string[] = [];
    const engine = build({}, ran);
    await engine.run({ start_at: 1 }, { thread: "t" });
    const before = await engine.history("t");
    const afterA = before.find((item) => item.step === 0)!;
    ran.length = 0;
    const again = await engine.resume("t", { from: afterA.id });
    expect(again).toMatchObject({
      status: "completed",
      output: { x: 4, list: ["a", "b", "c"] },
      steps: [["b"], ["c"]],
    });
    expect(ran).toEqual(["b", "c"]);
    const after = await engine.history("t");
    // The chain of the new head contains the checkpoint that it was forked from.
    expect(after.map((item) => item.id)).toEqual(expect.arrayContaining(before.slice(2).map((item) => item.id)));
    expect(after.map((item) => item.id)).not.toContain(before[0]!.id);
    expect(after[0]!.runId).not.toBe(before[0]!.runId);
    // The abandoned branch can be listed, and continued.
    const all = await engine.history("t", { all: true });
    const abandoned = all.filter((item) => item.abandoned === true).map(({ id }) => id);
    expect(abandoned).toEqual(before.slice(0, 2).map(({ id }) => id));
    expect(all.filter((item) => item.abandoned !== true)).toEqual(after);
    await engine.fork("t", { from: abandoned[0]!, as: "u" });
    expect((await engine.state("u"))?.state).toEqual(before[0]!.values);
  });

  test("labels name checkpoints; given again they move", async () => {
    const engine = build();
    await engine.run({ start_at: 1 }, { thread: "t" });
    const history = await engine.history("t");
    await engine.label("t", "here", { checkpoint: history[1]!.id });
    await engine.label("t", "last");
    expect((await engine.history("t")).map((item) => item.label)).toEqual(["last", "here", null, null]);
    expect((await engine.resume("t", { from: "here" })).steps).toEqual([["c"]]);
    await expect(engine.resume("t", { from: "nowhere" })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
    await expect(engine.label("t", "x", { checkpoint: "nope" })).rejects.toMatchObject({
      code: "NG_UNKNOWN_CHECKPOINT",
    });
    await expect(engine.label("nobody", "x")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
  });

  test("a fork is a thread of its own", async () => {
    const ran: string[] = [];
    const engine = build({}, ran);
    await engine.run({ start_at: 1 }, { thread: "t" });
    const before = await engine.history("t");
    await engine.label("t", "after a", { checkpoint: before[2]!.id });
    ran.length = 0;
    const ref = await engine.fork("t", { from: "after a", as: "u", at: "c" });
    expect(ref.thread).toBe("u");
    expect(ran).toEqual([]);
    expect((await engine.state("u"))?.next).toEqual(["c"]);
    expect(await engine.resume("u")).toMatchObject({ output: { x: 3, list: ["a", "c"] }, thread: "u" });
    expect((await engine.history("t")).map((item) => item.id)).toEqual(before.map((item) => item.id));
    await expect(engine.fork("t", { as: "u" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    await expect(engine.fork("nobody")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    await expect(engine.fork("t", { at: "nowhere", as: "v" })).rejects.toThrow("nowhere");
  });

  test("5.6 a fork of the latest checkpoint includes an edit that precedes its claim", async () => {
    const memory = new MemoryStore();
    const other = build({ store: memory });
    await other.run({ start_at: 1 }, { thread: "t" });
    const store = withOperation(memory, "claim", (claim) => async (thread, options) => {
      await other.update("t", { x: 9 });
      return claim(thread, options);
    });
    await build({ store }).fork("t");
    const history = await other.history("t");
    for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
    expect((await other.state("t"))?.state).toMatchObject({ x: 9 });
    expect((await memory.threads())[0]?.checkpoints).toBe(history.length);
  });

  test("edits go through reducers, and leave what is next, barriers and pending results as they were", async () => {
    const ran: string[] = [];
    let broken = true;
    const engine = engineOf(
      `graph g {
        output list: string[] = [] reduce append   output x: int = 0   output y: int = 0
        node a = "a" into list   node s = 1   node ok = ok() into x   node bad = bad() into y   node join = "join" into list
        start -> a, s   all(a, ok, bad) -> join   s -> ok, bad   join -> end
      }`,
      {
        ok: () => (ran.push("ok"), 1),
        bad: () => (broken ? Promise.reject(new Error("no")) : 2),
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    const before = await engine.history("t");
    const { checkpointId } = await engine.update("t", { list: "edited", y: 9 });
    const [head] = await engine.history("t");
    expect(head).toMatchObject({
      id: checkpointId,
      phase: "updated",
      parentId: before[0]!.id,
      status: "failed",
      nextNodes: before[0]!.nextNodes,
      barrierState: { join: ["a"] },
      values: { list: ["a", "edited"], y: 9 },
    });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { list: ["a", "edited", "join"], x: 1, y: 2 },
    });
    expect(ran).toEqual(["ok"]);
  });

  test("an edit may replace, and is refused where it does not fit", async () => {
    const engine = build();
    await engine.run({ start_at: 1 }, { thread: "t" });
    await engine.update("t", { list: ["only"] }, { replace: true });
    expect((await engine.state("t"))?.state).toMatchObject({ list: ["only"], x: 4 });
    for (const values of [{ x: "no" }, { nowhere: 1 }]) {
      await expect(engine.update("t", values)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    }
    await expect(engine.update("nobody", {})).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
  });

  test("an edit `as` a node routes as if that node had written it", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g {
        state n: int = 0   output took: string = ""
        node look = look() into n
        node big = "big" into took { pause before }   node small = "small" into took   node join = 1
        start -> look   look -> big when n > 5   look -> small otherwise   all(look, small) -> join   any(big, join) -> end
      }`,
      { look: () => (ran.push("look"), 9) },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    await engine.update("t", { n: 1 }, { as: "look" });
    expect(await engine.state("t")).toMatchObject({ next: ["small"], pauses: [], status: "running" });
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { took: "small" },
      steps: [["small"], ["join"]],
    });
    expect(ran).toEqual(["look"]);
    await expect(engine.update("t", { n: 1 }, { as: "nobody" })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });

  test("a finished thread can be resumed after such an edit", async () => {
    const engine = build();
    await engine.run({ start_at: 1 }, { thread: "t" });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    await engine.update("t", { x: 10 }, { as: "b" });
    expect(await engine.resume("t")).toMatchObject({ output: { x: 11 }, steps: [["c"]] });
  });

  test("history has pages", async () => {
    const engine = build();
    await engine.run({ start_at: 1 }, { thread: "t" });
    const [first, second] = await engine.history("t", { limit: 2 });
    expect(await engine.history("t", { before: second!.id })).toHaveLength(2);
    expect((await engine.history("t", { before: first!.id, limit: 1 }))[0]!.id).toBe(second!.id);
    expect(await engine.history("nobody")).toEqual([]);
    expect(await engine.state("nobody")).toBeUndefined();
  });
});

test("5.10 nothing depends on the clock: it may stand still or run backwards", async () => {
  let now = 1_000_000;
  const clock = new VirtualClock();
  clock.now = () => (now -= 1000);
  const engine = engineOf(CHAIN, chain(), { store: new MemoryStore({ now: () => 0 }), clock });
  await engine.run({ start_at: 1 }, { thread: "t" });
  expect((await engine.history("t")).map((item) => item.step)).toEqual([2, 1, 0, -1]);
});

test("5.12 an appended list costs its new items, whatever was there", async () => {
  const sizes: number[] = [];
  const inner = new MemoryStore();
  const store: Store = new Proxy(inner, {
    get(target, name) {
      if (name === "save") {
        return (...args: Parameters<Store["save"]>) => {
          sizes.push(JSON.stringify([args[1].header, args[1].changes]).length);
          target.save(...args);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const engine = engineOf(
    `graph chat { input text: string  memory messages: string[] = [] reduce append
      node user = text into messages  node reply = "ok" into messages  start -> user -> reply }`,
    {},
    { store },
  );
  for (let turn = 0; turn < 100; turn++) await engine.run({ text: "hello" }, { thread: "t" });
  expect((await engine.state("t"))?.state["messages"]).toHaveLength(200);
  const tenth = sizes.slice(30, 33);
  expect(sizes.slice(-3)).toEqual(tenth.map((size) => expect.closeTo(size, -2)));
});

describe("5.13 several runs on one thread", () => {
  const text = `graph chat {
    input text: string   output count: int = 0   memory messages: string[] = [] reduce append
    node user = text into messages   node tell = len(messages) into count { pause before }   start -> user -> tell
  }`;

  test("state starts afresh, memory carries over", async () => {
    const engine = engineOf(text.replace("{ pause before }", ""), {}, { store: new MemoryStore() });
    expect((await engine.run({ text: "a" }, { thread: "t" })).state).toEqual({ text: "a", count: 1, messages: ["a"] });
    expect((await engine.run({ text: "b" }, { thread: "t" })).state).toEqual({
      text: "b",
      count: 2,
      messages: ["a", "b"],
    });
    expect((await engine.run({ text: "c" }, { thread: "u" })).output).toEqual({ count: 1 });
    const ids = new Set((await engine.history("t")).map((item) => item.runId));
    expect(ids.size).toBe(2);
    const input = (await engine.history("t")).find((item) => item.phase === "input")!;
    expect(input.values).toMatchObject({ messages: ["a"], text: "b" });
    expect(input.values["count"] ?? 0).toBe(0);
    expect(input.parentId).not.toBeNull();
  });

  test("a new run on an unfinished thread is refused, unless it abandons the old one", async () => {
    const engine = engineOf(text, {}, { store: new MemoryStore() });
    expect((await engine.run({ text: "a" }, { thread: "t" })).status).toBe("paused");
    await expect(engine.run({ text: "b" }, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    const next = await engine.run({ text: "b" }, { thread: "t", abandon: true });
    expect(next).toMatchObject({ status: "paused", state: { messages: ["a", "b"] } });
    expect((await engine.resume("t")).output).toEqual({ count: 2 });
  });

  test("a new run starts with empty barriers (3.3)", async () => {
    const engine = engineOf(
      `graph g { input n: int  node a = 1  node b = 1  node j = 1
        start -> a when n == 1   start -> b otherwise   all(a, b) -> j   j -> end }`,
      {},
      { store: new MemoryStore() },
    );
    expect((await engine.run({ n: 1 }, { thread: "t" })).incompleteBarriers).toMatchObject([{ arrived: ["a"] }]);
    expect((await engine.run({ n: 2 }, { thread: "t" })).incompleteBarriers).toMatchObject([{ arrived: ["b"] }]);
  });
});

test("3.3 partly filled barriers survive crashes, resumes, forks and edits", async () => {
  const engine = engineOf(
    `graph g { node a = 1  node s = 1  node b = b()  node j = 1
      start -> a, s   s -> b   all(a, b) -> j   j -> end }`,
    { b: (context: NodeContext) => context.interrupt() },
    { store: new MemoryStore() },
  );
  await engine.run({}, { thread: "t" });
  const signals = async (thread: string): Promise<unknown> => (await engine.history(thread))[0]!.barrierState;
  expect(await signals("t")).toEqual({ j: ["a"] });
  await engine.fork("t", { as: "u" });
  expect(await signals("u")).toEqual({ j: ["a"] });
  await engine.update("u", {});
  expect(await signals("u")).toEqual({ j: ["a"] });
  expect(await engine.resume("u", { answer: 1 })).toMatchObject({ status: "completed", steps: [["b"], ["j"]] });
  expect(await engine.resume("t", { answer: 1 })).toMatchObject({ status: "completed", steps: [["b"], ["j"]] });
});
