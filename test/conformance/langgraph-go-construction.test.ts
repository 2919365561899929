/**
 * langgraph-go's cases about the construction of a graph and an engine (LG-01 to LG-15, LG-78). The compiler and
 * `createEngine` make the checks that langgraph-go makes in its calls. `compiler-cases.test.ts` has the findings of the
 * compiler.
 */
import { describe, expect, test } from "vitest";
import { createEngine, type EngineOptions, type RunOptions, type Table } from "../../api/index.ts";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine, compiledTable, findingsOf } from "../support/compiled-engine.ts";

const ONE = `graph g { output counter: int = 0 reduce sum  node a = 1 into counter  start -> a }`;

/** An error of this project, with a code and words of its message. */
function failing(code: string, ...words: readonly string[]): Error {
  const message = new RegExp(words.map((word) => `(?=[^]*${word.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")})`).join(""));
  return expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;
}

describe("an engine", () => {
  test.each<[string, EngineOptions]>([
    ["nothing", {}],
    ["a store that is not there", { store: undefined as never }],
    ["a listener that is not there", { onEvent: undefined as never }],
    ["a store and a listener", { store: new MemoryStore(), onEvent: () => undefined }],
  ])("LG-01, LG-03, LG-04: is made with %s, and runs", async (_name, options) => {
    const result = await createEngine(compiledTable(ONE), options).run({});
    expect(result).toMatchObject({ status: "completed", output: { counter: 1 }, steps: [["a"]] });
  });

  const CODE = `graph g { output word: string = "" reduce join  node a = make() into word  start -> a }`;
  test.each<[string, FunctionRegistry, readonly string[]]>([
    ["LG-02: a reducer that was not given", { make: () => "x" }, ["`join`", "./nodes.ts"]],
    ["LG-06: a node's function that was not given", { join: (a: string, b: string) => a + b }, ["`make`"]],
    ["LG-02, LG-06: both, in one error", {}, ["`join`", "`make`"]],
    ["LG-06: something that is no function", { make: 5 as never, join: null as never }, ["`join`", "`make`"]],
  ])("%s", (_name, functions, words) => {
    const table = compiledTable(CODE, ["join", "make"]);
    expect(() => createEngine(table, { functions })).toThrow(failing("NG_MISSING_FUNCTION", ...words));
  });

  test.each(["resume", "state", "history", "label", "fork", "update"] as const)(
    "LG-03: without a store there are no threads: %s",
    async (call) => {
      const engine = compiledEngine(ONE) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      await expect(engine[call]!("t", call === "label" ? "x" : {})).rejects.toThrow(failing("NG_NO_STORE", "store"));
    },
  );

  test("LG-03: a graph that pauses is refused without a store before anything runs", async () => {
    let runs = 0;
    const engine = compiledEngine(
      `graph g { output x: string  node a = a()  node b = ask("?") into x  start -> a -> b }`,
      {
        a: () => void runs++,
      },
    );
    await expect(engine.run({})).rejects.toThrow(failing("NG_NO_STORE", "`g`", "`b`"));
    expect(runs).toBe(0);
  });

  test.each([
    ["null", null],
    ["undefined", undefined],
    ["a text", "graph g {}"],
    ["an empty record", {}],
    ["a table of another version", { ...compiledTable(ONE), version: 99 }],
    ["a table without a start", { ...compiledTable(ONE), start: undefined }],
  ])("LG-14: of %s is an error, and no crash", (_name, table) => {
    expect(() => createEngine(table as unknown as Table)).toThrow(failing("NG_BAD_TABLE"));
  });

  test.each<[string, EngineOptions]>([
    ["leaseMs 0", { leaseMs: 0 }],
    ["leaseMs NaN", { leaseMs: Number.NaN }],
    ["durability", { durability: "often" as never }],
    ["onFailure", { onFailure: "retry" as never }],
    ["onEvent", { onEvent: "log" as never }],
  ])("LG-15: an option that means nothing is refused: %s", (name, options) => {
    expect(() => createEngine(compiledTable(ONE), options)).toThrow(failing("NG_BAD_INPUT", name.split(" ")[0]!));
  });
});

describe("options", () => {
  const LOOP = `graph g { limit steps 5  output n: int = 0 reduce sum  node a = 1 into n
    start -> a  a -> a when n < 40  a -> end otherwise }`;

  test.each([
    ["the graph's", undefined, undefined, 5],
    ["the engine's over the graph's", 8, undefined, 8],
    ["the run's over the engine's", 8, 16, 16],
    ["the run's though it is lower", 16, 4, 4],
    ["none, over the engine's", 8, null, 40],
    ["the run's over an engine without one", null, 7, 7],
  ])("LG-15: of several limits counts %s", async (_name, engine, run, steps) => {
    const options = engine === undefined ? {} : { maxSteps: engine };
    const result = await compiledEngine(LOOP, {}, options).run({}, run === undefined ? {} : { maxSteps: run });
    expect([result.steps.length, result.output["n"]]).toEqual([steps, steps]);
    expect(result.status).toBe(steps === 40 ? "completed" : "limit");
  });

  test.each<[string, RunOptions]>([
    ["maxSteps", { maxSteps: -1 }],
    ["maxSteps", { maxSteps: 1.5 }],
    ["maxSteps", { maxSteps: Number.NaN }],
    ["maxSteps", { maxSteps: "5" as never }],
    ["maxParallel", { maxParallel: 0 }],
    ["maxParallel", { maxParallel: 2.5 }],
    ["signal", { signal: "now" as never }],
    ["signal", { signal: null as never }],
    ["metadata", { metadata: "x" as never }],
    ["metadata", { metadata: [] as never }],
    ["onEvent", { onEvent: {} as never }],
    ["durability", { durability: "never" as never }],
    ["options", null as never],
  ])("LG-15: a run's option that means nothing is refused, and nothing is stored: %s %j", async (name, options) => {
    const store = new MemoryStore();
    for (const engine of [compiledEngine(ONE), compiledEngine(ONE, {}, { store })]) {
      await expect(engine.run({}, options)).rejects.toThrow(failing("NG_BAD_INPUT", name));
    }
    expect(store.threads()).toEqual([]);
  });
});

describe("a graph's text", () => {
  const around = (text: string): string => `graph g { ${text} }`;
  test.each([
    ["LG-05: a node without a name", `node = 1  start -> end`, ["NG001:error"]],
    ["LG-06: a node without a call", `start -> a  node a =`, ["NG001:error"]],
    ["LG-07: a name for two", `node a = print("1")  node a = print("2")  start -> a`, ["NG102:error"]],
    ["LG-08: a start that leads to nothing", `node a = print("1")  a -> end  start ->`, ["NG001:error"]],
    ["LG-09: a start that is not there", `node a = print("1")  start -> b  a -> end`, ["NG101:error"]],
    ["LG-11: an edge from nothing", `start -> a  node a = print("1")  -> end`, ["NG001:error"]],
    ["LG-11: an edge to nothing", `node a = print("1")  start -> a ->`, ["NG001:error"]],
    ["LG-12: an edge between two that are not there", `node a = print("1")  start -> a  x -> y`, ["NG101:error"]],
    ["LG-13: nothing starts", `node a = print("1")`, ["NG103:error"]],
    ["LG-13: an empty graph", ``, ["NG103:error"]],
    ["LG-78: no attempt", `node a = print("1") { tries 0 }  start -> a`, ["NG006:error"]],
    ["LG-78: part of an attempt", `node a = print("1") { tries 1.5 }  start -> a`, ["NG001:error"]],
    ["LG-78: a shrinking wait", `node a = print("1") { tries 2 backoff 5s..1s }  start -> a`, ["NG006:error"]],
    ["LG-78: a wait without tries", `node a = print("1") { backoff 1s }  start -> a`, ["NG001:error"]],
    ["LG-78: tries stated twice", `node a = print("1") { tries 2 tries 3 }  start -> a`, ["NG102:error"]],
    ["LG-78: one attempt is fine", `node a = print("1") { tries 1 }  start -> a`, []],
    ["LG-78: a wait without a longest is fine", `node a = print("1") { tries 2 backoff 1s }  start -> a`, []],
    ["LG-78: a wait that stays the same is fine", `node a = print("1") { tries 2 backoff 1s..1s }  start -> a`, []],
  ])("%s", (_name, text, found) => {
    const all = findingsOf(around(text));
    // One mistake may have several findings: the expected one is among them, and a correct graph has none.
    expect(found.length === 0 ? all : all.slice(0, 1)).toEqual(found);
  });

  test("LG-10: of two starts both run", async () => {
    const engine = compiledEngine(
      `graph g { output n: int = 0 reduce sum  node a = 1 into n  node b = 10 into n  start -> a  start -> b }`,
    );
    expect(await engine.run({})).toMatchObject({ status: "completed", output: { n: 11 }, steps: [["a", "b"]] });
  });

  test.each([
    ["no attempt", { attempts: 0 }],
    ["less than none", { attempts: -1 }],
    ["part of an attempt", { attempts: 2.5 }],
    ["a wait below 0", { attempts: 2, backoff: { min: -1, max: 5 } }],
    ["a longest wait below the first", { attempts: 2, backoff: { min: 5, max: 2 } }],
    ["half a wait", { attempts: 2, backoff: { min: 5 } }],
    ["waits that are strings", { attempts: 2, backoff: { min: "1s", max: "2s" } }],
  ])("LG-78: a table that was made by hand is refused: %s", (_name, tries) => {
    const table = compiledTable(`graph g { node a = print("1") { tries 2 }  start -> a }`);
    const changed = { ...table, nodes: [{ ...table.nodes[0], tries }] } as unknown as Table;
    expect(() => createEngine(changed)).toThrow(failing("NG_BAD_TABLE", "nodes[0].tries"));
  });
});
