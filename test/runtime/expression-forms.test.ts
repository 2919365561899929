/** language.md, "Nodes", "Derived names" and "Null and narrowing": forms of expressions in runs. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

describe("for with an index and a condition", () => {
  const GRAPH = `graph g {
    input  words: string[]
    output told: string[] reduce append
    node tell = say(word, i) for word, i in words if word != "" into told
    start -> tell
  }`;
  const say = (word: unknown, index: unknown): string => `${String(index)}:${String(word)}`;

  test("the index counts the items that are left out", async () => {
    const engine = engineOf(GRAPH, { say });
    expect((await engine.run({ words: ["a", "", "b"] })).output).toEqual({ told: ["0:a", "2:b"] });
    expect((await engine.run({ words: ["", ""] })).output).toEqual({ told: [] });
  });

  test("a failed item is reported by its place in the list, and a resume runs only it", async () => {
    let isBroken = true;
    const ran: string[] = [];
    const engine = engineOf(
      GRAPH,
      {
        say: (word: unknown, index: unknown) => {
          ran.push(String(word));
          if (word === "b" && isBroken) throw new Error("no");
          return say(word, index);
        },
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({ words: ["a", "", "b"] }, { thread: "t" });
    expect(failed.error).toMatchObject({ code: "NG_NODE_FAILED", items: [2] });
    isBroken = false;
    expect((await engine.resume("t")).output).toEqual({ told: ["0:a", "2:b"] });
    expect(ran).toEqual(["a", "b", "b"]);
  });

  test("a condition without a value fails the node", async () => {
    const engine = engineOf(
      `graph g { input xs: int[]  output o: int[]  node a = x for x in xs if 1 / x > 0 into o  start -> a }`,
    );
    expect((await engine.run({ xs: [1, 0] })).error).toMatchObject({ code: "NG_NODE_FAILED", nodeId: "a" });
  });
});

describe("null checks", () => {
  test("`x!` fails with NG_NULL_VALUE and the place", async () => {
    const engine = engineOf(`graph g { input xs: string[]  output o: string  node a = first(xs)! into o  start -> a }`);
    expect((await engine.run({ xs: ["x"] })).output).toEqual({ o: "x" });
    const { error } = await engine.run({ xs: [] });
    expect(error).toMatchObject({ code: "NG_NULL_VALUE", nodeId: "a" });
    expect(error?.message).toContain("first(xs)!");
  });

  test("`?? fail(…)` fails with the message, and an error edge takes it", async () => {
    const engine = engineOf(
      `graph g {
        input xs: string[]  output o: string
        node a = first(xs) ?? fail(\`no words in \${len(xs)}\`) into o
        node b = error.message into o
        start -> a   a -> end   a -> b on error   b -> end
      }`,
    );
    expect((await engine.run({ xs: [] })).output["o"]).toContain("no words in 0");
  });

  test("a condition that fails leaves the step's writes, and a resume evaluates it again", async () => {
    const engine = engineOf(
      `graph g {
        state limit: int | null = null  output o: int = 0
        derive isDone = o >= limit!
        node a = o + 1 into o  node b = o * 10 into o
        start -> a  a -> b when isDone  a -> end otherwise  b -> end
      }`,
      {},
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", output: { o: 1 }, error: { code: "NG_CONDITION", nodeId: "a" } });
    await engine.update("t", { limit: 1 });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { o: 10 } });
  });
});

test("a derived name has the value of the place that reads it", async () => {
  const engine = engineOf(
    `graph g {
      state n: int = 1  output before: int  output after: string
      derive twice = n * 2
      node a = twice into before
      node b = n + 1 into n
      node c = "two" into after  node d = "four" into after
      start -> a, b
      b -> match { twice == 2 -> c  else -> d }
    }`,
  );
  expect((await engine.run({})).output).toEqual({ before: 2, after: "four" });
});
