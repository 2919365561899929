/** What an editor shows of names that other files declare, and of names that edges and derived names read. */
import { describe, expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { checkDocument, spellingOf } from "../../editor/document.ts";
import { findTokens, TOKEN_TYPES } from "../../editor/decorate.ts";
import { findHover } from "../../editor/hover.ts";
import { NameIndex, type FileNames, type NameCache } from "../../editor/name-index.ts";
import { findDefinition } from "../../editor/navigate.ts";
import { findSignature } from "../../editor/signature-help.ts";

function open(
  marked: string,
  files: Readonly<Record<string, string>>,
  path = "/p/a.ngraph",
  cache: NameCache = new Map(),
) {
  const offset = marked.indexOf("‸");
  const text = marked.replace("‸", "");
  const host = memoryHost({ ...files, [path]: text });
  const index = new NameIndex(host, cache);
  const spelling = spellingOf(path, "") ?? "ngraph";
  const checked = checkDocument({ uri: `file://${path}`, path, spelling, version: 1, text }, host);
  return { text, offset, index, checked, file: index.of(path) as FileNames };
}

function hover(marked: string, files: Readonly<Record<string, string>> = {}, path?: string): string {
  const { checked, file, offset, index } = open(marked, files, path);
  return findHover(checked, file, offset, index)?.text ?? "";
}

const ALIKE = {
  "/p/b.ngraph": "graph main {\n  input x: int\n  output y: bool\n  node n = x > 1 into y\n  start -> n\n}\n",
  "/p/sub/b.ngraph":
    "/// Below.\ngraph main {\n  input x: string\n  output y: string[]\n  node m = [x] into y\n  start -> m\n}\n",
};
const CALLER = `import { main as one } from "./b.ngraph"
import { main as two } from "./sub/b.ngraph"
graph main {
  input x: float
  output y: bool
  output z: string[]
  node a = one(x: 3) into { y }
  node b = two(x: "x") into { y: z }
  start -> a -> b
}
`;

describe("graphs of one name in several files are different graphs", () => {
  test.each([
    ["node a = one", "one", "Inputs: `x: int`\n\nOutputs: `y: bool`"],
    ["node b = two", "two", "Inputs: `x: string`\n\nOutputs: `y: string[]`"],
    ["one(x", "x", "Type: `int`\n\nRead by `n`."],
    ["two(x", "x", "Type: `string`\n\nRead by `m`."],
    ["{ y: z", "y", "Type: `string[]`\n\nWritten by `m`."],
    ["input x", "x", "Type: `float`"],
  ])("%s", (place, name, expected) => {
    const at = CALLER.indexOf(place) + place.lastIndexOf(name);
    expect(hover(`${CALLER.slice(0, at)}‸${CALLER.slice(at)}`, ALIKE)).toContain(expected);
  });

  test("signatures, too, also under another name", () => {
    const label = (marked: string, files = {}): unknown => {
      const { checked, file, offset, index } = open(marked, files);
      return findSignature(checked, file, offset, index)?.signatures[0]?.label;
    };
    expect(label(CALLER.replace("two(", "two(‸"), ALIKE)).toBe("two(x: string)");
    expect(label(CALLER.replace("one(", "one(‸"), ALIKE)).toBe("one(x: int)");
    const nodes = { "/p/nodes.ts": "export function f(text: string): string { return text; }\n" };
    expect(label('import { f as draft } from "./nodes.ts"\ngraph g { node a = draft(‸"x") start -> a }', nodes)).toBe(
      "function f(text: string): string",
    );
  });
});

describe("a channel is read by edges, derived names and assertions", () => {
  const text = `graph g {
  input ‸n: int
  output r: string
  derive big = n > 3
  node a = "a" into r
  node b = "b" into r
  node c = "c" into r
  start -> a -> match n { 1 -> b  else -> c }
  assert n > 0 at b
}
`;
  test("in text", () => {
    expect(hover(text)).toContain("Type: `int`\n\nRead by `big`, the edges of `a`, an assertion.");
  });
  test("in YAML", () => {
    const yaml = `graph: g
input: { ‸n: int }
output: { r: string }
derive: { big: n > 3 }
nodes:
  a: { expr: '"a"', into: r }
  b: { expr: '"b"', into: r }
edges:
  - start -> a
  - { from: a, to: b, when: n > 1 }
  - a -> end otherwise
`;
    expect(hover(yaml, {}, "/p/a.ngraph.yaml")).toContain("Type: `int`\n\nRead by `big`, the edges of `a`.");
  });
  test("a derived name has its type and what reads it", () => {
    const marked = text.replace("‸", "").replace("derive big", "derive ‸big").replace("match n {", "match big {");
    expect(hover(marked.replace("1 -> b  else", "true -> b  false"))).toContain(
      "Type: `bool`\n\nRead by the edges of `a`.",
    );
  });
  test("the index of a `for` is an int", () => {
    const marked = "graph g { output r: int[] reduce append node a = ‸i for x, i in [5] into r start -> a }";
    expect(hover(marked)).toContain("i: int\n```\n\nThe index of an item of `a`.");
  });
});

test("names of other files have the colour of what they are", () => {
  const files = {
    "/p/lib.ngraph":
      'const MOST = 3\ngraph g { output o: int node n = 1 into o start -> n }\nplan p { task t = print("x") }\n',
  };
  const { file, text } = open('import { MOST, g, p } from "./lib.ngraph"\n', files);
  const tokens = findTokens(file);
  const types = file.uses.map(
    ({ span }, at) => `${text.slice(span.start, span.end)} ${TOKEN_TYPES[tokens[at * 5 + 3] ?? 0]}`,
  );
  expect(types).toEqual(["MOST variable", "g class", "p class"]);
});

test("an imported file that appears later, or declares another thing, is seen without an edit", () => {
  const cache: NameCache = new Map();
  const marked =
    'import { late } from "./late.ngraph"\ngraph g { output r: string node a = ‸late() into { r } start -> a }\n';
  const definitions = (files: Readonly<Record<string, string>>): readonly string[] => {
    const { file, offset, index } = open(marked, files, "/p/a.ngraph", cache);
    return findDefinition(file, offset, index).map(({ source }) => source.path);
  };
  expect(definitions({})).toEqual([]);
  const late = 'graph late { output r: string node n = "x" into r start -> n }\n';
  expect(definitions({ "/p/late.ngraph": late })).toEqual(["/p/late.ngraph"]);
  const { file } = open(marked, { "/p/late.ngraph": "const late = 1\n" }, "/p/a.ngraph", cache);
  expect(file.uses.find(({ name }) => name === "late")?.kind).toBe("constant");
});

test("a suppressed code says what it means, in comments that suppress alone", () => {
  const about = "`NG405` (`write-never-read`): write never read.";
  expect(hover("// ngraph-ignore NG106, NG4‸05: later\ngraph g { node a = 1 start -> a }")).toBe(about);
  expect(hover("// ngraph-ignore ‸NG405\r\ngraph g { node a = 1 start -> a }")).toBe(about);
  expect(
    hover("# ngraph-ignore NG405‸\ngraph: g\nnodes: { a: 1 }\nedges: [start -> a]\n", {}, "/p/a.ngraph.yaml"),
  ).toBe(about);
  expect(hover("// see NG4‸05\ngraph g { node a = 1 start -> a }")).toBe("");
  expect(hover("// ngraph-ignore NG9‸99\ngraph g { node a = 1 start -> a }")).toBe("");
});
