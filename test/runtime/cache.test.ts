/** The policy `cache`, from the text of a graph to its run. */
import { describe, expect, test } from "vitest";
import { MemoryNodeCache, MemoryStore, type NodeContext } from "../../runtime/index.ts";
import { engineOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

function counting(): { readonly calls: unknown[]; readonly look: (value: unknown) => Promise<unknown> } {
  const calls: unknown[] = [];
  return {
    calls,
    look: async (value) => {
      calls.push(value);
      return value;
    },
  };
}

describe("cache", () => {
  test("within one run: a loop's equal calls run once", async () => {
    const { calls, look } = counting();
    const engine = engineOf(
      `graph g { output found: int[] = [] reduce append  state n: int = 0
         node look = look(n % 2) into found { cache }  node next = n + 1 into n
         start -> look -> next  next -> look when n < 6  next -> end otherwise }`,
      { look },
    );
    expect((await engine.run({})).output).toEqual({ found: [0, 1, 0, 1, 0, 1] });
    expect(calls).toEqual([0, 1]);
  });

  test("the items of a `for` node have results of their own", async () => {
    const { calls, look } = counting();
    const engine = engineOf(
      `graph g { input xs: string[]  output found: string[] = [] reduce append
         node look = look(x) for x in xs into found { cache }  start -> look }`,
      { look },
    );
    await engine.run({ xs: ["a", "b"] });
    expect((await engine.run({ xs: ["b", "c", "a"] })).output).toEqual({ found: ["b", "c", "a"] });
    expect(calls).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["200ms", 200],
    ["30s", 30_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
  ])("for %s: until then, and no longer", async (duration, milliseconds) => {
    const { calls, look } = counting();
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g { output x: int  node a = look(1) into x { cache for ${duration} }  start -> a }`,
      { look },
      { clock },
    );
    await engine.run({});
    await clock.advance(milliseconds - 1);
    await engine.run({});
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    await engine.run({});
    expect(calls).toHaveLength(2);
  });

  test("two nodes do not share results, `null` is one, and reducers get it each time", async () => {
    const calls: string[] = [];
    const engine = engineOf(
      `graph g { output n: int = 0 reduce sum  output x: string | null
         node a = one("a") into n { cache }  node b = one("b") into n { cache }  node c = none() into x { cache }
         start -> a -> b -> c }`,
      { one: async (name: string) => (calls.push(name), 1), none: () => (calls.push("none"), null) },
    );
    for (let i = 0; i < 3; i++) expect((await engine.run({})).output).toEqual({ n: 2, x: null });
    expect(calls).toEqual(["a", "b", "none"]);
  });

  test("a called graph: its nodes do not run again", async () => {
    const { calls, look } = counting();
    const engine = engineOf(
      `graph inner { input n: int  output m: int = 0  node a = look(n) into m  start -> a }
       graph outer { input n: int  output m: int = 0  node call = inner(n: n) into { m } { cache for 1h }  start -> call }`,
      { look },
    );
    for (const n of [1, 1, 2, 1]) expect((await engine.run({ n })).output).toEqual({ m: n });
    expect(calls).toEqual([1, 2]);
  });

  test("with `tries`: only what succeeds in the end is kept", async () => {
    let attempts = 0;
    const flaky = async (): Promise<number> => {
      attempts++;
      if (attempts < 3) throw new Error("busy");
      return attempts;
    };
    const engine = engineOf(`graph g { output x: int = 0  node a = flaky() into x { tries 3  cache }  start -> a }`, {
      flaky,
    });
    for (let i = 0; i < 3; i++) expect((await engine.run({})).output).toEqual({ x: 3 });
    expect(attempts).toBe(3);
  });

  test("a result that does not fit its channel is not kept as one that does", async () => {
    let bad = true;
    const engine = engineOf(`graph g { output x: int = 0  node a = f() into x { cache }  start -> a }`, {
      f: async () => (bad ? "text" : 7),
    });
    expect((await engine.run({})).error).toMatchObject({ code: "NG_BAD_RESULT" });
    bad = false;
    expect((await engine.run({})).output).toEqual({ x: 7 });
  });

  test.each([
    ["a pause", `graph g { output x: string  node a = question(1) into x { cache }  start -> a }`],
    [
      "a pause in a called graph",
      `graph inner { output x: string  node a = ask("sure?") into x  start -> a }
       graph g { output x: string  node a = inner() into { x } { cache }  start -> a }`,
    ],
  ])("%s is not kept, nor what follows its answer", async (_, text) => {
    const question = async (_n: number, context: NodeContext): Promise<unknown> => context.interrupt("sure?");
    const engine = engineOf(text, text.includes("question") ? { question } : {}, { store: new MemoryStore() });
    for (const thread of ["a", "b"]) {
      expect((await engine.run({}, { thread })).status).toBe("paused");
      expect((await engine.resume(thread, { answer: thread })).output).toEqual({ x: thread });
    }
  });

  test("a cache of one's own is shared by engines of the same graph, and emptied", async () => {
    const { calls, look } = counting();
    const cache = new MemoryNodeCache();
    const text = `graph g { output x: int  node a = look(1) into x { cache }  start -> a }`;
    await engineOf(text, { look }, { cache }).run({});
    await engineOf(text, { look }, { cache }).run({});
    expect(calls).toHaveLength(1);
    cache.clear();
    await engineOf(text, { look }, { cache }).run({});
    expect(calls).toHaveLength(2);
  });
});
