import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/context.ts";
import { createEngine } from "../../runtime/engine.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Store } from "../../runtime/store.ts";
import { engineOf, tableOf } from "../support/graph.ts";

/** A store whose n-th write fails as a crash would: nothing after it happens. */
function dyingStore(inner: Store, survives: number): Store {
  let left = survives;
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "save" || name === "putWrites") {
          if (left-- <= 0) throw new Error("the process died here");
        } else if (left < 0 && name !== "release" && name !== "claim") throw new Error("the process is dead");
        return (value as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

describe("checkpoints (5)", () => {
  test("5.1, 5.2: the chain begins with the input and every step follows its parent", async () => {
    const engine = engineOf(
      `graph g { input n: int  output m: int = 0  node a = n + 1 into m  node b = m * 2 into m  start -> a -> b }`,
      {},
      { store: new MemoryStore() },
    );
    const result = await engine.run({ n: 4 }, { thread: "t", metadata: { who: "me" } });
    const history = await engine.history("t");
    expect(
      history.map(({ step, phase, status, nextNodes, values }) => [step, phase, status, nextNodes, values["m"]]),
    ).toEqual([
      [1, "completed", "completed", [], 10],
      [0, "completed", "running", ["b"], 5],
      [-1, "input", "running", ["a"], 0],
    ]);
    expect(history.map((entry) => entry.parentId)).toEqual([history[1]?.id, history[2]?.id, null]);
    expect(history.every((entry) => entry.digest === engine.table.digest && entry.metadata["who"] === "me")).toBe(true);
    expect(result.checkpointId).toBe(history[0]?.id);
  });

  test("5.3 - 5.5: dying at any write, every body whose result was stored never runs again", async () => {
    const text = `graph g { output log: string[] reduce append
      node a = work("a") into log  node b = work("b") into log  node c = work("c") into log
      node each = work(item) for item in ["x", "y"] into log  node d = work("d") into log
      start -> a -> b, c, each  all(b, c, each) -> d }`;
    const table = tableOf(text, ["work"]);
    for (let survives = 0; survives < 12; survives++) {
      const store = new MemoryStore();
      const runs = new Map<string, number>();
      const functions = { work: async (name: string) => (runs.set(name, (runs.get(name) ?? 0) + 1), name) };
      const dying = createEngine(table, { functions, store: dyingStore(store, survives) });
      const first = await dying.run({}, { thread: "t" }).catch((error: unknown) => error);
      const head = await store.loadLatest("t");
      if (head === undefined) {
        expect(survives).toBe(0);
        expect(first).toMatchObject({ code: "NG_STORE_FAILED" });
        continue;
      }
      if (head.status !== "completed") {
        const stored = new Set((await store.getWrites("t", head.id)).map((write) => write.taskId));
        const before = new Map(runs);
        const engine = createEngine(table, { functions, store });
        expect(await engine.resume("t")).toMatchObject({ status: "completed" });
        for (const task of stored) {
          const name = task.startsWith("each[") ? (task === "each[0]" ? "x" : "y") : task;
          expect(runs.get(name), `${task} after dying at write ${survives}`).toBe(before.get(name));
        }
      }
      const final = await store.loadLatest("t");
      expect(final?.values["log"]).toEqual(["a", "b", "c", "x", "y", "d"]);
    }
  });

  test("5.6: one runner a thread; the loser has run and written nothing", async () => {
    const store = new MemoryStore();
    let release = (): void => undefined;
    let calls = 0;
    const engine = engineOf(
      `graph g { node a = hold()  start -> a }`,
      {
        hold: () => {
          calls++;
          return new Promise<void>((resolve) => (release = resolve));
        },
      },
      { store },
    );
    const first = engine.run({}, { thread: "t" });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
    expect(calls).toBe(1);
    release();
    expect((await first).status).toBe("completed");
  });

  test("5.7: a table that no longer has what waits is refused with the list", async () => {
    const store = new MemoryStore();
    const before = engineOf(
      `graph g { output n: int = 0  node a = 1 into n { pause after }  node b = 2 into n  start -> a -> b }`,
      {},
      { store },
    );
    await before.run({}, { thread: "t" });
    const drifted = engineOf(
      `graph g { output n: string = ""  node a = "1" into n { pause after }  node c = "2" into n  start -> a -> c }`,
      {},
      { store },
    );
    await expect(drifted.resume("t")).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: [expect.stringContaining("`b`"), expect.stringContaining("`n`")],
    });
    const compatible = engineOf(
      `graph g { output n: int = 0  node a = 1 into n { pause after }  node b = 3 into n  node x = 9 into n  start -> a -> b -> x }`,
      {},
      { store },
    );
    expect(await compatible.resume("t")).toMatchObject({ status: "completed", output: { n: 9 } });
  });

  test.each(["sync", "async", "exit"] as const)(
    "5.8: durability %s ends with everything stored",
    async (durability) => {
      const store = new MemoryStore();
      const engine = engineOf(
        `graph g { output n: int = 0  node a = 1 into n  node b = 2 into n  start -> a -> b }`,
        {},
        { store, durability },
      );
      const result = await engine.run({}, { thread: "t" });
      expect((await engine.state("t"))?.checkpointId).toBe(result.checkpointId);
      expect((await engine.state("t"))?.state).toEqual({ n: 2 });
    },
  );

  test("5.9: forks, labels and edits never touch what was", async () => {
    const store = new MemoryStore();
    const engine = engineOf(
      `graph g { input start_at: int  output n: int = 0  output log: string[] reduce append
        node a = start_at into n  node b = n + 1 into n  node c = \`n is \${n}\` into log
        start -> a -> b -> c }`,
      {},
      { store },
    );
    await engine.run({ start_at: 1 }, { thread: "t" });
    const history = await engine.history("t");
    await engine.label("t", "after-a", { checkpoint: history.find((entry) => entry.step === 0)!.id });

    const fork = await engine.fork("t", { from: "after-a", as: "f" });
    expect(fork.thread).toBe("f");
    await engine.update("f", { n: 40 });
    expect(await engine.resume("f")).toMatchObject({ status: "completed", output: { n: 41, log: ["n is 41"] } });
    expect((await engine.state("t"))?.state).toMatchObject({ n: 2, log: ["n is 2"] });

    await engine.fork("t", { from: "after-a", as: "at", at: "c" });
    expect(await engine.resume("at")).toMatchObject({ output: { n: 1, log: ["n is 1"] }, steps: [["c"]] });

    expect(await engine.resume("t", { from: "after-a" })).toMatchObject({
      status: "completed",
      output: { n: 2 },
      steps: [["b"], ["c"]],
    });
    expect((await engine.history("t")).map((entry) => entry.values["n"])).toEqual([2, 2, 1, 1, 0]);

    await engine.update("t", { n: 7 }, { as: "a" });
    expect(await engine.resume("t")).toMatchObject({ output: { n: 8 }, steps: [["b"], ["c"]] });
    await expect(engine.update("t", { nope: 1 })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.fork("t", { from: "nowhere" })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
    await expect(engine.resume("nobody")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
  });

  test("5.13: state starts afresh in each run, memory carries over, an unfinished thread is not started again", async () => {
    const store = new MemoryStore();
    const engine = engineOf(
      `graph g { input word: string  output count: int  memory words: string[] reduce append  state once: int = 0
        node add = word into words  node bump = once + 1 into once  node tell = len(words) * 10 + once into count
        start -> add, bump  all(add, bump) -> tell }`,
      {},
      { store },
    );
    expect((await engine.run({ word: "a" }, { thread: "t" })).output).toEqual({ count: 11 });
    expect((await engine.run({ word: "b" }, { thread: "t" })).output).toEqual({ count: 21 });
    expect((await engine.run({ word: "c" }, { thread: "other" })).output).toEqual({ count: 11 });

    const failing = engineOf(
      `graph g { node a = no()  start -> a }`,
      { no: () => Promise.reject(new Error("no")) },
      { store },
    );
    await failing.run({}, { thread: "f" });
    await expect(failing.run({}, { thread: "f" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    expect((await failing.run({}, { thread: "f", abandon: true })).status).toBe("failed");
  });
});

describe("pauses (6)", () => {
  test("6.1: a graph that pauses is refused without a store", async () => {
    const text = `graph g { output a: string  node ask = ask("?") into a  start -> ask }`;
    await expect(engineOf(text).run({})).rejects.toMatchObject({ code: "NG_NO_STORE" });
    const hidden = engineOf(`graph g { node a = sly()  start -> a }`, {
      sly: (context: NodeContext) => context.interrupt("?"),
    });
    expect(await hidden.run({})).toMatchObject({ status: "failed", error: { code: "NG_NO_STORE" } });
  });

  test("6.2: several items wait, answers go by id, what is answered goes on at once, the step commits when all have", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { output a: string  output b: string  output log: string[] reduce append
        node first = question("one") into a  node second = question("two") into b  node side = work() into log  node done = "done" into log
        start -> first, second, side  all(first, second, side) -> done }`,
      {
        question: (text: string, context: NodeContext) => {
          ran.push(text);
          return context.interrupt<string>({ text });
        },
        work: () => {
          ran.push("side");
          return "side";
        },
      },
      { store: new MemoryStore() },
    );
    const paused = await engine.run({}, { thread: "t" });
    expect(paused.status).toBe("paused");
    expect(paused.pauses.map((pause) => [pause.node, pause.payload])).toEqual([
      ["first", { text: "one" }],
      ["second", { text: "two" }],
    ]);
    await expect(engine.resume("t", { answer: "x" })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    await expect(engine.resume("t", { answers: { nobody: "x" } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });

    const [first, second] = paused.pauses;
    const half = await engine.resume("t", { answers: { [first!.id]: "1" } });
    expect(half).toMatchObject({ status: "paused", pauses: [{ id: second!.id }] });
    expect(half.output).toEqual({ a: null, b: null, log: [] });
    const whole = await engine.resume("t", { answer: "2" });
    expect(whole).toMatchObject({ status: "completed", output: { a: "1", b: "2", log: ["side", "done"] } });
    // 6.3: the results of the others survived both pauses.
    expect(ran.filter((name) => name === "side")).toHaveLength(1);
    expect(ran.filter((name) => name === "one")).toHaveLength(2);
  });

  test("6.2: the same answer again is harmless, another one is refused", async () => {
    const engine = engineOf(
      `graph g { output a: "x" | "y"  output b: "x" | "y"  node one = ask("1") into a  node two = ask("2") into b  start -> one -> two }`,
      {},
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    const id = pauses[0]!.id;
    await expect(engine.resume("t", { answer: "z" })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    const second = await engine.resume("t", { answers: { [id]: "x" } });
    expect(second).toMatchObject({ status: "paused", pauses: [{ node: "two" }] });
    await expect(engine.resume("t", { answers: { [id]: "y" } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect(await engine.resume("t", { answers: { [id]: "x" } })).toMatchObject({
      status: "paused",
      pauses: [{ node: "two" }],
    });
    expect(await engine.resume("t", { answer: "y" })).toMatchObject({
      status: "completed",
      output: { a: "x", b: "y" },
    });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("6.2, 6.3: `pause before` holds the whole step, once; `pause after` comes after the node's writes", async () => {
    const ran: string[] = [];
    const work = (name: string): string => (ran.push(name), name);
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node a = work("a") into log { pause after }  node b = work("b") into log { pause before }  node c = work("c") into log
        start -> a -> b, c }`,
      { work },
      { store: new MemoryStore() },
    );
    const after = await engine.run({}, { thread: "t" });
    expect(after).toMatchObject({ status: "paused", pauses: [{ node: "a", kind: "after" }], output: { log: ["a"] } });
    const before = await engine.resume("t");
    expect(before).toMatchObject({ status: "paused", pauses: [{ node: "b", kind: "before" }] });
    expect(ran).toEqual(["a"]);
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b", "c"] } });
    expect((await engine.history("t")).map((entry) => entry.phase)).toEqual(["completed", "before", "after", "input"]);
  });

  test("a pause survives code that swallows exceptions", async () => {
    const engine = engineOf(
      `graph g { output a: string  node one = sly() into a  start -> one }`,
      {
        sly: (context: NodeContext) => {
          try {
            return context.interrupt<string>();
          } catch {
            return "swallowed";
          }
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({ output: { a: "yes" } });
  });
});

describe("dynamic tasks and called graphs (7)", () => {
  test("7.1: results come in item order, an empty list signals, finished items are kept after a failure", async () => {
    const runs = new Map<string, number>();
    let broken = true;
    const engine = engineOf(
      `graph g { input items: string[]  output out: string[] reduce append  output lens: int[]  output done: bool = false
        node each = work(item) for item in items into out { max parallel 2 }  node size = len(item) for item in items into lens
        node end_of = true into done
        start -> each, size  all(each, size) -> end_of }`,
      {
        work: async (item: string) => {
          runs.set(item, (runs.get(item) ?? 0) + 1);
          if (item === "bad" && broken) throw new Error("bad item");
          return item.toUpperCase();
        },
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({ items: [] })).toMatchObject({
      status: "completed",
      output: { out: [], lens: [], done: true },
    });
    const failed = await engine.run({ items: ["a", "bad", "c"] }, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", error: { nodeId: "each", items: [1] } });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ output: { out: ["A", "BAD", "C"], lens: [1, 3, 1], done: true } });
    expect([...runs]).toEqual([
      ["a", 1],
      ["bad", 2],
      ["c", 1],
    ]);
  });

  const CALLER = `graph child { input n: int  output m: int  output said: string  state k: int = 0
      node twice = n * 2 into k  node ask = ask(\`really \${k}?\`) into said  node out = k + 1 into m
      start -> twice -> ask -> out }
    graph parent { input n: int  output totals: int[] reduce append  output words: string[] reduce append
      node call = child(n: n) into { m: totals, said: words }  node many = child(n: i) for i in [10, 20] into { m: totals, said: words }
      start -> call -> many }`;

  test("7.2: pauses pass through, a resume continues inside, outputs go through the caller's reducers", async () => {
    const store = new MemoryStore();
    const engine = engineOf(CALLER, {}, { store });
    const first = await engine.run({ n: 1 }, { thread: "t" });
    expect(first).toMatchObject({
      status: "paused",
      pauses: [{ node: "ask", namespace: ["call"], payload: { question: "really 2?" } }],
    });
    const second = await engine.resume("t", { answer: "yes" });
    expect(second.pauses.map((pause) => pause.namespace)).toEqual([["many[0]"], ["many[1]"]]);
    const answers = Object.fromEntries(second.pauses.map((pause, index) => [pause.id, `a${index}`]));
    const done = await engine.resume("t", { answers });
    expect(done).toMatchObject({ status: "completed", output: { totals: [3, 21, 41], words: ["yes", "a0", "a1"] } });
    const inner = await engine.history("t", { namespace: "many[1]" });
    expect(inner[0]).toMatchObject({ namespace: "many[1]", status: "completed" });
  });

  test("7.2: a called graph in a loop starts afresh each time, and its pauses do not share answers", async () => {
    const engine = engineOf(
      `graph child { input n: int  output said: string  node ask = ask(\`\${n}?\`) into said  start -> ask }
       graph parent { output words: string[] reduce append  state n: int = 0
         node call = child(n: n) into { said: words }  node next = n + 1 into n
         start -> call -> next  next -> call when n < 2  next -> end otherwise }`,
      {},
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    const second = await engine.resume("t", { answer: "zero" });
    expect(second).toMatchObject({ status: "paused", pauses: [{ payload: { question: "1?" } }] });
    expect(second.pauses[0]?.id).not.toBe(first.pauses[0]?.id);
    expect(await engine.resume("t", { answer: "one" })).toMatchObject({
      status: "completed",
      output: { words: ["zero", "one"] },
    });
  });

  test("7.2: a failure inside is the caller's failure, and the resume goes on inside", async () => {
    const runs: string[] = [];
    let broken = true;
    const engine = engineOf(
      `graph child { output m: int = 0  node a = work("a") into m  node b = work("b") into m  start -> a -> b }
       graph parent { output total: int = 0  node call = child() into { m: total }  start -> call }`,
      {
        work: (name: string) => {
          runs.push(name);
          if (name === "b" && broken) throw new Error("inside");
          return runs.length;
        },
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({
      status: "failed",
      error: { nodeId: "call", cause: { nodeId: "b" } },
    });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { total: 3 } });
    expect(runs).toEqual(["a", "b", "b"]);
  });
});

describe("streams (8)", () => {
  test("8.1: events, updates and values; 8.2: a slow reader loses the oldest and is told", async () => {
    const engine = engineOf(`graph g { output n: int = 0  node a = 1 into n  node b = n + 1 into n  start -> a -> b }`);
    const updates = [];
    for await (const item of engine.stream({}, { view: "updates" })) updates.push([item.step, item.node, item.updates]);
    expect(updates).toEqual([
      [0, "a", { n: 1 }],
      [1, "b", { n: 2 }],
    ]);
    const values = [];
    for await (const item of engine.stream({}, { view: "values" })) values.push(item.state);
    expect(values.at(-1)).toEqual({ n: 2 });
    const stream = engine.stream({}, { buffer: 3 });
    await stream.result;
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events[0]).toMatchObject({ type: "dropped" });
    expect(events).toHaveLength(4);
  });
});
