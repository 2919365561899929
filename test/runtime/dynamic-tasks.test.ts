/** Execution, 7.1: items of `for` nodes, and sends. */
import { describe, expect, test } from "vitest";
import type { NodeContext, RunResult } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { scale } from "../support/depth.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

describe("`for` nodes", () => {
  test("7.1: results come in item order, an empty list signals, finished items are kept after a failure", async () => {
    const runs = new Map<string, number>();
    let broken = true;
    const engine = engineOf(
      `graph g { input items: string[]  output out: string[] reduce append  output lens: int[]  output done: bool = false
        node every = work(item) for item in items into out { max parallel 2 }  node size = len(item) for item in items into lens
        node end_of = true into done
        start -> every, size  all(every, size) -> end_of }`,
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
    expect(failed).toMatchObject({ status: "failed", error: { nodeId: "every", items: [1] } });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ output: { out: ["A", "BAD", "C"], lens: [1, 3, 1], done: true } });
    expect([...runs]).toEqual([
      ["a", 1],
      ["bad", 2],
      ["c", 1],
    ]);
  });

  test("at most so many run at once, of the node and of the run", async () => {
    for (const [policy, options, peak] of [
      ["{ max parallel 3 }", {}, 3],
      ["", { maxParallel: 2 }, 2],
      ["", {}, 8],
    ] as const) {
      let running = 0;
      let highest = 0;
      const engine = engineOf(
        `graph g { output out: int[] = []  node every = work(i) for i in range(8) into out ${policy}  start -> every }`,
        {
          work: async (i: number) => {
            highest = Math.max(highest, ++running);
            await settle();
            running--;
            return i;
          },
        },
      );
      expect((await engine.run({}, options)).output).toEqual({ out: [0, 1, 2, 3, 4, 5, 6, 7] });
      expect(highest).toBe(peak);
    }
  });

  test("retry is per item, and so is the timeout", async () => {
    const clock = new VirtualClock();
    const attempts: number[] = [];
    const engine = engineOf(
      `graph g { output out: string[] = []  node every = work(i) for i in ["a", "b"] into out { tries 3  timeout 1s }  start -> every }`,
      {
        work: async (i: string, context: NodeContext) => {
          attempts.push(context.attempt);
          if (i === "b" && context.attempt < 3) throw new Error("not yet");
          return `${i}${context.attempt}`;
        },
      },
      { clock },
    );
    expect((await clock.until(engine.run({}))).output).toEqual({ out: ["a1", "b3"] });
    expect(attempts).toEqual([1, 1, 2, 3]);
  });

  test("an error edge takes a failed `for` node once, and says which items failed", async () => {
    const engine = engineOf(
      `graph g { output out: int[] = []  output bad: json = null
        node every = work(i) for i in range(5) into out   node rescue = error into bad
        start -> every   every -> end   every -> rescue on error   rescue -> end }`,
      {
        work: (i: number) => {
          if (i % 2 === 1) throw new Error(`odd ${i}`);
          return i;
        },
      },
    );
    const result = await engine.run({});
    expect(result.output).toMatchObject({ out: [], bad: { node: "every", message: "odd 1" } });
    const item = { code: "NG_NODE_FAILED", name: "Error", status: null, attempts: 1 };
    expect((result.output["bad"] as { items: unknown }).items).toEqual([
      { index: 1, key: "every[1]", message: "odd 1", ...item },
      { index: 3, key: "every[3]", message: "odd 3", ...item },
    ]);
    expect(result.steps).toEqual([["every"], ["rescue"]]);
  });

  test("what its `for` goes over must be a list", async () => {
    const engine = engineOf(
      `graph g { input docs: json  node every = work(i) for i in docs  start -> every }`.replace(
        "docs: json",
        "docs: int[]",
      ),
      {
        work: (i: number) => i,
      },
    );
    expect((await engine.run({ docs: [1] })).status).toBe("completed");
  });

  test("items write fields, each one list; lists are joined where the reducer joins", async () => {
    const engine = engineOf(
      `graph g { output names: string[] = []  output words: string[] = ["first"] reduce append
        node every = work(i) for i in ["a", "b"] into { name: names, words }  start -> every }`,
      { work: (i: string) => ({ name: i, words: [i, `${i}!`] }) },
    );
    expect((await engine.run({})).output).toEqual({ names: ["a", "b"], words: ["first", "a", "a!", "b", "b!"] });
  });

  test("an item that does not fit fails with its index", async () => {
    const engine = engineOf(
      `graph g { output out: int[] = []  node every = work(i) for i in range(3) into out  start -> every }`,
      { work: (i: number) => (i === 2 ? "two" : i) },
    );
    expect((await engine.run({})).error).toMatchObject({ code: "NG_BAD_RESULT", items: [2] });
  });

  test("7.1: one item that jumps is enough, and its node's edges are not taken", async () => {
    const engine = engineOf(
      `graph g { output log: string[] reduce append  node every = each(i) for i in [1, 2, 3] { goes x }
        node x = "x" into log  node own = "own" into log  start -> every -> own -> end  x -> end }`,
      { each: (item: number, context: NodeContext) => (item === 2 ? context.goto("x") : undefined) },
    );
    expect(await engine.run({})).toMatchObject({ output: { log: ["x"] }, steps: [["every"], ["x"]] });
  });

  test("jumps of items are those of the node: all targets, once each", async () => {
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append
        node every = work(i) for i in range(3) { goes x, y }   node own = "own" into log   node x = "x" into log   node y = "y" into log
        start -> every -> own   any(own, x, y) -> end }`,
      { work: (i: number, context: NodeContext) => (i === 1 ? undefined : context.goto(i === 0 ? "x" : "y")) },
    );
    expect((await engine.run({})).steps).toEqual([["every"], ["x", "y"]]);
  });

  test("items may wait for answers, one by one", async () => {
    const runs: number[] = [];
    const engine = engineOf(
      `graph g { output out: string[] = []  node every = work(i) for i in range(3) into out  start -> every }`,
      {
        work: (i: number, context: NodeContext) => {
          runs.push(i);
          return i === 0 ? "free" : context.interrupt<string>(i);
        },
      },
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    expect(first.pauses.map(({ payload, taskId }) => [payload, taskId])).toEqual([
      [1, "every[1]"],
      [2, "every[2]"],
    ]);
    const second = await engine.resume("t", { answers: { [first.pauses[1]!.id]: "two" } });
    expect(second.pauses).toEqual([first.pauses[0]]);
    expect((await engine.resume("t", { answer: "one" })).output).toEqual({ out: ["free", "one", "two"] });
    expect(runs).toEqual([0, 1, 2, 2, 1]);
  });

  test("a node with `into` that only sends must return its result; a jump replaces it", async () => {
    const text = `graph g { output x: int  node plan = plan() into x { goes w }  node w = print(1)
      start -> plan -> end  w -> end }`;
    const run = async (plan: (context: NodeContext) => unknown) =>
      (await engineOf(text, { plan }).run({})) as RunResult;
    const missing = { code: "NG_BAD_RESULT", message: expect.stringContaining("found nothing") as unknown };
    expect((await run(({ send }) => void send("w"))).error).toMatchObject(missing);
    expect((await run(({ send }) => send("w"))).error).toMatchObject(missing);
    expect((await run(({ send }) => (send("w"), 5))).output).toEqual({ x: 5 });
    expect((await run(({ goto, send }) => (send("w"), goto("w")))).output).toEqual({ x: null });
  });

  test("many items cost no stack", async () => {
    const engine = engineOf(
      `graph g { input n: int[]  output out: int[] = []  node every = work(i) for i in n into out { max parallel 1 }  start -> every }`,
      { work: (i: number) => i },
    );
    const n = Array.from({ length: 50_000 }, (_, i) => i);
    expect((await engine.run({ n })).output["out"]).toHaveLength(50_000);
  });

  test("neither do many that fail, wait, or write where only one may", async () => {
    const count = scale(150_000, 15_000);
    const n = Array.from({ length: count }, (_, i) => i);
    const text = (end: string): string => `graph g { input n: int[]  output x: int = 0  node every = work(i) for i in n
      start -> every  ${end} }`;
    const failed = await engineOf(text("every -> end"), {
      work: () => {
        throw new Error("no");
      },
    }).run({ n });
    expect(failed.error).toMatchObject({ items: expect.objectContaining({ length: count }) as unknown });
    const waiting = engineOf(
      text("every -> end"),
      { work: (_i: number, context: NodeContext) => context.interrupt() },
      { store: new MemoryStore() },
    );
    expect((await waiting.run({ n: n.slice(0, count / 10) })).pauses).toHaveLength(count / 10);
    const clashing = engineOf(
      `graph g { input n: int[]  output x: int = 0  node plan = plan(n) { goes w }  node w = 1 into x  start -> plan -> end  w -> end }`,
      { plan: (items: number[], context: NodeContext) => items.forEach((item) => context.send("w", item)) },
    );
    const { error } = await clashing.run({ n });
    expect(error).toMatchObject({ code: "NG_CONCURRENT_WRITE" });
    expect(error?.message.length).toBeLessThan(500);
  });
});

describe("sends", () => {
  const WORK = `graph g { output log: string[] = [] reduce append
    node plan = plan() { goes work, every }
    node work = work() into log { tries 3  goes work, tail }
    node every = item(i) for i in ["x"] into log
    node tail = "tail" into log
    start -> plan   any(plan, work, every, tail) -> end }`;
  const run = (functions: Record<string, (...args: never[]) => unknown>, options = {}) =>
    engineOf(
      WORK,
      { plan: () => undefined, work: () => "work", item: (i: string) => i, ...functions } as never,
      options,
    );

  test("an item sent to a `for` node stands for its list", async () => {
    const engine = run({ plan: (context: NodeContext) => ["p", "q"].map((i) => context.send("every", i))[0] });
    expect((await engine.run({})).output).toEqual({ log: ["p", "q"] });
  });

  test("they may themselves send, jump and be retried", async () => {
    const clock = new VirtualClock();
    const tries = new Map<unknown, number>();
    const engine = run(
      {
        plan: (context: NodeContext) => void [1, 2].forEach((item) => context.send("work", item)),
        work: (context: NodeContext) => {
          const count = (tries.get(context.item) ?? 0) + 1;
          tries.set(context.item, count);
          if (context.item === 1 && count < 3) throw new Error("again");
          if (context.item === 1) context.send("work", 3);
          if (context.item === 3) context.goto("tail");
          return `work ${String(context.item)}`;
        },
      },
      { clock },
    );
    const result = await clock.until(engine.run({}));
    expect(result.steps).toEqual([["plan"], ["work", "work"], ["work"], ["tail"]]);
    expect(result.output).toEqual({ log: ["work 1", "work 2", "work 3", "tail"] });
    expect([...tries.values()]).toEqual([3, 1, 1]);
  });

  test("after a failure those that had finished do not run again; ids are stable", async () => {
    let broken = true;
    const ran: unknown[] = [];
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append   node plan = plan() { goes work }   node work = work() into log
        start -> plan   any(plan, work) -> end }`,
      {
        plan: (context: NodeContext) => void [0, 1, 2, 3, 4].forEach((item) => context.send("work", item)),
        work: async (context: NodeContext) => {
          ran.push(context.item);
          if (context.item === 2 && broken) throw new Error("two");
          return (context.item as number) * 10;
        },
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", error: { nodeId: "work" } });
    expect((await engine.history("t"))[0]!.finished).toHaveLength(4);
    broken = false;
    expect((await engine.resume("t")).output).toEqual({ log: [0, 10, 20, 30, 40] });
    expect(ran).toEqual([0, 1, 2, 3, 4, 2]);
  });

  test("what is sent must be plain JSON", async () => {
    const engine = run({ plan: (context: NodeContext) => context.send("work", new Date(0) as never) });
    expect((await engine.run({})).error).toMatchObject({ code: "NG_BAD_RESULT", nodeId: "plan" });
  });
});
