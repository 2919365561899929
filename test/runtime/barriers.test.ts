/** Execution, section 3: barriers. `checkpoints.test.ts` tests that they survive crashes, forks and edits. */
import { describe, expect, test } from "vitest";
import { engineOf } from "../support/graph.ts";

describe("barriers", () => {
  test("3.1: signals accumulate over steps, firing clears them", async () => {
    const engine = engineOf(`graph g { output n: int reduce sum  state rounds: int = 0
      node a = 0 into n  node b = 0 into n  node c = 0 into n  node join = 1 into n  node count = rounds + 1 into rounds
      start -> a, b  b -> c  all(a, c) -> join -> count
      count -> a, b when rounds < 3
      count -> end otherwise }`);
    const result = await engine.run({});
    expect(result.status).toBe("completed");
    expect(result.output).toEqual({ n: 3 });
  });

  test("3.1: a member may be filled by any one of several", async () => {
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node a = bad() into log  node rescue = "rescue" into log  node b = "b" into log  node join = "join" into log
        start -> a, b  a -> rescue on error
        all(any(a, rescue), b) -> join }`,
      {
        bad: () => {
          throw new Error("no");
        },
      },
    );
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "completed", output: { log: ["b", "rescue", "join"] } });
  });

  test("3.2: a signal from `start` into a gated node does not count, nor does it run the node", async () => {
    const text = (start: string): string => `graph g { output log: string[] reduce append
      node a = "a" into log  node b = "b" into log  node join = "join" into log { waits a, b }
      ${start}  a -> join  b -> join }`;
    for (const start of [
      "start -> a, join  start -> b",
      "start -> join  start -> a, b when 1 == 1",
      "start -> a, b, join",
    ]) {
      const { status, steps } = await engineOf(text(start)).run({});
      expect([status, steps]).toEqual(["completed", [["a", "b"], ["join"]]]);
    }
    expect(await engineOf(text("start -> a, join")).run({})).toMatchObject({
      status: "incomplete",
      steps: [["a"]],
      incompleteBarriers: [{ target: "join", arrived: ["a"], missing: ["b"] }],
    });
  });

  test("3.2: `waits` counts only the nodes that it names", async () => {
    const engine = engineOf(`graph g { output n: int reduce sum
      node a = 0 into n  node b = 0 into n  node late = 0 into n  node join = 1 into n { waits a, b }
      start -> a, late  late -> b  a -> join  b -> join  late -> join }`);
    const result = await engine.run({});
    expect(result.steps).toEqual([["a", "late"], ["b"], ["join"]]);
  });
});
