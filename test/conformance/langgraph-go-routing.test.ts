/**
 * langgraph-go's cases of routing (LG-26 to LG-40), and similar ones. langgraph-go takes the first condition that is
 * true; here conditions are independent with `when`, and exclusive and ordered with `match`.
 */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../api/index.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine, findingsOf } from "../support/compiled-engine.ts";

interface Case {
  readonly name: string;
  readonly text: string;
  readonly functions?: FunctionRegistry;
  readonly from?: number;
  readonly ran: string;
  readonly counter: number;
}

/** A run that begins with `from`; steps are separated by `>`, nodes of one step by `+`. */
async function runOf({ text, functions, from = 0 }: Omit<Case, "name" | "ran" | "counter">) {
  const engine = compiledEngine(
    `graph g { input from: int  output counter: int = 0 reduce sum  node set = from into counter  start -> set  ${text} }`,
    functions,
  );
  const result = await engine.run({ from });
  return {
    result,
    ran: result.steps
      .slice(1)
      .map((step) => step.join("+"))
      .join(">"),
  };
}

const adding = (amounts: Readonly<Record<string, number>>): string =>
  Object.entries(amounts)
    .map(([name, amount]) => `node ${name} = ${amount} into counter`)
    .join("  ");

describe("conditions", () => {
  const TO_TARGET = `${adding({ source: 10, target: 20 })}  set -> source
    source -> target when counter >= 10  source -> end otherwise`;
  const INDEPENDENT = `${adding({ a: 0, t1: 100, t2: 200, o: 1 })}  set -> a
    a -> t1 when counter >= 10  a -> t2 when counter >= 20  a -> o otherwise  any(t1, t2, o) -> end`;
  const ARMS = `${adding({ a: 0, t1: 100, t2: 200, t3: 300 })}  set -> a
    a -> match { counter >= 50 -> t1  counter >= 30 -> t2  counter >= 10 -> t3  else -> end }  any(t1, t2, t3) -> end`;
  const cases: readonly Case[] = [
    { name: "LG-26: sees the state after the step", text: TO_TARGET, ran: "source>target", counter: 30 },
    { name: "LG-26: at its boundary", text: TO_TARGET, from: -1, ran: "source", counter: 9 },
    { name: "LG-27: with a way for the rest", text: TO_TARGET, from: -5, ran: "source", counter: 5 },
    { name: "LG-29: none at all", text: `${adding({ a: 1, b: 2 })}  set -> a -> b`, ran: "a>b", counter: 3 },
    { name: "LG-31: two that hold: both", text: INDEPENDENT, from: 50, ran: "a>t1+t2", counter: 350 },
    { name: "LG-31: the first alone", text: INDEPENDENT, from: 15, ran: "a>t1", counter: 115 },
    { name: "LG-31: none: otherwise", text: INDEPENDENT, from: 9, ran: "a>o", counter: 10 },
    { name: "LG-31: as arms, the first of two that hold", text: ARMS, from: 60, ran: "a>t1", counter: 160 },
    { name: "LG-32: as arms, the second", text: ARMS, from: 49, ran: "a>t2", counter: 249 },
    { name: "LG-32: as arms, the last", text: ARMS, from: 15, ran: "a>t3", counter: 315 },
    { name: "LG-32: as arms, at the boundary", text: ARMS, from: 10, ran: "a>t3", counter: 310 },
    { name: "LG-32: as arms, none", text: ARMS, from: 9, ran: "a", counter: 9 },
    {
      name: "LG-33: a plain edge beside one whose condition holds: both",
      text: `${adding({ a: 0, t1: 100, t2: 200 })}  set -> a  a -> t1  a -> t2 when counter >= 5  any(t1, t2) -> end`,
      from: 10,
      ran: "a>t1+t2",
      counter: 310,
    },
    {
      name: "LG-33: a plain edge beside one whose condition does not hold",
      text: `${adding({ a: 0, t1: 100, t2: 200 })}  set -> a  a -> t1  a -> t2 when counter >= 5  any(t1, t2) -> end`,
      from: 4,
      ran: "a>t1",
      counter: 104,
    },
    {
      name: "LG-33: an arm before a more exact one takes all",
      text: `${adding({ a: 0, t1: 100, t2: 200 })}  set -> a
        a -> match { counter >= 5 -> t1  counter >= 1 -> t2  else -> end }  any(t1, t2) -> end`,
      from: 10,
      ran: "a>t1",
      counter: 110,
    },
    {
      name: "LG-32: two conditions with one target run it once",
      text: `${adding({ a: 0, t: 100 })}  set -> a  a -> t when counter > 1  a -> t when counter > 2  a -> end otherwise  t -> end`,
      from: 9,
      ran: "a>t",
      counter: 109,
    },
  ];
  test.each(cases)("$name", async ({ ran, counter, ...given }) => {
    const found = await runOf(given);
    expect(found.result).toMatchObject({ status: "completed", output: { counter }, error: null });
    expect(found.ran).toBe(ran);
  });
});

describe("no open route", () => {
  const around = (edges: string): string =>
    `graph g { input from: int  state counter: int = 0  node source = from + 1 into counter  node target = print("t")
       start -> source  ${edges}  target -> end }`;
  test.each([
    ["LG-27, LG-38: one condition that need not hold", `source -> target when counter >= 10`, ["NG515:error"]],
    ["LG-38: one that cannot hold", `source -> target when counter >= 10 && counter < 10`, ["NG515:error"]],
    ["LG-38: a gap between two", `source -> target when counter > 9  source -> end when counter < 9`, ["NG515:error"]],
    ["LG-38: arms without `else`", `source -> match { counter > 9 -> target }`, ["NG515:error"]],
    ["LG-38: arms for some values", `source -> match counter { 1 -> target  2 -> end }`, ["NG501:error"]],
  ])("%s does not compile", (_name, edges, found) => {
    expect(findingsOf(around(edges))).toEqual(expect.arrayContaining(found));
  });

  test("LG-38: conditions that leave nothing open compile", () => {
    expect(findingsOf(around(`source -> target when counter > 9  source -> end when counter <= 9`))).toEqual([]);
  });

  // Each is treated as the opposite of the other, which results of a function need not be.
  const BY_CODE = `graph g { output counter: int = 0 reduce sum  node source = 5 into counter  node target = 20 into counter
    node other = 30 into counter  start -> source  source -> target when holds(counter)  source -> other when !holds(counter) }`;
  const flipping = (): (() => boolean) => {
    let calls = 0;
    return () => ++calls % 2 === 0;
  };
  test.each<[string, () => unknown, string, string]>([
    ["says one thing, then another", flipping(), "NG_NO_ROUTE", "`holds(counter)` does not hold"],
    ["is no condition", () => "yes", "NG_CONDITION", "expected a bool"],
    ["is nothing", () => undefined, "NG_CONDITION", "undefined"],
    ["is late", () => Promise.resolve(true), "NG_CONDITION", "Promise"],
    [
      "throws",
      () => {
        throw new Error("condition broke");
      },
      "NG_CONDITION",
      "condition broke",
    ],
  ])("LG-27: what code decides may have none: it %s", async (_name, holds, code, word) => {
    const store = new MemoryStore();
    const engine = compiledEngine(BY_CODE, { holds }, { store });
    const result = await engine.run({}, { thread: "t" });
    // The writes of the node are applied: the step is done, only its route is open.
    expect(result).toMatchObject({ status: "failed", output: { counter: 5 }, steps: [["source"]] });
    expect(result.error).toMatchObject({ name: "NodeError", code, nodeId: "source" });
    expect(result.error?.message).toContain("`source`");
    expect(result.error?.message).toContain(word);
    expect(await engine.state("t")).toMatchObject({ status: "failed", step: 0, state: { counter: 5 } });
    const mended = compiledEngine(BY_CODE, { holds: () => true }, { store });
    expect(await mended.resume("t")).toMatchObject({
      status: "completed",
      output: { counter: 25 },
      steps: [["target"]],
    });
  });

  test.each([
    ["LG-38: a node without edges ends its branch", `node a = 1 into counter  set -> a`, "a"],
    [
      "LG-38: and no other",
      `node a = 1 into counter  node b = 0 into counter  node c = 0 into counter  set -> a, b  b -> c`,
      "a+b>c",
    ],
  ])("%s", async (_name, text, ran) => {
    const found = await runOf({ text });
    expect([found.result.status, found.ran, found.result.output["counter"]]).toEqual(["completed", ran, 1]);
  });
});

describe("jumps", () => {
  const AROUND = `node a = a() into counter { goes x, y, a, end }  ${adding({ b: 1, x: 100, y: 1000 })}
    set -> a -> b -> end  any(x, y) -> end`;
  const jumping = (jump: (context: NodeContext) => unknown): FunctionRegistry => ({
    a: (context: NodeContext) => (jump(context), 10),
  });
  test.each<[string, (context: NodeContext) => unknown, string, number]>([
    ["LG-28: over an edge that always holds", ({ goto }) => goto("x"), "a>x", 110],
    ["LG-28: to two", ({ goto }) => goto("x", "y"), "a>x+y", 1110],
    ["LG-28: to one twice", ({ goto }) => goto("x", "x"), "a>x", 110],
    ["LG-28: the last of two counts", ({ goto }) => [goto("x"), goto("y")], "a>y", 1010],
    ["LG-28: to the end", ({ goto }) => goto("end"), "a", 10],
    ["LG-28: to itself, some times", ({ goto, step }) => step < 3 && goto("a"), "a>a>a>b", 31],
    ["LG-28: exclusively", ({ goto }) => goto("x", { exclusive: true }), "a>x", 110],
    ["LG-28: none", () => undefined, "a>b", 11],
    ["LG-37: stop instead of an edge", ({ stop }) => stop(), "a", 10],
    ["LG-37: stop after a jump", ({ goto, stop }) => [goto("x"), stop()], "a", 10],
    ["LG-37: a jump after stop", ({ goto, stop }) => [stop(), goto("x")], "a>x", 110],
  ])("%s", async (_name, jump, ran, counter) => {
    const found = await runOf({ text: AROUND, functions: jumping(jump) });
    expect([found.result.status, found.ran, found.result.output["counter"]]).toEqual(["completed", ran, counter]);
    const awaited = await runOf({
      text: AROUND,
      functions: { a: async (context: NodeContext) => (await Promise.resolve(), jump(context), 10) },
    });
    expect(awaited.ran).toBe(ran);
  });

  test.each<[string, (context: NodeContext) => unknown, readonly string[]]>([
    ["LG-30: that is not there", ({ goto }) => goto("nonexistent"), ["nonexistent", "no such node"]],
    ["LG-30: that was not declared", ({ goto }) => goto("b"), ["`b`", "goes b", "`x`"]],
    ["LG-30: of a wrong kind", ({ goto }) => goto(5 as never), ["number"]],
    ["LG-30: given as a list", ({ goto }) => goto(["x"] as never), ["list"]],
    ["LG-30: given as null", ({ goto }) => goto(null as never), ["null"]],
    ["LG-48: beside one that is there", ({ goto }) => goto("x", "nonexistent"), ["nonexistent"]],
    [
      "LG-30: and the node ignores it",
      ({ goto }) => {
        try {
          goto("nonexistent");
        } catch {
          goto("x");
        }
      },
      ["nonexistent"],
    ],
  ])("%s fails the node, and nothing of it is applied", async (_name, jump, words) => {
    const { result } = await runOf({ text: AROUND, functions: jumping(jump), from: 7 });
    expect(result).toMatchObject({ status: "failed", output: { counter: 7 }, steps: [["set"]] });
    expect(result.error).toMatchObject({ name: "NodeError", code: "NG_UNDECLARED_GOTO", nodeId: "a" });
    for (const word of words) expect(result.error?.message).toContain(word);
  });

  test.each([
    ["a plain edge", `a -> b`],
    ["edges to two", `a -> b, x`],
    ["conditions", `a -> b when counter > 0  a -> x otherwise`],
    ["arms", `a -> match { counter > 0 -> b  else -> x }`],
  ])("LG-37: stop takes none of the edges: %s", async (_name, edges) => {
    const text = `node a = a() into counter { goes end }  ${adding({ b: 1, x: 100 })}  set -> a  ${edges}  b -> end  ${edges.includes("x") ? "x -> end" : "a -> x"}`;
    const { result, ran } = await runOf({ text, functions: { a: ({ stop }: NodeContext) => (stop(), 42) } });
    expect([result.status, ran, result.output["counter"]]).toEqual(["completed", "a", 42]);
  });
});

describe("loops", () => {
  const UNTIL = (edges: string): string =>
    `${adding({ a: 1, b: 1, exit: 100 })}  set -> a  ${edges}  b -> a  exit -> end`;
  const GENERATE = (amount: number): string => `${adding({ generate: amount, refine: 20, validate: 1, fallback: 0 })}
    set -> generate
    generate -> match { counter < 50 -> fallback  counter < 80 -> refine  else -> validate }
    refine -> validate -> end  fallback -> end`;
  const cases: readonly Case[] = [
    {
      name: "LG-34: of two, that ends by itself",
      text: UNTIL(`a -> b when counter < 6  a -> exit otherwise`),
      ran: "a>b>a>b>a>b>a>exit",
      counter: 107,
    },
    {
      name: "LG-34: that begins behind its end",
      text: UNTIL(`a -> b when counter < 6  a -> exit otherwise`),
      from: 9,
      ran: "a>exit",
      counter: 110,
    },
    {
      name: "LG-36: with an exit",
      text: UNTIL(`a -> b when counter < 5  a -> exit when counter >= 5`),
      ran: "a>b>a>b>a>exit",
      counter: 105,
    },
    {
      name: "LG-36: that begins with another number",
      text: UNTIL(`a -> b when counter < 5  a -> exit when counter >= 5`),
      from: 3,
      ran: "a>b>a>exit",
      counter: 106,
    },
    { name: "LG-39: generate, refine, validate", text: GENERATE(65), ran: "generate>refine>validate", counter: 86 },
    { name: "LG-39: good enough at once", text: GENERATE(80), ran: "generate>validate", counter: 81 },
    { name: "LG-39: hardly to be refined", text: GENERATE(50), ran: "generate>refine>validate", counter: 71 },
    { name: "LG-39: too bad", text: GENERATE(49), ran: "generate>fallback", counter: 49 },
    {
      name: "LG-40: until it is enough",
      text: `${adding({ process: 1, validate: 0, complete: 100 })}  set -> process -> validate
        validate -> complete when counter >= 5  validate -> process when counter < 5  complete -> end`,
      ran: `${"process>validate>".repeat(5)}complete`,
      counter: 105,
    },
    {
      name: "LG-40: of one node",
      text: `${adding({ process: 3 })}  set -> process  process -> process when counter < 10  process -> end otherwise`,
      ran: "process>process>process>process",
      counter: 12,
    },
  ];
  test.each(cases)("$name", async ({ ran, counter, ...given }) => {
    const found = await runOf(given);
    expect(found.result).toMatchObject({ status: "completed", output: { counter } });
    expect(found.ran).toBe(ran);
  });
});
