/** Calls of functions without a context that leave out an optional parameter or `...rest`: it keeps its default. */
import { expect, test } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import type { BuiltinNode, Tool } from "../../runtime/interface/context.ts";
import type { Engine, FunctionRegistry } from "../../runtime/interface/engine-options.ts";
import { createPlanRunner } from "../../runtime/plan/plan-runner.ts";
import { LINKER } from "../../runtime/plan/link-calls.ts";
import { compileProgram } from "../../runtime/program/program.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createProject } from "./project.ts";

const NODES = `import type { NodeContext } from "ngraph/runtime";
export function f(text: string, limit = 3): string { return text + limit; }
export async function g(text: string, limit?: number, ...more: string[]): Promise<string> {
  return [text, limit ?? "none", ...more].join(" ");
}
export function count(...all: string[]): number { return all.length; }
export function own(text: string, { step }: NodeContext): string { return text + step; }
export function right(text: string, limit = 3): boolean { return text !== "" && limit === 3; }
export function fails(): never { throw new Error("no"); }
`;
const undone: unknown[] = [];
const undo = (...given: unknown[]): void => void undone.push(given);

type Graph = (options?: object) => Engine;

test("in the engine, in a generated module, in the engine of the module, and on a worker", async () => {
  const text = `import { f, g, count, own } from "./nodes.ts"
graph main {
  input word: string
  output a: string
  output b: string
  output c: int
  output d: string
  output all: string[]
  node na = f(word) into a
  node nb = g(word) into b
  node nc = count("x", word) into c
  node nd = own(word) into d
  node every = f(item) for item in [word, "z"] into all
  start -> na -> nb -> nc -> nd -> every -> end
}
`;
  const project = createProject({ "main.ngraph": text, "nodes.ts": NODES });
  expect(await project.typeCheck()).toEqual([]);
  const functions = (await project.load("nodes.ts")) as FunctionRegistry;
  const { main } = await project.load("main.ngraph.ts");
  const table = project.compiled["main.ngraph"]!.table!;
  const output = { a: "w3", b: "w none", c: 2, d: "w3", all: ["w3", "z3"] };
  const engines = [
    createEngine(table, { functions }),
    createEngine(table, { functions, execute: (_call, _context, local) => local() }),
    (main as Graph)(),
    (main as Graph)({ store: new MemoryStore() }),
  ];
  for (const engine of engines) expect((await engine.run({ word: "w" })).output).toEqual(output);

  const mocked = createEngine(table, { functions, mocks: { na: ({ step }) => `mock ${step}` } });
  expect((await mocked.run({ word: "w" })).output).toEqual({ ...output, a: "mock 0" });

  const [call] = compileProgram(table, { functions }, LINKER).nodes.map((node) => node.call);
  expect(call?.kind === "body" && call.body("w", { step: 1 })).toBe("w3");
});

test("in a cached call, and in an undo", async () => {
  const text = `import { f, undo, fails } from "./nodes.ts"
graph main {
  state a: string
  state b: string
  node first = f("w") into a { undo undo(a) }
  node second = f("w") into b { cache for 1h }
  node third = f("w") into b { cache for 1h }
  node last = fails()
  start -> first -> second -> third -> last -> end
  last -> rollback on error
}
`;
  const nodes = `${NODES}export function undo(ref: string, reason?: string): void {}\n`;
  const project = createProject({ "main.ngraph": text, "nodes.ts": nodes });
  const functions = { ...((await project.load("nodes.ts")) as FunctionRegistry), undo };
  const table = project.compiled["main.ngraph"]!.table!;
  const { status, state } = await createEngine(table, { functions, store: new MemoryStore() }).run({}, { thread: "t" });
  expect([status, state, undone]).toEqual(["rolled_back", { a: "w3", b: "w3" }, [["w3"]]]);
});

test("as a tool of a model", async () => {
  const text = `import { f, g, own } from "./nodes.ts"
graph main {
  output out: json
  node agent = llm("q", tools: [f, g, own]) into out
  start -> agent -> end
}
`;
  const project = createProject({ "main.ngraph": text, "nodes.ts": NODES });
  const functions = (await project.load("nodes.ts")) as FunctionRegistry;
  const calls = async ([one, two, three]: readonly Tool[] = []): Promise<unknown> => [
    await one!.call(["w", undefined], "k"),
    await two!.call(["w", 2], "k"),
    await three!.call(["w"], "k"),
  ];
  const llm: BuiltinNode = (_, { tools }) => calls(tools);
  const table = project.compiled["main.ngraph"]!.table!;
  const { output } = await createEngine(table, { functions, builtins: { llm } }).run({});
  expect(output).toEqual({ out: ["w3", "w 2", "w0"] });
});

test("in a task of a plan", async () => {
  const text = `import { f, right } from "./nodes.ts"
plan main {
  output out: string
  task only = f("w") into out { done when right("x") tries 1 }
}
`;
  const project = createProject({ "main.ngraph": text, "nodes.ts": NODES });
  expect(await project.typeCheck()).toEqual([]);
  const functions = (await project.load("nodes.ts")) as FunctionRegistry;
  const [plan] = project.compiled["main.ngraph"]!.plans;
  const { output } = await createPlanRunner(plan!.table!, { functions }).run();
  expect(output).toEqual({ out: "w3" });
});
