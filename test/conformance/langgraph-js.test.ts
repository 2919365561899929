/**
 * Cases of LangGraph JS and its test suite, as graphs: failures beside pauses, time travel, limits of time, replaced
 * values. Where this project differs on purpose, the test asserts its behaviour and `docs/deviations.md` has the reason.
 */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const CHAIN = `graph g { output log: string[] reduce append  output n: int = 0
  node a = step("a", n) into { log, n }  node b = step("b", n) into { log, n }  node c = step("c", n) into { log, n }
  start -> a -> b -> c -> end }`;
const chain = () =>
  engineOf(
    CHAIN,
    { step: (name: string, n: number) => ({ log: [name], n: n * 10 + 1 }) },
    { store: new MemoryStore() },
  );

describe("failures", () => {
  test("an error edge does not swallow the pause of a sibling, and the handler runs once, after the answer", async () => {
    let handled = 0;
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node bad = bad()  node handler = handle() into log  node person = person() into log
        start -> bad, person  bad -> handler on error  bad -> end  handler -> end  person -> end }`,
      {
        bad: () => {
          throw new Error("broken");
        },
        handle: () => [`handled ${++handled}`],
        person: async (context: NodeContext) => [`answer ${String(await context.interrupt("?"))}`],
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect(handled).toBe(0);
    expect((await engine.resume("t", { answer: "yes" })).output).toEqual({ log: ["answer yes", "handled 1"] });
  });

  test("a pause that the code of a node catches is a pause all the same", async () => {
    const body = async (context: NodeContext) => {
      try {
        return await context.interrupt("?");
      } catch {
        return "caught";
      }
    };
    const engine = engineOf(
      "graph g { output o: json = null  node a = body() into o  start -> a -> end }",
      { body },
      {
        store: new MemoryStore(),
      },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect((await engine.resume("t", { answer: { ok: true } })).output).toEqual({ o: { ok: true } });
  });

  test("a synchronous body that returns after its `timeout` has finished", async () => {
    const clock = new VirtualClock();
    const engine = engineOf(
      "graph g { output o: int = 0  node a = late() into o { timeout 20ms }  start -> a -> end }",
      {
        late: () => {
          clock.skip(60);
          return 1;
        },
      },
      { clock },
    );
    expect(await clock.until(engine.run({}))).toMatchObject({ status: "completed", output: { o: 1 } });
  });
});

describe("time travel", () => {
  test("a resume of a completed run is refused, from its last checkpoint, too", async () => {
    const engine = chain();
    const { checkpointId } = await engine.run({}, { thread: "t" });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    await expect(engine.resume("t", { from: checkpointId! })).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("forks of one checkpoint are independent of each other and of their origin", async () => {
    const engine = chain();
    await engine.run({}, { thread: "t" });
    const from = (await engine.history("t")).find(({ step }) => step === 0)!.id;
    for (const n of [2, 3]) {
      await engine.fork("t", { from, as: `f${n}` });
      await engine.update(`f${n}`, { n });
      expect((await engine.resume(`f${n}`)).output).toEqual({ log: ["a", "b", "c"], n: n * 100 + 11 });
    }
    expect((await engine.state("t"))!.state).toEqual({ log: ["a", "b", "c"], n: 111 });
    expect(await engine.history("t")).toHaveLength(4);
  });

  test("a replay from a checkpoint keeps the former branch", async () => {
    const engine = chain();
    await engine.run({}, { thread: "t" });
    const before = await engine.history("t");
    const again = await engine.resume("t", { from: before.at(-1)!.id });
    expect(again).toMatchObject({ steps: [["a"], ["b"], ["c"]], output: { log: ["a", "b", "c"], n: 111 } });
    const kept = (await engine.history("t", { all: true })).map(({ id }) => id);
    expect(kept).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
  });
});

test("a replaced value survives the crash of a sibling, and is applied once", async () => {
  let [runs, isBroken] = [0, true];
  const engine = engineOf(
    `graph g { output log: string[] = ["old"] reduce append  output done: bool = false
      node a = replace() into set log  node b = flaky() into done
      start -> a, b  a -> end  b -> end }`,
    {
      replace: () => [`new ${++runs}`],
      flaky: () => {
        if (!isBroken) return true;
        isBroken = false;
        throw new Error("crash");
      },
    },
    { store: new MemoryStore() },
  );
  expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", output: { log: ["old"] } });
  expect((await engine.resume("t")).output).toEqual({ log: ["new 1"], done: true });
});

test("falsy values are values, and a missing optional field leaves its channel as it was", async () => {
  const engine = engineOf(
    `graph g { output a: int = 1  output b: string = "x"  output c: bool = true  output d: int | null = 3  output e: int = 4
      node f = f() into { a, b, c, d, e? }  start -> f -> end }`,
    { f: () => ({ a: 0, b: "", c: false, d: null, e: undefined, further: 1 }) },
  );
  expect((await engine.run({})).output).toEqual({ a: 0, b: "", c: false, d: null, e: 4 });
});
