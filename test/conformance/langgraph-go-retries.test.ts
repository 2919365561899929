/**
 * langgraph-go's cases of retries, keys, isolation and errors (LG-75 to LG-80, LG-84, LG-86, LG-87), and similar ones.
 * `tries` counts all attempts; a wait never exceeds the declared maximum.
 */
import { describe, expect, test } from "vitest";
import {
  NgraphError,
  NodeError,
  RunError,
  StoreError,
  TableError,
  ThreadError,
  createEngine,
  type NodeContext,
} from "../../api/index.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine, compiledTable } from "../support/compiled-engine.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

describe("tries", () => {
  const text = (policies: string): string =>
    `graph g { output value: int = 0  node a = a() into value { ${policies} }  start -> a }`;

  test.each([
    ["LG-75: three, fails twice", "tries 3", 2, {}, 3, "completed"],
    ["LG-75: five, fails four times", "tries 5", 4, {}, 5, "completed"],
    ["LG-75: three, never fails", "tries 3", 0, {}, 1, "completed"],
    ["LG-75: with a wait of its own", "tries 3 backoff 1s..2s", 2, {}, 3, "completed"],
    ["LG-76: two, always fails", "tries 2", 9, {}, 2, "failed"],
    ["LG-76: five, fails five times", "tries 5", 5, {}, 5, "failed"],
    ["LG-76: one", "tries 1", 1, {}, 1, "failed"],
    ["LG-76: nothing said", "", 1, {}, 1, "failed"],
    ["LG-77: not to be tried again", "tries 3", 9, { retryable: false }, 1, "failed"],
    ["LG-77: said to be", "tries 3", 2, { retryable: true }, 3, "completed"],
    ["LG-77: with a value that is not a boolean", "tries 2", 9, { retryable: "no" }, 2, "failed"],
  ])("%s", async (_name, policies, failures, mark, attempts, status) => {
    for (const later of [true, false]) {
      const clock = new VirtualClock();
      const causes: Error[] = [];
      const seen: number[] = [];
      const body = (context: NodeContext): number => {
        seen.push(context.attempt);
        if (seen.length > failures) return 1;
        causes.push(Object.assign(new Error(`failure ${seen.length}`), mark));
        throw causes.at(-1);
      };
      const a = later ? async (context: NodeContext) => body(context) : body;
      const result = await clock.until(compiledEngine(text(policies), { a }, { clock }).run({}));
      expect(seen).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
      expect(result).toMatchObject({ status, output: { value: status === "completed" ? 1 : 0 } });
      if (status === "completed") continue;
      expect(result.error).toMatchObject({ code: "NG_NODE_FAILED", nodeId: "a", attempts });
      // The original error of the last attempt.
      expect(result.error?.cause).toBe(causes.at(-1));
      const times = attempts === 1 ? "" : ` after ${attempts} attempts`;
      expect(result.error?.message).toBe(`node \`a\` failed${times}: failure ${attempts}`);
    }
  });

  test("LG-77: a permanent error is not tried again", async () => {
    let runs = 0;
    const engine = compiledEngine(text("tries 5"), { a: () => (runs++, "no number") });
    expect((await engine.run({})).error).toMatchObject({ code: "NG_BAD_RESULT", attempts: 1 });
    expect(runs).toBe(1);
  });

  /** Milliseconds between the attempts, with a constant random number. */
  async function waits(policies: string, dice: number): Promise<number[]> {
    const clock = new VirtualClock();
    const starts: number[] = [];
    const a = (): never => {
      starts.push(clock.now());
      throw new Error("again");
    };
    await clock.until(compiledEngine(text(policies), { a }, { clock, random: () => dice }).run({}));
    return starts.slice(1).map((start, index) => start - starts[index]!);
  }

  test.each([
    // Attempt, and the bounds of the wait after it.
    [0, 1000, 2000],
    [1, 2000, 3000],
    [2, 4000, 5000],
    [3, 8000, 9000],
    [4, 16_000, 17_000],
    [10, 30_000, 30_001],
  ])("LG-79: 1s..30s, after attempt %i at least %i ms and below %i", async (attempt, least, below) => {
    const all = await Promise.all([0, 0.25, 0.5, 0.999].map((dice) => waits("tries 12 backoff 1s..30s", dice)));
    const found = all.map((one) => one[attempt]!);
    for (const wait of found) expect(wait >= least && wait < below).toBe(true);
    // Jitter makes them differ until the longest wait is reached.
    expect(new Set(found).size).toBe(attempt === 10 ? 1 : 4);
  });

  test.each([
    ["as it is without a word", "tries 9", 0, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]],
    ["the same each time", "tries 5 backoff 1s", 0.7, [1000, 1000, 1000, 1000]],
    ["the same each time, said twice", "tries 4 backoff 1s..1s", 0.7, [1000, 1000, 1000]],
    ["none", "tries 4 backoff 0ms", 0.7, [0, 0, 0]],
    ["bounded before it doubles", "tries 5 backoff 200ms..300ms", 0.5, [300, 300, 300, 300]],
    ["with half the dice", "tries 5 backoff 100ms..1s", 0.5, [150, 250, 450, 850]],
    ["of half a second", "tries 3 backoff 500ms..1m", 0, [500, 1000]],
  ])("LG-79: waits %s", async (_name, policies, dice, expected) => {
    expect(await waits(policies, dice)).toEqual(expected);
  });
});

describe("keys", () => {
  const KEY = /^sha256:[0-9a-f]{64}$/;
  const GRAPH = `graph g { input n: int = 0  state rounds: int = 0
    node a = note("a")  node b = note("b")  node every = note(i) for i in ["x", "y", "x"]  node again = rounds + 1 into rounds
    start -> a, b, every  a -> again  again -> a when rounds < 2  again -> end otherwise  any(b, every) -> end }`;

  function noting(fails: () => boolean = () => false) {
    const keys: [task: string, key: string][] = [];
    const note = (name: string, context: NodeContext): void => {
      keys.push([`${name}@${context.step}`, context.idempotencyKey]);
      if (name === "b" && fails()) throw new Error("transient");
    };
    return { keys, functions: { note } satisfies FunctionRegistry };
  }

  test("LG-84: of the form sha256:64hex, different for every task, step, item, run and thread", async () => {
    const { keys, functions } = noting();
    const engine = compiledEngine(GRAPH, functions, { store: new MemoryStore() });
    await engine.run({}, { thread: "one" });
    await engine.run({}, { thread: "one" });
    await engine.run({}, { thread: "two" });
    const bare = compiledEngine(GRAPH, functions);
    await bare.run({}, { thread: "one" });
    await bare.run({});
    expect(keys).toHaveLength(6 * 5);
    for (const [, key] of keys) expect(key).toMatch(KEY);
    expect(new Set(keys.map(([, key]) => key)).size).toBe(keys.length);
  });

  test.each(["at once", "by another engine"])("LG-84, LG-80: the same on every re-execution, %s", async (how) => {
    const store = new MemoryStore();
    let broken = true;
    const first = noting(() => broken);
    const engine = compiledEngine(GRAPH, first.functions, { store });
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    broken = false;
    const second = noting();
    const next = how === "at once" ? engine : compiledEngine(GRAPH, second.functions, { store });
    expect((await next.resume("t")).status).toBe("completed");
    const all = [...first.keys, ...second.keys];
    const keysOf = (task: string): string[] => all.flatMap(([name, key]) => (name === task ? [key] : []));
    expect(keysOf("b@0")).toHaveLength(2);
    expect(new Set(keysOf("b@0")).size).toBe(1);
    expect(keysOf("a@0")).toHaveLength(1);
    expect(new Set(all.map(([, key]) => key)).size).toBe(all.length - 1);
  });

  test("LG-84: each attempt has the same input", async () => {
    const keys: string[] = [];
    const clock = new VirtualClock();
    const engine = compiledEngine(
      `graph g { node a = a() { tries 4 }  start -> a }`,
      {
        a: (context: NodeContext) => {
          keys.push(context.idempotencyKey);
          throw new Error("again");
        },
      },
      { clock },
    );
    await clock.until(engine.run({}));
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
  });

  test("LG-84: keys of items of called graphs are as long as any other", async () => {
    const keys: string[] = [];
    const engine = compiledEngine(
      `graph outer { node every = middle(n: i) for i in range(3)  start -> every }
       graph middle { input n: int  node every = inner(n: i) for i in range(n)  node own = note()  start -> every, own }
       graph inner { input n: int  node a = note()  node b = note()  start -> a -> b }`,
      { note: (context: NodeContext) => void keys.push(context.idempotencyKey) },
    );
    await engine.run({});
    expect(keys).toHaveLength(3 + 3 * 2);
    expect(new Set(keys).size).toBe(9);
    for (const key of keys) expect(key).toMatch(KEY);
  });

  test("LG-80: random numbers seeded with the key repeat", async () => {
    /** A few numbers that depend only on the key. */
    const draw = (key: string): number[] =>
      Array.from({ length: 50 }, (_, i) => parseInt(key.slice(7 + i, 15 + i), 16));
    const drawn: string[] = [];
    const store = new MemoryStore();
    for (let round = 0; round < 20; round++) {
      const engine = compiledEngine(
        `graph g { node a = a()  start -> a }`,
        {
          a: (context: NodeContext) => {
            drawn.push(draw(context.idempotencyKey).join());
            throw new Error("transient");
          },
        },
        { store },
      );
      const { status } = await (round === 0 ? engine.run({}, { thread: "t" }) : engine.resume("t"));
      expect(status).toBe("failed");
    }
    expect(drawn).toHaveLength(20);
    expect(new Set(drawn).size).toBe(1);
  });
});

describe("isolation", () => {
  test.each<[string, (deep: { list: number[]; nested: { map: Record<string, number> } }) => void]>([
    ["a field of a nested record", (deep) => void (deep.nested.map["a"] = 99)],
    ["a new field", (deep) => void (deep.nested.map["b"] = 99)],
    ["an item of a list", (deep) => void (deep.list[0] = 99)],
    ["a longer list", (deep) => void deep.list.push(99)],
    ["a missing field", (deep) => void delete deep.nested.map["a"]],
  ])("LG-86: what a node is given it cannot change: %s", async (_name, change) => {
    let seen: unknown;
    const engine = compiledEngine(
      `graph g { input deep: json  output kept: json = null  node a = poke(deep)  node b = see(deep) into kept  start -> a -> b }`,
      {
        poke: (deep: never) => expect(() => change(deep)).toThrow(TypeError),
        see: (deep: unknown) => (seen = deep),
      } as unknown as FunctionRegistry,
    );
    const deep = { list: [1, 2], nested: { map: { a: 1 } } };
    const run = engine.run({ deep });
    // A change that the caller makes after the call has no effect on the run.
    const before = structuredClone(deep);
    change(deep);
    const result = await run;
    expect(result.status).toBe("completed");
    expect(seen).toEqual(before);
    expect(result.output["kept"]).toEqual(before);
  });

  test("LG-86: a node can change its result after it returns, without an effect", async () => {
    const own = { list: [1], map: { a: 1 } };
    const engine = compiledEngine(
      `graph g { output first: json = null  output second: json = null
         node a = give() into first  node b = give() into second  start -> a -> b }`,
      {
        give: () => {
          own.list.push(own.list.length + 1);
          return own;
        },
      },
    );
    expect((await engine.run({})).output).toEqual({
      first: { list: [1, 2], map: { a: 1 } },
      second: { list: [1, 2, 3], map: { a: 1 } },
    });
    expect(Object.isFrozen(own)).toBe(false);
  });

  test("LG-86: branches share only their arguments", async () => {
    const engine = compiledEngine(
      `graph g { input deep: json  output x: json = null  output y: json = null
         node a = grow(deep, "a") into x  node b = grow(deep, "b") into y  start -> a, b }`,
      { grow: async (deep: { list: string[] }, name: string) => ({ list: [...deep.list, name] }) },
    );
    expect((await engine.run({ deep: { list: ["s"] } })).output).toEqual({
      x: { list: ["s", "a"] },
      y: { list: ["s", "b"] },
    });
  });

  class Point {
    x = 1;
  }
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  test.each<[string, unknown, string]>([
    ["a function", () => 1, "function"],
    ["a big integer", 10n, ""],
    ["a symbol", Symbol("s"), ""],
    ["a date", new Date(0), "Date"],
    ["a map", new Map([["a", 1]]), "Map"],
    ["a set", new Set([1]), "Set"],
    ["an instance", new Point(), "Point"],
    ["a cycle", cycle, ""],
    ["no number", Number.NaN, "NaN"],
    ["infinity", Number.POSITIVE_INFINITY, "Infinity"],
    ["a function inside", { a: [{ b: () => 1 }] }, "a[0].b"],
    ["nothing in a list", [1, undefined], "[1]"],
    ["bytes", new Uint8Array(2), "Uint8Array"],
  ])("LG-86: what is no plain JSON is an error with its place: %s", async (_name, value, word) => {
    const engine = compiledEngine(
      `graph g { output x: json = 7  node a = odd() into x  start -> a }`,
      { odd: () => value },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t" });
    expect(result).toMatchObject({ status: "failed", output: { x: 7 }, error: { code: "NG_BAD_RESULT", nodeId: "a" } });
    expect(result.error?.message).toContain(word);
    expect((await engine.state("t"))?.state).toEqual({ x: 7 });
  });
});

describe("errors", () => {
  test.each<[string, unknown, string]>([
    ["an error", new Error("broken"), "broken"],
    ["one with a code of its own", Object.assign(new Error("broken"), { code: "BRANCH_ERROR" }), "broken"],
    ["one with a cause", new Error("outer", { cause: new Error("inner") }), "outer"],
    ["one of another class", new RangeError("out of range"), "out of range"],
    ["one without words", new TypeError(), "TypeError"],
    ["one that is frozen", Object.freeze(new Error("cold")), "cold"],
    ["a text", "just text", "it threw just text"],
    ["a number", 7, "it threw 7"],
    ["null", null, "it threw null"],
    ["nothing", undefined, "it threw undefined"],
    ["a record with words", { message: "from elsewhere", code: 5 }, "from elsewhere"],
    ["several", new AggregateError([new Error("one")], "all failed"), "all failed"],
  ])("LG-87: code, text and cause of %s", async (_name, cause, reason) => {
    const engine = compiledEngine(`graph g { node a = a()  start -> a }`, { a: () => Promise.reject(cause) });
    const { error } = await engine.run({});
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toBeInstanceOf(NgraphError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "NodeError", code: "NG_NODE_FAILED", nodeId: "a", attempts: 1 });
    expect(error?.message).toBe(`node \`a\` failed: ${reason}`);
    expect(String(error)).toBe(`NodeError: node \`a\` failed: ${reason}`);
    expect(error?.cause).toBe(cause);
  });

  test("LG-87: through a called graph the cause is the original", async () => {
    const cause = new Error("deep");
    const engine = compiledEngine(
      `graph outer { node call = inner()  start -> call }  graph inner { node a = a()  start -> a }`,
      {
        a: () => {
          throw cause;
        },
      },
    );
    const { error } = await engine.run({});
    expect(error).toMatchObject({ name: "NodeError", nodeId: "call" });
    expect(error?.message).toContain("deep");
    const chain: unknown[] = [];
    for (let one: unknown = error; one instanceof Error; one = one.cause) chain.push(one);
    expect(chain.at(-1)).toBe(cause);
  });

  test("LG-87: each kind of error has its class, and all share a base class", async () => {
    const engine = compiledEngine(`graph g { output n: int = 0 reduce bad  node a = 1 into n  start -> a }`, {
      bad: () => {
        throw new Error("reducer");
      },
    });
    const caught = async (call: () => unknown): Promise<unknown> => {
      try {
        return await call();
      } catch (error) {
        return error;
      }
    };
    const stored = createEngine(compiledTable(`graph g { node a = print("x")  start -> a }`), {
      store: new MemoryStore(),
    });
    const found: [unknown, abstract new (...args: never[]) => Error, string][] = [
      [(await engine.run({})).error, RunError, "NG_REDUCER_FAILED"],
      [await caught(() => engine.run({ x: 1 })), RunError, "NG_BAD_INPUT"],
      [await caught(() => engine.resume("t")), StoreError, "NG_NO_STORE"],
      [await caught(() => stored.resume("t")), ThreadError, "NG_UNKNOWN_THREAD"],
      [await caught(() => createEngine({} as never)), TableError, "NG_BAD_TABLE"],
    ];
    for (const [error, kind, code] of found) {
      expect(error).toBeInstanceOf(kind);
      expect(error).toBeInstanceOf(NgraphError);
      expect(error).toMatchObject({ name: kind.name, code });
    }
  });
});
