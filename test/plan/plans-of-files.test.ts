/** Plans in several files, and their calls. */
import { describe, expect, test } from "vitest";
import { compile, memoryHost } from "../../compiler/index.ts";

const FILES: Readonly<Record<string, string>> = {
  "build.ngraph": `plan build { input target: string  output path: string  task make = \`dist/\${target}\` into path }`,
  "check.yaml":
    'graph: check\ninput: { path: string }\noutput: { ok: bool }\nnodes: { n: { expr: path != "", into: ok } }\nedges: [start -> n -> end]\n',
  "nodes.ts": `export const ship = (path: string): string => path; export type Path = string`,
};
const run = (text: string, extra: Readonly<Record<string, string>> = {}) =>
  compile(text, { path: "main.ngraph", host: memoryHost({ ...FILES, ...extra }) });
const findings = (text: string, extra: Readonly<Record<string, string>> = {}): readonly string[] =>
  run(text, extra)
    .diagnostics.filter(({ severity }) => severity !== "info")
    .map(({ code, message }) => `${code}: ${message}`);

const MAIN = `
import { build as make } from "./build.ngraph"
import { check } from "./check.yaml"
import { ship } from "./nodes.ts"
plan release {
  output shipped: string
  state path: string
  state ok: bool
  task a = make(target: "web") into { path }
  task b = check(path: path) after a into { ok }
  task c = ship(path) after b when ok into shipped
}`;

describe("imported plans, graphs and functions", () => {
  test("are called by their local names, and are part of the table", () => {
    expect(findings(MAIN)).toEqual([]);
    const table = run(MAIN).tables.get("release");
    if (table?.kind !== "plan") throw new Error("no plan");
    expect(table.plans.map(({ name }) => name)).toEqual(["build"]);
    expect(table.graphs.map(({ name }) => name)).toEqual(["check"]);
    expect(table.functions).toMatchObject([{ name: "ship", module: "./nodes.ts", export: "ship" }]);
    expect(table.effects).toEqual(["code"]);
  });

  test("NG111: an import that no task uses", () => {
    expect(findings(MAIN.replace("= ship(path)", "= path"))).toEqual(["NG111: unused import `ship`"]);
  });

  test("NG114 and NG408: arguments of a plan are its inputs", () => {
    expect(findings(MAIN.replace("target:", "goal:"))).toEqual(["NG114: `make` takes no argument `goal`"]);
    expect(findings(MAIN.replace('target: "web"', "target: 1"))[0]).toMatch(/^NG408: /);
    expect(findings(MAIN.replace('target: "web"', '"web"'))[0]).toMatch(/^NG114: /);
  });

  test("a mistake in an imported plan is reported, and its caller has no table", () => {
    const broken = { "build.ngraph": FILES["build.ngraph"]!.replace("into path", "after make into path") };
    expect(findings(MAIN, broken)).toEqual(["NG704: `make` comes after itself: make → make"]);
    expect(run(MAIN, broken).tables.size).toBe(0);
  });

  test("a plan that calls itself, and plans that call each other", () => {
    expect(findings("plan p { task a = p() }")).toEqual(["NG116: `p` calls itself"]);
    expect(findings("plan p { task a = q() }\nplan q { task b = p() }")).toEqual([
      "NG116: plans call each other in a cycle",
    ]);
  });

  test("one namespace for graphs, plans, types and imports", () => {
    expect(findings("plan p { task a = print(1) }\ngraph p { node n = print(1)  start -> n -> end }")).toEqual([
      "NG102: `p` is declared twice",
    ]);
  });

  test("messages name tasks", () => {
    const { diagnostics } = run("plan p { output x: int  task a = 1 into x  task b = print(a) after a }");
    expect(diagnostics.find(({ code }) => code === "NG104")?.help).toBe("`a` is a task: read what it writes, `x`");
  });
});
