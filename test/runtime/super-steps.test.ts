import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/context.ts";
import type { RunEvent } from "../../runtime/events.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const later = <T>(value: T, turns: number): Promise<T> => {
  let promise: Promise<unknown> = Promise.resolve();
  for (let turn = 0; turn < turns; turn++) promise = promise.then(() => undefined);
  return promise.then(() => value);
};

describe("super-steps (2)", () => {
  test("2.1: every task of a step reads the state before the step", async () => {
    const engine = engineOf(`graph g { output a: int = 1  output b: int = 2
      node x = b into a  node y = a into b  start -> x, y }`);
    const { output } = await engine.run({});
    expect(output).toEqual({ a: 2, b: 1 });
  });

  test("2.2: updates are applied in declaration order, whatever finished first", async () => {
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node a = slow("a", 9) into log  node b = slow("b", 5) into log  node c = slow("c", 1) into log
        start -> c, b, a }`,
      { slow: (name: string, turns: number) => later(name, turns) },
    );
    const { output, steps } = await engine.run({});
    expect(output).toEqual({ log: ["a", "b", "c"] });
    expect(steps).toEqual([["a", "b", "c"]]);
  });

  test("2.3: a result that does not fit fails its node, is not stored and not retried", async () => {
    let calls = 0;
    const engine = engineOf(`graph g { output n: int = 0  node a = wrong() into n { tries 3 }  start -> a }`, {
      wrong: () => {
        calls++;
        return "no number";
      },
    });
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "failed", output: { n: 0 }, error: { code: "NG_BAD_RESULT", nodeId: "a" } });
    expect(calls).toBe(1);
  });

  test("2.3: two writers of a one-writer channel fail the step, and a resume reruns exactly those", async () => {
    const ran: string[] = [];
    let asked = 0;
    const engine = engineOf(
      `graph g { output x: string = ""  output n: int = 0
        node a = write("a") into x { goes b }  node b = write("b") into x  node c = count() into n
        start -> a, c
        a -> end }`,
      {
        write: (name: string, context: NodeContext) => {
          ran.push(name);
          if (name === "a" && asked++ === 0) context.send("b", null);
          return name;
        },
        count: (context: NodeContext) => {
          ran.push("c");
          if (asked === 1 && context.step === 0) return 1;
          return 2;
        },
      },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t" });
    expect(result.status).toBe("completed");
    expect(ran).toEqual(["a", "c", "b"]);
  });

  test("2.3: a reducer that throws fails the run with NG_REDUCER_FAILED and nothing applied", async () => {
    const engine = engineOf(
      `graph g { output n: int = 1 reduce odd  output m: int = 0
        node a = 2 into n  node b = 5 into m  start -> a, b }`,
      {
        odd: () => {
          throw new Error("never even");
        },
      },
    );
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "failed", output: { n: 1, m: 0 }, error: { code: "NG_REDUCER_FAILED" } });
    expect(result.error?.message).toContain("never even");
  });

  test("2.4: edges are decided on the state after the step; several `when` may hold, `otherwise` when none", async () => {
    const text = (value: number) => `graph g { output n: int = 0  output log: string[] reduce append
      node a = ${value} into n  node big = "big" into log  node even = "even" into log  node none = "none" into log
      start -> a
      a -> big when n > 5
      a -> even when n % 2 == 0
      a -> none otherwise }`;
    expect((await engineOf(text(8)).run({})).output["log"]).toEqual(["big", "even"]);
    expect((await engineOf(text(7)).run({})).output["log"]).toEqual(["big"]);
    expect((await engineOf(text(3)).run({})).output["log"]).toEqual(["none"]);
  });

  test("2.4: a value that no arm takes fails with NG_NO_ROUTE, its writes applied", async () => {
    const engine = engineOf(
      `graph g { output kind: "x" | "y" = "x"  node a = pick() into kind  node b = print("b")
        start -> a  a -> match other { "p" -> b  "q" -> b }
        state other: "p" | "q" = "p" reduce trust  node c = pick() into other  start -> c }`,
      { pick: () => "x", trust: () => "p" },
    );
    expect((await engine.run({})).status).toBe("completed");
  });

  test("2.5: a node signalled in two different steps runs twice", async () => {
    const engine = engineOf(`graph g { output n: int reduce sum  node a = 0 into n  node b = 0 into n  node c = 1 into n
      start -> a, c  a -> b -> c }`);
    const result = await engine.run({});
    expect(result.steps).toEqual([["a", "c"], ["b"], ["c"]]);
    expect(result.output).toEqual({ n: 2 });
  });

  test("2.6: `goto` replaces own edges, `stop` ends the branch", async () => {
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node jump = jump() into log { goes b, end }  node halt = halt() into log
        node a = "a" into log  node b = "b" into log
        start -> jump, halt  jump -> a  halt -> a }`,
      {
        jump: (context: NodeContext) => {
          context.goto("b");
          return "jump";
        },
        halt: (context: NodeContext) => context.stop(),
      },
    );
    expect((await engine.run({})).output["log"]).toEqual(["jump", "b"]);
  });

  test("2.6: an exclusive `goto` takes the step over", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node jump = jump() into log { goes b }  node other = "other" into log
        node a = "a" into log  node b = "b" into log
        start -> jump, other  jump -> a  other -> a }`,
      {
        jump: (context: NodeContext) => {
          context.goto("b", { exclusive: true });
          return "jump";
        },
      },
    );
    expect((await engine.run({}, { onEvent: (event) => events.push(event) })).output["log"]).toEqual([
      "jump",
      "other",
      "b",
    ]);
    expect(events.filter((event) => event.type === "route" && event.discarded)).toMatchObject([{ node: "other" }]);
  });

  test("2.6: a jump that is not declared fails the node, even when its body swallows the error", async () => {
    const engine = engineOf(
      `graph g { node a = sneak() { goes end }  node b = print("b")  start -> a  a -> end  start -> b }`,
      {
        sneak: (context: NodeContext) => {
          try {
            context.goto("b");
          } catch {
            return;
          }
        },
      },
    );
    expect(await engine.run({})).toMatchObject({
      status: "failed",
      error: { code: "NG_UNDECLARED_GOTO", nodeId: "a" },
    });
  });

  test("2.7, 3.1: a barrier that is left partly filled makes the run incomplete", async () => {
    const engine = engineOf(
      `graph g { input go: bool  output n: int = 0
        node a = print("a")  node b = print("b")  node skip = print("s")  node join = 1 into n { waits a, b }
        start -> a, b  a -> join
        b -> join when go
        b -> skip otherwise }`,
      {},
      { builtins: { print: () => null } },
    );
    expect(await engine.run({ go: false })).toMatchObject({
      status: "incomplete",
      incompleteBarriers: [{ id: "join", target: "join", arrived: ["a"], missing: ["b"] }],
    });
    expect(await engine.run({ go: true })).toMatchObject({ status: "completed", output: { n: 1 } });
  });

  test("2.8: the step limit is a status, and a resume with a higher one goes on", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  limit steps 5  node a = n + 1 into n  start -> a  a -> a when n < 8  a -> end otherwise }`,
      {},
      { store: new MemoryStore() },
    );
    const stopped = await engine.run({}, { thread: "t" });
    expect(stopped).toMatchObject({ status: "step_limit", output: { n: 5 }, error: { code: "NG_STEP_LIMIT" } });
    expect(await engine.resume("t", { maxSteps: 100 })).toMatchObject({ status: "completed", output: { n: 8 } });
  });

  test("2.8: reaching the limit with nothing left is completion", async () => {
    const engine = engineOf(`graph g { output n: int = 0  limit steps 1  node a = 1 into n  start -> a }`);
    expect((await engine.run({})).status).toBe("completed");
  });

  test("2.9, 7.1: sends run in the next step, in emission order, with their own items", async () => {
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node plan = plan() { goes work }  node work = work(item) for item in none into log  node side = "side" into log
        state none: string[] = []
        start -> plan -> side  start -> work }`,
      {
        plan: (context: NodeContext) => {
          for (const item of ["x", "y"]) context.send("work", item);
        },
        work: (item: string) => `did ${item}`,
      },
    );
    const result = await engine.run({});
    expect(result.steps[1]).toEqual(["side", "work", "work"]);
    expect(result.output["log"]).toEqual(["side", "did x", "did y"]);
  });
});

describe("barriers (3)", () => {
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

  test("3.2: `waits` counts only whom it names", async () => {
    const engine = engineOf(`graph g { output n: int reduce sum
      node a = 0 into n  node b = 0 into n  node late = 0 into n  node join = 1 into n { waits a, b }
      start -> a, late  late -> b  a -> join  b -> join  late -> join }`);
    const result = await engine.run({});
    expect(result.steps).toEqual([["a", "late"], ["b"], ["join"]]);
  });
});
