/** Renames after which a project would not compile, or would mean another thing: each is refused, with the place that is in the way. */
import { describe, expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { whyRefused } from "../../editor/keeps-meaning.ts";
import { ModuleEntities } from "../../editor/module-entity.ts";
import { NameIndex, type FileNames } from "../../editor/name-index.ts";
import { rename } from "../../editor/navigate.ts";

type Files = Readonly<Record<string, string>>;

/** The texts after a rename of the name at `‸`, or the reason why there are none. */
function renamed(marked: string, newName: string, more: Files = {}, path = "/p/a.ngraph"): Files | string {
  const files = { ...more, [path]: marked.replace("‸", "") };
  const host = memoryHost(files);
  const index = new NameIndex(host, new Map());
  const paths = Object.keys(files);
  const graphs = paths.filter((each) => each.includes(".ngraph")).map((each) => index.of(each) as FileNames);
  const modules = { entities: new ModuleEntities(host), paths: paths.filter((each) => each.endsWith(".ts")) };
  const file = index.of(path) as FileNames;
  const found = rename(file, marked.indexOf("‸"), newName, graphs, modules);
  if (typeof found === "string") return found;
  const changed = [...found].map(([each, edits]) => [each.path, applyEdits(each.source.text, edits)] as const);
  return whyRefused(found, newName, host) ?? { ...files, ...Object.fromEntries(changed) };
}

const NODES = { "/p/nodes.ts": "export function f(text: string): string { return text; }\n" };

describe("is refused", () => {
  test.each([
    [
      "a channel with the name of a node",
      'graph g { output ‸r: string node a = "x" into r start -> a }',
      "a",
      "`a` is the name of a node already, at /p/a.ngraph:1:33",
    ],
    [
      "a node with the name of a channel",
      'graph g { output r: string node ‸a = "x" into r start -> a }',
      "r",
      "`r` is the name of a channel already, at /p/a.ngraph:1:18",
    ],
    [
      "a graph with an imported name",
      'import { f } from "./nodes.ts"\ngraph ‸g { output r: string node a = f("x") into r start -> a }',
      "f",
      "`f` is the name of a function already, at /p/a.ngraph:1:10",
    ],
    [
      "a channel with the name of a secret",
      "secret KEY\ngraph g { output ‸r: string node a = KEY into r start -> a }",
      "KEY",
      "`KEY` would mean a channel of that name at /p/a.ngraph:2:39: choose another name",
    ],
    [
      "a channel with the name of an item that hides it",
      "graph g { state ‸xs: int[] = [1] state ys: int[] = [] node a = [x + len(xs) for x in xs] into ys start -> a }",
      "x",
      "`x` would mean a variable of that name at /p/a.ngraph:1:71: choose another name",
    ],
    [
      "an item with the name of a channel that its expression reads",
      "graph g { state xs: int[] = [1] state ys: int[] = [] node a = [x + len(xs) for ‸x in xs] into ys start -> a }",
      "xs",
      "`xs` would mean a variable of that name at /p/a.ngraph:1:73: choose another name",
    ],
    [
      "a constant with the name of a channel",
      "const ‸LIMIT = 3\ngraph g { state most: int = 0 node a = LIMIT into most start -> a }",
      "most",
      "`most` would mean a channel of that name at /p/a.ngraph:2:40: choose another name",
    ],
    [
      "a graph with the name of a built-in node that the file calls",
      'graph ‸h { output o: string node n = "x" into o start -> n }\ngraph g { node a = print("x") node b = h() start -> a -> b }',
      "print",
      "`print` would mean a graph of that name at /p/a.ngraph:2:20: choose another name",
    ],
    [
      "a constant with the name of a function of the library that the file calls",
      "const ‸MOST = 3\ngraph g { state n: int = 0 node a = len([1]) + MOST into n start -> a }",
      "len",
      "`len` would mean a constant of that name at /p/a.ngraph:2:37: choose another name",
    ],
    [
      "a graph with the name of a type",
      "type T = string\ngraph ‸g { input t: T output r: T node a = t into r start -> a }",
      "string",
      "`string` would mean a graph of that name at /p/a.ngraph:1:10: choose another name",
    ],
    [
      "a node with a name of the language",
      "graph g { node ‸a = print(1) start -> a }",
      "all",
      "`all` is a word of the language",
    ],
    [
      "a channel with its own former name",
      'graph g { output ‸r: string was old node a = "x" into r start -> a }',
      "old",
      "with the name `old`, /p/a.ngraph:1:34 has an error: `old` is listed after `was`, and is still a channel (NG102)",
    ],
  ])("%s", (_, marked, newName, reason) => {
    const found = renamed(marked, newName, NODES);
    expect(found).toBe(reason);
  });
});

const H = { "/p/h.ngraph": "graph h { input q: string output o: string node n = q into o start -> n }\n" };

test("is refused for a name of a file that imports it, and not for one that gives it another name", () => {
  const own = 'graph own { output r: string node b = "x" into r start -> b }\n';
  const call = (name: string): string =>
    `graph g { output r: string node a = ${name}(q: "x") into { o: r } start -> a }\n`;
  const plain = { "/p/b.ngraph": `import { h } from "./h.ngraph"\n${own}${call("h")}` };
  const text = H["/p/h.ngraph"].replace("h", "‸h").replace("grap‸h h", "graph ‸h");
  expect(renamed(text, "own", plain, "/p/h.ngraph")).toBe("`own` is the name of a graph already, at /p/b.ngraph:2:7");
  const aliased = { "/p/b.ngraph": `import { h as core } from "./h.ngraph"\n${own}${call("core")}` };
  expect(renamed(text, "own", aliased, "/p/h.ngraph")).toMatchObject({
    "/p/b.ngraph": aliased["/p/b.ngraph"].replace("h as", "own as"),
  });
});

test("is refused for an export that would hide another one, or be hidden", () => {
  const text = 'import { ‸f } from "./all.ts"\ngraph g { output r: string node a = f("x") into r start -> a }';
  const all = 'export * from "./nodes.ts";\n';
  expect(renamed(text, "other", { ...NODES, "/p/all.ts": `${all}export const other = 1;\n` })).toBe(
    "/p/all.ts exports another `other`, which would hide this one: choose another name",
  );
  expect(renamed(text, "other", { ...NODES, "/p/all.ts": all })).toMatchObject({
    "/p/nodes.ts": NODES["/p/nodes.ts"].replace("f(", "other("),
  });
});

test("a file with errors can be renamed, and the errors stay", () => {
  const text = "graph g { node ‸a = missing(1) node b = print(absent) start -> a -> b }";
  expect(renamed(text, "c")).toEqual({ "/p/a.ngraph": text.replace("‸a", "c").replace("-> a", "-> c") });
  expect(renamed(text, "absent")).toMatchObject({ "/p/a.ngraph": expect.stringContaining("node absent") as string });
});

describe("back to the first name gives the first text", () => {
  test.each([
    ["a short output", "graph g { output ‸r: string node a = f() into { r?, s: t } start -> a }"],
    ["a short field", "graph g { state ‸r: int = 1 node a = { r, s: 2 } start -> a }"],
    [
      "a field of a called graph",
      'graph h { output ‸r: string node n = "x" into r start -> n }\ngraph g { output r: string node a = h() into { r } start -> a }',
    ],
    ["a function of a package", 'import { ‸f } from "package"\ngraph g { node a = f() start -> a }'],
    ["a name that the file gives", 'import { f as ‸r } from "package"\ngraph g { node a = r() start -> a }'],
  ])("%s", (_, marked) => {
    const text = marked.replace("‸", "");
    const there = renamed(marked, "fresh") as Files;
    expect(there["/p/a.ngraph"]).toContain("fresh");
    const back = there["/p/a.ngraph"]!.replace("fresh", "‸fresh");
    expect(renamed(back, text.slice(marked.indexOf("‸")).match(/^\w+/)![0])).toEqual({ "/p/a.ngraph": text });
  });
});

test("a property of an object is short again", () => {
  const files = { "/p/nodes.ts": `${NODES["/p/nodes.ts"]}export const all = { f, g: [f] };\n` };
  const text = 'import { ‸f } from "./nodes.ts"\ngraph g { output r: string node a = f("x") into r start -> a }';
  const there = renamed(text, "fresh", files) as Files;
  expect(there["/p/nodes.ts"]).toContain("{ f: fresh, g: [fresh] }");
  const back = there["/p/a.ngraph"]!.replace("fresh", "‸fresh");
  expect(renamed(back, "f", there)).toEqual({ ...files, "/p/a.ngraph": text.replace("‸", "") });
});
