/**
 * langgraph-go's cases of fan-out, of nodes at the same time and of replays (LG-41 to LG-48, LG-67 to LG-74, LG-80),
 * and similar ones. Results merge in declaration order, not by name or hash; a join is a barrier, or a node that is
 * signalled once.
 */
import { describe, expect, test } from "vitest";
import type { NodeContext, RunEvent } from "../../api/index.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine } from "../support/compiled-engine.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/virtual-clock.ts";

/** `fanout` adds 10, then all of the names run at once: each calls `work` with its name and position. */
function fan(names: readonly string[], rest = `any(${names.join(", ")}) -> end`): string {
  return `graph g { output counter: int = 0 reduce sum  output log: string[] = ["start"] reduce append
    node fanout = 10 into counter
    ${names.map((name, index) => `node ${name} = work("${name}", ${index}, counter) into { counter, log }`).join("  ")}
    node tail = { counter: 1000, log: "tail" } into { counter, log }
    start -> fanout -> ${names.join(", ")}  ${rest}  ${rest.includes("tail") ? "tail -> end" : "fanout -> tail"} }`;
}

type Work = (name: string, index: number, counter: number, context: NodeContext) => unknown;
const registry = (work: Work): FunctionRegistry => ({ work });

/** Lets a body wait some turns of the event loop, differently each round. */
async function wait(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

const LETTERS = ["nodeZ", "nodeA", "nodeM", "nodeB"];

describe("branches", () => {
  test.each([
    [["a", "b", "c"], 100, 1610],
    [["c", "a", "b"], 100, 1610],
    [["only"], 5, 1015],
    [["w", "x", "y", "z"], 10, 1110],
  ])("LG-41, LG-42: %j each see the state before the step; all are added", async (names, amount, counter) => {
    const seen: number[] = [];
    const engine = compiledEngine(
      fan(names),
      registry(async (name, index, found) => {
        seen.push(found);
        await wait(names.length - index);
        return { counter: (index + 1) * amount, log: name };
      }),
    );
    expect(await engine.run({})).toMatchObject({ status: "completed", output: { counter } });
    expect(seen).toEqual(names.map(() => 10));
  });

  test.each([2, 4, 30])("LG-43: %i wait at the same time", async (count) => {
    const gate = deferred<void>();
    let waiting = 0;
    const engine = compiledEngine(
      fan(Array.from({ length: count }, (_, index) => `n${index}`)),
      registry(async (name) => {
        // This would wait forever if they ran one after the other.
        if (++waiting === count) gate.resolve();
        await gate.promise;
        return { counter: 1, log: name };
      }),
    );
    expect((await engine.run({})).output["counter"]).toBe(1010 + count);
  });

  test.each([
    ["LG-44: single items", (name: string) => name, LETTERS],
    ["LG-44: lists", (name: string) => [name, name], LETTERS.flatMap((name) => [name, name])],
    ["LG-44: none from one", (name: string) => (name === "nodeA" ? [] : name), ["nodeZ", "nodeM", "nodeB"]],
  ])("%s are appended behind what was there, in the order of the page", async (_name, log, items) => {
    const engine = compiledEngine(
      fan(LETTERS, `all(${LETTERS.join(", ")}) -> tail`),
      registry(async (name, index) => (await wait(index % 2), { counter: 0, log: log(name) })),
    );
    expect((await engine.run({})).output["log"]).toEqual(["start", ...items, "tail"]);
  });

  test("LG-45, LG-72, LG-80: fifty runs with different delays have the same state, steps and events", async () => {
    const text = `graph g { output log: string[] reduce append  output last: string = "" reduce last  output sum: float reduce sum
      output by: map<int> reduce merge  output told: string = "" reduce join
      ${LETTERS.map((name, index) => `node ${name} = work("${name}", ${index}) into { log, last, sum, by, told }`).join("  ")}
      node tail = print("done")  start -> ${LETTERS.join(", ")}  all(${LETTERS.join(", ")}) -> tail }`;
    const outcomes = new Set<string>();
    for (let round = 0; round < 50; round++) {
      const events: string[] = [];
      const onEvent = (event: RunEvent): void => {
        if (event.type === "node" || event.type === "run") return;
        const { seq: _seq, runId: _run, ...rest } = event;
        events.push(JSON.stringify(rest));
      };
      const functions = {
        work: async (name: string, index: number) => {
          await wait((index * 7 + round * 3) % 5);
          return { log: name, last: name, sum: 0.1 * index, by: { all: index, [name]: index }, told: `${name};` };
        },
        join: (current: string, update: string) => current + update,
      };
      const { status, state, steps } = await compiledEngine(text, functions, {
        onEvent,
        builtins: { print: () => null },
      }).run({});
      outcomes.add(JSON.stringify([status, state, steps, events]));
    }
    expect(outcomes.size).toBe(1);
    const [, state, steps] = JSON.parse([...outcomes][0]!) as [string, object, string[][]];
    expect(state).toEqual({
      log: LETTERS,
      last: "nodeB",
      sum: 0.1 + 0.2 + 0.1 * 3,
      by: { all: 3, nodeZ: 0, nodeA: 1, nodeM: 2, nodeB: 3 },
      told: LETTERS.map((name) => `${name};`).join(""),
    });
    expect(steps).toEqual([LETTERS, ["tail"]]);
  });
});

describe("branches that fail", () => {
  test.each([
    ["LG-46: one", ["nodeM"], "nodeM"],
    ["LG-46: the first", ["nodeZ"], "nodeZ"],
    ["LG-46: the last", ["nodeB"], "nodeB"],
    ["LG-47: two: the first on the page", ["nodeB", "nodeA"], "nodeA"],
    ["LG-73: all", LETTERS, "nodeZ"],
  ])("%s", async (_name, bad, reported) => {
    for (let round = 0; round < 10; round++) {
      const events: RunEvent[] = [];
      const causes = new Map(bad.map((name) => [name, new Error(`BRANCH_ERROR: ${name} processing failed`)]));
      let finished = 0;
      const engine = compiledEngine(
        fan(LETTERS),
        registry(async (name, index) => {
          await wait((index * 3 + round) % 4);
          const cause = causes.get(name);
          if (cause !== undefined) throw cause;
          finished++;
          return { counter: 1, log: name };
        }),
        { onEvent: (event) => events.push(event) },
      );
      const result = await engine.run({});
      expect(result).toMatchObject({ status: "failed", output: { counter: 10, log: ["start"] }, steps: [["fanout"]] });
      expect(result.error).toMatchObject({ code: "NG_NODE_FAILED", nodeId: reported, attempts: 1 });
      expect(result.error?.cause).toBe(causes.get(reported));
      expect(result.error?.message).toBe(`node \`${reported}\` failed: BRANCH_ERROR: ${reported} processing failed`);
      // The other nodes of the step finish (4.2), and each failure is reported.
      expect(finished).toBe(LETTERS.length - bad.length);
      const errors = events.flatMap((event) => (event.type === "node" && event.phase === "error" ? [event.node] : []));
      expect(errors.toSorted()).toEqual([...bad].toSorted());
    }
  });

  test("LG-46: results of finished nodes are kept, and only the other nodes run again", async () => {
    const runs: string[] = [];
    let bad = ["nodeA", "nodeB"];
    const engine = compiledEngine(
      fan(LETTERS, `all(${LETTERS.join(", ")}) -> tail`),
      registry(async (name) => {
        runs.push(name);
        if (bad.includes(name)) throw new Error(name);
        return { counter: 1, log: name };
      }),
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", error: { nodeId: "nodeA" } });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    bad = ["nodeB"];
    expect(await engine.resume("t")).toMatchObject({
      status: "failed",
      error: { nodeId: "nodeB" },
      output: { counter: 10 },
    });
    bad = [];
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { counter: 1014, log: ["start", ...LETTERS, "tail"] },
      steps: [LETTERS, ["tail"]],
    });
    expect(runs).toEqual([...LETTERS, "nodeA", "nodeB", "nodeB"]);
  });

  test.each([
    ["LG-48: one that is not there", ["x", "nonexistent"], "nonexistent"],
    ["LG-48: one that was not declared", ["y", "x"], "y"],
  ])("a jump to several of which %s", async (_name, targets, reported) => {
    const text = `graph g { output n: int = 0 reduce sum  node a = a() into n { goes x }  node x = 1 into n  node y = 1 into n
      start -> a, y  any(a, x, y) -> end }`;
    const engine = compiledEngine(text, { a: (context: NodeContext) => (context.goto(...targets), 1) });
    const result = await engine.run({});
    expect(result).toMatchObject({ status: "failed", output: { n: 0 }, steps: [] });
    expect(result.error).toMatchObject({ code: "NG_UNDECLARED_GOTO", nodeId: "a" });
    expect(result.error?.message).toContain(`\`${reported}\``);
  });

  test("LG-73: all branches fail at once, many times, and no run hangs", async () => {
    const engine = compiledEngine(
      fan(LETTERS),
      registry((name) => Promise.reject(new Error(name))),
    );
    for (let round = 0; round < 300; round++) expect((await engine.run({})).error?.message).toContain("nodeZ");
  });

  test.each([1, 5, 20])(
    "LG-74: one of twenty fails while others wait for their turn, %i at once",
    async (maxParallel) => {
      let finished = 0;
      const engine = compiledEngine(`graph g { node every = work(i) for i in range(20)  start -> every }`, {
        work: async (item: number) => {
          if (item === 7) throw new Error("seven");
          await wait(2);
          finished++;
        },
      });
      const { status, error } = await engine.run({}, { maxParallel });
      expect([status, finished]).toEqual(["failed", 19]);
      expect(error).toMatchObject({ nodeId: "every", items: [7], message: "node `every` failed at item 7: seven" });
    },
  );

  test("LG-74: waiting items do not begin if a failure ends the others", async () => {
    const started: number[] = [];
    const engine = compiledEngine(`graph g { node every = work(i) for i in range(20)  start -> every }`, {
      work: async (item: number) => {
        started.push(item);
        if (item === 2) throw new Error("two");
        await new Promise(() => undefined);
      },
    });
    const { status, error } = await engine.run({}, { maxParallel: 5, onFailure: "abort" });
    expect([status, error?.message]).toEqual(["failed", "node `every` failed at item 2: two"]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("how many at once", () => {
  const FAN = (count: number, rest = ""): string =>
    fan(Array.from({ length: count }, (_, index) => `n${index}`)).replace("{", `{ ${rest}`);
  const EACH = (count: number, policy = ""): string =>
    `graph g { output counter: int[] reduce append  node every = work("e", i, 0) for i in range(${count}) into counter ${policy}
       start -> every }`;
  test.each([
    ["LG-67: three, three allowed", FAN(3), 3, 3],
    ["LG-68: five, two allowed", FAN(5), 2, 2],
    ["LG-69: ten, three allowed", FAN(10), 3, 3],
    ["LG-69: ten, one allowed", FAN(10), 1, 1],
    ["LG-69: three, ten allowed", FAN(3), 10, 3],
    ["LG-69: ten, nothing said", FAN(10), undefined, 10],
    ["LG-69: ten, four in the text", FAN(10, "max parallel 4"), undefined, 4],
    ["LG-69: ten, four in the text and six for this run", FAN(10, "max parallel 4"), 6, 6],
    ["LG-69: ten, four in the text and no limit for this run", FAN(10, "max parallel 4"), null, 10],
    ["LG-68: seven items, two at once in the text", EACH(7, "{ max parallel 2 }"), undefined, 2],
    ["LG-68: seven items, five in the text and two in all", EACH(7, "{ max parallel 5 }"), 2, 2],
    ["LG-68: seven items, nothing said", EACH(7), undefined, 7],
    ["LG-68: no items", EACH(0), undefined, 0],
  ])("%s", async (_name, text, maxParallel, most) => {
    let running = 0;
    let peak = 0;
    let runs = 0;
    const work = async (name: string): Promise<unknown> => {
      runs++;
      peak = Math.max(peak, ++running);
      await settle();
      running--;
      return name === "e" ? 1 : { counter: 1, log: name };
    };
    const result = await compiledEngine(text, { work }).run({}, maxParallel === undefined ? {} : { maxParallel });
    expect(result.status).toBe("completed");
    expect(peak).toBe(most);
    const { counter } = result.output;
    expect(Array.isArray(counter) ? counter.length : (counter as number) - 1010).toBe(runs);
  });

  test("LG-70: nodes in a row run one at a time, whatever the limit", async () => {
    let peak = 0;
    let running = 0;
    const functions = {
      work: async () => {
        peak = Math.max(peak, ++running);
        await wait(1);
        running--;
      },
    };
    const text = `graph g { node a = work()  node b = work()  node c = work()  start -> a -> b -> c }`;
    await compiledEngine(text, functions).run({}, { maxParallel: 8 });
    expect(peak).toBe(1);
  });
});

describe("joins", () => {
  const jumps = (count: number, edges: string): string =>
    `graph g { output counter: int = 0 reduce sum  state ready: int = 0
      ${Array.from({ length: count }, (_, index) => `node p${index} = jump() into counter { goes tail }`).join("  ")}
      node early = 1 into ready  node tail = 100 into counter
      ${edges}  any(${Array.from({ length: count }, (_, index) => `p${index}`).join(", ")}, tail) -> end }`;
  test.each([
    ["five that jump at once: once", jumps(5, `start -> p0, p1, p2, p3, p4  start -> early -> end`), 105, 1],
    ["one that comes a step later: once more", jumps(3, `start -> p0, p1  start -> early -> p2`), 203, 2],
    ["two after one another: twice", jumps(2, `start -> p0  start -> early -> p1`), 202, 2],
  ])("LG-71: jumps of %s", async (_name, text, counter, joins) => {
    const result = await compiledEngine(text, { jump: (context: NodeContext) => (context.goto("tail"), 1) }).run({});
    expect(result).toMatchObject({ status: "completed", output: { counter } });
    expect(result.steps.flat().filter((node) => node === "tail")).toHaveLength(joins);
  });

  test("LG-71: a target of a jump and an edge in the same step runs once", async () => {
    const text = `graph g { output counter: int = 0 reduce sum  node p = jump() into counter { goes tail }  node q = 1 into counter
      node tail = 100 into counter  start -> p, q  p -> end  q -> tail -> end }`;
    const engine = compiledEngine(text, { jump: (context: NodeContext) => (context.goto("tail"), 10) });
    expect(await engine.run({})).toMatchObject({ output: { counter: 111 }, steps: [["p", "q"], ["tail"]] });
  });

  test.each([
    ["a barrier waits for the longer branch", `all(a, c) -> tail`, 103, 1],
    ["without one it runs for each", `any(a, c) -> tail`, 203, 2],
  ])("LG-71: %s", async (_name, join, counter, joins) => {
    const text = `graph g { output counter: int = 0 reduce sum  node a = 1 into counter  node b = 1 into counter
      node c = 1 into counter  node tail = 100 into counter  start -> a, b  b -> c  ${join}  tail -> end }`;
    const result = await compiledEngine(text).run({});
    expect(result).toMatchObject({ status: "completed", output: { counter } });
    expect(result.steps.flat().filter((node) => node === "tail")).toHaveLength(joins);
  });
});
