/**
 * A project that has the package installed: the plugin of Prettier by its name, and the schema for YAML at the path in
 * the modeline.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { createProject, HELLO } from "../cli/project.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const UGLY = 'graph hello{ output text:string // the text\nnode greet="hello" into text\nstart->greet }';

/** A project with this package and Prettier in its `node_modules`. */
function userProject(files: Record<string, string>) {
  const project = createProject({ "package.json": '{ "type": "module" }', ...files });
  const modules = join(project.directory, "node_modules");
  mkdirSync(modules);
  symlinkSync(ROOT, join(modules, "ngraph"));
  symlinkSync(join(ROOT, "node_modules/prettier"), join(modules, "prettier"));
  const prettier = (...args: string[]): string =>
    execFileSync(process.execPath, [join(modules, "prettier/bin/prettier.cjs"), ...args], {
      cwd: project.directory,
      encoding: "utf8",
    });
  return { ...project, prettier };
}

describe("Prettier", () => {
  test("with the plugin on its command line has the output of ngc fmt", () => {
    const project = userProject({ "a.ngraph": UGLY, "b.ngraph": UGLY });
    project.prettier("--plugin", "ngraph/prettier", "--write", "a.ngraph");
    project.ngc(["fmt", "b.ngraph"]);
    expect(project.read("a.ngraph")).toBe(project.read("b.ngraph"));
    expect(project.read("a.ngraph")).toContain("// the text");
    expect(project.ngc(["fmt", "--check", "a.ngraph"]).status).toBe(0);
    expect(project.prettier("--plugin", "ngraph/prettier", "--check", "a.ngraph")).toContain("All matched files");
  });

  test("with the plugin in its configuration, and with other options", () => {
    const project = userProject({
      ".prettierrc.json": '{ "plugins": ["ngraph/prettier"], "tabWidth": 4 }',
      "graphs/a.ngraph": UGLY,
    });
    project.prettier("--write", ".");
    expect(project.read("graphs/a.ngraph")).toContain("\n    start -> greet\n");
  });

  test("reports the place of a syntax error, and does not change the file", () => {
    const project = userProject({ "a.ngraph": "graph {{{" });
    expect(() => project.prettier("--plugin", "ngraph/prettier", "--write", "a.ngraph")).toThrow(/a\.ngraph/);
    expect(project.read("a.ngraph")).toBe("graph {{{");
  });
});

test("ngraph/testing runs the tests of a graph in node:test, with functions in TypeScript", () => {
  const { directory } = userProject({
    "g.ngraph": `import { double } from "./nodes.js"
graph g { input a: int  output b: int  node d = double(a) into b  start -> d }
test "right" for g { given a = 2  expect b == 4 }
test "wrong" for g { given a = 3  expect b == 7 }`,
    "nodes.ts": "export function double(a: number): number { return 2 * a; }",
    "g.test.mjs": `import { test } from "node:test";
import { assertPassed, runTests } from "ngraph/testing";
for (const result of await runTests("g.ngraph")) test(result.title, () => assertPassed(result));`,
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", "g.test.mjs"], {
    cwd: directory,
    env,
    encoding: "utf8",
    timeout: 240_000,
  });
  expect(stdout).toMatch(
    /^ *ok 1 - right$[^]*^ *not ok 2 - wrong$[^]*g\.ngraph\(4,35\): not satisfied: expect b == 7/m,
  );
});

describe("the schema that ngc convert names", () => {
  test.each(["hello.ngraph.yaml", "graphs/deep/hello.ngraph.yaml"])(
    "is found from %s, and accepts the file",
    (file) => {
      const project = userProject({ "hello.ngraph": HELLO });
      mkdirSync(dirname(join(project.directory, file)), { recursive: true });
      expect(project.ngc(["convert", "hello.ngraph", "-o", file]).status).toBe(0);
      const text = project.read(file);
      const [, path = ""] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text) ?? [];
      const found = resolve(dirname(join(project.directory, file)), path);
      expect(path).toMatch(/^\.{1,2}\//);
      expect(existsSync(found), found).toBe(true);
      const validate = new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(readFileSync(found, "utf8")));
      const valuesOf = (yaml: string) =>
        parseAllDocuments(yaml, { schema: "core" }).map((each) => each.toJS() as unknown);
      expect(valuesOf(text).every((value) => validate(value))).toBe(true);
      expect(valuesOf(text.replace("nodes:", "nods:")).every((value) => validate(value))).toBe(false);
      expect(project.ngc(["check", file]).status).toBe(0);
    },
  );

  test("is beside package.json where the package is not installed yet", () => {
    const project = createProject({ "package.json": "{}", "graphs/hello.ngraph": HELLO });
    const { stdout } = project.ngc(["convert", "graphs/hello.ngraph"]);
    expect(stdout.split("\n")[0]).toBe(
      "# yaml-language-server: $schema=../node_modules/ngraph/grammar/ngraph.schema.json",
    );
  });
});

test("a conversion warns about what it cannot convert, and writes the file", () => {
  const project = createProject({ "package.json": "{}" });
  const yaml = `graph: g
nodes: { a: &a { call: print, args: ['"x"'] }, b: *a }
edges: ["start -> a, b"]
`;
  project.write("g.yaml", yaml);
  const { status, stdout, stderr } = project.ngc(["convert", "g.yaml"]);
  expect(status).toBe(0);
  expect(stdout).toContain('node b = print("x")');
  expect(stderr).toBe(
    "warning: g.yaml: not converted: line 2: the anchor `&a`: what it marks is written out\n" +
      "warning: g.yaml: not converted: line 2: the alias `*a`: its value is written out\n",
  );
});
