/** langgraph-go's cases of nodes in a row and of step limits (LG-16 to LG-25, LG-34, LG-35), and similar ones. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../api/index.ts";
import type { FunctionRegistry, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine, findingsOf } from "../support/compiled-engine.ts";

/**
 * langgraph-go's state: a text whose last non-empty value wins, and a counter with a sum. The first node sets the start
 * values.
 */
export const STATE = `input word: string = ""  input from: int = 0
  output value: string = ""  output counter: int = 0 reduce sum
  node set = { value: word, counter: from } into { value, counter }  start -> set`;

/** A row of `count` nodes; the i-th adds `of(i)`. */
function row(count: number, of: (index: number) => number = (index) => index + 1): string {
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  return `graph g { output counter: int = 0 reduce sum
    ${names.map((name, index) => `node ${name} = ${of(index)} into counter`).join("  ")}
    ${count === 1 ? "start -> n1" : `start -> ${names.join(" -> ")}`} }`;
}

describe("nodes in a row", () => {
  interface Case {
    readonly name: string;
    readonly text: string;
    readonly functions?: FunctionRegistry;
    readonly begin: readonly [word: string, from: number];
    readonly end: readonly [value: string, counter: number];
  }
  const cases: readonly Case[] = [
    { name: "LG-16: one", text: `node a = 1 into counter  set -> a`, begin: ["start", 0], end: ["start", 1] },
    { name: "LG-16: one that takes away", text: `node a = -7 into counter  set -> a`, begin: ["x", 5], end: ["x", -2] },
    {
      name: "LG-17: three",
      text: `node n1 = { value: "node1", counter: 1 } into { value, counter }  node n2 = 10 into counter
        node n3 = "complete" into value  set -> n1 -> n2 -> n3`,
      begin: ["initial", 0],
      end: ["complete", 11],
    },
    {
      name: "LG-17: each sees what those before it wrote",
      text: `node n1 = \`\${value}1\` into value  node n2 = \`\${value}2\` into value  node n3 = counter * 2 into counter
        node n4 = \`\${value}:\${counter}\` into value  set -> n1 -> n2 -> n3 -> n4`,
      begin: ["n", 21],
      end: ["n12:63", 63],
    },
    {
      name: "LG-24: one that writes nothing",
      text: `node a = 1  set -> a`,
      begin: ["initial", 5],
      end: ["initial", 5],
    },
    {
      name: "LG-24: code that returns nothing",
      text: `node a = nothing()  node b = nothing()  set -> a -> b`,
      functions: { nothing: () => undefined },
      begin: ["initial", 5],
      end: ["initial", 5],
    },
    { name: "LG-24: zero is added", text: `node a = 0 into counter  set -> a`, begin: ["w", 5], end: ["w", 5] },
    { name: "LG-25: zero values are values", text: `node a = 1  set -> a`, begin: ["", 0], end: ["", 0] },
    {
      name: "LG-25: an empty text replaces another",
      text: `node a = "" into value  set -> a`,
      begin: ["full", 0],
      end: ["", 0],
    },
  ];
  test.each(cases)("$name", async ({ text, functions, begin: [word, from], end: [value, counter] }) => {
    const result = await compiledEngine(`graph g { ${STATE}  ${text} }`, functions).run({ word, from });
    expect(result).toMatchObject({ status: "completed", output: { value, counter }, error: null });
  });

  test("LG-17: a custom reducer: the last non-empty text wins", async () => {
    const functions = { nonEmpty: (current: string, update: string) => (update === "" ? current : update) };
    const text = `graph g { output value: string = "" reduce nonEmpty  node a = "node1" into value  node b = "" into value
      node c = "node3" into value  node d = "" into value  start -> a -> b -> c -> d }`;
    expect((await compiledEngine(text, functions).run({})).output).toEqual({ value: "node3" });
  });

  test.each([
    ["LG-18", 3, (index: number) => 10 ** index, 111],
    ["LG-18", 1, () => 7, 7],
    ["LG-18", 12, (index: number) => index, 66],
  ])("%s: of %i the newest state is stored with its step, counted from 0", async (_name, count, of, counter) => {
    const store = new MemoryStore();
    const engine = compiledEngine(row(count, of), {}, { store });
    const { checkpointId } = await engine.run({}, { thread: "run" });
    expect(store.loadLatest("run")).toMatchObject({ id: checkpointId, step: count - 1, values: { counter } });
    expect(await engine.state("run")).toMatchObject({ step: count - 1, state: { counter }, next: [] });
    const steps = (await engine.history("run")).map(({ step }) => step);
    expect(steps).toEqual(Array.from({ length: count + 1 }, (_, index) => count - 1 - index));
  });

  test.each(["Error: disk full", "no Error at all"])("LG-19: a store that cannot save: %s", async (what) => {
    const failing = what.startsWith("Error") ? new Error("disk full") : "disk full";
    for (const at of [1, 2, 3, 4]) {
      const store = new MemoryStore();
      const save = store.save.bind(store);
      let saves = 0;
      const ran: number[] = [];
      const broken = Object.assign(store, {
        save: (...args: Parameters<typeof save>) => {
          if (++saves === at) throw failing;
          save(...args);
        },
      });
      const engine = compiledEngine(
        `graph g { node a = note(1)  node b = note(2)  node c = note(3)  start -> a -> b -> c }`,
        { note: (node: number) => void ran.push(node) },
        { store: broken },
      );
      await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
        name: "StoreError",
        code: "NG_STORE_FAILED",
        message: expect.stringContaining("disk full") as string,
      });
      // The first save has the input: no node has run.
      expect(ran).toEqual([1, 2, 3].slice(0, at - 1));
    }
  });
});

describe("limits", () => {
  test.each([
    ["LG-20: five, three steps", 5, 3, "limit", 6],
    ["LG-20: two, one step", 2, 1, "limit", 1],
    ["LG-20: one, no step", 1, 0, "limit", 0],
    ["LG-20: a hundred and one, a hundred steps", 101, 100, "limit", 5050],
    ["LG-20: a hundred and one, as it is without a word", 101, undefined, "limit", 5050],
    ["LG-21: three, ten steps", 3, 10, "completed", 6],
    ["LG-22: a hundred, no limit", 100, null, "completed", 5050],
    ["LG-22: a thousand, no limit", 1000, null, "completed", 500_500],
    ["LG-22: a hundred, as it is without a word", 100, undefined, "completed", 5050],
    ["LG-23: three, three steps", 3, 3, "completed", 6],
    ["LG-23: one, one step", 1, 1, "completed", 1],
  ])("%s", async (_name, count, maxSteps, status, counter) => {
    const result = await compiledEngine(row(count)).run({}, maxSteps === undefined ? {} : { maxSteps });
    expect(result).toMatchObject({ status, output: { counter } });
    expect(result.steps).toHaveLength(Math.min(count, maxSteps ?? (maxSteps === null ? count : 100)));
    if (status === "completed") expect(result.error).toBeNull();
    else expect(result.error).toMatchObject({ name: "RunError", code: "NG_STEP_LIMIT" });
  });

  test("LG-22: `limit steps none` in the text", async () => {
    const text = row(150).replace("{", "{ limit steps none");
    expect(await compiledEngine(text).run({})).toMatchObject({ status: "completed", output: { counter: 11_325 } });
  });

  const LOOP = `graph g { output counter: int = 0 reduce sum  node a = 1 into counter  node b = 1 into counter
    start -> a  a -> b when counter < 6  a -> end otherwise  b -> a }`;
  test.each([
    [1, "limit"],
    [6, "limit"],
    [7, "completed"],
    [10, "completed"],
  ])("LG-34: a loop of two that needs seven steps, with %i", async (maxSteps, status) => {
    const result = await compiledEngine(LOOP).run({}, { maxSteps });
    expect(result).toMatchObject({ status, output: { counter: Math.min(maxSteps, 7) } });
    expect(result.steps.flat().join("")).toBe("abababa".slice(0, maxSteps));
  });

  test("LG-35: a loop without an exit does not compile", () => {
    const text = `graph g { node a = print("a")  node b = print("b")  start -> a -> b -> a }`;
    expect(findingsOf(text)).toEqual(["NG204:error"]);
  });

  const ENDLESS = `graph g { output counter: int = 0 reduce sum  node a = a() into counter { goes b }  node b = 1 into counter
    start -> a -> end  b -> a }`;
  const functions = { a: (context: NodeContext) => (context.goto("b"), 1) };
  test.each([1, 2, 5, 99])(
    "LG-35: an endless loop ends after %i steps, and continues with a higher limit",
    async (maxSteps) => {
      const engine = compiledEngine(ENDLESS, functions, { store: new MemoryStore() });
      const result = await engine.run({}, { thread: "t", maxSteps });
      expect(result).toMatchObject({
        status: "limit",
        output: { counter: maxSteps },
        error: { code: "NG_STEP_LIMIT" },
      });
      expect(result.error?.message).toMatch(maxSteps === 1 ? /limit of 1 step is/ : /limit of \d+ steps is/);
      expect(result.error?.message).toContain(maxSteps % 2 === 0 ? "`a`" : "`b`");
      expect(await engine.resume("t", { maxSteps })).toMatchObject({ status: "limit", steps: [] });
      const more = await engine.resume("t", { maxSteps: maxSteps + 3 });
      expect(more).toMatchObject({ status: "limit", output: { counter: maxSteps + 3 } });
      expect(more.steps).toHaveLength(3);
    },
  );

  test("LG-66: a limit is not a failure of a node", async () => {
    const events: RunEvent[] = [];
    await compiledEngine(row(5), {}, { onEvent: (event) => events.push(event) }).run({}, { maxSteps: 2 });
    expect(events.filter((event) => event.type === "node" && event.phase === "error")).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "run",
      phase: "end",
      status: "limit",
      error: { code: "NG_STEP_LIMIT" },
    });
  });
});
