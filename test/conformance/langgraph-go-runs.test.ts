/** langgraph-go's cases about limits, routes, resumes and errors that `langgraph-go.test.ts` leaves, on ours. */
import { describe, expect, test } from "vitest";
import { NgraphError, NodeError, type NodeContext, type RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { settle } from "../support/virtual-clock.ts";

/** So many nodes in a row, each adding its number. */
function row(count: number): string {
  const names = Array.from({ length: count }, (_, i) => `n${i + 1}`);
  return `graph g { output counter: int = 0 reduce sum
    ${names.map((name, i) => `node ${name} = ${i + 1} into counter`).join("  ")}
    start -> n1  ${count > 1 ? names.join(" -> ") : "n1 -> end"} }`;
}

describe("limits", () => {
  test.each([
    ["LG-20: five in a row, three steps", 5, 3, "step_limit", 6],
    ["LG-21: three in a row, ten steps", 3, 10, "completed", 6],
    ["LG-23: three in a row, three steps", 3, 3, "completed", 6],
    ["LG-22: a hundred in a row, no limit", 100, null, "completed", 5050],
  ])("%s", async (_name, count, maxSteps, status, counter) => {
    expect(await engineOf(row(count)).run({}, { maxSteps })).toMatchObject({ status, output: { counter } });
  });

  test("LG-66: a limit is no failure of a node", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(row(5), {}, { onEvent: (event) => events.push(event) });
    await engine.run({}, { maxSteps: 2 });
    expect(events.filter((event) => event.type === "node" && event.phase === "error")).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "run", phase: "end", status: "step_limit" });
  });
});

describe("state and routes", () => {
  test("LG-25: zero values are values", async () => {
    const engine = engineOf(
      `graph g { input word: string  input n: int  output w: string = "x"  output m: int = 1
         node copy = { w: word, m: n } into { w, m }  start -> copy }`,
    );
    expect((await engine.run({ word: "", n: 0 })).output).toEqual({ w: "", m: 0 });
  });

  test.each([
    ["LG-29: an edge without a condition", `a -> b`, ["b"]],
    ["LG-33: a plain edge beside one whose condition holds: both are taken", `a -> b  a -> c when n >= 5`, ["b", "c"]],
    ["LG-31: two conditions that hold: both are taken", `a -> b when n >= 1  a -> c when n >= 5`, ["b", "c"]],
    ["LG-38: without edges the branch ends", `b -> c`, undefined],
  ])("%s", async (_name, edges, second) => {
    const engine = engineOf(
      `graph g { state n: int = 10  node a = 1  node b = 1  node c = 1  start -> a  ${edges}
         ${edges.includes("b ->") ? "" : "b -> end"}  c -> end }`,
    );
    const result = await engine.run({});
    expect(result.status).toBe("completed");
    expect(result.steps[1]).toEqual(second);
  });

  test("LG-38: only a condition that does not hold", async () => {
    const engine = engineOf(
      `graph g { state n: int = 1  node a = 1  node b = 1  start -> a  a -> b when n > 1  b -> end }`,
    );
    expect((await engine.run({})).error).toMatchObject({ code: "NG_NO_ROUTE", nodeId: "a" });
  });

  test("LG-42: four branches are added to what was there", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0 reduce sum  node fan = 1 into n  node a = 10 into n  node b = 20 into n  node c = 30 into n
         node d = 40 into n  start -> fan -> a, b, c, d  a, b, c, d -> end }`,
    );
    expect((await engine.run({})).output).toEqual({ n: 101 });
  });

  test("LG-43: branches wait at the same time", async () => {
    let waiting = 0;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const engine = engineOf(`graph g { node each = wait() for i in range(4)  start -> each }`, {
      wait: async () => {
        if (++waiting === 4) release();
        await gate;
      },
    });
    expect((await engine.run({})).status).toBe("completed");
  });

  test("LG-48: a jump to several of which one is unknown", async () => {
    const engine = engineOf(`graph g { node a = a() { goes b }  node b = 1  start -> a -> end  b -> end }`, {
      a: (context: NodeContext) => context.goto("b", "nonexistent"),
    });
    const { error, steps } = await engine.run({});
    expect(error).toMatchObject({ code: "NG_UNDECLARED_GOTO", nodeId: "a" });
    expect(error?.message).toContain("nonexistent");
    expect(steps).toEqual([]);
  });
});

describe("failures", () => {
  test("LG-19: a store that cannot save ends the run with its own error", async () => {
    const store = Object.assign(new MemoryStore(), { save: () => Promise.reject(new Error("disk full")) });
    await expect(engineOf(row(1), {}, { store }).run({})).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining("disk full") as string,
    });
  });

  test("LG-50, LG-52: the deadline is the caller's signal", async () => {
    const abort = new AbortController();
    const engine = engineOf(`graph g { node slow = slow()  start -> slow }`, {
      slow: () => new Promise(() => undefined),
    });
    const run = engine.run({}, { signal: abort.signal });
    await settle();
    abort.abort(new DOMException("too late", "TimeoutError"));
    expect(await run).toMatchObject({
      status: "cancelled",
      error: { code: "NG_CANCELLED", cause: { name: "TimeoutError" } },
    });
  });

  test("LG-74: one of twenty fails while others wait for their turn", async () => {
    const engine = engineOf(`graph g { node each = work(i) for i in range(20)  start -> each }`, {
      work: async (item: number) => {
        if (item === 7) throw new Error("seven");
        await settle();
      },
    });
    expect((await engine.run({}, { maxParallel: 5 })).error).toMatchObject({ nodeId: "each", items: [7] });
  });

  test("LG-87: an error has a code, a text that names the node, and its cause", async () => {
    const cause = new Error("broken");
    const engine = engineOf(`graph g { node a = a()  start -> a }`, {
      a: () => {
        throw cause;
      },
    });
    const { error } = await engine.run({});
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toBeInstanceOf(NgraphError);
    expect(error).toMatchObject({
      name: "NodeError",
      code: "NG_NODE_FAILED",
      message: "node `a` failed: broken",
      cause,
    });
  });
});

describe("going on from a checkpoint", () => {
  const TEXT = `graph g { input from: int  output value: string = ""  output counter: int = 0 reduce sum
    node node1 = from into counter  node node2 = 10 into counter  start -> node1 -> node2 }`;

  test("LG-56: again from the first node", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    expect((await engine.run({ from: 5 }, { thread: "t" })).output).toMatchObject({ counter: 15 });
    expect((await engine.resume("t", { at: "node1" })).output).toMatchObject({ counter: 30 });
  });

  test("LG-57: with a value changed before", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({ from: 32 }, { thread: "t" });
    await engine.update("t", { value: "executed" });
    expect((await engine.state("t"))?.state).toMatchObject({ value: "executed", counter: 42 });
  });

  test("LG-58: at a node or from a checkpoint that is not there", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({ from: 1 }, { thread: "t" });
    await expect(engine.resume("t", { at: "ghost" })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringContaining("node1") as string,
    });
    await expect(engine.resume("t", { from: "ghost" })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
    await expect(engine.resume("nobody")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
  });

  test("LG-60: under a table with one node more", async () => {
    const store = new MemoryStore();
    await engineOf(TEXT, {}, { store }).run({ from: 1 }, { thread: "t" });
    const more = engineOf(
      `graph g { input from: int  output value: string = ""  output counter: int = 0 reduce sum
         node node1 = from into counter  node node2 = 10 into counter  node node3 = 100 into counter
         start -> node1 -> node2 -> node3 }`,
      {},
      { store },
    );
    expect((await more.resume("t", { at: "node3" })).output).toMatchObject({ counter: 111 });
  });

  test("LG-85: a checkpoint is written once", () => {
    const store = new MemoryStore();
    const claim = store.claim("t", { owner: "me", leaseMs: 1000 });
    const header = {
      schemaVersion: 1,
      id: "00000000-0000-4000-8000-000000000000",
      threadId: "t",
      runId: "r",
      namespace: "",
      parentId: null,
      step: -1,
      phase: "input" as const,
      currentNodes: [],
      nextNodes: [],
      pendingSends: [],
      barrierState: {},
      pauses: [],
      answers: [],
      errors: {},
      status: "running" as const,
      label: null,
      metadata: {},
      timestamp: 0,
      digest: "d",
    };
    const request = {
      header,
      changes: [],
      snapshot: () => ({ values: { n: 1 }, versions: { n: 1 } }),
      expectedHead: null,
    };
    store.save(claim, request);
    const again = { ...request, expectedHead: header.id, snapshot: () => ({ values: { n: 2 }, versions: { n: 2 } }) };
    expect(() => store.save(claim, again)).toThrow(expect.objectContaining({ code: "NG_STORE_FAILED" }) as Error);
    expect(store.loadLatest("t")?.values).toEqual({ n: 1 });
  });
});
