/** A generated module and its table have the same runs: language.md, "Expressions", and interface.md, "Package". */
import { describe, expect, onTestFinished, test } from "vitest";
import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { createProject } from "./project.ts";
import { SUPPORT, SUPPORT_NODES } from "./support-graph.ts";

type Graph = (options?: object) => Engine;

/** The observable result of a run, which is equal for the engine and for the generated module. */
function outcome(result: RunResult): object {
  const { status, output, state, steps, pauses, incompleteBarriers, error } = result;
  return {
    status,
    output,
    state,
    steps,
    pauses: pauses.map(({ node, payload }) => ({ node, payload })),
    incompleteBarriers,
    error: error === null ? null : { code: error.code },
  };
}

test("the showcase: to the pause, and on from it", async () => {
  const project = createProject({ "support.ngraph": SUPPORT, "nodes.ts": SUPPORT_NODES });
  const { support } = await project.load("support.ngraph.ts");
  const functions = (await project.load("nodes.ts")) as Record<string, () => unknown>;
  const table = project.compiled["support.ngraph"]!.table!;
  const generated = (support as Graph)({ store: new MemoryStore() });
  const interpreted = createEngine(table, { functions, builtins: builtinNodes, store: new MemoryStore() });
  expect(generated.table.digest).toBe(table.digest);

  for (const ticket of ["the API answers 500", "an invoice is missing"]) {
    const results = [];
    for (const engine of [generated, interpreted]) {
      const paused = await engine.run({ ticket }, { thread: ticket });
      expect(paused.status).toBe("paused");
      const again = await engine.resume(ticket, { answer: "again" });
      const sent = await engine.resume(ticket, { answer: "send" });
      results.push([paused, again, sent].map(outcome));
    }
    expect(results[0]).toEqual(results[1]);
    expect(results[0]?.[2]).toMatchObject({ status: "completed" });
  }
});

test("graphs as tools of a model, beside a called graph", async () => {
  const text = `graph plain { output word: string  node n = "a" into word  start -> n -> end }
graph twice {
  input word: string
  output out: string
  node n = ask(word) into out
  start -> n -> end
}
graph g {
  output reply: json
  output word: string
  node agent = llm("q", tools: [twice]) into reply { timeout 1m }
  node other = plain() into { word }
  start -> agent -> other -> end
}
`;
  const project = createProject({ "g.ngraph": text });
  const { g } = await project.load("g.ngraph.ts");
  const llm: BuiltinNode = async (_, { tools }) => tools![0]!.call(["ab"], "k");
  const generated = (g as Graph)({ store: new MemoryStore(), builtins: { llm } });
  expect((await generated.run({}, { thread: "t" })).pauses).toMatchObject([{ namespace: ["agent.twice.0"] }]);
  expect((await generated.resume("t", { answer: "abab" })).output).toEqual({ reply: { out: "abab" }, word: "a" });
});

test("as JavaScript", async () => {
  const project = createProject(
    {
      "support.ngraph": SUPPORT,
      "nodes.ts": SUPPORT_NODES,
      "app.ts": `export { support } from "./support.ngraph.js";`,
    },
    "js",
  );
  const { support } = await project.load("app.ts");
  const result = await (support as Graph)({ store: new MemoryStore() }).run({ ticket: "API" });
  expect(result).toMatchObject({ status: "paused", state: { intent: "technical", rounds: 1, score: 1 } });
});

describe("expressions of every kind", () => {
  const EVERYTHING = {
    "lib/inner.ngraph": `
      import { twice } from "./functions.ts"
      graph inner {
        input items: int[]
        output doubled: int[] = []
        output label: string
        node a = [twice(item) for item in items if item != 2] into doubled
        node b = \`\${len(doubled)} of \${items}\` into label
        start -> a -> b
      }`,
    "lib/functions.ts": `export const twice = (n: number): number => n * 2;`,
    "main.ngraph": `
      import { inner } from "./lib/inner.ngraph"
      import { twice, failing, longer } from "./functions.ts"
      type Row = { name: string, tags: string[], score?: float }
      graph main {
        input  rows: Row[]
        input  limit: int = 2
        output names: string[] = []
        output label: string
        output facts: map<json> = {} reduce merge
        output all: json[] reduce append
        output ended: string | null
        state  text: string = ""
        state  numbers: int[] = []
        node pick   = sort(unique([row.name for row in rows if (row.score ?? 0) >= limit / 2 || "x" in row.tags])) into names
        node every  = longer(row.name) for row in rows into all { max parallel 2 }
        node inner  = inner(items: range(1, limit + 3)) into { doubled: numbers, label }
        node gather = { __proto__: first(numbers), "a b": -limit, constructor: matches(label, "^\\\\d+ of"), best: max(numbers), last: rows[-1]?.name } into facts
        node broken = failing(text) into text
        node saved  = \`\${error?.node ?? "none"}\` into text
        start -> pick, every
        settled(pick, every) -> inner
        inner -> gather
        gather -> broken when !(text == "again") && len(rows) > 0
        gather -> end otherwise
        broken -> end
        broken -> saved on error when error.attempts == 1
        node swept  = \`\${outcome.status} \${outcome.error?.node ?? "none"}\` into ended
        finally -> swept when outcome.status != "limit"
        finally -> end otherwise
      }`,
    "functions.ts": `
      export const twice = (n: number): string => n + n + "";
      export const failing = (_text: string): string => { throw new Error("no"); };
      export const longer = async (name: string): Promise<string | string[]> => (name === "b" ? [name, name] : name + "!");
    `.replace("n + n", "String(n) + n"),
  };

  test("give the same, called graphs and error routes included", async () => {
    const files = { ...EVERYTHING, "main.ngraph": EVERYTHING["main.ngraph"].replace("twice, ", "") };
    const project = createProject(files);
    expect(await project.typeCheck()).toEqual([]);
    const { main } = await project.load("main.ngraph.ts");
    const functions = (await project.load("functions.ts")) as Record<string, () => unknown>;
    const inner = (await project.load("lib/functions.ts")) as Record<string, () => unknown>;
    const interpreted = createEngine(project.compiled["main.ngraph"]!.table!, {
      functions,
      graphs: { inner: { functions: inner } },
    });
    const generated = (main as Graph)();
    const inputs = [
      { rows: [] },
      {
        rows: [
          { name: "b", tags: ["x"] },
          { name: "a", tags: [], score: 3.5 },
          { name: "b", tags: [], score: 1 },
        ],
      },
      { rows: [{ name: "\\u2028 `${x}`", tags: ["x", "__proto__"] }], limit: 5 },
      { rows: [{ name: "c", tags: [] }], limit: 0 },
    ];
    for (const input of inputs) {
      const results = [await generated.run(input), await interpreted.run(input)].map(outcome);
      expect(results[0]).toEqual(results[1]);
      expect(results[0]).toMatchObject({ status: expect.stringMatching(/completed|failed/) as unknown });
    }
    const last = await generated.run(inputs[1]!);
    expect(last.status).toBe("completed");
    expect(last.output).toMatchObject({ names: ["a", "b"], all: ["b", "b", "a!", "b", "b"], label: "3 of [1,2,3,4]" });
    expect(JSON.stringify(last.output["facts"])).toContain('"__proto__":2');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

test("hostile names run as they are", async () => {
  const project = createProject({
    "odd.ngraph": `
      import { default as class, of as await } from "./odd.ts"
      graph delete {
        input  __proto__: int
        output constructor: int
        output prototype: map<float>
        node   new   = class(__proto__) into constructor
        node   yield = { toString: constructor, "*/ \\u2028 </script>": await(1) + 1 } into prototype
        start -> new -> yield
      }`,
    "odd.ts": `export default (n: number): number => n + 1; export const of = (n: number): number => n;`,
  });
  const module = await project.load("odd.ngraph.ts");
  const engine = (module["delete"] as Graph)();
  const input = JSON.parse('{"__proto__": 4}') as object;
  const result = await engine.run(input as never);
  expect(result.status).toBe("completed");
  expect(result.output["constructor"]).toBe(5);
  expect(JSON.stringify(result.output["prototype"])).toBe('{"toString":5,"*/ \u2028 </script>":2}');
});

test("secrets come from the environment, or from the options", async () => {
  const project = createProject({
    "keyed.ngraph": `
      import { use } from "./use.ts"
      secret NGRAPH_TEST_KEY
      graph keyed { output length: int  node a = use(NGRAPH_TEST_KEY) into length  start -> a }`,
    "use.ts": `export const use = (key: string): number => key.length;`,
  });
  expect(await project.typeCheck()).toEqual([]);
  const { keyed } = await project.load("keyed.ngraph.ts");
  process.env["NGRAPH_TEST_KEY"] = "four";
  onTestFinished(() => void delete process.env["NGRAPH_TEST_KEY"]);
  expect((await (keyed as Graph)().run({})).output).toEqual({ length: 4 });
  expect((await (keyed as Graph)({ secrets: { NGRAPH_TEST_KEY: "k" } }).run({})).output).toEqual({ length: 1 });
});

test("options of the engine are taken, built-in nodes may be replaced", async () => {
  const project = createProject({
    "hello.ngraph": `graph hello { output said: string  node a = llm("hi") into said  start -> a }`,
  });
  const { hello } = await project.load("hello.ngraph.ts");
  const result = await (hello as Graph)({ builtins: { llm: () => "hello" } }).run({});
  expect(result.output).toEqual({ said: "hello" });
  expect(() => (hello as Graph)({ allow: [] })).toThrow(/NG_EFFECT_DENIED|model|net/);
});
