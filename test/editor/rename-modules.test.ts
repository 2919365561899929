/** Renames and references of exports of TypeScript modules, which begin in a module or in a graph file. */
import { describe, expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { ModuleEntities } from "../../editor/module-entity.ts";
import { placesInModule } from "../../editor/module-names.ts";
import { NameIndex, type FileNames } from "../../editor/name-index.ts";
import { findReferences, rename } from "../../editor/navigate.ts";
import { placesOfExport, renameExport, usesOf, type Edits } from "../../editor/rename-export.ts";

const GRAPH =
  'import { draft, type Ticket } from "./nodes.ts"\ngraph g { input t: Ticket output reply: string node draft = draft(t) into reply start -> draft }\n';
const ALIASED =
  'import { draft as write } from "./all.ts"\ngraph h { output reply: string node n = write({ id: "1" }) into reply start -> n }\n';
const YAML =
  "imports: { ./nodes.ts: [draft] }\n---\ngraph: y\noutput: { reply: string }\nnodes:\n  n: { call: draft, args: ['{ id: \"1\" }'], into: reply }\nedges:\n  - start -> n\n";
const NODES =
  "export interface Ticket { id: string }\nexport function draft(ticket: Ticket): string { return ticket.id; }\nexport const both = [draft, { draft }];\n";

const FILES: Readonly<Record<string, string>> = {
  "/p/a.ngraph": GRAPH,
  "/p/b.ngraph": ALIASED,
  "/p/c.ngraph.yaml": YAML,
  "/p/nodes.ts": NODES,
  "/p/all.ts": 'export * from "./nodes.ts";\nexport { draft as other } from "./nodes.ts";\n',
  "/p/use.ts":
    'import { draft } from "./all.ts";\nimport * as nodes from "./nodes.ts";\nfunction inner(draft: string) { return draft; }\nexport const x = [draft({ id: inner("") }), nodes.draft, { draft: 1 }.draft];\n',
  "/p/unrelated.ts": "export const draft = 1;\n",
};

function project(files: Readonly<Record<string, string>> = FILES) {
  const host = memoryHost(files);
  const index = new NameIndex(host, new Map());
  const entities = new ModuleEntities(host);
  const paths = Object.keys(files).filter((path) => path.endsWith(".ts"));
  const graphs = Object.keys(files)
    .filter((path) => path.includes(".ngraph"))
    .map((path) => index.of(path) as FileNames);
  return { index, entities, graphs, modules: { entities, paths } };
}

function applied(edits: Edits | string): unknown {
  if (typeof edits === "string") return edits;
  return Object.fromEntries([...edits].map(([{ path, source }, list]) => [path, applyEdits(source.text, list)]));
}

/** A rename that begins at the place of `mark` in a file. */
function renamed(path: string, mark: string, newName: string, files = FILES): unknown {
  const { graphs, entities, modules } = project(files);
  const offset = (files[path] ?? "").indexOf(mark);
  if (path.includes(".ngraph"))
    return applied(
      rename(
        graphs.find((each) => each.path === path)!,
        offset,
        newName,
        graphs,
        modules,
      ),
    );
  const found = entities.at(path, offset);
  if (found === undefined) return undefined;
  return graphs.some((file) => usesOf(file, found.entity, modules).length > 0)
    ? applied(renameExport(found.entity, newName, graphs, modules))
    : undefined;
}

const RENAMED = {
  "/p/a.ngraph": GRAPH.replace("{ draft", "{ answer").replace("= draft(", "= answer("),
  "/p/b.ngraph": ALIASED.replace("draft as", "answer as"),
  "/p/c.ngraph.yaml": YAML.replaceAll("draft", "answer"),
  "/p/nodes.ts":
    "export interface Ticket { id: string }\nexport function answer(ticket: Ticket): string { return ticket.id; }\nexport const both = [answer, { draft: answer }];\n",
  "/p/all.ts": 'export * from "./nodes.ts";\nexport { answer as other } from "./nodes.ts";\n',
  "/p/use.ts":
    'import { answer } from "./all.ts";\nimport * as nodes from "./nodes.ts";\nfunction inner(draft: string) { return draft; }\nexport const x = [answer({ id: inner("") }), nodes.answer, { draft: 1 }.draft];\n',
};

describe("the rename of a function", () => {
  test.each([
    ["its declaration", "/p/nodes.ts", "draft(ticket"],
    ["a use in its module", "/p/nodes.ts", "draft, {"],
    ["an import of another module", "/p/use.ts", "draft } from"],
    ["a use in another module", "/p/use.ts", "draft({ id"],
    ["a member of a namespace", "/p/use.ts", "draft, { draft"],
    ["a re-export", "/p/all.ts", "draft as other"],
    ["an import of a graph file", "/p/a.ngraph", "draft,"],
    ["a call of a graph file", "/p/a.ngraph", "draft(t)"],
    ["an import with `as`", "/p/b.ngraph", "draft as"],
    ["a call in YAML", "/p/c.ngraph.yaml", "draft, args"],
  ])("begins at %s", (_, path, mark) => {
    expect(renamed(path, mark, "answer")).toEqual(RENAMED);
  });

  test("keeps the name that a file gives with `as`, and changes it on its own", () => {
    expect(renamed("/p/b.ngraph", "write(", "polish")).toEqual({
      "/p/b.ngraph": ALIASED.replaceAll("write", "polish"),
    });
  });

  test("leaves names of the same spelling that are others", () => {
    expect(renamed("/p/unrelated.ts", "draft", "answer")).toBeUndefined();
    expect(renamed("/p/use.ts", "draft: string", "answer")).toBeUndefined();
    expect(renamed("/p/nodes.ts", "both", "answer")).toBeUndefined();
  });

  test.each([
    [
      "both",
      "/p/nodes.ts has the name `both`: choose another one, or write `import { draft as both }` in the graph file",
    ],
    [
      "inner",
      "/p/use.ts has the name `inner`: choose another one, or write `import { draft as inner }` in the graph file",
    ],
    ["delete", "`delete` is a word of TypeScript"],
    ["when", "`when` is a word of the language"],
    ["a-b", "`a-b` is no name: a name is a letter, and letters, digits or `_`"],
  ])("to %s is refused", (newName, reason) => {
    expect(renamed("/p/nodes.ts", "draft(ticket", newName)).toBe(reason);
  });

  test("to a name of a graph file is refused", () => {
    const files = { ...FILES, "/p/a.ngraph": `${GRAPH}graph answer { output o: int = 1 start -> end }\n` };
    expect(renamed("/p/nodes.ts", "draft(ticket", "answer", files)).toBe("/p/a.ngraph declares `answer` already");
  });
});

test("the rename of a type changes its uses in modules and graph files", () => {
  expect(renamed("/p/a.ngraph", "Ticket output", "Case")).toEqual({
    "/p/a.ngraph": GRAPH.replaceAll("Ticket", "Case"),
    "/p/nodes.ts": NODES.replaceAll("Ticket", "Case"),
  });
});

describe("a graph that modules import", () => {
  const graph = 'graph review { output o: string node n = "x" into o start -> n }\n';
  const files = {
    "/p/review.ngraph": graph,
    "/p/a.ngraph":
      'import { review } from "./review.ngraph"\ngraph g { output o: string node a = review() into { o } start -> a }\n',
    "/p/all.ts": 'export { review } from "./review.ngraph";\n',
    "/p/app.ts":
      'import { review } from "./all.ts";\nimport { review as other } from "./review.ngraph";\nexport const made = { review, other, inner: (review: string) => review };\n',
  };
  const expected = {
    "/p/review.ngraph": graph.replace("review", "check"),
    "/p/a.ngraph": files["/p/a.ngraph"].replace("{ review", "{ check").replace("review()", "check()"),
    "/p/all.ts": files["/p/all.ts"].replace("{ review", "{ check"),
    "/p/app.ts": files["/p/app.ts"]
      .replace("{ review }", "{ check }")
      .replace("review as", "check as")
      .replace("{ review,", "{ review: check,"),
  };

  test.each([
    ["its declaration", "/p/review.ngraph", "review {"],
    ["a call of another graph", "/p/a.ngraph", "review()"],
    ["an import of a module", "/p/app.ts", "review as"],
    ["a use in a module", "/p/app.ts", "review, other"],
  ])("is renamed from %s", (_, path, mark) => {
    expect(renamed(path, mark, "check", files)).toEqual(expected);
  });

  test("has references in them", () => {
    const { index, graphs, modules } = project(files);
    const options = { withDeclaration: true, modules };
    const [own] = graphs;
    const places = findReferences(own!, graph.indexOf("review"), graphs, index, options);
    expect(places.map(({ source }) => source.path)).toEqual([
      "/p/review.ngraph",
      "/p/a.ngraph",
      "/p/a.ngraph",
      "/p/all.ts",
      "/p/app.ts",
      "/p/app.ts",
      "/p/app.ts",
    ]);
  });

  test("is not renamed to a word or a name of TypeScript", () => {
    expect(renamed("/p/review.ngraph", "review", "delete", files)).toBe(
      "`delete` is a word of TypeScript, and /p/all.ts imports `review`",
    );
    expect(renamed("/p/review.ngraph", "review", "made", files)).toContain("/p/app.ts has the name `made`");
    expect(renamed("/p/review.ngraph", "review", "delete", { "/p/review.ngraph": graph })).toEqual({
      "/p/review.ngraph": graph.replace("review", "delete"),
    });
  });
});

test("references of a function are in graph files and modules", () => {
  const { index, graphs, modules, entities } = project();
  const [file] = graphs;
  const places = findReferences(file!, GRAPH.indexOf("draft(t)"), graphs, index, { withDeclaration: true, modules });
  const counts: Record<string, number> = {};
  for (const { source } of places) counts[source.path] = (counts[source.path] ?? 0) + 1;
  expect(counts).toEqual({
    "/p/nodes.ts": 3,
    "/p/all.ts": 1,
    "/p/use.ts": 3,
    "/p/a.ngraph": 2,
    "/p/b.ngraph": 3,
    "/p/c.ngraph.yaml": 2,
  });
  const found = entities.at("/p/nodes.ts", NODES.indexOf("draft(ticket"));
  expect(placesOfExport(found!.entity, graphs, modules, "graphs")).toHaveLength(7);
});

describe("places of a name in a module", () => {
  const texts = (code: string): string[] =>
    (placesInModule(code, "/p/m.ts", "f") ?? []).map(
      ({ span, kind }) => `${kind} ${code.slice(0, span.start).split("\n").length}`,
    );
  test.each([
    ["a parameter", "f();\nfunction a(f) { f(); }", ["plain 1"]],
    ["a pattern", "f();\nconst a = ({ f }) => f;", ["plain 1"]],
    ["a default of a parameter's pattern", "f();\nconst a = ({ f = 1 }) => f;", ["plain 1"]],
    ["a block", "f();\n{ const f = 1; f; }\nf;", ["plain 1", "plain 3"]],
    ["`var`, which belongs to its function", "f();\nfunction a() { if (1) { var f = 1; } return f; }", ["plain 1"]],
    ["a loop", "f;\nfor (const f of []) f;", ["plain 1"]],
    ["an error", "f;\ntry {} catch (f) { f; }", ["plain 1"]],
    ["a function expression", "f;\n(function f() { f; });", ["plain 1"]],
    ["a type parameter", "let a: f;\ntype B<f> = f[];", ["plain 1"]],
    ["properties and labels", "f: for (;;) break f;\na.f; ({ f: 1 }).f; class A { f = 1 }", []],
    ["a computed property", "a[f];", ["plain 1"]],
    ["short forms", "const a = { f };\nconst { f } = a;", ["short 1", "short 2"]],
    ["two names of an export", "const f = 1;\nexport { f as g, a as f };", ["plain 1", "plain 2", "exported 2"]],
  ])("%s", (_, code, expected) => {
    expect(texts(code)).toEqual(expected);
  });

  test("of a module with syntax errors are unknown", () => {
    expect(placesInModule("function (", "/p/m.ts", "f")).toBeUndefined();
  });
});
