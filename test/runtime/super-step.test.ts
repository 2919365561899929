/** Execution, section 2: one step, and the transition to the next. */
import { describe, expect, test } from "vitest";
import { NodeError, RunError, type NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";

describe("2.1 all tasks of a step read one frozen snapshot", () => {
  test("a value written in a step is visible in the next", async () => {
    const engine = engineOf(
      `graph g {
        state x: int = 1   output seen: int = 0   output later: int = 0
        node write = x + 1 into x
        node read = x into seen
        node after = x into later
        start -> write, read   write -> after   any(read, after) -> end
      }`,
    );
    expect((await engine.run({})).output).toEqual({ seen: 1, later: 2 });
  });

  test("also when the reader starts after the writer has finished", async () => {
    const engine = engineOf(
      `graph g {
        max parallel 1
        state x: int = 1   output seen: int = 0
        node write = bump(x) into x
        node read = look(x) into seen
        start -> write, read   any(write, read) -> end
      }`,
      { bump: async (x: number) => x + 1, look: async (x: number) => x },
    );
    expect((await engine.run({})).output).toEqual({ seen: 1 });
  });

  test("node code cannot change state through its arguments or its result", async () => {
    const kept: string[] = ["a"];
    const engine = engineOf(
      `graph g {
        output list: string[] = []
        node make = make() into list
        node meddle = meddle(list)
        start -> make -> meddle
      }`,
      {
        make: () => kept,
        meddle: (list: string[]) => {
          kept.push("late");
          list.push("x");
        },
      },
    );
    const result = await engine.run({});
    expect(result.status).toBe("failed");
    expect(result.error?.cause).toBeInstanceOf(TypeError);
    expect(result.state).toEqual({ list: ["a"] });
    expect(kept).toEqual(["a", "late"]);
  });
});

describe("2.2 updates are applied in task order", () => {
  test("whatever finished first", async () => {
    const first = deferred<string>();
    const engine = engineOf(
      `graph g {
        output list: string[] = [] reduce append   output winner: string = "" reduce last
        node a = slow() into list   node b = quick() into list
        node c = slowName() into winner   node d = quickName() into winner
        start -> a, b, c, d   any(a, b, c, d) -> end
      }`,
      {
        slow: () => first.promise,
        slowName: async () => (await first.promise, "c"),
        quick: async () => "b",
        quickName: async () => {
          setImmediate(() => first.resolve("a"));
          return "d";
        },
      },
    );
    expect((await engine.run({})).output).toEqual({ list: ["a", "b"], winner: "d" });
  });

  test("nodes in declaration order, then sends in emission order", async () => {
    const engine = engineOf(
      `graph g {
        output list: string[] = [] reduce append
        node plan = plan()  { goes work }
        node b = "b" into list
        node work = work() into list
        start -> plan   plan -> b   any(b, work) -> end
      }`,
      {
        plan: (context: NodeContext) => {
          context.send("work", 1);
          context.send("work", 0);
        },
        work: (context: NodeContext) => `work ${String(context.item)}`,
      },
    );
    const result = await engine.run({});
    expect(result.output).toEqual({ list: ["b", "work 1", "work 0"] });
    expect(result.steps).toEqual([["plan"], ["b", "work", "work"]]);
  });
});

describe("2.3 results that do not fit", () => {
  test.each([
    ["the wrong type", () => "three", /int/],
    ["no number", () => Number.NaN, /NaN/],
    ["nothing", () => undefined, /nothing/],
    ["an instance of a class", () => new Date(0), /Date/],
  ])("%s fails the node, is not retried and not stored", async (_name, make: () => unknown, message) => {
    let runs = 0;
    const engine = engineOf(`graph g { output n: int = 0  node a = make() into n { tries 5 }  start -> a }`, {
      make: () => (runs++, make()),
    });
    const result = await engine.run({});
    expect(result.status).toBe("failed");
    expect(result.error).toBeInstanceOf(NodeError);
    expect(result.error).toMatchObject({ code: "NG_BAD_RESULT", nodeId: "a" });
    expect(result.error?.message).toMatch(message);
    expect(result.state).toEqual({ n: 0 });
    expect(runs).toBe(1);
  });

  test("a record that lacks a declared field", async () => {
    const engine = engineOf(
      `graph g { output a: int = 0  output b: string = ""  node n = make() into { a, b }  start -> n }`,
      { make: () => ({ a: 1, c: 2 }) },
    );
    const result = await engine.run({});
    expect(result.error).toMatchObject({ code: "NG_BAD_RESULT" });
    expect(result.error?.message).toContain("`b`");
    expect(result.state).toEqual({ a: 0, b: "" });
  });

  test("two writers of a one-writer channel fail the step; a resume reruns exactly those", async () => {
    const ran: string[] = [];
    let second: unknown = "y";
    const engine = engineOf(
      `graph g {
        state before: int = 0   output x: string = ""   output y: int = 0
        node first = 1 into before
        node a = a() into x   node b = b() into x { goes end }   node c = c() into y
        start -> first   first -> a, b, c   any(a, b, c) -> end
      }`,
      {
        a: () => (ran.push("a"), "x"),
        b: (context: NodeContext) => (ran.push("b"), second ?? context.stop()),
        c: () => (ran.push("c"), 1),
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed.status).toBe("failed");
    expect(failed.error).toBeInstanceOf(RunError);
    expect(failed.error).toMatchObject({ code: "NG_CONCURRENT_WRITE", nodeIds: ["a", "b"] });
    expect(failed.error?.message).toContain("`x`");
    expect(failed.state).toEqual({ before: 1, x: "", y: 0 });

    second = undefined;
    const resumed = await engine.resume("t");
    expect(resumed.status).toBe("completed");
    expect(resumed.output).toEqual({ x: "x", y: 1 });
    expect(ran).toEqual(["a", "b", "c", "a", "b"]);
  });

  test("a reducer that throws fails the step; a resume reruns its writers and no other", async () => {
    const ran: string[] = [];
    let broken = true;
    const engine = engineOf(
      `graph g {
        output total: int = 0 reduce add   output y: int = 0
        node a = a() into total   node c = c() into y
        start -> a, c   any(a, c) -> end
      }`,
      {
        add: (current: number, update: number) => {
          if (broken) throw new Error("no sums today");
          return current + update;
        },
        a: () => (ran.push("a"), 2),
        c: () => (ran.push("c"), 1),
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed.error).toMatchObject({ code: "NG_REDUCER_FAILED", nodeIds: ["a"] });
    expect(failed.error?.message).toContain("no sums today");
    expect(failed.state).toEqual({ total: 0, y: 0 });
    broken = false;
    expect((await engine.resume("t")).output).toEqual({ total: 2, y: 1 });
    expect(ran).toEqual(["a", "c", "a"]);
  });

  test("what a reducer returns has to fit the channel", async () => {
    const engine = engineOf(`graph g { output total: int = 0 reduce add  node a = 1 into total  start -> a }`, {
      add: () => "one",
    });
    expect((await engine.run({})).error).toMatchObject({ code: "NG_REDUCER_FAILED" });
  });
});

describe("2.4 edges are evaluated after all updates", () => {
  const text = `graph g {
    input n: int   state x: int = 0   output ran: string[] = [] reduce append
    node set = n into x
    node big = "big" into ran   node even = "even" into ran   node rest = "rest" into ran   node always = "always" into ran
    start -> set
    set -> big when x > 10   set -> even when x % 2 == 0   set -> rest otherwise   set -> always, always
    any(big, even, rest, always) -> end
  }`;
  test.each([
    [12, ["big", "even", "always"]],
    [11, ["big", "always"]],
    [3, ["rest", "always"]],
  ])("every `when` that holds, `otherwise` if none does: %i", async (n, ran) => {
    expect((await engineOf(text).run({ n })).output).toEqual({ ran });
  });

  test("one `match` arm", async () => {
    const engine = engineOf(
      `graph g {
        input word: string   output took: string = ""
        node look = 1
        node a = "a" into took   node b = "b" into took   node c = "c" into took
        start -> look
        look -> match { word == "x" -> a   word.length > 0 -> b   else -> c }
        any(a, b, c) -> end
      }`.replace("word.length", "len(word)"),
    );
    expect((await engine.run({ word: "x" })).output).toEqual({ took: "a" });
    expect((await engine.run({ word: "y" })).output).toEqual({ took: "b" });
    expect((await engine.run({ word: "" })).output).toEqual({ took: "c" });
  });

  test("a value outside the arms fails the run with NG_NO_ROUTE, its writes applied", async () => {
    const engine = engineOf(
      `graph g {
        state kind: "a" | "b" = "a"   output x: int = 0   input word: string
        node look = 7 into x   node a = 1
        start -> look   look -> match word { "a" -> a }   a -> end
      }`,
    );
    const result = await engine.run({ word: "zebra" });
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({ code: "NG_NO_ROUTE", nodeId: "look" });
    expect(result.error?.message).toContain("zebra");
    expect(result.output).toEqual({ x: 7 });
  });

  test("a resume after NG_NO_ROUTE evaluates the edges again on the current state", async () => {
    let looks = 0;
    const engine = engineOf(
      `graph g {
        state kind: string = "c"   output x: int = 0
        node look = look() into x   node a = 1
        start -> look   look -> match kind { "a" -> a }   a -> end
      }`,
      { look: () => ++looks },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).error).toMatchObject({ code: "NG_NO_ROUTE" });
    await engine.update("t", { kind: "a" });
    const resumed = await engine.resume("t");
    expect(resumed).toMatchObject({ status: "completed", output: { x: 1 }, steps: [["a"]] });
  });

  test("a condition without a value fails the run with NG_CONDITION, and says why", async () => {
    const engine = engineOf(
      `graph g { input n: int  output x: int = 0  node a = 1 into x  node b = 1  start -> a  a -> b when 1 / n > 0  b -> end }`,
    );
    const result = await engine.run({ n: 0 });
    expect(result.error).toMatchObject({ code: "NG_CONDITION", nodeId: "a" });
    expect(result.error?.message).toContain("division by zero");
  });

  test("edges of `start` may be conditional", async () => {
    const engine = engineOf(
      `graph g { input n: int  node a = 1  node b = 1  start -> a when n > 0  start -> b otherwise }`,
    );
    expect((await engine.run({ n: 1 })).steps).toEqual([["a"]]);
    expect((await engine.run({ n: 0 })).steps).toEqual([["b"]]);
  });
});

test("2.5 a node signalled in two steps runs twice", async () => {
  const engine = engineOf(
    `graph g {
      output n: int = 0 reduce sum
      node a = 1  node s1 = 1  node s2 = 1  node join = 1 into n
      start -> a, s1   a -> join   s1 -> s2 -> join   join -> end
    }`,
  );
  const result = await engine.run({});
  expect(result.output).toEqual({ n: 2 });
  expect(result.steps).toEqual([["a", "s1"], ["s2", "join"], ["join"]]);
});

describe("2.6 goto, stop, exclusive goto", () => {
  const text = `graph g {
    output ran: string[] = [] reduce append
    node a = a() { goes d, e, work, end }
    node b = b() into ran { goes d, e, work }
    node c = "c" into ran   node d = "d" into ran   node e = "e" into ran   node f = "f" into ran
    node work = "work" into ran
    start -> a, b   a -> c   b -> f   all(b, c) -> e   any(c, d, e, f, work) -> end
  }`;
  const run = (a: (context: NodeContext) => unknown, b: (context: NodeContext) => unknown = () => "b") =>
    engineOf(text, { a, b }).run({});

  test("goto replaces the own edges of its node and no other", async () => {
    const result = await run((context) => context.goto("d", "e"));
    expect(result.steps).toEqual([
      ["a", "b"],
      ["d", "e", "f"],
    ]);
  });

  test("goto may be called before a result is returned, and the last call counts", async () => {
    const result = await run(
      () => undefined,
      (context) => {
        context.goto("d");
        context.goto("e");
        return "b";
      },
    );
    expect(result.steps[1]).toEqual(["c", "e"]);
    expect(result.state["ran"]).toContain("b");
  });

  test("stop ends the branch", async () => {
    const result = await run((context) => context.stop());
    expect(result.steps).toEqual([["a", "b"], ["f"]]);
    expect(result.status).toBe("incomplete");
  });

  test("stop without `goes end` fails the node", async () => {
    const result = await run(
      () => "a",
      (context) => context.stop(),
    );
    expect(result).toMatchObject({ status: "failed", error: { code: "NG_UNDECLARED_GOTO", nodeId: "b" } });
    expect(result.error?.message).toContain("`goes end`");
  });

  test("goto end", async () => {
    expect((await run((context) => context.goto("end"))).steps[1]).toEqual(["f"]);
  });

  test("an exclusive goto discards the routing and sends of others; barriers collect nothing", async () => {
    const result = await run(
      (context) => context.goto("d", { exclusive: true }),
      (context) => {
        context.send("work", 1);
        return "b";
      },
    );
    expect(result.steps).toEqual([["a", "b"], ["d"]]);
    expect(result.status).toBe("completed");
    expect(result.state["ran"]).toEqual(["b", "d"]);
  });

  test("of two exclusive ones the last in task order wins", async () => {
    const result = await run(
      (context) => context.goto("d", { exclusive: true }),
      (context) => context.goto("e", { exclusive: true }),
    );
    expect(result.steps[1]).toEqual(["e"]);
  });

  test("targets must be declared, also where the body swallows the error", async () => {
    for (const jump of [
      (context: NodeContext) => context.goto("f"),
      (context: NodeContext) => context.goto("nowhere"),
      (context: NodeContext) => context.send("f", 1),
      (context: NodeContext) => {
        try {
          context.goto("f");
        } catch {
          // The error is caught.
        }
      },
    ]) {
      const result = await run(jump);
      expect(result.error).toMatchObject({ code: "NG_UNDECLARED_GOTO", nodeId: "a" });
    }
  });

  test("jumps and sends of a failed attempt are dropped", async () => {
    let attempt = 0;
    const engine = engineOf(
      `graph g { node a = a() { tries 2  goes d }  node c = 1  node d = 1  start -> a -> c  any(c, d) -> end }`,
      {
        a: (context: NodeContext) => {
          if (attempt++ > 0) return;
          context.goto("d");
          context.send("d", 1);
          throw new Error("again");
        },
      },
      { clock: { now: () => 0, setTimeout: (callback) => setImmediate(callback), clearTimeout: () => undefined } },
    );
    expect((await engine.run({})).steps).toEqual([["a"], ["c"]]);
  });

  test("the context may be taken apart", async () => {
    const result = await run(({ goto, attempt, step }: NodeContext) => {
      expect([attempt, step]).toEqual([1, 0]);
      return goto("d");
    });
    expect(result.steps[1]).toEqual(["d", "f"]);
  });
});

describe("2.7 the end of a run", () => {
  test("a partly filled barrier makes it incomplete, and lists the missing nodes", async () => {
    const engine = engineOf(
      `graph g {
        node a = 1  node b = 1  node h = 1  node c = 1  node d = 1
        start -> a   all(a, any(b, h), c) -> d   d -> end
      }`,
    );
    const result = await engine.run({});
    expect(result.status).toBe("incomplete");
    expect(result.incompleteBarriers).toEqual([{ id: "d", target: "d", arrived: ["a"], missing: ["b", "c", "h"] }]);
    expect(result.error).toBeNull();
  });

  test("branches may end at different times", async () => {
    const engine = engineOf(
      `graph g { node a = 1  node b = 1  node c = 1  start -> a, b  a -> end  b -> c  c -> end }`,
    );
    expect(await engine.run({})).toMatchObject({
      status: "completed",
      steps: [["a", "b"], ["c"]],
      pauses: [],
      error: null,
    });
  });

  test("a graph that goes straight to the end", async () => {
    expect(await engineOf(`graph g { output x: int = 5  node a = 1  start -> end  a -> end }`).run({})).toMatchObject({
      status: "completed",
      output: { x: 5 },
      steps: [],
    });
  });
});

describe("2.8 the step limit", () => {
  const loop = `graph g {
    limit steps 5
    output n: int = 0
    node count = n + 1 into n
    start -> count   count -> count
  }`;

  test("stops a run with work left; it counts resumes, and a higher limit continues", async () => {
    const engine = engineOf(loop, {}, { store: new MemoryStore() });
    const stopped = await engine.run({}, { thread: "t" });
    expect(stopped).toMatchObject({ status: "limit", output: { n: 5 } });
    expect(stopped.error).toMatchObject({ code: "NG_STEP_LIMIT" });
    expect(stopped.steps).toHaveLength(5);
    expect(await engine.resume("t")).toMatchObject({ status: "limit", output: { n: 5 }, steps: [] });
    expect(await engine.resume("t", { maxSteps: 7 })).toMatchObject({ status: "limit", output: { n: 7 } });
  });

  test("is 100 by default, and `none` is none", async () => {
    expect((await engineOf(loop.replace("limit steps 5", "")).run({})).output).toEqual({ n: 100 });
    const endless = engineOf(
      `graph g { limit steps none  output n: int = 0  node count = n + 1 into n
        start -> count   count -> count when n < 250   count -> end otherwise }`,
    );
    expect(await endless.run({})).toMatchObject({ status: "completed", output: { n: 250 } });
    expect(await endless.run({}, { maxSteps: 3 })).toMatchObject({ status: "limit", output: { n: 3 } });
  });

  test("a run that ends with its last step has not reached it", async () => {
    const engine = engineOf(`graph g { node a = 1  start -> a -> end }`);
    expect(await engine.run({}, { maxSteps: 1 })).toMatchObject({ status: "completed" });
    expect(await engine.run({}, { maxSteps: 0 })).toMatchObject({ status: "limit", steps: [] });
  });

  test.each([-1, 1.5, Number.NaN])("a limit of %d is refused before any node runs", async (maxSteps) => {
    let ran = false;
    const engine = engineOf(`graph g { node a = a()  start -> a }`, { a: () => (ran = true) });
    await expect(engine.run({}, { maxSteps })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(ran).toBe(false);
  });
});

test("2.9 sends run in the next step, beside what the edges signalled", async () => {
  const engine = engineOf(
    `graph g {
      output got: string[] = [] reduce append
      node plan = plan() { goes work }
      node bridge = "bridge" into got
      node work = work() into got
      start -> plan -> bridge   any(bridge, work) -> end
    }`,
    {
      plan: (context: NodeContext) => {
        for (const item of ["a", "b"]) context.send("work", { item });
      },
      work: (context: NodeContext) => (context.item as { item: string }).item,
    },
  );
  const result = await engine.run({});
  expect(result.steps).toEqual([["plan"], ["bridge", "work", "work"]]);
  expect(result.output).toEqual({ got: ["bridge", "a", "b"] });
});
