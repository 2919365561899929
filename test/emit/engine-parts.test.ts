/** A generated module names the parts of the engine that its graphs use: all else can be left out of a bundle. */
import { describe, expect, test } from "vitest";
import * as generated from "../../api/generated.ts";
import { compile, emitJavaScript } from "../../compiler/index.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { loadedNodes } from "../../stdlib/loaded-nodes.ts";
import { createProject } from "./project.ts";

type Graph = (options?: object) => Engine;

/** The arguments after the options of each `$.createGraph`, `$.createDirectGraph` and `$.createPlan`. */
function parts(text: string): readonly string[] {
  const { diagnostics, ...result } = compile(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return [...emitJavaScript(result).matchAll(/\$\.create(?:Graph|DirectGraph|Plan)\(\$\w+, options(.*)\);/g)].map(
    ([, after = ""]) => after,
  );
}

describe("the call of the engine names", () => {
  const rows = [
    {
      what: "the code of graphs that run without the engine",
      text: `graph g { output a: int  node n = 1 into a  start -> n }`,
      expected: [", $graph0d"],
    },
    {
      what: "the code of graphs whose built-in nodes need no engine",
      text: `graph g { output a: int = 0  node n = json("1") into a  node m = print(a)  start -> n -> m }`,
      expected: [", $graph0d"],
    },
    {
      what: "nothing for other plain graphs",
      text: `graph g { output a: int  node n = 1 into a { pause before }  start -> n }`,
      expected: [""],
    },
    {
      what: "built-in nodes by name, those of an `undo` and each once",
      text: `graph g { node n = print("a") { undo http("https://example.com") }  node m = print("b")  start -> n -> m }`,
      expected: [", { http: $.httpNode, print: $.printNode }, $.undoing"],
    },
    {
      what: "the interpreter for an `undo`, if a graph has secrets",
      text: `secret KEY
        graph g { node n = print("a") { undo http("https://example.com", headers: { key: KEY }) }  start -> n }`,
      expected: [", { http: $.httpNode, print: $.printNode }, $.undoingWithSecrets"],
    },
    {
      what: "called graphs, and what they use",
      text: `graph inner { output a: string = ""  node n = ask("?") into a  start -> n }
        graph outer { output b: string = ""  node n = inner() into { a: b }  node z = print("z")  start -> n  finally -> z }`,
      expected: [
        ", { ask: $.askNode }",
        ", { ask: $.askNode, print: $.printNode }, { ...$.callingGraphs, ...$.endingFinally }",
      ],
    },
    {
      what: "graphs as tools of a model",
      text: `graph inner { output a: string = ""  node n = ask("?") into a  start -> n }
        graph outer { output b: string  node n = llm("q", tools: [inner]) into b  start -> n }`,
      expected: [", { ask: $.askNode }", ", { ask: $.askNode }, $.callingTools"],
    },
    {
      what: "called plans as a whole",
      text: `plan p { task t = shell("true") { done when shell("true") } }
        graph g { node n = p()  start -> n }`,
      expected: [", { shell: $.shellNode }", ", { shell: $.shellNode }, $.callingPlans"],
    },
    {
      what: "no node that the options supply",
      text: `graph g { output a: string  node n = llm("hi") into a  start -> n }`,
      expected: [""],
    },
  ];
  test.each(rows)("$what", ({ text, expected }) => {
    expect(parts(text)).toEqual(expected);
  });
});

test("every built-in node of an engine can be named, and is loaded on use in an engine for any table", () => {
  const exported = Object.keys(generated).flatMap((name) => (name.endsWith("Node") ? [name.slice(0, -4)] : []));
  const names = Object.keys(builtinNodes).sort();
  expect(exported.sort()).toEqual(names);
  expect(Object.keys(loadedNodes).sort()).toEqual(names);
});

test("the code for threads is loaded with the first call, which keeps its arguments", async () => {
  const project = createProject({
    "talk.ngraph": `
      graph talk { input text: string  output said: string  memory all: string[] = [] reduce append
        node a = ask(text) into said  node b = said into all  start -> a -> b }`,
    "app.ts": `export { talk } from "./talk.ngraph.ts";`,
  });
  const { talk } = await project.load("app.ts");
  const store = new MemoryStore();
  const engine = (talk as Graph)({ store });
  const input = { text: "first" };
  const running = engine.run(input, { thread: "t" });
  input.text = "second";
  expect((await running).pauses).toMatchObject([{ payload: { question: "first" } }]);

  const other = (talk as Graph)({ store });
  const answers = { answer: "yes" };
  const resuming = other.resume("t", answers);
  answers.answer = "no";
  expect(await resuming).toMatchObject({ status: "completed", output: { said: "yes" } });

  expect((await other.state("t"))?.state).toMatchObject({ all: ["yes"] });
  expect(await other.history("t")).not.toEqual([]);
  const items: { value: string } = { value: "kept" };
  const putting = other.memory.put("space", "key", items);
  items.value = "changed";
  await putting;
  expect((await other.memory.get("space", "key"))?.value).toEqual({ value: "kept" });
  expect(await other.memory.list("space")).toHaveLength(1);
  expect(await other.memory.search("space")).toHaveLength(1);
  expect(await other.memory.delete("space", "key")).toBe(true);
  expect(await other.memory.prune()).toBe(0);
  await expect(other.resume("none")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
});

test("a graph with `undo` rolls back, and one with a `finally` part and called graphs ends, without a store", async () => {
  const project = createProject({
    "pay.ngraph": `
      import { charge, refund, fail, note } from "./pay.ts"
      secret KEY
      graph step { output id: string = ""  node c = charge() into id { undo refund(id, KEY) }  start -> c }
      graph pay {
        output id: string = ""  output ended: string = ""
        node s = step() into { id }
        node f = fail()
        node n = note(outcome.status) into ended
        start -> s -> f
        f -> rollback on error
        finally -> n
      }`,
    "pay.ts": `
      export const log: string[] = [];
      export const charge = (): string => { log.push("charge"); return "c1"; };
      export const refund = (id: string, key: string): void => { log.push(\`refund \${id} \${key}\`); };
      export const fail = (): void => { throw new Error("no"); };
      export const note = (status: string): string => status;`,
    "app.ts": `export { pay } from "./pay.ngraph.ts"; export { log } from "./pay.ts";`,
  });
  expect(await project.typeCheck()).toEqual([]);
  const { pay, log } = await project.load("app.ts");
  const result = await (pay as Graph)({ secrets: { KEY: "k" } }).run({});
  expect(result).toMatchObject({
    status: "rolled_back",
    output: { ended: "rolled_back" },
    finally: { status: "completed" },
  });
  expect(log).toEqual(["charge", "refund c1 k"]);
});

test("a call of a plan that is cancelled while the code for plans loads runs no task", async () => {
  const project = createProject({
    "build.ngraph": `
      import { work } from "./work.ts"
      plan parts { task t = work("task") }
      graph build { node before = work("node")  node p = parts()  start -> before -> p }`,
    "work.ts": `
      export const log: string[] = [];
      export const work = (name: string): void => { log.push(name); };`,
    "app.ts": `export { build, parts } from "./build.ngraph.ts"; export { log } from "./work.ts";`,
  });
  const { build, parts: plan, log } = await project.load("app.ts");
  const controller = new AbortController();
  const running = (build as Graph)().run({}, { signal: controller.signal });
  controller.abort();
  expect(await running).toMatchObject({ status: "cancelled" });
  expect(log).toEqual(["node"]);
  expect(await (build as Graph)().run({})).toMatchObject({ status: "completed" });
  expect(await (plan as Graph)().run({})).toMatchObject({ status: "completed" });
  expect(log).toEqual(["node", "node", "task", "task"]);
});

test("a table of another version is refused", () => {
  const create = generated.createGraph as unknown as (graph: object, options: object) => unknown;
  const table = { format: "ngraph-table", version: 10_000 };
  expect(() => create({ table, bindings: {} }, {})).toThrow(/NG_BAD_TABLE|table/);
});
