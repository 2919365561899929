/** A node of a graph calls a plan: typed by its channels, run by the rules of plans, part of the table of the graph. */
import { describe, expect, test } from "vitest";
import { compile, loadTable, memoryHost } from "../../compiler/index.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { createProject } from "../emit/project.ts";

const TEXT = `
import { shout } from "./nodes.ts"
plan pack {
  input files: string[]
  output archive: string
  task count = len(files) into size { done when size > 0 tries 1 }
  state size: int
  task name = join(files, "+") after count into plain
  state plain: string
  task loud = shout(plain) after name into archive
}
graph review {
  input  names: string[] = ["x", "y"]
  output out: string
  output problem: string | null
  node p = pack(files: names) into { archive: out }
  node q = error?.message ?? "none" into problem
  start -> p -> end
  p -> q on error
  q -> end
}`;
const NODES = `export const shout = (text: string): string => text.toUpperCase();`;
const host = memoryHost({ "nodes.ts": NODES });
const functions = { shout: (text: unknown) => String(text).toUpperCase() };

function tableOf(text: string, path = "main.ngraph"): Table {
  const { tables, diagnostics } = compile(text, { path, host });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const table = tables.get("review");
  if (table?.kind !== "graph") throw new Error(errors.map(({ code, message }) => `${code} ${message}`).join("\n"));
  return table;
}

describe("the table", () => {
  test("holds the plan, loads, and is the same in YAML", () => {
    const table = tableOf(TEXT);
    expect(table.plans?.map(({ name }) => name)).toEqual(["pack"]);
    expect(table.nodes[0]?.call.kind).toBe("plan");
    expect(table.effects).toEqual(["code"]);
    expect(loadTable(JSON.stringify(table))).toEqual(table);
    const yaml = toYaml(parse(TEXT, { path: "main.ngraph" }).file).text;
    expect(tableOf(yaml, "main.yaml").digest).toBe(table.digest);
  });

  test("its digest covers the digest of the plan", () => {
    expect(tableOf(TEXT.replace('"+"', '"-"')).digest).not.toBe(tableOf(TEXT).digest);
    const broken = JSON.parse(JSON.stringify(tableOf(TEXT))) as { plans: { tasks: { alone?: true }[] }[] };
    broken.plans[0]!.tasks[0]!.alone = true;
    expect(() => loadTable(broken)).toThrow("the table at /plans/0");
  });

  test("has no field for plans if the graph calls none", () => {
    expect("plans" in tableOf('graph review { node n = print("x")  start -> n -> end }')).toBe(false);
  });

  test("a call closes no cycle", () => {
    const text = `plan p { task t = review() }\ngraph review { node n = p()  start -> n -> end }`;
    expect(compile(text).diagnostics.map(({ code }) => code)).toContain("NG116");
  });
});

describe("a run", () => {
  test("returns the outputs of the plan", async () => {
    const engine = createEngine(tableOf(TEXT), { functions, builtins: builtinNodes });
    const { status, output, steps } = await engine.run({});
    expect({ status, output, steps }).toEqual({
      status: "completed",
      output: { out: "X+Y", problem: null },
      steps: [["p"]],
    });
  });

  test("a plan whose outcome is not clean fails its node", async () => {
    const engine = createEngine(tableOf(TEXT), { functions, builtins: builtinNodes });
    const { status, output, steps } = await engine.run({ names: [] });
    expect(status).toBe("completed");
    expect(steps).toEqual([["p"], ["q"]]);
    expect(output["problem"]).toContain("plan `pack`: count failed");
  });

  test("pauses inside the plan, and resumes there", async () => {
    const text = `
plan pack {
  output answer: string
  state  log: string[] reduce append
  task first = "once" into log
  task wait  = ask("which?") after first into answer
  task done  = print(\`\${log} \${answer}\`) after wait
}
graph review { output out: string  node p = pack() into { answer: out }  start -> p -> end }`;
    const engine = createEngine(tableOf(text), { builtins: builtinNodes, store: new MemoryStore() });
    const paused = await engine.run({}, { thread: "t" });
    expect([paused.status, paused.pauses.length]).toEqual(["paused", 1]);
    const done = await engine.resume("t", { answer: "this" });
    expect([done.status, done.output]).toEqual(["completed", { out: "this" }]);
  });

  test("a missing function is reported before anything runs", () => {
    expect(() => createEngine(tableOf(TEXT), { builtins: builtinNodes })).toThrow("shout");
  });

  test("a mock replaces the plan, and its functions are not needed", async () => {
    const engine = createEngine(tableOf(TEXT), { builtins: builtinNodes, mocks: { p: () => ({ archive: "m" }) } });
    expect((await engine.run({})).output["out"]).toBe("m");
  });
});

test("a generated module runs it, too", async () => {
  const project = createProject({ "review.ngraph": TEXT, "nodes.ts": NODES });
  expect(await project.typeCheck()).toEqual([]);
  const { review } = await project.load("review.ngraph.ts");
  const engine = (review as () => { run(input: object): Promise<{ output: object }> })();
  expect((await engine.run({ names: ["a"] })).output).toEqual({ out: "A", problem: null });
});
