/** Execution, 2.8: `limit tokens`, `limit cost`, and what they count. */
import { describe, expect, test } from "vitest";
import { createPlanRunner, type NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { planTable } from "../plan/compile-plan.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

/** A loop whose node reports 10 tokens and a cost of 0.5 each time. */
const loop = (limit: string, name = "g"): string => `graph ${name} { output n: int = 0  ${limit}
  node more = more(n) into n  start -> more  more -> more when n < 6  more -> end otherwise }`;

function counting(): { readonly more: (n: number, context: NodeContext) => number; readonly ran: number[] } {
  const ran: number[] = [];
  const more = (n: number, context: NodeContext): number => {
    ran.push(n);
    context.usage({ inputTokens: 4, outputTokens: 6, cost: 0.5 });
    return n + 1;
  };
  return { more, ran };
}

describe("a run that uses too much", () => {
  test.each([
    ["limit tokens 25", "tokens", "NG_TOKEN_LIMIT", "the limit of 25 tokens (30 used) is reached before `more`"],
    ["limit cost 1.2", "cost", "NG_COST_LIMIT", "the limit of a cost of 1.2 (1.5 used) is reached before `more`"],
    ["limit steps 3", "steps", "NG_STEP_LIMIT", "the limit of 3 steps is reached before `more`"],
    ["limit steps 3 limit tokens 30 limit cost 9", "steps", "NG_STEP_LIMIT", "resume with a higher `maxSteps`"],
  ])("%s ends it between two steps", async (limit, kind, code, message) => {
    const { more, ran } = counting();
    const result = await engineOf(loop(limit), { more }).run({});
    expect(result).toMatchObject({
      status: "limit",
      limit: kind,
      error: { code },
      usage: { inputTokens: 12, outputTokens: 18, cost: 1.5 },
      output: { n: 3 },
    });
    expect(result.error?.message).toContain(message);
    expect(ran).toEqual([0, 1, 2]);
  });

  test("a run that ends at the limit is completed", async () => {
    const { more } = counting();
    const result = await engineOf(loop("limit tokens 60"), { more }).run({});
    expect(result).toMatchObject({ status: "completed", output: { n: 6 } });
    expect(result.limit).toBeUndefined();
  });

  test("options replace the limits of the graph, and are checked", async () => {
    const { more } = counting();
    const engine = engineOf(loop("limit tokens 25 limit cost 1"), { more }, { maxCost: null });
    expect((await engine.run({}, { maxTokens: null })).status).toBe("completed");
    expect((await engine.run({}, { maxTokens: { g: 15 } })).output).toEqual({ n: 2 });
    expect((await engine.run({}, { maxTokens: null, maxCost: 0.75 })).output).toEqual({ n: 2 });
    await expect(engine.run({}, { maxTokens: 1.5 })).rejects.toThrow("`maxTokens` is a whole number");
    await expect(engine.run({}, { maxCost: -1 })).rejects.toThrow("`maxCost` is a number of at least 0");
    await expect(engine.run({}, { maxCost: { other: 1 } })).rejects.toThrow("not a graph of this run");
  });
});

describe("over resumes", () => {
  test("the usage goes on counting, and a higher limit continues", async () => {
    const store = new MemoryStore();
    const { more, ran } = counting();
    const engine = engineOf(loop("limit tokens 25"), { more }, { store });
    expect((await engine.run({}, { thread: "t" })).status).toBe("limit");
    expect((await store.loadLatest("t"))?.status).toBe("limit");
    expect(await engine.resume("t")).toMatchObject({ status: "limit", limit: "tokens" });
    expect(await engine.resume("t", { maxTokens: 45 })).toMatchObject({
      status: "limit",
      usage: { inputTokens: 20, outputTokens: 30, cost: 2.5 },
    });
    expect((await engine.resume("t", { maxTokens: 1000 })).output).toEqual({ n: 6 });
    expect(ran).toEqual([0, 1, 2, 3, 4, 5]);
    expect((await engine.history("t"))[0]?.usage).toEqual({ inputTokens: 24, outputTokens: 36, cost: 3 });
  });

  test("a new run on the thread counts from zero, and a fork from its checkpoint", async () => {
    const { more } = counting();
    const engine = engineOf(loop("limit tokens 45"), { more }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const early = (await engine.history("t")).find(({ step }) => step === 1);
    await engine.fork("t", { from: early!.id, as: "u" });
    expect(await engine.resume("u")).toMatchObject({ status: "limit", usage: { inputTokens: 20 }, output: { n: 5 } });
    await engine.resume("t", { maxTokens: null });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "limit", usage: { inputTokens: 20 } });
  });

  test("what was reported before the process died counts, whichever write it dies at", async () => {
    for (const when of ["before", "after"] as const) {
      for (let left = 1; left < 9; left++) {
        const store = new MemoryStore();
        const { more, ran } = counting();
        const crashing = new CrashingStore(store, left, when);
        const dying = engineOf(loop("limit tokens 45"), { more }, { store: crashing, leaseMs: 1 });
        await dying.run({}, { thread: "t" }).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 2));
        const stored = crashing.log.filter((line) => line.startsWith("put usage:")).length;
        const before = ran.length;
        const { status, usage } = await engineOf(loop("limit tokens 45"), { more }, { store }).resume("t");
        expect(status, `${when} ${left}`).toBe("limit");
        // Each report is stored when it is made; the one during which the process died may be lost.
        const least = Math.max(stored - 1, 0) + (ran.length - before);
        expect(usage?.inputTokens, `${when} ${left}`).toBeGreaterThanOrEqual(4 * least);
        expect(usage?.inputTokens).toBeLessThanOrEqual(4 * ran.length);
      }
    }
  });
});

test("what a body reports is stored while it runs: after SIGKILL it counts", async () => {
  const store = new MemoryStore();
  const stored: unknown[] = [];
  const work = async (context: NodeContext): Promise<string> => {
    context.usage({ inputTokens: 3 });
    context.usage({ inputTokens: 4 });
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const head = await store.loadLatest("t");
    stored.push(...(await store.getWrites("t", head!.id)).map(({ taskId, result }) => [taskId, result]));
    return "done";
  };
  const text = "graph g { output o: string  node a = work() into o  start -> a }";
  const { usage } = await engineOf(text, { work }, { store }).run({}, { thread: "t" });
  expect(stored).toEqual([["usage:", { inputTokens: 7, outputTokens: 0, cost: 0 }]]);
  expect(usage).toEqual({ inputTokens: 7, outputTokens: 0, cost: 0 });
});

describe("what counts", () => {
  test("failed attempts, items of a `for`, and several reports of one body", async () => {
    const work = (item: string, context: NodeContext): string => {
      context.usage({ inputTokens: 1 });
      context.usage({ outputTokens: 1 });
      if (item === "bad" && context.attempt < 3) throw new Error("again");
      return item;
    };
    const engine = engineOf(
      `graph g { output all: string[]  node every = work(x) for x in ["a", "bad", "c"] into all { tries 3 backoff 1ms }
        start -> every }`,
      { work },
    );
    expect((await engine.run({})).usage).toEqual({ inputTokens: 5, outputTokens: 5, cost: 0 });
  });

  test("a run that fails, over its resume", async () => {
    let isBroken = true;
    const work = (context: NodeContext): string => {
      context.usage({ inputTokens: 7 });
      if (isBroken) throw new Error("no");
      return "done";
    };
    const engine = engineOf(
      `graph g { output o: string  node a = work() into o { tries 2 backoff 1ms }  start -> a }`,
      { work },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", usage: { inputTokens: 14 } });
    isBroken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", usage: { inputTokens: 21 } });
  });

  test("what is no usage fails the node (NG_BAD_RESULT)", async () => {
    for (const used of [{ tokens: 3 }, { cost: -1 }, { inputTokens: Number.NaN }, 5, null]) {
      const work = (context: NodeContext): void => context.usage(used as never);
      const engine = engineOf(`graph g { node a = work()  start -> a }`, { work });
      expect(await engine.run({})).toMatchObject({ status: "failed", error: { code: "NG_BAD_RESULT" } });
    }
  });
});

describe("called graphs", () => {
  const CALLS = (outer: string, inner: string): string => `${loop(inner, "child")}
    graph outer { output n: int = 0  output m: int = 0  ${outer}
      node call = child() into { n }  node again = child() into { n: m }  start -> call -> again }`;

  test("count towards the limit of their caller", async () => {
    const { more } = counting();
    const result = await engineOf(CALLS("limit tokens 50", ""), { more }).run({});
    expect(result).toMatchObject({
      status: "limit",
      limit: "tokens",
      usage: { inputTokens: 24 },
      output: { n: 6, m: 0 },
    });
  });

  test("have their own limit, and continue inside with a higher one", async () => {
    const { more, ran } = counting();
    const engine = engineOf(CALLS("limit cost 9", "limit tokens 25"), { more }, { store: new MemoryStore() });
    const first = await engine.run({}, { thread: "t" });
    expect(first).toMatchObject({ status: "failed", usage: { inputTokens: 12 } });
    expect(first.error?.message).toContain("`maxTokens: { child: … }`");
    expect(ran).toEqual([0, 1, 2]);
    expect(await engine.resume("t", { maxTokens: { child: 60 } })).toMatchObject({
      status: "completed",
      output: { n: 6, m: 6 },
      usage: { inputTokens: 48, outputTokens: 72, cost: 6 },
    });
    expect(ran).toEqual([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
  });

  test("of plans, too", async () => {
    const { more } = counting();
    const text = `import { more } from "./nodes.ts"\n${loop("limit tokens 25", "child")}
      plan p { output n: int  task call = child() into { n } }`;
    const files = { "nodes.ts": "export const more = (n: number, context: unknown): number => n;" };
    const runner = createPlanRunner(planTable(text, "plan.ngraph", files), {
      functions: { more },
      store: new MemoryStore(),
    });
    expect((await runner.run({}, { thread: "t" })).outcome).not.toBe("clean");
    await expect(runner.run({}, { maxTokens: 5 })).rejects.toThrow("has no limits");
    expect((await runner.resume("t", { maxTokens: { child: 100 } })).output).toEqual({ n: 6 });
  });
});
