import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const TOPOLOGY = JSON.stringify({
  name: "demo",
  channels: { log: { reducer: "append" } },
  nodes: { a: { type: "say" } },
  edges: [{ from: "__start__", to: "a" }],
  colour: "red",
});

test("prints the text, writes files with stubs, and keeps functions that exist", () => {
  const project = createProject({ "demo.json": TOPOLOGY });
  const printed = project.ngc(["import", "demo.json"]);
  expect(printed.status).toBe(0);
  expect(printed.stdout).toContain("graph demo {");
  expect(printed.stderr).toContain("demo.json: $.colour: `colour` is ignored");
  expect(project.has("demo.nodes.ts")).toBe(false);
  expect(project.ngc(["import", "demo.json", "-o", "out/flow.ngraph"])).toMatchObject({ status: 0, stdout: "" });
  expect(project.ngc(["check", "out/flow.ngraph"]).status).toBe(0);
  project.write("out/flow.nodes.ts", "export function say(state: object) {\n  return { log: ['written'] };\n}\n");
  expect(project.ngc(["import", "demo.json", "-o", "out/flow.ngraph"]).stderr).toContain("stays as it is");
  const { document } = project.json(["run", "out/flow.ngraph", "--store", "memory"]);
  expect(document.output).toEqual({ log: ["written"] });
  expect(project.json(["import", "demo.json"]).document).toMatchObject({
    version: 1,
    ok: true,
    text: expect.stringContaining("graph demo {"),
    stubs: expect.stringContaining("export async function say("),
    changes: [expect.stringContaining("`colour`")],
  });
});

test("refuses what it cannot read, with a place and a way out", () => {
  const project = createProject({
    "x.json": '{ "a": 1 }',
    "bad.json": '{ "nodes": { "a": { "type": 1 } } }',
    "p.ts": "x",
  });
  expect(project.ngc(["import", "x.json"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("langgraph-gen"),
  });
  expect(project.ngc(["import", "bad.json"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("bad.json: $.nodes.a.type: expected a text, found 1"),
  });
  expect(project.ngc(["import", "p.ts"])).toMatchObject({ status: 2, stderr: expect.stringContaining("StateGraph") });
  expect(project.ngc(["import", "none.json"]).status).toBe(64);
  expect(project.ngc(["import", "x.json", "--from", "word"]).status).toBe(64);
  expect(project.ngc(["import", "x.json", "-o", "x.txt"])).toMatchObject({
    status: 64,
    stderr: expect.stringContaining(".ngraph"),
  });
  expect(project.ngc(["import", "bad.json", "-o", "y.ngraph"]).status).toBe(2);
  expect(project.has("y.ngraph")).toBe(false);
});

test("reads the state of a program from the TypeScript files that it imports", () => {
  const project = createProject({
    "src/agent.ts": `import { State } from "./state/state.js";
      import { work } from "./work";
      export const agent = new StateGraph(State).addNode("work", work).addEdge("__start__", "work").addEdge("work", "__end__");`,
    "src/state/state.ts": `export const State = Annotation.Root({ topic: Annotation<string>, rest: Annotation<string> });`,
    "src/work/index.ts": `export const work = async () => ({ topic: "x" });`,
  });
  const { status, stdout, stderr } = project.ngc(["import", "src/agent.ts"]);
  expect(status).toBe(0);
  expect(stdout).toContain("output rest: string | null = null");
  expect(stdout).toContain("node work = work(current) into { topic? }");
  expect(stderr).not.toContain("warning");
});
