/** E2: a condition of an `on error` edge that has no value fails the run at that edge. */
import { describe, expect, test } from "vitest";
import { createScheduler } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const TEXT = `graph g {
  input n: int
  output log: string[] = [] reduce append
  state beside: string = ""
  derive isLarge = 10 / n > 1
  node a = boom()
  node b = "b" into beside
  node mend = error?.message ?? "none" into log
  start -> a, b
  a -> end
  b -> end
  a -> mend on error when isLarge
  a -> end on error otherwise
  mend -> end
}`;
const functions = {
  boom: () => {
    throw new Error("boom");
  },
};

describe("the run fails at the edge", () => {
  test("with NG_CONDITION, after the writes of the step", async () => {
    const { status, error, state, steps } = await engineOf(TEXT, functions).run({ n: 0 });
    expect({ status, steps, beside: state["beside"] }).toEqual({
      status: "failed",
      steps: [["a", "b"]],
      beside: "b",
    });
    expect(error).toMatchObject({ code: "NG_CONDITION", nodeId: "a" });
    expect(error?.message).toContain("a condition of the `on error` edges of `a` cannot be evaluated");
  });

  test("and a resume evaluates the edge again, with the same failure, also in another process", async () => {
    const store = new MemoryStore();
    let calls = 0;
    const counted = {
      boom: () => {
        calls++;
        throw new Error("boom");
      },
    };
    await engineOf(TEXT, counted, { store }).run({ n: 0 }, { thread: "t" });
    const later = engineOf(TEXT, counted, { store });
    expect(await later.resume("t", {})).toMatchObject({ status: "failed", error: { code: "NG_CONDITION" } });
    await later.fork("t", { as: "copy" });
    await later.update("copy", { n: 100 });
    expect(await later.resume("copy", {})).toMatchObject({ status: "completed", output: { log: [] } });
    await later.update("t", { n: 1 });
    expect(await later.resume("t", {})).toMatchObject({ status: "completed", output: { log: ["boom"] } });
    expect(calls).toBe(1);
  });

  test("and fails with NG_NO_ROUTE if no edge applies on a resume", async () => {
    const text = TEXT.replace("  a -> end on error otherwise\n", "");
    const store = new MemoryStore();
    const engine = engineOf(text, functions, { store });
    await engine.run({ n: 0 }, { thread: "t" });
    await engine.update("t", { n: 100 });
    expect(await engine.resume("t", {})).toMatchObject({ status: "failed", error: { code: "NG_NO_ROUTE" } });
    await engine.update("t", { n: 1 });
    expect(await engine.resume("t", {})).toMatchObject({ status: "completed", output: { log: ["boom"] } });
  });

  test("of a `for` node with `allow failure`, too; on a resume its own edges apply if no error edge does", async () => {
    const text = `graph g { input n: int  output o: int[] = []  output log: string[] = [] reduce append
      node a = f(x) for x in [1, 2] into o { allow failure }  node mend = "mend" into log  node go = "go" into log
      start -> a -> go -> end  a -> mend on error when 10 / n > 1  mend -> end }`;
    const store = new MemoryStore();
    const f = (x: number): number => {
      if (x === 1) throw new Error("one");
      return x;
    };
    const engine = engineOf(text, { f }, { store });
    expect(await engine.run({ n: 0 }, { thread: "t" })).toMatchObject({
      error: { code: "NG_CONDITION" },
      output: { o: [2] },
    });
    await engine.update("t", { n: 100 });
    expect(await engine.resume("t", {})).toMatchObject({ status: "completed", output: { log: ["go"] } });
  });
});

test("the scheduler says so", () => {
  const scheduler = createScheduler(tableOf(TEXT, ["boom"]));
  const ran = [{ node: "a", error: { message: "boom" } }];
  expect(() => scheduler.planNextStep(ran, { n: 0 }, {})).toThrow(/`on error` edges of `a` cannot be evaluated/);
});
