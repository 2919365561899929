import { describe, expect, test } from "vitest";
import { BROKEN, createProject, FLOW, FLOW_NODES, HELLO } from "./project.ts";

describe("ngc check", () => {
  test("a valid file exits with 0 and prints no diagnostics", () => {
    const { ngc } = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    expect(ngc(["check", "flow.ngraph"])).toEqual({
      status: 0,
      stdout: "",
      stderr: expect.stringMatching(/^flow\.ngraph\(\d+,\d+\): \w+: sound\n1 graph checked, nothing to report\n$/),
    });
    expect(ngc(["check", "flow.ngraph", "--quiet"])).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("an invalid file exits with 2; without a terminal it prints lines for problem matchers", () => {
    const { ngc } = createProject({ "broken.ngraph": BROKEN });
    const { status, stdout, stderr } = ngc(["check", "broken.ngraph", "-q"]);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^broken\.ngraph\(6,12\): error NG101: .*`great`/m);
  });

  test("--format pretty shows the place and suggests similar names", () => {
    const { ngc } = createProject({ "broken.ngraph": BROKEN });
    const { stderr } = ngc(["check", "broken.ngraph", "--format", "pretty"]);
    expect(stderr).toContain("error[NG101]");
    expect(stderr).toContain(" --> broken.ngraph:6:12");
    expect(stderr).toContain("6 |   start -> great");
    expect(stderr).toContain("`greet`");
  });

  test("--json prints the document of the interface, and nothing else on stdout", () => {
    const { json } = createProject({ "broken.ngraph": BROKEN, "hello.ngraph": HELLO });
    const { status, document } = json(["check", "broken.ngraph", "hello.ngraph"]);
    expect(status).toBe(2);
    expect(document).toMatchObject({ version: 1, ok: false });
    expect(document.errors).toBeGreaterThan(0);
    const error = document.diagnostics.find((item: { code: string }) => item.code === "NG101");
    expect(error).toMatchObject({
      code: "NG101",
      name: "unknown-node",
      severity: "error",
      file: "broken.ngraph",
      range: { start: { line: 6, column: 12 }, end: { line: 6, column: 17 } },
      url: "docs/diagnostics/NG101.md",
    });
    expect(document.graphs.find((graph: { name: string }) => graph.name === "hello")).toMatchObject({
      kind: "graph",
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      nodes: 1,
      edges: 1,
      effects: [],
    });
  });

  test("--format json prints the same document", () => {
    const { ngc } = createProject({ "broken.ngraph": BROKEN });
    const a = ngc(["check", "broken.ngraph", "--json"]);
    const b = ngc(["check", "broken.ngraph", "--format", "json"]);
    expect(JSON.parse(b.stdout)).toEqual(JSON.parse(a.stdout));
    expect(b.status).toBe(2);
  });

  test("--format github and sarif write to stdout", () => {
    const { ngc } = createProject({ "broken.ngraph": BROKEN });
    expect(ngc(["check", "broken.ngraph", "--format", "github"]).stdout).toContain(
      "::error file=broken.ngraph,line=6,col=12,",
    );
    const { runs } = JSON.parse(ngc(["check", "broken.ngraph", "--format", "sarif"]).stdout);
    expect(runs[0].results[0].ruleId).toBe("NG101");
  });

  test("a directory means the graph files in it; findings of a shared import are reported once", () => {
    const project = createProject({
      "graphs/shared.ngraph": BROKEN,
      "graphs/one.ngraph": `import { broken } from "./shared.ngraph"\n${HELLO}`,
      "graphs/node_modules/x.ngraph": BROKEN,
      "graphs/readme.md": "no graph",
    });
    const { status, stderr } = project.ngc(["check", "graphs"]);
    expect(status).toBe(2);
    expect(stderr.match(/error NG101/g)).toHaveLength(1);
    expect(stderr).toContain("graphs/shared.ngraph(6,12)");
  });

  test("-v prints proofs and remarks", () => {
    const { ngc } = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    expect(ngc(["check", "flow.ngraph"]).stderr).not.toContain("info");
    expect(ngc(["check", "flow.ngraph", "-v"]).stderr).toContain("info NG310");
  });

  test("--max-diagnostics limits the output, not the exit code", () => {
    const edges = Array.from({ length: 60 }, (_, index) => `  greet -> missing${index}x`).join("\n");
    const { ngc } = createProject({ "a.ngraph": HELLO.replace("start -> greet", `start -> greet\n${edges}`) });
    const few = ngc(["check", "a.ngraph", "--max-diagnostics", "3"]);
    expect(few.status).toBe(2);
    expect(few.stderr.match(/error NG/g)).toHaveLength(3);
    expect(few.stderr).toMatch(/more not shown/);
    expect(ngc(["check", "a.ngraph"]).stderr.match(/error NG/g)).toHaveLength(50);
  });

  test("prints colours only where they are wanted", () => {
    const { ngc } = createProject({ "broken.ngraph": BROKEN });
    const args = ["check", "broken.ngraph", "--format", "pretty"];
    expect(ngc(args, { env: { FORCE_COLOR: "1", NO_COLOR: "" } }).stderr).toContain("\u001b[1m\u001b[31m");
    expect(ngc([...args, "--no-color"], { env: { FORCE_COLOR: "1", NO_COLOR: "" } }).stderr).not.toContain("\u001b[");
    expect(ngc(args, { env: { FORCE_COLOR: "1", NO_COLOR: "1" } }).stderr).not.toContain("\u001b[");
  });

  test("never runs user code", () => {
    const project = createProject({
      "flow.ngraph": FLOW,
      "nodes.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\n${FLOW_NODES}`,
    });
    expect(project.ngc(["check", "flow.ngraph"]).status).toBe(0);
    expect(project.has("ran")).toBe(false);
  });
});

describe("ngc check --baseline", () => {
  const NOW = HELLO.replaceAll("greet", "welcome");

  test("compares with an older source, in either spelling, and with a compiled table", () => {
    const project = createProject({ "old.ngraph": HELLO, "now.ngraph": NOW, "same.ngraph": `// new\n${HELLO}` });
    project.ngc(["compile", "old.ngraph", "--target", "json", "-q"]);
    project.ngc(["convert", "old.ngraph", "--to", "yaml", "-o", "old.ngraph.yaml"]);
    for (const old of ["old.ngraph", "hello.table.json", "old.ngraph.yaml"]) {
      const { status, stderr } = project.ngc(["check", "now.ngraph", "--baseline", old]);
      expect(status).toBe(0);
      expect(stderr).toMatch(/^now\.ngraph\(1,7\): warning NG610: node `greet` is gone/m);
      expect(project.ngc(["check", "same.ngraph", "--baseline", old]).stderr).not.toContain("NG610");
    }
    expect(project.json(["check", "now.ngraph", "--baseline", "old.ngraph"]).document).toMatchObject({
      ok: true,
      warnings: 1,
    });
  });

  test("reports files that cannot be compared", () => {
    const { ngc } = createProject({ "now.ngraph": NOW, "broken.ngraph": BROKEN, "x.json": "{}" });
    const fails = (...args: string[]): string => {
      const { status, stderr } = ngc(["check", ...args]);
      expect(status).toBe(64);
      expect(stderr).not.toContain("    at ");
      return stderr;
    };
    expect(fails("now.ngraph", "--baseline", "nowhere.ngraph")).toContain("no such file");
    expect(fails("now.ngraph", "--baseline", "broken.ngraph")).toContain("NG101");
    expect(fails("now.ngraph", "--baseline", "x.json")).toContain("not a compiled graph");
    expect(fails("now.ngraph", "broken.ngraph", "--baseline", "now.ngraph")).toContain("one file");
  });
});
