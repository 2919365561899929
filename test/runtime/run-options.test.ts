/** The options of one run: live objects for nodes, breakpoints, and views of its stream. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";

describe("context", () => {
  test("node bodies receive the objects of the caller, in called graphs too, and no store does", async () => {
    const store = new MemoryStore();
    const client = { find: (key: string): string => `found ${key}` };
    const look = (key: string, { context }: NodeContext): string =>
      (context["client"] as typeof client | undefined)?.find(key) ?? "no client";
    const text = `graph inner { output x: string | null  node look = look("inner") into x  start -> look }
      graph g { output a: string | null  output b: string | null  node look = look("outer") into a { pause before }
        node call = inner() into { x: b }  start -> look -> call }`;
    const engine = engineOf(text, { look }, { store });
    expect((await engine.run({}, { thread: "t", context: { client } })).status).toBe("paused");
    expect(JSON.stringify(await store.list("t"))).not.toContain("client");
    await engine.fork("t", { as: "u" });
    expect((await engine.resume("t", { context: { client } })).output).toEqual({ a: "found outer", b: "found inner" });
    // A resume without `context` has an empty one.
    expect((await engine.resume("u")).output).toEqual({ a: "no client", b: "no client" });
    await expect(engine.run({}, { context: [] as never })).rejects.toThrow(/`context` is a record/);
  });
});

describe("pauseBefore and pauseAfter", () => {
  const TEXT = `graph inner { output n: int = 0  node one = 1 into n  node two = n + 1 into n  start -> one -> two }
    graph g { output n: int = 0  node a = 1 into n  node call = inner() into { n }  node b = n + 1 into n
      start -> a -> call -> b }`;

  test("a run stops at each breakpoint that its call gives", async () => {
    const store = new MemoryStore();
    const engine = engineOf(TEXT, {}, { store });
    const first = await engine.run({}, { thread: "t", pauseBefore: ["a", "call/two"] });
    expect(first).toMatchObject({ status: "paused", pauses: [{ node: "a", kind: "before" }] });
    const second = await engine.resume("t", { pauseBefore: ["a", "call/two"] });
    expect(second).toMatchObject({ status: "paused", pauses: [{ node: "two", kind: "before", namespace: ["call"] }] });
    const third = await engine.resume("t", { pauseAfter: ["call"] });
    expect(third).toMatchObject({ status: "paused", pauses: [{ node: "call", kind: "after" }], state: { n: 2 } });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { n: 3 } });
  });

  test("a breakpoint in a loop stops each round", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  node up = n + 1 into n  start -> up  up -> up when n < 3  up -> end otherwise }`,
      {},
      { store: new MemoryStore() },
    );
    let result = await engine.run({}, { thread: "t", pauseAfter: ["up"] });
    const seen: unknown[] = [];
    while (result.status === "paused") {
      seen.push(result.output["n"]);
      result = await engine.resume("t", { pauseAfter: ["up"] });
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(result.status).toBe("completed");
  });

  test("mocks of unknown nodes, and mocks that are no functions, are refused", () => {
    expect(() => engineOf(TEXT, {}, { mocks: { aa: () => 1 } })).toThrow(
      /`mocks` names `aa`, which is no node.*`a`, `call`, `b`/,
    );
    expect(() => engineOf(TEXT, {}, { mocks: { a: 1 as never } })).toThrow("`mocks.a` is a function");
  });

  test("names that are no nodes, and runs without a store, are refused", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await expect(engine.run({}, { pauseBefore: ["aa"] })).rejects.toThrow(/`aa`, which is no node.*`a`, `call`, `b`/);
    await expect(engine.run({}, { pauseAfter: ["call/three"] })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.run({}, { pauseBefore: "a" as never })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engineOf(TEXT).run({}, { pauseBefore: ["a"] })).rejects.toMatchObject({ code: "NG_NO_STORE" });
  });
});

describe("views of a stream", () => {
  test("results arrive as each node ends, and several views share one stream", async () => {
    const release = deferred();
    const functions = {
      fast: () => "fast",
      slow: async ({ emit }: NodeContext) => {
        emit("he", { kind: "token" });
        emit("llo", { kind: "token" });
        emit({ note: 1 }, { kind: "progress" });
        await release.promise;
        return "slow";
      },
    };
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append  node slow = slow() into log  node fast = fast() into log
        start -> slow, fast }`,
      functions,
    );
    const stream = engine.stream({}, { views: ["results", "tokens", "custom", "values"] });
    const seen: unknown[] = [];
    for await (const each of stream) {
      seen.push(each);
      // The step still runs when the result of its first node arrives.
      if (each.view === "results" && each.item.node === "fast") release.resolve();
    }
    const at = { step: 0, namespace: [] };
    expect(seen).toEqual([
      { view: "values", item: { step: -1, state: { log: [] } } },
      { view: "tokens", item: { ...at, node: "slow", data: "he" } },
      { view: "tokens", item: { ...at, node: "slow", data: "llo" } },
      { view: "custom", item: { ...at, node: "slow", kind: "progress", data: { note: 1 } } },
      { view: "results", item: { ...at, node: "fast", taskId: "fast", updates: { log: ["fast"] } } },
      { view: "results", item: { ...at, node: "slow", taskId: "slow", updates: { log: ["slow"] } } },
      { view: "values", item: { step: 0, state: { log: ["slow", "fast"] } } },
    ]);
    expect((await stream.result).status).toBe("completed");
  });

  test("one view yields its items as they are", async () => {
    const engine = engineOf(`graph g { output x: int[] = []  node a = n for n in [1, 2] into x  start -> a }`);
    const items: unknown[] = [];
    for await (const item of engine.stream({}, { view: "results" })) items.push(item);
    expect(items).toMatchObject([
      { taskId: "a[0]", item: 0, updates: { x: 1 } },
      { taskId: "a[1]", item: 1, updates: { x: 2 } },
    ]);
  });

  test("unknown views are refused", async () => {
    const engine = engineOf(`graph g { output x: int = 0  node a = 1 into x  start -> a }`);
    expect(() => engine.stream({}, { views: ["result" as never] })).toThrow(/`views` is one of/);
    expect(() => engine.stream({}, { views: [] })).toThrow(/list of views/);
    expect(() => engine.stream({}, { view: "events", views: ["events"] } as never)).toThrow(/either/);
  });
});
