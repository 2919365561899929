/** Rule E3: `for` nodes with `allow failure`. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const graph = (edges: string, more = ""): string =>
  `graph g { input list: int[] = [0, 1, 2, 3]  output out: int[] = []  output seen: int[] = []  output took: string = ""
    node every = work(x) for x in list into out { allow failure ${more} }
    node plain = "plain" into took
    node mend = "mend" into took
    node report = [item.index for item in error?.items ?? []] into seen
    start -> every -> plain ${edges}  any(plain, mend) -> report -> end }`;

const odd = (x: number): number => {
  if (x % 2 === 1) throw Object.assign(new Error(`odd ${x}`), { status: x });
  return x * 10;
};

describe("E3 the results of the items that succeed are applied in item order", () => {
  test.each([
    ["without an error edge the plain edges are taken", "", "plain"],
    ["an error edge is taken instead of the plain edges", "every -> mend on error", "mend"],
    ["a conditional error edge", "every -> mend on error when error.status == 1", "mend"],
    ["where no error edge holds, the plain edges", "every -> mend on error when error.status == 9", "plain"],
    ["its condition reads the results", "every -> mend on error when len(out) == 2", "mend"],
  ])("%s", async (_what, edges, took) => {
    const result = await engineOf(graph(edges), { work: odd }).run({});
    expect(result).toMatchObject({ status: "completed", output: { out: [0, 20], seen: [1, 3], took } });
  });

  test("`error.items` has the index, the key and the failure of each item", async () => {
    const engine = engineOf(
      `graph g { output seen: json = null  node every = work(x) for x, i in [5, 6, 7] if x > 5 { allow failure tries 2 backoff 1ms }
        node report = error into seen  start -> every -> report -> end }`,
      { work: odd },
    );
    const item = { code: "NG_NODE_FAILED", name: "Error", status: 7, message: "odd 7", attempts: 2 };
    expect((await engine.run({})).output).toEqual({
      seen: { ...item, node: "every", items: [{ index: 2, key: "every[2]", ...item }] },
    });
  });

  test("no failure: the plain edges, and no error", async () => {
    const engine = engineOf(graph("every -> mend on error"), { work: odd });
    const output = { out: [0, 20], seen: [], took: "plain" };
    expect((await engine.run({ list: [0, 2] })).output).toEqual(output);
    expect((await engine.run({ list: [] })).output).toEqual({ ...output, out: [] });
  });

  test("all items fail: an empty list, and a sum as it was", async () => {
    const engine = engineOf(
      `graph g { output out: int[] = [7]  output total: int = 5 reduce sum
        node a = work(x) for x in [1, 3] into out { allow failure }
        node b = work(x) for x in [1, 3] into total { allow failure }
        start -> a, b }`,
      { work: odd },
    );
    expect(await engine.run({})).toMatchObject({ status: "completed", output: { out: [], total: 5 } });
  });

  test("siblings are not interrupted under `onFailure: abort`", async () => {
    const engine = engineOf(
      `graph g { output out: int[] = []  output y: int = 0
        node a = work(x) for x in [1, 2] into out { allow failure }  node b = slow() into y
        start -> a, b }`,
      { work: odd, slow: () => new Promise((resolve) => setImmediate(() => resolve(3))) },
      { onFailure: "abort" },
    );
    expect(await engine.run({})).toMatchObject({ status: "completed", output: { out: [20], y: 3 } });
  });

  test("a list without a value fails the node", async () => {
    const engine = engineOf(
      `graph g { input d: int  output out: int[] = []  node a = work(x) for x in [d % d] into out { allow failure }
        start -> a }`,
      { work: odd },
    );
    expect(await engine.run({ d: 0 })).toMatchObject({ status: "failed", error: { nodeId: "a" } });
  });

  test("pause after holds where the plain edges are taken, and not where an error edge is", async () => {
    for (const [edges, status] of [
      ["", "paused"],
      ["every -> mend on error", "completed"],
    ] as const) {
      const engine = engineOf(graph(edges, "pause after"), { work: odd }, { store: new MemoryStore() });
      expect((await engine.run({}, { thread: "t" })).status).toBe(status);
    }
  });
});

describe("E3 a failed item is final", () => {
  test("a resume does not run it again", async () => {
    const runs: number[] = [];
    const engine = engineOf(
      graph("every -> mend on error"),
      {
        work: (x: number, context: NodeContext) => {
          if (x === 2) context.interrupt(null);
          runs.push(x);
          return odd(x);
        },
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused" });
    expect(runs).toEqual([0, 1, 3]);
    const output = { out: [0, 20], seen: [1, 3], took: "mend" };
    expect(await engine.resume("t", { answer: 1 })).toMatchObject({ status: "completed", output });
    expect(runs).toEqual([0, 1, 3, 2]);
  });

  test("nor after another node of the step has failed", async () => {
    const runs: number[] = [];
    let broken = true;
    const engine = engineOf(
      `graph g { output out: int[] = []  output y: int = 0
        node a = work(x) for x in [1, 2] into out { allow failure }  node b = other() into y
        start -> a, b }`,
      {
        work: (x: number) => {
          runs.push(x);
          return odd(x);
        },
        other: () => {
          if (broken) throw new Error("not yet");
          return 1;
        },
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", error: { nodeId: "b" } });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { out: [20], y: 1 } });
    expect(runs).toEqual([1, 2]);
  });
});
