/**
 * More cases like NeoGraph's about parallel nodes, cancellation, the cache, called graphs and streams (C33, C77 - C83).
 */
import { describe, expect, test } from "vitest";
import { MemoryNodeCache, type Engine, type NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { settle } from "../support/virtual-clock.ts";

const after = async <T>(turns: number, value: T): Promise<T> => {
  for (let turn = 0; turn < turns; turn++) await settle();
  return value;
};

describe("parallel nodes", () => {
  test.each([[[3, 2, 1, 0]], [[0, 1, 2, 3]], [[2, 0, 3, 1]], [[0, 0, 0, 0]]])(
    "C78: ending after %j turns, they are applied and reported in order",
    async (turns) => {
      const names = ["alpha", "beta", "gamma", "delta"];
      const engine = engineOf(
        `graph g { output log: string[] = [] reduce append
        ${names.map((name, index) => `node ${name} = work("${name}", ${turns[index]}) into log`).join("\n")}
        start -> ${names.toReversed().join(", ")}  any(${names.join(", ")}) -> end }`,
        { work: (name: string, count: number) => after(count, name) },
      );
      expect(await engine.run({})).toMatchObject({ output: { log: names }, steps: [names] });
    },
  );

  test.each([
    [["beta"], "beta"],
    [["alpha", "gamma"], "alpha"],
    [["gamma", "beta"], "beta"],
  ])("C78: the first of the failed nodes %j is reported", async (failing, reported) => {
    const names = ["alpha", "beta", "gamma"];
    const engine = engineOf(
      `graph g { ${names.map((name) => `node ${name} = work("${name}")`).join("  ")}
        start -> ${names.join(", ")}  any(${names.join(", ")}) -> end }`,
      {
        work: async (name: string) => {
          await after(name === "alpha" ? 4 : 1, null);
          if (failing.includes(name)) throw new Error(name);
        },
      },
    );
    expect((await engine.run({})).error).toMatchObject({
      nodeId: reported,
      message: expect.stringContaining(reported) as string,
    });
  });

  test.each([1, 2, 3])("at most %i of six at a time", async (limit) => {
    let active = 0;
    let peak = 0;
    const engine = engineOf(
      `graph g { input items: int[]  output log: int[] = [] reduce append
        node every = work(item) for item in items into log { max parallel ${limit} }  start -> every }`,
      {
        work: async (item: number) => {
          peak = Math.max(peak, ++active);
          await after(2, null);
          active--;
          return item;
        },
      },
    );
    const items = [5, 4, 3, 2, 1, 0];
    expect((await engine.run({ items })).output).toEqual({ log: items });
    expect(peak).toBe(limit);
  });
});

describe("cancellation", () => {
  const waiting = (signals: AbortSignal[], then: () => void, count: number) => (context: NodeContext) => {
    signals.push(context.signal);
    if (signals.length === count) setImmediate(then);
    return new Promise(() => undefined);
  };

  test("C79: reaches called graphs at any depth, and nodes beside them; the thread can be resumed", async () => {
    const abort = new AbortController();
    const signals: AbortSignal[] = [];
    let stopped = false;
    const wait = waiting(signals, () => abort.abort(new Error("enough")), 3);
    const engine = engineOf(
      `graph inner { node w = w()  start -> w }
       graph middle { node i = inner()  node w = w()  start -> i, w  any(i, w) -> end }
       graph g { node m = middle()  node w = w()  start -> m, w  any(m, w) -> end }`,
      { w: (context: NodeContext) => (stopped ? undefined : wait(context)) },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t", signal: abort.signal });
    expect(result).toMatchObject({ status: "cancelled", error: { code: "NG_CANCELLED" } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    stopped = true;
    expect((await engine.resume("t")).status).toBe("completed");
  });

  test("C79: a signal that a node aborts itself has no effect on other nodes", async () => {
    const engine = engineOf(`graph g { output x: int = 0  node a = a()  node b = 2 into x  start -> a -> b }`, {
      a: (context: NodeContext) => {
        const own = new AbortController();
        const both = AbortSignal.any([context.signal, own.signal]);
        own.abort();
        expect([both.aborted, context.signal.aborted]).toEqual([true, false]);
      },
    });
    expect((await engine.run({})).output).toEqual({ x: 2 });
  });

  test.each([false, true])(
    "C79: a body that cancels its run and never ends does not keep it alive, stored: %j",
    async (stored) => {
      const abort = new AbortController();
      const seen: boolean[] = [];
      const engine = engineOf(
        `graph g { node a = a()  node b = 1  start -> a -> b }`,
        {
          a: (context: NodeContext) => {
            abort.abort();
            seen.push(context.signal.aborted);
            return new Promise(() => undefined);
          },
        },
        stored ? { store: new MemoryStore() } : {},
      );
      expect(await engine.run({}, { signal: abort.signal })).toMatchObject({ status: "cancelled", steps: [] });
      expect(seen).toEqual([true]);
    },
  );

  test("C79: two runs of one engine: cancelling one leaves the other", async () => {
    const abort = new AbortController();
    const engine = engineOf(
      `graph g { input who: string  output x: string = ""  node a = a(who) into x  start -> a }`,
      {
        a: async (who: string, context: NodeContext) => {
          if (who === "one") abort.abort();
          await after(3, null);
          return context.signal.aborted ? "aborted" : who;
        },
      },
    );
    const [one, other] = await Promise.all([
      engine.run({ who: "one" }, { signal: abort.signal }),
      engine.run({ who: "other" }),
    ]);
    expect([one.status, other.status]).toEqual(["cancelled", "completed"]);
    expect(other.output).toEqual({ x: "other" });
  });
});

describe("the cache", () => {
  const counting = (policy: string, cache = new MemoryNodeCache()): { engine: Engine; runs: () => number } => {
    let runs = 0;
    const engine = engineOf(
      `graph g { input n: int  output m: int = 0  node a = a(n) into m ${policy}  start -> a }`,
      { a: async (n: number) => (runs++, n * 2) },
      { cache },
    );
    return { engine, runs: () => runs };
  };

  test.each([
    ["", [1, 1, 1], 3, 0, 0],
    ["{ cache }", [1, 1, 1], 1, 2, 1],
    ["{ cache }", [1, 2, 1, 2], 2, 2, 2],
    ["{ cache for 1h }", [0, -0, 0], 1, 2, 1],
  ])("C80: %s with the inputs %j runs %i times: %i hits, %i misses", async (policy, inputs, runs, hits, misses) => {
    const cache = new MemoryNodeCache();
    const { engine, runs: count } = counting(policy, cache);
    for (const n of inputs) expect((await engine.run({ n })).output["m"]).toEqual(n * 2 || 0);
    expect([count(), cache.hits, cache.misses]).toEqual([runs, hits, misses]);
  });

  test("C80: a cleared cache is empty, and caches again", async () => {
    const cache = new MemoryNodeCache();
    const { engine, runs } = counting("{ cache }", cache);
    for (const clears of [false, true, false]) {
      if (clears) cache.clear();
      await engine.run({ n: 1 });
    }
    expect(runs()).toBe(2);
    expect(cache.size).toBe(1);
  });

  test("C80: a call without a result is cached, too", async () => {
    let runs = 0;
    const engine = engineOf(`graph g { node a = a() { cache }  start -> a }`, { a: () => void runs++ });
    for (let turn = 0; turn < 3; turn++) await engine.run({});
    expect(runs).toBe(1);
  });

  test("C80: bounded: the least recently used goes first; lowering the capacity evicts at once", () => {
    const cache = new MemoryNodeCache({ capacity: 3 });
    for (const key of ["a", "b", "c"]) cache.set(key, key, null);
    cache.get("a");
    cache.capacity = 2;
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["a", undefined, "c"]);
    cache.capacity = 0;
    expect([cache.size, cache.evictions]).toEqual([0, 3]);
    cache.set("d", 1, null);
    expect(cache.size).toBe(0);
    const large = new MemoryNodeCache({ capacity: 64 });
    for (let index = 0; index < 10_000; index++) large.set(String(index), index, null);
    expect([large.size, large.evictions]).toEqual([64, 9936]);
  });

  test.each([-1, 1.5, Number.NaN, "2"])("C80: a capacity of %j is refused", (capacity) => {
    expect(() => new MemoryNodeCache({ capacity: capacity as number })).toThrow(
      expect.objectContaining({ code: "NG_BAD_INPUT" }) as Error,
    );
  });
});

describe("called graphs", () => {
  test("C81: messages go in and come back once, through two graphs", async () => {
    const engine = engineOf(`graph inner { input messages: string[]  output said: string[] = []
        node a = ["assistant " + \`\${len(messages)}\`] into said  start -> a }
      graph middle { input messages: string[]  output said: string[] = [] reduce append
        node i = inner(messages: messages) into { said }  start -> i }
      graph g { input messages: string[]  output all: string[] = [] reduce append
        node take = messages into all  node call = middle(messages: all) into { said: all }  start -> take -> call }`);
    expect((await engine.run({ messages: ["user"] })).output).toEqual({ all: ["user", "assistant 1"] });
  });

  test("C81: writes of its sent tasks arrive in the order sent", async () => {
    const engine = engineOf(
      `graph child { output log: int[] = [] reduce append  node p = p() { goes w }  node w = w() into log  start -> p -> end  w -> end }
       graph g { output log: int[] = [0] reduce append  node call = child() into { log }  start -> call }`,
      {
        p: (context: NodeContext) => [3, 1, 2].forEach((item) => context.send("w", item)),
        w: (context: NodeContext) => after(context.item as number, context.item),
      },
    );
    expect((await engine.run({})).output).toEqual({ log: [0, 3, 1, 2] });
  });

  test.each([
    ["without a store", undefined],
    ["with one", new MemoryStore()],
  ])("C81: tried again it gives what its last run wrote, and nothing else, %s", async (_name, store) => {
    let runs = 0;
    const engine = engineOf(
      `graph child { output log: string[] = [] reduce append  node a = a() into log  node b = b() into log  start -> a -> b }
       graph g { output log: string[] = [] reduce append  node call = child() into { log } { tries 3 backoff 1ms..1ms }  start -> call }`,
      {
        a: () => `a${++runs}`,
        b: () => {
          if (runs < 3) throw new Error("again");
          return "b";
        },
      },
      store === undefined ? {} : { store },
    );
    expect((await engine.run({}, { thread: "t" })).output).toEqual({ log: ["a3", "b"] });
  });

  test("C81: several calls of one graph beside each other, and in a `for`, do not mix", async () => {
    const engine = engineOf(
      `graph child { input n: int  output m: int = 0  node a = twice(n) into m  node b = m + 1 into m  start -> a -> b }
       graph g { input items: int[]  output log: json[] = [] reduce append  output one: int = 0  output two: int = 0
         node every = child(n: item) for item in items into log  node c1 = child(n: 100) into { m: one }  node c2 = child(n: 200) into { m: two }
         start -> every, c1, c2  any(every, c1, c2) -> end }`,
      { twice: (n: number) => after(5 - n, n * 2) },
      { store: new MemoryStore() },
    );
    const { output } = await engine.run({ items: [3, 1, 2] }, { thread: "t" });
    expect(output).toEqual({ log: [{ m: 7 }, { m: 3 }, { m: 5 }], one: 201, two: 401 });
  });

  test("C82: its checkpoints have its own namespace; without a thread there are none", async () => {
    const text = `graph child { output m: int = 0  node a = 1 into m  node b = 2 into m  start -> a -> b }
      graph g { output m: int = 0  node call = child() into { m }  start -> call }`;
    const store = new MemoryStore();
    const engine = engineOf(text, {}, { store });
    for (const thread of ["t", "u"]) {
      await engine.run({}, { thread });
      expect((await engine.history(thread)).map(({ namespace }) => namespace)).toEqual(["", ""]);
      const inside = await engine.history(thread, { namespace: "call" });
      expect(inside.map(({ currentNode, status }) => [currentNode, status])).toEqual([
        ["b", "completed"],
        ["a", "running"],
        [null, "running"],
      ]);
    }
    expect((await engineOf(text).run({})).checkpointId).toBeNull();
  });

  test("C82: a pause three graphs deep is answered through the outermost; nothing before it runs again", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph c { output r: string = ""  node seed = work("c")  node q = ask("?") into r  start -> seed -> q }
       graph b { output r: string = ""  node seed = work("b")  node call = c() into { r }  start -> seed -> call }
       graph g { output r: string = ""  node seed = work("g")  node call = b() into { r }  node done = work("done")
         start -> seed -> call -> done }`,
      { work: (name: string) => void ran.push(name) },
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses).toMatchObject([{ node: "q", namespace: ["call", "call"], payload: { question: "?" } }]);
    expect((await engine.history("t"))[0]).toMatchObject({ currentNode: "call", nextNodes: ["call"] });
    expect((await engine.resume("t", { answer: "yes" })).output).toEqual({ r: "yes" });
    expect(ran).toEqual(["g", "b", "c", "done"]);
  });
});

describe("streams", () => {
  const engine = engineOf(
    `graph g { output n: int = 0 reduce sum  node a = a() into n  node b = 2 into n  node c = 3 into n  start -> a, b  all(a, b) -> c }`,
    { a: (context: NodeContext) => (context.emit({ half: true }), 1) },
  );
  const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
    const found: T[] = [];
    for await (const item of items) found.push(item);
    return found;
  };

  test("C33: events of every kind by default, numbered from 0", async () => {
    const events = await collect(engine.stream({}));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    const kinds = new Set(events.map(({ type }) => type));
    for (const kind of ["run", "step", "node", "write", "route", "barrier", "custom"]) expect(kinds).toContain(kind);
    expect([events[0], events.at(-1)]).toMatchObject([
      { type: "run", phase: "start" },
      { type: "run", phase: "end", status: "completed" },
    ]);
  });

  test("C33: `updates`, `values` and `custom`", async () => {
    expect(await collect(engine.stream({}, { view: "updates" }))).toMatchObject([
      { step: 0, node: "a", updates: { n: 1 } },
      { step: 0, node: "b", updates: { n: 2 } },
      { step: 1, node: "c", updates: { n: 3 } },
    ]);
    expect(await collect(engine.stream({}, { view: "values" }))).toEqual([
      { step: -1, state: { n: 0 } },
      { step: 0, state: { n: 3 } },
      { step: 1, state: { n: 6 } },
    ]);
    expect(await collect(engine.stream({}, { view: "custom" }))).toMatchObject([{ node: "a", data: { half: true } }]);
  });

  test.each(["debug", "EVENTS", ""])("a view called %j is refused, the known ones are listed", async (view) => {
    const reading = (async () => collect(engine.stream({}, { view: view as "events" })))();
    await expect(reading).rejects.toMatchObject({ message: expect.stringContaining("`updates`") as string });
  });

  test("C83: a value that is not JSON is reported as such, and the run continues", async () => {
    const odd = engineOf(`graph g { node a = a()  start -> a }`, {
      a: (context: NodeContext) => [() => 1, new Map(), Number.NaN].forEach((data) => context.emit(data as never)),
    });
    const items = await collect(odd.stream({}, { view: "custom" }));
    expect(items).toHaveLength(3);
    for (const { data } of items) expect(data).toContain("not plain JSON");
  });
});
