/**
 * More cases like those of NeoGraph's state (C43 - C53, C70): reducers and the order of writes, edits, routing on
 * messages, tries.
 */
import { describe, expect, test } from "vitest";
import { NodeError, type FunctionRegistry, type NodeContext, type RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** A channel that each step writes once. */
async function afterWrites(channel: string, updates: readonly unknown[], functions: FunctionRegistry = {}) {
  let next = 0;
  const engine = engineOf(
    `graph g { output x: ${channel}  state n: int = 0  node write = write() into x  node count = n + 1 into n
      start -> write -> count  count -> write when n < ${updates.length}  count -> end otherwise }`,
    { write: () => updates[next++], ...functions },
    { store: new MemoryStore() },
  );
  const result = await engine.run({}, { thread: "t" });
  return { result, x: result.output["x"], version: (await engine.history("t"))[0]?.versions["x"] ?? 0 };
}

describe("the value of a channel after its writes", () => {
  const lastTwo = (current: number[], update: number[]): number[] => [...current, ...update].slice(-2);
  const cases: readonly (readonly [string, string, readonly unknown[], unknown, FunctionRegistry?])[] = [
    ["C43: null over a value", 'string | null = "a"', [null], null],
    ["C43: a record as a whole", "json = { a: 1 }", [{ b: 2 }], { b: 2 }],
    ["C43: an empty text", 'string = "a"', [""], ""],
    ["C44: to a start value", 'string[] = ["i"] reduce append', [["a"], "b"], ["i", "a", "b"]],
    ["C44: an empty list", "string[] = [] reduce append", [[], ["a"], []], ["a"]],
    ["C44: null as an item", "json[] = [] reduce append", [null, [null]], [null, null]],
    ["C44: equal ones", "int[] = [] reduce append", [1, [1, 1]], [1, 1, 1]],
    ["C44: a list of lists", "int[][] = [] reduce append", [[[1], []], [2]], [[1], [], [2]]],
    ["C45: a bounded list", "int[] = [] reduce lastTwo", [[1], [2], [3]], [2, 3], { lastTwo }],
    ["C45: a bounded list, more at a time", "int[] = [] reduce lastTwo", [[1, 2, 3, 4]], [3, 4], { lastTwo }],
    [
      "C45: the latest",
      "int[] = []",
      [
        [1, 2],
        [3, 4],
      ],
      [3, 4],
    ],
    ["C47: a sum of fractions", "float = 0.5 reduce sum", [0.25, -1], -0.25],
    ["C47: a sum below zero", "int = 0 reduce sum", [5, -7], -2],
    ["C47: the largest", "int = 0 reduce max", [3, 9, 4], 9],
    ["C47: the largest without a start", "int reduce max", [-3, -9], -3],
    ["C47: the smallest", "float | null = null reduce min", [3.5, 7], 3.5],
    [
      "C47: records, shallow",
      "map<json> = {} reduce merge",
      [{ a: { b: 1 } }, { a: { c: 1 }, d: 2 }],
      { a: { c: 1 }, d: 2 },
    ],
    ["C47: sets", "int[] = [] reduce union", [[1, 2], [2, 3], [1]], [1, 2, 3]],
    ["C47: one's own", "int = 2 reduce times", [3, 4], 24, { times: (a: number, b: number) => a * b }],
  ];
  const named = cases.map(([name, channel, updates, value, functions = {}]) => ({
    name,
    channel,
    updates,
    value,
    functions,
  }));
  test.each(named)("$name", async ({ channel, updates, value, functions }) => {
    const { result, x, version } = await afterWrites(channel, updates, functions);
    expect(result).toMatchObject({ status: "completed", error: null });
    expect(x).toEqual(value);
    expect(version).toBe(updates.length);
  });

  const wrong: readonly (readonly [string, string, unknown, string, FunctionRegistry?])[] = [
    ["C48: a text for a number", "int = 0", "1", "NG_BAD_RESULT"],
    ["C48: a fraction for a whole number", "int = 0", 1.5, "NG_BAD_RESULT"],
    ["C48: a wrong item", "string[] = [] reduce append", ["a", 5], "NG_BAD_RESULT"],
    ["C48: nothing", "json = null", undefined, "NG_BAD_RESULT"],
    ["C48: no JSON", "json = null", new Map(), "NG_BAD_RESULT"],
    ["C48: not a number", "float = 0", Number.NaN, "NG_BAD_RESULT"],
    ["C47: a sum beyond what is exact", "int = 9007199254740991 reduce sum", 1, "NG_REDUCER_FAILED"],
    [
      "C47: a reducer that throws",
      "int = 0 reduce r",
      1,
      "NG_REDUCER_FAILED",
      {
        r: () => {
          throw new Error("no");
        },
      },
    ],
    ["C47: a reducer of another type", "int = 0 reduce r", 1, "NG_REDUCER_FAILED", { r: () => "x" }],
    ["C47: a reducer that is late", "int = 0 reduce r", 1, "NG_REDUCER_FAILED", { r: async () => 1 }],
    [
      "C47: a reducer that mutates",
      "int[] = [] reduce r",
      [1],
      "NG_REDUCER_FAILED",
      { r: (a: number[]) => (a.push(1), a) },
    ],
  ];
  const failing = wrong.map(([name, channel, update, code, functions = {}]) => ({
    name,
    channel,
    update,
    code,
    functions,
  }));
  test.each(failing)(
    "$name fails the run, and the update is not kept",
    async ({ channel, update, code, functions }) => {
      const start = (await engineOf(`graph g { output x: ${channel}  start -> end }`, functions).run({})).output["x"];
      const { result, x, version } = await afterWrites(channel, [update], functions);
      expect(result).toMatchObject({ status: "failed", error: { code }, steps: [] });
      expect(result.error?.message).toContain("`x`");
      expect([x, version]).toEqual([start, 0]);
    },
  );

  test("C47: ten parallel nodes, a hundred times each", async () => {
    const nodes = Array.from({ length: 10 }, (_, index) => `w${index}`);
    const engine = engineOf(`graph g { limit steps none  output x: int = 0 reduce sum  state n: int = 0 reduce sum
      ${nodes.map((node) => `node ${node} = 1 into x`).join("  ")}  node count = 1 into n
      start -> ${nodes.join(", ")}, count
      ${[...nodes, "count"].map((node) => `${node} -> ${node} when n < 100  ${node} -> end otherwise`).join("  ")} }`);
    const result = await engine.run({});
    expect(result.output).toEqual({ x: 1000 });
    expect(result.steps).toHaveLength(100);
  });

  test("C47, C78: a thousand tasks of one node, which end in random order", async () => {
    const engine = engineOf(
      `graph g { input items: int[]  output x: int = 0 reduce sum  output all: int[] = [] reduce append
        node every = work(item) for item in items into all  node add = len(all) into x  start -> every -> add }`,
      {
        work: async (n: number) => {
          for (let turn = n % 7; turn > 0; turn--) await undefined;
          return n;
        },
      },
    );
    const items = Array.from({ length: 1000 }, (_, n) => n);
    expect((await engine.run({ items })).output).toEqual({ x: 1000, all: items });
  });

  test.each([
    ["none", "NG_CONCURRENT_WRITE"],
    ["last", 2],
    ["sum", 3],
    ["max", 2],
    ["min", 0],
  ])("C43, C78: two writers in one step, reducer %s: in the order of declaration", async (reducer, expected) => {
    const reduce = reducer === "none" ? "" : `reduce ${reducer}`;
    const engine = engineOf(`graph g { output x: int = 0 ${reduce}  node a = 1 into x  node b = 2 into x
      start -> b, a  any(a, b) -> end }`);
    const result = await engine.run({});
    expect(result.error?.code ?? result.output["x"]).toBe(expected);
  });
});

describe("edits", () => {
  const EDITED = `graph g { output log: string[] = ["i"] reduce append  output n: int = 0 reduce sum  output s: string = "a"
    node a = 1 into n  node b = 1 into n { pause before }  start -> a -> b -> end }`;

  test("C50, C67: through the reducers, or in place of the old value; in order; the next nodes stay", async () => {
    const engine = engineOf(EDITED, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const edits: readonly (readonly [Record<string, never>, boolean, object])[] = [
      [{ log: ["x"], n: 5, s: "z" } as never, false, { log: ["i", "x"], n: 6, s: "z" }],
      [{ log: "y" } as never, false, { log: ["i", "x", "y"], n: 6, s: "z" }],
      [{ log: ["only"], n: 0 } as never, true, { log: ["only"], n: 0, s: "z" }],
      [{ log: ["more"] } as never, false, { log: ["only", "more"], n: 0, s: "z" }],
      [{}, false, { log: ["only", "more"], n: 0, s: "z" }],
    ];
    for (const [values, replace, expected] of edits) {
      await engine.update("t", values, { replace });
      expect(await engine.state("t")).toMatchObject({ state: expected, next: ["b"], status: "paused" });
    }
    expect((await engine.history("t")).map(({ phase }) => phase)).toEqual([
      ...edits.map(() => "updated"),
      "before",
      "input",
    ]);
    expect((await engine.resume("t")).output).toEqual({ log: ["only", "more"], n: 1, s: "z" });
  });

  test("C50: as a node: the next nodes follow from its edges", async () => {
    const engine = engineOf(EDITED, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await engine.resume("t");
    await engine.update("t", { n: 10 }, { as: "a" });
    expect(await engine.state("t")).toMatchObject({ next: ["b"], status: "running", state: { n: 12 } });
    expect((await engine.resume("t")).status).toBe("paused");
    expect((await engine.resume("t")).output).toMatchObject({ n: 13 });
  });

  test.each<readonly [string, unknown, object, RegExp]>([
    ["an unknown channel", { m: 1 }, {}, /`m` is not a channel.*`log`/],
    ["a value that does not fit", { n: "x" }, {}, /`n`: expected int, found "x"/],
    ["a scalar for a whole list", { log: "x" }, { replace: true }, /`log`: expected string\[\]/],
    ["an unknown node", { n: 1 }, { as: "ghost" }, /no node `ghost`/],
    ["a list", [], {}, /a record/],
  ])("C50: %s is refused, and nothing is written", async (_name, values, options, message) => {
    const engine = engineOf(EDITED, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.update("t", values as never, options)).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringMatching(message) as string,
    });
    expect(await engine.history("t")).toHaveLength(2);
  });

  test("C46: a channel without `memory` starts again in the next run", async () => {
    const text = `graph g { input q: string  state scratch: string[] = [] reduce append  memory kept: string[] = [] reduce append
      node a = q into scratch  node b = q into kept  start -> a -> b }`;
    const engine = engineOf(text, {}, { store: new MemoryStore() });
    await engine.run({ q: "1" }, { thread: "t" });
    expect((await engine.run({ q: "2" }, { thread: "t" })).state).toMatchObject({ scratch: ["2"], kept: ["1", "2"] });
  });

  test("C49: each channel counts its own versions", async () => {
    const engine = engineOf(
      `graph g { output x: int = 0  output y: int = 0  output z: int = 0  node a = 1 into x  node b = 1 into y  node c = 2 into x  start -> a -> b -> c }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const versions = (await engine.history("t")).map((checkpoint) => checkpoint.versions);
    expect(versions).toEqual([{ x: 2, y: 1 }, { x: 1, y: 1 }, { x: 1 }, {}]);
  });
});

describe("C53: routing on messages, without named conditions", () => {
  const chat = (messages: readonly object[]) =>
    engineOf(`graph g { input messages: { role: "user" | "assistant", content: string, tool_calls?: json[] }[]
      output way: string = ""  node tools = "tools" into way  node answer = "answer" into way  node look = 1
      start -> look
      look -> tools when len(last([m for m in messages if m.role == "assistant"])?.tool_calls ?? []) > 0
      look -> answer otherwise  any(tools, answer) -> end }`).run({ messages: messages as never });
  const user = { role: "user", content: "hi" };
  const calls = { role: "assistant", content: "", tool_calls: [{ name: "f" }] };
  const plain = { role: "assistant", content: "hello" };
  test.each<readonly [string, readonly object[], string]>([
    ["no message", [], "answer"],
    ["only the user's", [user], "answer"],
    ["tool calls", [user, calls], "tools"],
    ["none", [user, plain], "answer"],
    ["an empty list of them", [user, { ...plain, tool_calls: [] }], "answer"],
    ["older ones", [user, calls, user, plain], "answer"],
    ["the user's turn after them", [calls, user], "tools"],
  ])("%s", async (_name, messages, way) => {
    expect((await chat(messages)).output).toEqual({ way });
  });
});

describe("C70: tries", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const unstable = (failures: number) => (context: NodeContext) => (context.attempt <= failures ? boom() : 5);
  const cases: readonly (readonly [string, string, (context: NodeContext) => unknown, number, boolean])[] = [
    ["none", "", boom, 1, false],
    ["three, always failing", "{ tries 3 backoff 1ms..1ms }", boom, 3, false],
    ["three, failing twice", "{ tries 3 backoff 1ms..1ms }", unstable(2), 3, true],
    ["three, failing once", "{ tries 3 backoff 1ms..1ms }", unstable(1), 2, true],
    ["three, never failing", "{ tries 3 backoff 1ms..1ms }", unstable(0), 1, true],
    ["two, failing twice", "{ tries 2 backoff 1ms..1ms }", unstable(2), 2, false],
    ["one", "{ tries 1 }", boom, 1, false],
    [
      "a permanent error",
      "{ tries 5 }",
      () => {
        throw Object.assign(new Error("no"), { retryable: false });
      },
      1,
      false,
    ],
    ["a result that does not fit", "{ tries 5 }", () => "x", 1, false],
    ["a rejection", "{ tries 2 backoff 1ms..1ms }", () => Promise.reject(new TypeError("late")), 2, false],
    [
      "a thrown string",
      "{ tries 2 backoff 1ms..1ms }",
      () => {
        throw "text";
      },
      2,
      false,
    ],
    [
      "a thrown undefined",
      "{ tries 2 backoff 1ms..1ms }",
      () => {
        throw undefined;
      },
      2,
      false,
    ],
  ];
  test.each(cases)("%s", async (_name, policy, body, attempts, succeeds) => {
    const events: RunEvent[] = [];
    let runs = 0;
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g { output x: int = 0  node a = a() into x ${policy}  start -> a }`,
      { a: (context: NodeContext) => (runs++, body(context)) },
      { clock, onEvent: (event) => events.push(event) },
    );
    const result = await clock.until(engine.run({}));
    expect(runs).toBe(attempts);
    expect(result.status).toBe(succeeds ? "completed" : "failed");
    const phases = events.flatMap((event) => (event.type === "node" ? [event.phase] : []));
    expect(phases.filter((phase) => phase === "start")).toHaveLength(attempts);
    expect(phases.filter((phase) => phase === "retry")).toHaveLength(attempts - 1);
    expect(phases.filter((phase) => phase === "error")).toHaveLength(succeeds ? 0 : 1);
    if (succeeds) return;
    const { error } = result;
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toMatchObject({ nodeId: "a", attempts });
    expect(events.find((event) => event.type === "node" && event.phase === "error")).toMatchObject({
      attempt: attempts,
      error: { node: "a", attempts, message: error!.message },
    });
  });

  test("the cause is the thrown value", async () => {
    const cause = new Error("the cause");
    const engine = engineOf(`graph g { node a = a() { tries 2 backoff 1ms..1ms }  start -> a }`, {
      a: () => {
        throw cause;
      },
    });
    expect((await engine.run({})).error).toMatchObject({ code: "NG_NODE_FAILED", cause, attempts: 2 });
  });

  test.each([0, 0.5, 1])("waits grow from the first to the longest delay, jitter %f", async (jitter) => {
    const clock = new VirtualClock();
    const delays: number[] = [];
    const engine = engineOf(
      `graph g { node a = a() { tries 6 backoff 100ms..1s }  start -> a }`,
      { a: boom },
      {
        clock,
        random: () => jitter,
        onEvent: (event) => event.type === "node" && event.phase === "retry" && delays.push(event.delayMs),
      },
    );
    await clock.until(engine.run({}));
    expect(delays).toHaveLength(5);
    expect(delays[0]).toBeGreaterThanOrEqual(100);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1000);
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  });

  test("a policy of a node applies to this node alone", async () => {
    const runs = { a: 0, b: 0 };
    const engine = engineOf(
      `graph g { node a = a() { tries 3 backoff 1ms..1ms }  node b = b()  start -> a, b  any(a, b) -> end }`,
      { a: async () => (runs.a++, boom()), b: async () => (runs.b++, boom()) },
    );
    expect((await engine.run({})).error).toMatchObject({ nodeId: "a" });
    expect(runs).toEqual({ a: 3, b: 1 });
  });
});
