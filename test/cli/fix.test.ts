import { chmodSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { BROKEN, createProject, HELLO } from "./project.ts";

const FIXED = BROKEN.replace("great", "greet");

describe("ngc check --fix", () => {
  test("writes the fixed file, says what it did, and exits as the fixed file deserves", () => {
    const project = createProject({ "broken.ngraph": BROKEN });
    const { status, stdout, stderr } = project.ngc(["check", "broken.ngraph", "--fix"]);
    expect(stderr).toContain("broken.ngraph(6,12): fixed NG101: ");
    expect(stderr).toContain("1 graph checked, nothing to report");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(project.read("broken.ngraph")).toBe(FIXED);
    expect(readdirSync(project.directory)).toEqual(["broken.ngraph"]);
  });

  test("does not change files without fixes, and reports the remaining findings", () => {
    const unfixable = HELLO.replace("start -> greet", "start -> qqqqqq");
    const project = createProject({ "hello.ngraph": HELLO, "a.ngraph": unfixable });
    const { status, stderr } = project.ngc(["check", "hello.ngraph", "a.ngraph", "--fix"]);
    expect(status).toBe(2);
    expect(stderr).not.toContain("fixed");
    expect(stderr).toMatch(/^a\.ngraph\(7,12\): error NG101/m);
    expect(project.read("a.ngraph")).toBe(unfixable);
    expect(project.read("hello.ngraph")).toBe(HELLO);
  });

  test("--json prints one document with the applied fixes and the remaining findings", () => {
    const project = createProject({ "graphs/broken.ngraph": BROKEN, "graphs/hello.ngraph": HELLO });
    const { status, document } = project.json(["check", "graphs", "--fix"]);
    expect(status).toBe(0);
    expect(document).toMatchObject({ version: 1, ok: true, errors: 0, warnings: 0 });
    expect(document.fixed).toEqual([
      {
        file: "graphs/broken.ngraph",
        code: "NG101",
        title: expect.stringContaining("greet"),
        position: { line: 6, column: 12 },
      },
    ]);
    expect(project.read("graphs/broken.ngraph")).toBe(FIXED);
    expect(project.json(["check", "graphs"]).document.fixed).toBeUndefined();
  });

  test("standard input is printed fixed, and nothing is written", () => {
    const project = createProject();
    const args = ["check", "--fix", "--stdin-filepath", "x.ngraph"];
    expect(project.ngc(args, { input: BROKEN })).toMatchObject({ status: 0, stdout: FIXED });
    expect(project.ngc(args, { input: HELLO })).toMatchObject({ status: 0, stdout: HELLO });
    expect(project.json(args, { input: BROKEN }).document).toMatchObject({ ok: true, text: FIXED });
    expect(readdirSync(project.directory)).toEqual([]);
    expect(project.ngc(["check", "--stdin-filepath", "x.ngraph"], { input: BROKEN })).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringMatching(/^x\.ngraph\(6,12\): error NG101/m),
    });
    expect(project.ngc([...args, "y.ngraph"], { input: BROKEN }).status).toBe(64);
  });

  test("only named files are changed; one that is named twice once", () => {
    const project = createProject({
      "lib/broken.ngraph": BROKEN,
      "main.ngraph": `import { broken } from "./lib/broken.ngraph"\ngraph m { node b = broken()  start -> b }\n`,
    });
    expect(project.ngc(["check", "main.ngraph", "--fix"]).status).toBe(2);
    expect(project.read("lib/broken.ngraph")).toBe(BROKEN);
    const { status, stderr } = project.ngc([
      "check",
      "main.ngraph",
      "lib/broken.ngraph",
      "./lib/broken.ngraph",
      "--fix",
    ]);
    expect(stderr.match(/fixed NG101/g)).toHaveLength(1);
    expect(status).toBe(0);
    expect(project.read("lib/broken.ngraph")).toBe(FIXED);
  });

  test("a formatted file stays formatted, and another one keeps its layout", () => {
    const graph = `graph g {\n  node n = print("x")\n\n  start -> n\n}\n`;
    const yaml = `graph: g\nlimits: { steps: 1 }\nnodes:\n  n: { call: print, args: ['"x"'] }\n  m: { call: print, args: ['"y"'] }\n`;
    const edges = (list: readonly string[]): string => `edges:\n${list.map((edge) => `  - ${edge}\n`).join("")}`;
    const project = createProject({
      "a.ngraph": `import { x } from "m"\n\n${graph}`,
      "b.ngraph": `import { x } from "m"\n\n${graph.replace("graph g", "graph  g")}`,
      "c.ngraph.yaml": `${yaml}${edges(["start -> n", "n -> m"])}`,
      "d.ngraph.yaml": `${yaml}${edges(["start -> n", "settled(n) -> m"])}`,
      "e.ngraph.yaml": `${yaml}${edges(["{ from: start,  to: n }", "{ settled: [n], to: m }"])}`,
    });
    const files = ["a.ngraph", "b.ngraph", "c.ngraph.yaml", "d.ngraph.yaml", "e.ngraph.yaml"];
    const { status } = project.ngc(["check", ...files, "--fix"]);
    expect(status).toBe(0);
    expect(project.read("a.ngraph")).toBe(graph);
    expect(project.read("b.ngraph")).toBe(`\n${graph.replace("graph g", "graph  g")}`);
    const raised = yaml.replace("steps: 1", "steps: 2");
    expect(project.read("c.ngraph.yaml")).toBe(`${raised}${edges(["start -> n", "n -> m"])}`);
    expect(project.read("d.ngraph.yaml")).toBe(`${raised}${edges(["start -> n", "n -> m"])}`);
    expect(project.read("e.ngraph.yaml")).toBe(`${raised}${edges(["{ from: start,  to: n }", "{ from: n, to: m }"])}`);
    expect(project.ngc(["fmt", "--check", "a.ngraph", "c.ngraph.yaml", "d.ngraph.yaml"]).status).toBe(0);
    expect(project.ngc(["fmt", "--check", "b.ngraph"]).status).not.toBe(0);
  });

  test("a file that cannot be written is reported, and no file is half written", () => {
    const project = createProject({ "closed/broken.ngraph": BROKEN });
    chmodSync(`${project.directory}/closed`, 0o555);
    const { status, stderr } = project.ngc(["check", "closed/broken.ngraph", "--fix"]);
    // Root may write anywhere.
    const isRoot = process.getuid?.() === 0;
    expect(status).toBe(isRoot ? 0 : 64);
    if (!isRoot) expect(stderr).toContain("cannot write closed/broken.ngraph");
    expect(project.read("closed/broken.ngraph")).toBe(isRoot ? FIXED : BROKEN);
    chmodSync(`${project.directory}/closed`, 0o755);
  });

  test("no path and no standard input is wrong usage", () => {
    expect(createProject().ngc(["check"])).toMatchObject({ status: 64, stderr: expect.stringContaining("path") });
  });
});
