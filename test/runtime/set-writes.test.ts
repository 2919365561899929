/** language.md, "Outputs": `into set x`, `{ field?: x }`, and `update` with `set`. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

describe("into set", () => {
  test("replaces the value of a channel with a reducer", async () => {
    const engine = engineOf(
      `graph g {
        output notes: string[] reduce append  output n: int = 3 reduce sum
        node a = ["a", "b"] into notes
        node b = \`\${x}!\` for x, i in notes if i > 0 into set notes
        node c = { n: 7, more: "c" } into { n: set n, more: notes }
        start -> a -> b -> c
      }`,
    );
    expect((await engine.run({})).output).toEqual({ notes: ["b!", "c"], n: 7 });
  });

  test("stores the whole value: a resume and a fork see it", async () => {
    const store = new MemoryStore();
    let isBroken = true;
    const engine = engineOf(
      `graph g {
        memory notes: string[] reduce append  output o: string[]
        node a = ["a", "b", "c"] into notes
        node b = ["z"] into set notes
        node c = work(notes) into o
        start -> a -> b -> c
      }`,
      {
        work: (notes: unknown) => {
          if (isBroken) throw new Error("no");
          return notes;
        },
      },
      { store },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    isBroken = false;
    expect((await engine.resume("t")).output).toEqual({ o: ["z"] });
    expect((await engine.run({}, { thread: "t" })).output).toEqual({ o: ["z"] });
  });

  test("conflicts with every other write of its channel in the step", async () => {
    const engine = engineOf(
      `graph g {
        input x: bool  output notes: string[] reduce append
        node a = ["a"] into notes  node b = ["b"] into set notes  node c = 1
        start -> a, c
        c -> b when x
        c -> end otherwise
        start -> b when x
        start -> end otherwise
      }`,
      {},
      {},
    );
    const clash = await engine.run({ x: true });
    expect(clash.error).toMatchObject({ code: "NG_CONCURRENT_WRITE", nodeIds: ["a", "b"] });
    expect(clash.error?.message).toContain("into set");
    expect(clash.output).toEqual({ notes: [] });
    expect((await engine.run({ x: false })).output).toEqual({ notes: ["a"] });
  });

  test("a value that does not fit the whole type fails the node", async () => {
    const engine = engineOf(
      `graph g { output notes: string[] reduce append  node a = work() into set notes  start -> a }`,
      { work: () => "not a list" },
    );
    expect((await engine.run({})).error).toMatchObject({ code: "NG_BAD_RESULT" });
  });
});

describe("optional fields", () => {
  const GRAPH = `graph g {
    input  kind: string
    output plan: string | null = "old"  output reply: string | null = "old"
    node a = work(kind) into { plan?, answer?: reply }
    start -> a
  }`;

  test.each([
    ["plan", { plan: "new", reply: "old" }],
    ["undefined", { plan: "old", reply: "old" }],
    ["null", { plan: null, reply: "old" }],
    ["none", { plan: "old", reply: "old" }],
  ])("%s", async (kind, expected) => {
    const results: Readonly<Record<string, unknown>> = {
      plan: { plan: "new" },
      undefined: { plan: undefined },
      null: { plan: null },
      none: {},
    };
    const engine = engineOf(GRAPH, { work: (given: unknown) => results[String(given)] });
    expect((await engine.run({ kind })).output).toEqual(expected);
  });

  test("of a `for` node collect what the items have", async () => {
    const engine = engineOf(
      `graph g {
        input xs: int[]  output odd: int[] reduce append  output even: int[] = [0]
        node a = split(x) for x in xs into { odd?, even? }
        start -> a
      }`,
      { split: (x: unknown) => ((x as number) % 2 === 1 ? { odd: x } : { even: x }) },
    );
    expect((await engine.run({ xs: [1, 2, 3] })).output).toEqual({ odd: [1, 3], even: [2] });
    expect((await engine.run({ xs: [1] })).output).toEqual({ odd: [1], even: [0] });
  });
});

test("update with `set` replaces the value", async () => {
  const engine = engineOf(
    `graph g { output notes: string[] reduce append  node a = ["a"] into notes  start -> a }`,
    {},
    { store: new MemoryStore() },
  );
  await engine.run({}, { thread: "t" });
  await engine.update("t", { notes: ["b"] });
  await engine.update("t", { notes: ["c"] }, { set: ["notes"] });
  expect((await engine.state("t"))?.state).toMatchObject({ notes: ["c"] });
  await expect(engine.update("t", {}, { set: ["notes"] })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
});
