/** Execution, 3.4: `settled(a, b) -> c` waits for the members that can still signal. */
import { describe, expect, test } from "vitest";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import { prepareExpressions } from "../../runtime/expression/prepare-expressions.ts";
import { createScheduler, type NodeContext } from "../../runtime/index.ts";
import { BarrierState } from "../../runtime/routing/barrier-state.ts";
import { compileRouting, planStep, type Routing } from "../../runtime/routing/plan-step.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const evaluatorsOf = (table: Table) => prepareExpressions(table, [], compileExpression);

const NODES = ["plan", "a", "a2", "b", "b2", "c", "d"];

/** A graph whose nodes call `work` and do nothing else. */
function textOf(edges: string, goes: Readonly<Record<string, string>> = {}): string {
  const nodes = NODES.map(
    (name) => `node ${name} = work("${name}")${goes[name] === undefined ? "" : ` { ${goes[name]} }`}`,
  );
  return `graph g { input n: int = 0  ${nodes.join("\n")}\n${edges} }`;
}

async function stepsOf(
  edges: string,
  goes: Readonly<Record<string, string>> = {},
  work: (name: string, context: NodeContext) => unknown = () => undefined,
  input: { readonly n?: number } = {},
): Promise<readonly (readonly string[])[]> {
  const result = await engineOf(textOf(edges, goes), { work }).run(input, { maxSteps: 20 });
  expect([result.status, result.incompleteBarriers]).toEqual(["completed", []]);
  return result.steps;
}

describe("3.4: `settled` waits for the members that can still signal", () => {
  const choice = `start -> plan  plan -> a  plan -> b when n > 0  plan -> d otherwise  d -> end  settled(a, b) -> c`;

  test("all of them, if all run", async () => {
    expect(await stepsOf(choice, {}, undefined, { n: 1 })).toEqual([["plan"], ["a", "b"], ["c"]]);
  });

  test("those that run, if the others cannot run any more", async () => {
    expect(await stepsOf(choice, {}, undefined, { n: 0 })).toEqual([["plan"], ["a", "d"], ["c"]]);
  });

  test("over several steps, on a path with a condition that may not hold", async () => {
    const edges = (limit: number): string =>
      `start -> a, b  b -> b2  b2 -> a2 when n > ${limit}  b2 -> end otherwise  settled(a, a2) -> c`;
    expect(await stepsOf(edges(-1))).toEqual([["a", "b"], ["b2"], ["a2"], ["c"]]);
    expect(await stepsOf(edges(5))).toEqual([["a", "b"], ["b2"], ["c"]]);
  });

  test("not for itself: a path through a target does not count, a loop around it starts the next round", async () => {
    let rounds = 0;
    const steps = await stepsOf(`start -> plan -> a  settled(a, b) -> c -> d`, { d: "goes b, end" }, (name, context) =>
      name === "d" && rounds++ < 2 ? context.goto("b") : undefined,
    );
    expect(steps).toEqual([["plan"], ["a"], ["c"], ["d"], ["b"], ["c"], ["d"], ["b"], ["c"], ["d"]]);
  });

  test("a member that fails, jumps away or stops has not signalled", async () => {
    const edges = `start -> a, b  b -> b2 on error  settled(a, b) -> c`;
    const fails = (name: string): unknown => {
      if (name === "b") throw new Error("no");
      return undefined;
    };
    expect(await stepsOf(edges, {}, fails)).toEqual([
      ["a", "b"],
      ["b2", "c"],
    ]);
    const jumps = { b: "goes d, end" };
    const away = (name: string, context: NodeContext): unknown => (name === "b" ? context.goto("d") : undefined);
    expect(await stepsOf(`start -> a, b  settled(a, b) -> c`, jumps, away)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    const stops = (name: string, context: NodeContext): unknown => (name === "b" ? context.stop() : undefined);
    expect(await stepsOf(`start -> a, b  settled(a, b) -> c`, jumps, stops)).toEqual([["a", "b"], ["c"]]);
    const none = (name: string, context: NodeContext): unknown => (name === "d" ? undefined : context.stop());
    expect(await stepsOf(`start -> a, b  settled(a, b) -> c`, { a: "goes end", b: "goes end" }, none)).toEqual([
      ["a", "b"],
    ]);
  });

  test("an error edge and a handler are paths, too", async () => {
    const edges = `start -> a, b  b -> b2 on error  b2 -> a2  settled(a, a2) -> c`;
    const fails = (name: string): unknown => {
      if (name === "b") throw new Error("no");
      return undefined;
    };
    expect(await stepsOf(edges, {}, fails)).toEqual([["a", "b"], ["b2"], ["a2"], ["c"]]);
  });

  test("several signals of a member count once, and firing clears them", async () => {
    const again = `start -> a, b  b -> a, b2  b2 -> d  settled(a, d) -> c`;
    expect(await stepsOf(again)).toEqual([["a", "b"], ["a", "b2"], ["d"], ["c"]]);
    // The second run of a member that has signalled does not hold the barrier back: it starts the next round.
    const late = `start -> a, b  b -> b2  b2 -> a when n == 0  b2 -> d otherwise  settled(a, d) -> c`;
    expect(await stepsOf(late)).toEqual([["a", "b"], ["b2"], ["a", "c"], ["c"]]);
  });

  test("a member can be any of several nodes", async () => {
    const edges = `start -> a, b  b -> b2  b2 -> a2  settled(any(a, a2), b) -> c`;
    expect(await stepsOf(edges)).toEqual([["a", "b"], ["b2", "c"], ["a2"], ["c"]]);
  });

  test("sent tasks hold it back", async () => {
    const edges = `start -> a, plan  b -> b2  settled(a, b2) -> c`;
    const sends = (name: string, context: NodeContext): unknown => {
      if (name === "plan") context.send("b", 1);
      return undefined;
    };
    expect(await stepsOf(edges, { plan: "goes b" }, sends)).toEqual([["plan", "a"], ["b"], ["b2"], ["c"]]);
    expect(await stepsOf(edges, { plan: "goes b" })).toEqual([["plan", "a"], ["c"]]);
  });

  test("an exclusive jump drops the signals of its step, and does not keep the barrier waiting", async () => {
    const edges = `start -> a, plan  plan -> b  b -> b2  settled(a, b2) -> c`;
    const jump = (name: string, context: NodeContext): unknown =>
      name === "b" ? context.goto("d", { exclusive: true }) : undefined;
    expect(await stepsOf(edges, { b: "goes d" }, jump)).toEqual([["plan", "a"], ["b"], ["c", "d"]]);
  });

  test("it leads to `end`, and to several targets as one barrier", async () => {
    expect(await stepsOf(`start -> a, b  settled(a, b) -> end`)).toEqual([["a", "b"]]);
    const store = new MemoryStore();
    const engine = engineOf(
      textOf(`start -> a, b  b -> b2  settled(a, b2) -> c, d`),
      { work: () => undefined },
      { store },
    );
    const result = await engine.run({}, { thread: "t" });
    expect(result.steps).toEqual([["a", "b"], ["b2"], ["c", "d"]]);
    const states = [...store.list("t")].reverse().map(({ barrierState }) => barrierState);
    expect(states).toEqual([{}, { c: ["a"] }, {}, {}]);
  });
});

describe("3.4: `settled` never leaves a run incomplete", () => {
  test("of two that wait for each other, the first in declaration order fires", async () => {
    const stops = (name: string, context: NodeContext): unknown =>
      name === "c" || name === "d" ? context.stop() : undefined;
    const goes = { c: "goes end", d: "goes end" };
    expect(await stepsOf(`start -> a, b  settled(a, d) -> c  settled(b, c) -> d`, goes, stops)).toEqual([
      ["a", "b"],
      ["c"],
      ["d"],
    ]);
    expect(await stepsOf(`start -> a, b  settled(b, c) -> d  settled(a, d) -> c`, goes, stops)).toEqual([
      ["a", "b"],
      ["d"],
      ["c"],
    ]);
  });

  test("a barrier that cannot be complete holds it back only while nodes run", async () => {
    const engine = engineOf(textOf(`start -> a, b, plan  plan -> b2  all(b, d) -> a2  settled(a, a2) -> c`), {
      work: () => undefined,
    });
    const result = await engine.run({});
    expect(result.steps).toEqual([["plan", "a", "b"], ["b2"], ["c"]]);
    expect(result).toMatchObject({ status: "incomplete", incompleteBarriers: [{ target: "a2", arrived: ["b"] }] });
  });
});

describe("3.4: the state of the barrier is stored", () => {
  const edges = `start -> a, b  b -> b2  b2 -> a2 when n == 0  b2 -> d otherwise  settled(a, a2) -> c`;

  test("a gate in front of work holds it, and a resume continues", async () => {
    const engine = engineOf(
      textOf(edges, { b2: "pause before" }),
      { work: () => undefined },
      { store: new MemoryStore() },
    );
    const paused = await engine.run({}, { thread: "t" });
    expect([paused.status, paused.steps]).toEqual(["paused", [["a", "b"]]]);
    const result = await engine.resume("t", { answer: true });
    expect([result.status, result.steps]).toEqual(["completed", [["b2"], ["a2"], ["c"]]]);
  });

  test("a failed step keeps it, and the resume runs what is left", async () => {
    let fails = true;
    const work = (name: string): unknown => {
      if (name === "b2" && fails) throw new Error("no");
      return undefined;
    };
    const engine = engineOf(textOf(edges), { work }, { store: new MemoryStore() });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
    fails = false;
    expect((await engine.resume("t")).steps).toEqual([["b2"], ["a2"], ["c"]]);
  });

  test("a fork at another node and an update as a node keep the signals", async () => {
    const store = new MemoryStore();
    const engine = engineOf(textOf(edges), { work: () => undefined }, { store });
    await engine.run({}, { thread: "t" });
    const first = [...store.list("t")].find(({ step }) => step === 0)!;
    const forked = await engine.resume("t", { from: first.id, at: "d" });
    expect(forked.steps).toEqual([["d"], ["c"]]);
    await engine.run({ n: 1 }, { thread: "u", maxSteps: 1 });
    await engine.update("u", {}, { as: "a2" });
    expect((await engine.resume("u", { maxSteps: 10 })).steps).toEqual([["c"]]);
  });

  test("a graph that was edited resumes, also where all members that are left have signalled", async () => {
    const store = new MemoryStore();
    const text = (join: string): string => textOf(`start -> a, b  a -> d  d -> b2  ${join}`, { d: "pause before" });
    const old = engineOf(text("all(a, b, b2) -> c"), { work: () => undefined }, { store });
    expect(await old.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    const edited = engineOf(text("settled(a, b) -> c"), { work: () => undefined }, { store });
    const result = await edited.resume("t", { answer: true });
    expect([result.status, result.steps]).toEqual(["completed", [["d"], ["b2", "c"]]]);
  });

  test("a renamed target and a renamed member keep the signals", async () => {
    const store = new MemoryStore();
    const before = engineOf(textOf(edges, { b2: "pause before" }), { work: () => undefined }, { store });
    expect(await before.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    const text = textOf(edges, { b2: "pause before" })
      .replace(/\ba\b(?!")/g, "first")
      .replace(/\bc\b(?!")/g, "last");
    const after = engineOf(text, { work: () => undefined }, { store });
    await after.migrate("t", { rename: { a: "first", c: "last" } });
    expect((await after.history("t"))[0]?.barrierState).toEqual({ last: ["first"] });
    expect((await after.resume("t", { answer: true })).steps).toEqual([["b2"], ["a2"], ["last"]]);
  });

  test("a called graph and each item of a `for` have a barrier of their own", async () => {
    const engine = engineOf(
      `graph inner { input n: int  output log: string[] reduce append
         node plan = "plan" into log  node a = "a" into log  node b = "b" into log  node c = "c" into log
         start -> plan  plan -> a  plan -> b when n > 0  plan -> end otherwise  settled(a, b) -> c }
       graph g { output logs: json
         node all_of = inner(n: x) for x in [0, 1] into logs  start -> all_of }`,
    );
    expect((await engine.run({})).output).toEqual({
      logs: [{ log: ["plan", "a", "c"] }, { log: ["plan", "a", "b", "c"] }],
    });
  });
});

describe("1.3: the cost of `settled`", () => {
  test("a step looks at a barrier only if it changes its reach", () => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    const table = tableOf(`graph g { node a = 1  node b = 2  node c = 3  node slow = 4
      ${names.map((name) => `node ${name} = 0`).join("  ")}
      start -> a, slow, n0  ${names.join(" -> ")}  slow -> slow  slow -> b  settled(a, b) -> c }`);
    const code = compileRouting(table, evaluatorsOf(table));
    class Counting extends BarrierState {
      looks = 0;
      override isHeldByOther(barrier: number): boolean {
        this.looks++;
        return super.isHeldByOther(barrier);
      }
      override canReach(barrier: number, node: number): boolean {
        this.looks++;
        return super.canReach(barrier, node);
      }
    }
    const barriers = new Counting(code.barriers);
    const index = (name: string): number => table.nodes.findIndex((node) => node.name === name);
    const routed = (...nodes: string[]): readonly Routing[] =>
      nodes.map((name) => ({
        node: index(name),
        goto: undefined,
        exclusive: false,
        stopped: false,
        errorTargets: undefined,
      }));
    const scope = { state: [], error: null };
    expect(planStep(code, routed("a"), scope, barriers, undefined, [index("slow")]).ready).toEqual([]);
    barriers.looks = 0;
    for (const name of names.slice(0, -1)) planStep(code, routed(name), scope, barriers, undefined, [index("slow")]);
    expect(barriers.looks).toBe(0);
  });

  test("a graph without it prepares nothing for it", () => {
    const table = tableOf("graph g { node a = 1  node b = 2  node c = 3  start -> a, b  all(a, b) -> c }");
    expect(compileRouting(table, evaluatorsOf(table)).settled).toBe(undefined);
  });
});

test("1.4: the scheduler plans `settled`, and counts the nodes to which tasks are sent", () => {
  const table = tableOf(`graph g { node a = 1  node b = 2  node c = 3  node d = 4
    start -> a, b  settled(a, b) -> c, d }`);
  const scheduler = createScheduler(table);
  expect(scheduler.barrierSpecs()).toEqual([
    { id: "c", kind: "settled", target: "c", members: [["a"], ["b"]], others: ["d"] },
  ]);
  expect(scheduler.resolveNextNodes("a")).toEqual(["c", "d"]);
  expect(scheduler.planNextStep(["a"], {}, {})).toMatchObject({ ready: ["c", "d"], barrierState: {} });
  expect(scheduler.planNextStep([{ node: "a", send: "b" }], {}, {})).toMatchObject({
    ready: [],
    barrierState: { c: ["a"] },
  });
  expect(scheduler.planNextStep(["a"], [{ send: ["b"] }], {}, {})).toMatchObject({
    ready: [],
    barrierState: { c: ["a"] },
  });
  expect(scheduler.planNextStep(["a", "b"], {}, {})).toMatchObject({ ready: ["c", "d"] });
  expect(() => scheduler.planNextStep([{ node: "a", send: "x" }], {}, {})).toThrow(/unknown node `x`/);
});
