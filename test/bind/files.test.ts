import { describe, expect, it } from "vitest";
import { bindProject } from "../../compiler/bind/bind-project.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { emptyHost, memoryHost, type CompilerHost } from "../../compiler/load/host.ts";
import { bindText, explain, graph, marked, places, findingsOf } from "./bind-text.ts";

const SUB = `type Note = { text: string, more: Note[] }
/// Looks things up.
graph research {
  input query: string
  output notes: Note[] reduce append
  node find = [{ text: query, more: [] }] into notes
  start -> find
}
`;
const USE = `import { research, type Note } from "./lib/research.ngraph"
graph main {
  output all_notes: Note[]
  node look = research(query: "x") into { notes: all_notes }
  start -> look
}
`;

describe("files that import each other", () => {
  it("brings graphs and types of another file", () => {
    const { diagnostics, graphs, allGraphs, files } = bindText(USE, { "lib/research.ngraph": SUB });
    expect(explain(diagnostics)).toBe("");
    expect(graphs.map(({ name }) => name)).toEqual(["main"]);
    expect(allGraphs.map(({ name }) => name)).toEqual(["research", "main"]);
    expect(files.map(({ source }) => source.path)).toEqual(["lib/research.ngraph", "main.ngraph"]);
    const [main] = graphs;
    expect(main?.graphs.map(({ name }) => name)).toEqual(["research"]);
    expect(main?.types).toEqual([
      {
        name: "Note",
        type: {
          kind: "record",
          fields: [
            { name: "text", type: { kind: "string" } },
            { name: "more", type: { kind: "list", item: { kind: "ref", name: "Note" } } },
          ],
        },
      },
    ]);
  });

  it("reports errors of imported files, and not their warnings", () => {
    const broken = SUB.replace("start -> find", "start -> fnid").replace(
      "input query",
      "input other: int\n  input query",
    );
    const { diagnostics, graphs } = bindText(USE.replace("query:", "other: 1, query:"), {
      "lib/research.ngraph": broken,
    });
    expect(places(diagnostics)).toEqual(["NG101 lib/research.ngraph:8:12"]);
    expect(graphs[0]?.hasErrors).toBe(true);
  });

  it("takes one file for one, whatever it is called", () => {
    const text = `import { research } from "./lib/research.ngraph"
import { research as again } from "./lib/../lib/research.ngraph"
graph main {
  output a: json
  output b: json
  node one = research(query: "x") into a
  node two = again(query: "x") into b
  start -> one, two
}`;
    const { diagnostics, allGraphs, graphs } = bindText(text, { "lib/research.ngraph": SUB });
    expect(explain(diagnostics)).toBe("");
    expect(allGraphs).toHaveLength(2);
    expect(graphs[0]?.graphs).toHaveLength(1);
  });

  it("keeps types of two files apart that have one name", () => {
    const files = {
      "a.ngraph": `type T = { a: int }\ngraph a { output t: T  node x = { a: 1 } into t  start -> x }`,
      "b.ngraph": `type T = { b: int }\ngraph b { input t: T  node x = print(t.b)  start -> x }`,
    };
    const text = `import { a } from "./a.ngraph"\nimport { b } from "./b.ngraph"\n${graph(
      `state t: json`,
      `node one = a() into { t }`,
      `node two = b(t: { b: 1 })`,
      `node three = print(t)`,
      `start -> one -> two -> three`,
    )}`;
    const { diagnostics, allGraphs } = bindText(text, files);
    expect(explain(diagnostics)).toBe("");
    const names = allGraphs.flatMap(({ types }) => types.map(({ name }) => name));
    expect(new Set(names).size).toBe(2);
  });

  it("NG112 shows the cycle", () => {
    const files = {
      "b.ngraph": `import { c } from "./c.ngraph"\ngraph b { node x = c()  start -> x }`,
      "c.ngraph": `import { b } from "./b.ngraph"\ngraph c { node x = b()  start -> x }`,
    };
    const { diagnostics } = bindText(`import { b } from "./b.ngraph"\n${graph(`node x = b()`, `start -> x`)}`, files);
    expect(places(diagnostics)).toEqual(["NG112 c.ngraph:1:19"]);
    expect(diagnostics[0]?.notes).toEqual(["cycle: b.ngraph -> c.ngraph -> b.ngraph"]);
  });

  it("NG112 for a file that imports itself", () => {
    const text = `import { main as self } from "./main.ngraph"\n${graph(`node x = self()`, `start -> x`)}`;
    expect(places(bindText(text, { "main.ngraph": text }).diagnostics)).toEqual(["NG112 main.ngraph:1:30"]);
  });

  it("NG116 across files shows the cycle", () => {
    const text = `graph a { node x = b()  start -> x }\ngraph b { node x = c()  start -> x }\ngraph c { node x = a()  start -> x }`;
    const { diagnostics } = bindText(text);
    expect(places(diagnostics)).toEqual(["NG116 main.ngraph:3:20"]);
    expect(diagnostics[0]?.notes).toEqual(["cycle: a -> b -> c -> a"]);
    expect(diagnostics[0]?.labels).toHaveLength(2);
  });
});

describe("the project root", () => {
  const text = `import { f } from "../nodes.ts"\n${graph(`node x = f()`, `start -> x`)}`;
  const nodes = "export function f() {}";

  it("is the nearest directory above with a package.json", () => {
    const host = memoryHost({ "/p/package.json": "{}", "/p/nodes.ts": nodes, "/p/flows/main.ngraph": text });
    expect(explain(bindProject(loadProject(text, { path: "/p/flows/main.ngraph", host })).diagnostics)).toBe("");
  });
  it("NG113: is else the file's own directory", () => {
    const host = memoryHost({ "/p/nodes.ts": nodes, "/p/flows/main.ngraph": text });
    const { diagnostics } = bindProject(loadProject(text, { path: "/p/flows/main.ngraph", host }));
    expect(places(diagnostics)).toEqual(["NG113 /p/flows/main.ngraph:1:19"]);
  });
  it("NG113 for a file that does not exist either", () => {
    const { diagnostics } = bindProject(loadProject(text, { path: "main.ngraph", host: emptyHost }));
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG113"]);
  });
  describe("in a workspace", () => {
    const app = `import { f } from "../shared/nodes.ts"\n${graph(`node x = f()`, `start -> x`)}`;
    const codesWith = (files: Readonly<Record<string, string>>, path = "/w/packages/app/main.ngraph"): string[] => {
      const shared = path.replace("app/main.ngraph", "shared/nodes.ts");
      const manifest = path.replace("main.ngraph", "package.json");
      const host = memoryHost({ [manifest]: "{}", [path]: app, [shared]: nodes, ...files });
      return bindProject(loadProject(app, { path, host })).diagnostics.map(({ code }) => code);
    };
    it.each([
      ["npm", { "/w/package.json": `{ "workspaces": ["packages/*"] }` }],
      ["npm, by name", { "/w/package.json": `{ "workspaces": ["./packages/app", "./packages/shared/"] }` }],
      ["Yarn", { "/w/package.json": `{ "workspaces": { "packages": ["packages/**"] } }` }],
      ["pnpm", { "/w/pnpm-workspace.yaml": `packages:\n  - 'packages/*'\n`, "/w/package.json": "{}" }],
      [
        "excluded and listed again",
        { "/w/package.json": `{ "workspaces": ["!packages/app", "packages/*", "!packages/x"] }` },
      ],
    ])("is the root of the workspace: %s", (_, files) => {
      expect(codesWith(files)).toEqual([]);
    });
    it.each([
      ["does not list the package", { "/w/package.json": `{ "workspaces": ["apps/*", "packages"] }` }],
      ["lists only packages below it", { "/w/package.json": `{ "workspaces": ["packages/app/*"] }` }],
      ["excludes the package", { "/w/package.json": `{ "workspaces": ["packages/*", "!packages/app"] }` }],
      ["names directories outside of it", { "/w/package.json": `{ "workspaces": ["../w/packages/*"] }` }],
      ["cannot be read", { "/w/package.json": `{ "workspaces": [`, "/w/pnpm-workspace.yaml": "packages: [" }],
      ["has another shape", { "/w/package.json": `[]`, "/w/pnpm-workspace.yaml": "packages: 5" }],
    ])("NG113: a package.json above that %s", (_, files) => {
      expect(codesWith(files)).toEqual(["NG113"]);
    });
    it("NG113: an installed package is no part of it", () => {
      const files = { "/w/package.json": `{ "workspaces": ["**"] }` };
      expect(codesWith(files, "/w/node_modules/app/main.ngraph")).toEqual(["NG113"]);
    });
    it("NG113: out of the workspace", () => {
      const files = { "/w/packages/app/package.json": "{}", "/w/package.json": `{ "workspaces": ["packages/*"] }` };
      const outside = app.replace("../shared", "../../..");
      const host = memoryHost({ ...files, "/nodes.ts": nodes });
      const { diagnostics } = bindProject(loadProject(outside, { path: "/w/packages/app/main.ngraph", host }));
      expect(diagnostics.map(({ code, notes }) => `${code} ${notes.join()}`)).toEqual([
        "NG113 the project root is `/w`",
      ]);
    });
  });

  it("can be given", () => {
    const host = memoryHost({ "/p/nodes.ts": nodes, "/p/flows/main.ngraph": text });
    expect(
      explain(bindProject(loadProject(text, { path: "/p/flows/main.ngraph", host, root: "/p" })).diagnostics),
    ).toBe("");
  });
  it("NG113: is not left through a symbolic link", () => {
    const files = memoryHost({ "/p/package.json": "{}", "/p/flows/nodes.ts": nodes, "/p/flows/main.ngraph": "" });
    const host: CompilerHost = {
      ...files,
      realPath: (path) => (path === "/p/flows/nodes.ts" ? "/secret/nodes.ts" : files.realPath(path)),
    };
    const inside = text.replace("../", "./");
    const { diagnostics } = bindProject(loadProject(inside, { path: "/p/flows/main.ngraph", host }));
    expect(diagnostics.map(({ code, label }) => `${code} ${label}`)).toEqual([
      "NG113 a symbolic link leads out of the project root",
    ]);
  });
  it("may itself be reached through a symbolic link", () => {
    const files = memoryHost({ "/real/package.json": "{}", "/real/nodes.ts": nodes, "/real/flows/main.ngraph": "" });
    const toReal = (path: string): string => path.replace(/^\/link/, "/real");
    const host: CompilerHost = {
      readFile: (path) => files.readFile(toReal(path)),
      realPath: (path) => files.realPath(toReal(path)),
    };
    expect(explain(bindProject(loadProject(text, { path: "/link/flows/main.ngraph", host })).diagnostics)).toBe("");
  });
});

describe("imports of modules", () => {
  const use = (from: string, files: Record<string, string>): string =>
    explain(bindText(`import { f } from "${from}"\n${graph(`node x = f()`, `start -> x`)}`, files).diagnostics);
  it("are not looked at in packages", () => {
    expect(use("some-package", {})).toBe("");
    expect(use("node:path", {})).toBe("");
  });
  it("find a file without its extension", () => {
    const { diagnostics } = bindText(`import { f } from "./nodes"\n${graph(`node x = f()`, `start -> x`)}`, {
      "nodes.ts": "export const f = 1",
    });
    expect(diagnostics.map(({ code, help }) => `${code} ${help ?? ""}`)).toEqual([
      "NG105 a file with a similar name exists: `./nodes.ts`",
    ]);
    expect(diagnostics[0]?.fixes[0]?.edits[0]?.text).toBe('"./nodes.ts"');
  });
  it("find a graph file that lacks `./`", () => {
    const { diagnostics } = bindText(`import { f } from "f.ngraph"\n${graph(`node x = f()`, `start -> x`)}`, {
      "f.ngraph": "graph f { node a = print(1)  start -> a }",
    });
    expect(diagnostics.map(({ code, help }) => `${code} ${help ?? ""}`)).toEqual([
      "NG105 a file with a similar name exists: `./f.ngraph`",
    ]);
  });
  describe("of a graph file by the name of its package", () => {
    const text = `import { f } from "@acme/shared/f.ngraph"\n${graph(`node x = f()`, `start -> x`)}`;
    const find = (files: Record<string, string>, links: Record<string, string> = {}): string => {
      const path = "/w/packages/app/flows/main.ngraph";
      const memory = memoryHost({ "/w/packages/app/package.json": "{}", ...files });
      const toReal = (at: string): string =>
        Object.entries(links).reduce((real, [from, to]) => real.replace(from, to), at);
      const host: CompilerHost = {
        readFile: (at) => memory.readFile(toReal(at)),
        realPath: (at) => memory.realPath(toReal(at)),
      };
      const [found] = bindProject(loadProject(text, { path, host })).diagnostics;
      return `${found?.code} ${found?.label}; ${found?.help}; ${found?.fixes[0]?.edits[0]?.text}`;
    };
    const advice = "NG105 a graph file is imported by its relative path, not by the name of a package; ";
    const file = "graph f { node a = print(1)  start -> a }";
    it("leads to its path in the workspace", () => {
      const files = { "/w/package.json": `{ "workspaces": ["packages/*"] }`, "/w/packages/shared/f.ngraph": file };
      expect(find(files, { "/w/node_modules/@acme/shared": "/w/packages/shared" })).toBe(
        `${advice}the package has the file here: \`../../shared/f.ngraph\`; "../../shared/f.ngraph"`,
      );
    });
    it("leads to its path in node_modules", () => {
      expect(find({ "/w/packages/app/node_modules/@acme/shared/f.ngraph": file })).toBe(
        `${advice}the package has the file here: \`../node_modules/@acme/shared/f.ngraph\`; "../node_modules/@acme/shared/f.ngraph"`,
      );
    });
    it.each<[string, Record<string, string>]>([
      ["is missing", {}],
      ["lies outside the project", { "/w/node_modules/@acme/shared/f.ngraph": file }],
    ])("has an advice if the file %s", (_, files) => {
      expect(find(files)).toBe(
        `${advice}write the path from this file, such as \`./review.ngraph\` or \`../shared/review.ngraph\`; undefined`,
      );
    });
  });
  it("follow `export *`", () => {
    expect(use("./a.ts", { "a.ts": `export * from "./b.js"`, "b.ts": "export function f() {}" })).toBe("");
    expect(use("./a.ts", { "a.ts": `export * from "./b.js"`, "b.ts": "export function g() {}" })).toContain("NG105");
    expect(use("./a.ts", { "a.ts": `export * from "package"` })).toBe("");
    expect(use("./a.ts", { "a.ts": `export * from "./a.ts"; export const f = 1` })).toBe("");
  });
  it.each<[path: string, code: string, finding: string]>([
    ["a.ts", "export function f() { return 1 + ; }", "syntax error at 1:34, unexpected token"],
    ["a.mts", "\nexport const f = () => 'a;", "syntax error at 2:24, unterminated string constant"],
    ["a.tsx", "export const f = () => <b>;", "syntax error at "],
    ["a.js", "export const f = (a { return a }", 'syntax error at 1:21, unexpected token, expected ","'],
    ["a.cts", "export function f( {", "syntax error at 1:21, unexpected token"],
    ["a.ts", "export const f = () => 1; const f = 2;", "identifier 'f' has already been declared"],
    ["a.ts", "export class A { a: string b: string }", "missing semicolon"],
    ["a.d.ts", "export function f(): ;", "syntax error at 1:22"],
  ])("report a syntax error of a module: %s, %s", (path, code, finding) => {
    const text = `import { f } from "./${path}"\n${graph(`node x = f()`, `start -> x`)}`;
    const [found, ...others] = findingsOf(text, { [path]: code });
    expect(explain(others)).toBe("");
    expect(`${found?.code} ${found?.message}`).toContain(`NG105 cannot read \`./${path}\`: `);
    expect(found?.message).toContain(finding);
    expect(found?.labels.map(({ file }) => file.path)).toEqual([path]);
  });
  it.each([
    ["a.cjs", "return module.exports = 08; with (a) {}"],
    ["a.js", "exports.f = () => 1; if (a) return;"],
    ["a.ts", "export class A { accessor a = 1; abstract b(): void }\nexport const f = () => 1;"],
    ["a.ts", "import defer * as late from './late.ts'; export function f() { return late.f(); }"],
    ["a.ts", "@seal export class A {} export const f = (a?, b) => <any>a satisfies object; export { missing };"],
    ["a.json", "{ not a module }"],
  ])("accept a module that may be loaded: %s, %s", (path, code) => {
    expect(use(`./${path}`, { [path]: code })).toBe("");
  });
  it("NG111 is silent about what a broken statement may use", () => {
    const text = `import { f } from "pkg"\n${graph(`node x = print("")`, `node y = f( into`, `start -> x`)}`;
    expect(bindText(text).diagnostics.map(({ code }) => code)).not.toContain("NG111");
  });
});

describe("NG115: jumps that `goes` does not list", () => {
  const check = (code: string, call: string, policies = ""): string =>
    explain(
      findingsOf(
        `import { f } from "./nodes.ts"\n${graph(`input a: int`, `node one = ${call} ${policies}`, `node two = print(a)`, `start -> one -> two`)}`,
        { "nodes.ts": code },
      ),
    );
  it("a jump by the context", () => {
    const code = "export async function f(a: number, context: NodeContext) { return context.goto('two'); }";
    expect(check(code, "f(a)")).toContain("NG115 at `one`: `one` may jump to `two`");
    expect(check(code, "f(a)", "{ goes two }")).toBe("");
  });
  it("a jump by its parts, in an arrow function", () => {
    const code = "export const f = async (a: Map<string, number>, { goto, send }: NodeContext) => send('two', 1);";
    expect(check(code, "f(a)")).toContain("NG115");
    expect(check(code, "f(a)", "{ goes one, two }")).toBe("");
  });
  it("named arguments are one", () => {
    expect(
      check("export const f = async (all: object, context: NodeContext) => context.goto('two');", "f(x: a, y: 2)"),
    ).toContain("NG115");
  });
  it("nothing where it is not certain", () => {
    expect(check("export const f = (page: Page) => page.goto('two');", "f(a)")).toBe("");
    expect(check("export const f = (a: number, c: C) => other.goto('two');", "f(a)")).toBe("");
    expect(check("export const f = (a: number, c: C) => c.goto(a ? 'two' : 'one');", "f(a)")).toBe("");
    expect(check("export const f = (a: number, c: C) => c.goto('elsewhere');", "f(a)")).toBe("");
    expect(
      check("export const f = (a: number, c: C) => a;\nexport const g = (a: number, c: C) => c.goto('two');", "f(a)"),
    ).toBe("");
    expect(check("export const f = (a: number, c: C) => { /* c.goto('two') */ return `c.goto('two')`; }", "f(a)")).toBe(
      "",
    );
  });
});

describe("NG117", () => {
  const plan = `plan p { task a = shell("x") }\n`;
  const test = `test "t" for main { expect status completed }\n`;
  const main = graph(`node x = print("")`, `start -> x`);
  it("refuses plans and tests while they cannot run", () => {
    const found = bindText(`${plan}${main}${test}`, {}, { features: new Set() } as never).diagnostics;
    expect(found.every(({ code }) => code === "NG117")).toBe(true);
    expect(explain(bindText(`${plan}${main}${test}`, {}, { supports: ["plan", "test"] }).diagnostics)).toBe("");
  });
  it("refuses `cache` where there is nothing to keep", () => {
    const marks = (call: string): string[] =>
      bindText(graph(`node x = ${call}`, `start -> x`)).diagnostics.map((item) => `${item.code} ${item.message}`);
    expect(marks(`1 + 2 { cache }`)).toEqual(["NG117 an expression is computed each time: there is nothing to keep"]);
    expect(marks(`len("x") { cache for 1h }`)).toHaveLength(1);
    expect(marks(`ask("x") { cache for 1h }`)).toEqual(["NG117 each run needs a new answer"]);
    expect(marks(`print("x") { cache for 1h }`)).toEqual([]);
    expect(marks(`print("x") { cache }`)).toEqual([]);
  });
  it("marks the smallest part", () => {
    const { diagnostics } = bindText(main.replace(`print("")`, `print("") { touches "a" }`));
    expect(diagnostics.map(marked)).toEqual([`touches "a"`]);
  });
});
