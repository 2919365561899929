import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { findCompletions } from "../../editor/complete.ts";
import { placeAt } from "../../editor/text-place.ts";
import { findHints, findTokens } from "../../editor/decorate.ts";
import { checkDocument, spellingOf } from "../../editor/document.ts";
import { findHover } from "../../editor/hover.ts";
import { NameIndex, type FileNames } from "../../editor/name-index.ts";
import { findDefinition, findReferences, namesAt, rename } from "../../editor/navigate.ts";
import { findSignature } from "../../editor/signature-help.ts";
import { createNodeHost } from "../../api/node-host.ts";
import { exampleFiles } from "../support/example-files.ts";
import { numRuns } from "../support/depth.ts";

/** A project in memory; `‸` in the text of the first file is the place of the cursor. */
function project(marked: string, files: Readonly<Record<string, string>> = {}, path = "/p/a.ngraph") {
  const offset = marked.indexOf("‸");
  const text = marked.replace("‸", "");
  const host = memoryHost({ ...files, [path]: text });
  const index = new NameIndex(host, new Map());
  const spelling = spellingOf(path, "") ?? "ngraph";
  const checked = checkDocument({ uri: `file://${path}`, path, spelling, version: 1, text }, host);
  const file = index.of(path) as FileNames;
  const all = [path, ...Object.keys(files).filter((each) => /\.ngraph/.test(each))].map(
    (each) => index.of(each) as FileNames,
  );
  return { text, offset, host, index, checked, file, all };
}

const MODULE = {
  "/p/nodes.ts":
    "/** Makes a draft. */\nexport function f(text: string): string { return text; }\nexport interface M { id: string }\n",
};
const INNER = {
  "/p/b.ngraph":
    "/// Asks.\ngraph inner {\n  input q: string\n  output verdict: string\n  node a = q into verdict\n  start -> a\n}\n",
};

test("a tool of a model is a call of the graph, also where a channel has its name", () => {
  const { file, offset, index, text } = project(
    'graph find { output ok: string node n = "x" into ok start -> n }\n' +
      'graph g { output find: string node a = llm("q", tools: [fi‸nd]) into find start -> a }',
  );
  const found = findDefinition(file, offset, index);
  expect(found.map(({ span }) => text.slice(span.start, span.start + 11))).toEqual(["find { outp"]);
  expect(namesAt(file, offset)).toMatchObject([{ kind: "graph", role: "call" }]);
});

describe("definition", () => {
  test.each([
    ["a channel", "graph g { state xs: int = 1 node a = x‸s start -> a }", "xs: int"],
    ["a node in an edge", "graph g { node a = 1 start -> a‸ }", "a = 1"],
    [
      "an item, which hides a channel",
      "graph g { state x: int = 1 node a = x‸ + 1 for x in [1] start -> a }",
      "x in [1]",
    ],
    ["a variable of a comprehension", "graph g { node a = [y‸ for y in [1]] start -> a }", "y in [1]"],
    ["a derived name", "graph g { derive big = 1 > 2 node a = b‸ig start -> a }", "big = 1"],
    ["a constant", "const LIMIT = 3\ngraph g { node a = L‸IMIT start -> a }", "LIMIT = 3"],
    ["a type", "type T = string\ngraph g { input x: T‸ node a = x start -> a }", "T = string"],
    ["a graph", "graph h { node a = 1 start -> a }\ngraph g { node a = h‸() start -> a }", "h { node"],
    ["a task", "plan p { task a = print(1) task b = print(2) after a‸ }", "a = print(1)"],
    [
      "the task of a status",
      'plan p { task a = print(1) task b = print(2) after done a when status(a‸) == "done" }',
      "a = print(1)",
    ],
    ["a pool", "plan p { pool gpu 2 task a = print(1) { pool gp‸u } }", "gpu 2"],
    ["a matrix variable in a policy", 'plan p { task a = shell("x") for d in ["a"] { cwd d‸ } }', 'd in ["a"]'],
    ["the node of a test", 'graph g { node a = 1 start -> a }\ntest "t" for g { mock a‸ = 1 }', "a = 1"],
  ])("of %s", (_, marked, expected) => {
    const { file, offset, index, text } = project(marked);
    const found = findDefinition(file, offset, index);
    expect(found.map(({ span }) => text.slice(span.start, span.start + expected.length))).toEqual([expected]);
  });

  test("of what other files declare", () => {
    const shown = (marked: string): readonly string[] => {
      const { file, offset, index } = project(marked, { ...MODULE, ...INNER });
      return findDefinition(file, offset, index).map(
        ({ source, span }) => `${source.path} ${source.text.slice(span.start, span.end)}`,
      );
    };
    const imports = 'import { f as draft } from "./nodes.ts"\nimport { inner } from "./b.ngraph"\n';
    expect(shown(`${imports}graph g { node a = d‸raft("x") start -> a }`)).toEqual(["/p/nodes.ts f"]);
    expect(shown(`${imports}graph g { node a = inn‸er(q: "x") start -> a }`)).toEqual(["/p/b.ngraph inner"]);
    expect(shown(`${imports}graph g { node a = inner(q‸: "x") start -> a }`)).toEqual(["/p/b.ngraph q"]);
    expect(
      shown(`${imports}graph g { output verdict: string node a = inner(q: "x") into { ver‸dict } start -> a }`),
    ).toEqual(["/p/a.ngraph verdict", "/p/b.ngraph verdict"]);
  });

  test("of graphs of the library, which cannot be renamed", () => {
    const imports = 'import { agent, reflect as improve } from "ngraph:agents"\n';
    const { file, offset, index, all } = project(`${imports}graph g { node a = age‸nt(request: "x") start -> a }`);
    expect(findDefinition(file, offset, index).map(({ source }) => source.path)).toEqual(["ngraph:agents"]);
    expect(rename(file, offset, "helper", all)).toBe("`agent` is part of the library");
    const local = project(`${imports}graph g { node a = impr‸ove(task: "x") start -> a }`);
    expect(rename(local.file, local.offset, "polish", local.all)).toBeInstanceOf(Map);
  });

  test("of places in YAML", () => {
    const yaml =
      "graph: g\nstate: { xs: { type: int, default: 1 } }\nnodes:\n  a: { expr: x‸s + 1 }\nedges: [start -> a]\n";
    const { file, offset, index, text } = project(yaml, {}, "/p/a.ngraph.yaml");
    expect(findDefinition(file, offset, index).map(({ span }) => text.slice(span.start, span.end))).toEqual(["xs"]);
  });
});

describe("rename", () => {
  const renamed = (marked: string, newName: string, files: Readonly<Record<string, string>> = {}): unknown => {
    const { file, offset, all } = project(marked, files);
    const found = rename(file, offset, newName, all);
    if (typeof found === "string") return found;
    return Object.fromEntries([...found].map(([each, edits]) => [each.path, applyEdits(each.source.text, edits)]));
  };

  test("writes the long form of short fields", () => {
    expect(
      renamed("graph g { output rep‸ly: string node a = f() into { reply } node b = { reply } start -> a }", "text"),
    ).toEqual({
      "/p/a.ngraph":
        "graph g { output text: string node a = f() into { reply: text } node b = { reply: text } start -> a }",
    });
  });

  test("makes a map of a list of outputs in YAML, which has no place for a second name", () => {
    const text = (into: string, name = "r"): string =>
      `graph: g\noutput: { ${name}: string, s: string }\nnodes:\n  a: { call: print, args: ['"x"'], into: ${into} }\nedges: [start -> a]\n`;
    const { file, offset, all } = project(text("[‸r, s]"), {}, "/p/a.ngraph.yaml");
    const found = rename(file, offset, "reply", all);
    if (typeof found === "string") throw new Error(found);
    expect(applyEdits(file.source.text, found.get(file) ?? [])).toBe(text("{ r: reply, s: s }", "reply"));
    const block = project(
      text("X")
        .replace(" into: X }", " into:\n    - r\n    - ‸s }")
        .replace("{ call", "\n    call")
        .replace(", args", "\n    args")
        .replace(", into", "\n    into")
        .replace(" }\nedges", "\nedges"),
      {},
      "/p/a.ngraph.yaml",
    );
    const changed = rename(block.file, block.offset, "reply", block.all);
    if (typeof changed === "string") throw new Error(changed);
    const after = applyEdits(block.text, changed.get(block.file) ?? []);
    expect(after).toContain("into:\n    { r: r, s: reply }\nedges");
  });

  test("changes an input in the cases of a test", () => {
    const text = (name: string, mark = ""): string =>
      `graph g { input ${mark}${name}: int output b: int node n = ${name} into b start -> n } test "t" for g with [{ ${name}: 1 }, { ${name}: 2 }] { expect b == ${name} }`;
    expect(renamed(text("first", "\u2038"), "second")).toEqual({ "/p/a.ngraph": text("second") });
  });

  test("changes all files that use a graph, its inputs and its outputs", () => {
    const text =
      'import { inner } from "./b.ngraph"\ngraph g { output verdict: string node a = inner(q: "x") into { verdict } start -> a }';
    expect(renamed(text.replace("{ inner }", "{ inn‸er }"), "core", INNER)).toEqual({
      "/p/a.ngraph": text.replaceAll("inner", "core"),
      "/p/b.ngraph": INNER["/p/b.ngraph"].replace("inner", "core"),
    });
    const inB = project(
      INNER["/p/b.ngraph"].replace("output verdict", "output ver‸dict"),
      { "/p/a.ngraph": text },
      "/p/b.ngraph",
    );
    const found = rename(inB.file, inB.offset, "answer", inB.all);
    if (typeof found === "string") throw new Error(found);
    expect([...found].map(([each, edits]) => applyEdits(each.source.text, edits))).toContain(
      text.replace("{ verdict }", "{ answer: verdict }"),
    );
  });

  test("gives a function of a module another name in the file", () => {
    const text = 'import { f } from "./nodes.ts"\ngraph g { node a = ‸f("x") start -> a }';
    expect(renamed(text, "draft", MODULE)).toEqual({
      "/p/a.ngraph": 'import { f as draft } from "./nodes.ts"\ngraph g { node a = draft("x") start -> a }',
    });
  });

  test.each([
    [
      "graph g { node ‸a = 1 node b = 2 start -> a -> b }",
      "b",
      "`b` is the name of a node already, at /p/a.ngraph:1:27",
    ],
    ["graph g { node ‸a = 1 start -> a }", "end", "`end` is a word of the language"],
    ["graph g { node ‸a = 1 start -> a }", "a b", "`a b` is no name: a name is a letter, and letters, digits or `_`"],
    ["graph g { node a = pr‸int(1) start -> a }", "say", "`print` is part of the language"],
    ["graph g { node a = 1 star‸t -> a }", "x", "there is no name here"],
  ])("%s to %s", (marked, newName, reason) => {
    expect(renamed(marked, newName)).toBe(reason);
  });
});

describe("completion", () => {
  const TEXT = `import { f } from "./nodes.ts"
graph main {
  input text: string
  state verdict: "ok" | "bad" | null = null
  output reply: string
  node draft = f(text) into reply
  LINE
  start -> draft
}
`;
  const labels = (line: string, path?: string): readonly string[] => {
    const { checked, file, offset, index, host } = project(
      path === undefined ? TEXT.replace("LINE", line) : line,
      MODULE,
      path,
    );
    return findCompletions(checked, file, offset, { index, host }).map(({ label }) => label);
  };
  test.each([
    ["start -> ‸", ["draft", "end"], ["verdict"]],
    ["draft -> dr‸", ["draft", "end"], ["reply"]],
    ["node z = ‸", ["f", "print", "shell", "text", "len"], ["draft"]],
    ["node z = f(‸", ["text", "verdict"], ["draft"]],
    ["node z = f(text) into ‸", ["reply", "verdict", "set"], ["text"]],
    ["node z = f(text) into { ‸", ["reply", "verdict"], ["text"]],
    ["node z = f(text) { ‸", ["tries", "timeout"], ["text"]],
    ["draft -> match verdict { ‸", ['"ok"', '"bad"', "null", "else"], ["text"]],
    ["state q: ‸", ["string", "int"], ["text"]],
    ["output q: int[] reduce ‸", ["append", "sum", "f"], ["text"]],
    ["draft -> end when ‸", ["verdict", "text"], ["draft"]],
    ["assert draft before ‸", ["draft"], ["text"]],
    ["// ngraph-ignore NG4‸", ["NG405"], ["text"]],
    ["// a comment ‸", [], ["text", "draft"]],
  ])("%s", (line, has, lacks) => {
    const found = labels(line);
    expect(found).toEqual(expect.arrayContaining(has));
    expect(found.filter((label) => lacks.includes(label))).toEqual([]);
  });

  test("of imports: exports, paths", () => {
    expect(labels('import { ‸ } from "./nodes.ts"\ngraph g { node a = 1 start -> a }', "/p/c.ngraph")).toEqual([
      "f",
      "M",
    ]);
    expect(labels('import { f } from "./‸"\n', "/p/c.ngraph")).toContain("nodes.ts");
  });

  test.each([
    ["graph: g\n‸", ["nodes", "edges", "state"]],
    ["graph: g\nnodes:\n  a: { call: print, ti‸", ["timeout", "tries", "into"]],
    ["graph: g\nnodes:\n  a:\n    ‸", ["call", "into", "tries"]],
    ["graph: g\nnodes:\n  a: { call: print, args: [1] }\nedges:\n  - start -> ‸", ["a", "end"]],
    ["graph: g\nstate: { x: int }\nnodes:\n  a:\n    call: print\n    into: ‸", ["x"]],
    ["graph: g\nnodes:\n  a:\n    call: ‸", ["print", "shell"]],
  ])("in YAML: %s", (text, has) => {
    expect(labels(text, "/p/c.ngraph.yaml")).toEqual(expect.arrayContaining(has));
  });

  test("places do not look further than the statement", () => {
    expect(placeAt("graph g {\n  a -> b\n  ", 21)).toMatchObject({ kind: "nodes" });
  });
});

test("hover says what the compiler knows", () => {
  const hover = (marked: string): string => {
    const { checked, file, offset, index } = project(marked, { ...MODULE, ...INNER });
    return findHover(checked, file, offset, index)?.text ?? "";
  };
  const g =
    'import { f } from "./nodes.ts"\nimport { inner } from "./b.ngraph"\ngraph g {\n /// Of a ticket.\n state t: "a" | "b" = "a"\n output o: string\n node n = f(t) into o\n node m = inner(q: "x") for x in [1]\n start -> n -> m\n}';
  expect(hover(g.replace("state t", "state ‸t"))).toContain("Of a ticket.");
  expect(hover(g.replace("state t", "state ‸t"))).toContain("Read by `n`.");
  expect(hover(g.replace("node n", "node ‸n"))).toContain("Reads `t`. Writes `o`. Effects: code.");
  expect(hover(g.replace("= f(t)", "= ‸f(t)"))).toMatch(/function f\(text: string\): string[^]*Makes a draft\./);
  expect(hover(g.replace("= inner(", "= ‸inner("))).toMatch(/graph inner[^]*Asks\.[^]*Inputs: `q: string`/);
  expect(hover(g.replace("for x", "for ‸x"))).toContain("x: 1");
  expect(hover("graph g { node a = pr‸int(1) start -> a }")).toContain("print(text: json)");
  expect(hover("graph g { node a = le‸n([1]) start -> a }")).toContain("len(value)");
});

test("signatures of the call around the cursor", () => {
  const help = (marked: string) => {
    const { checked, file, offset, index } = project(marked, { ...MODULE, ...INNER });
    const found = findSignature(checked, file, offset, index);
    return found === null ? null : [found.signatures[0]?.label, found.activeParameter];
  };
  expect(help('graph g { node a = shell("x", cwd: ‸"y") start -> a }')?.[1]).toBe(1);
  expect(help('import { inner } from "./b.ngraph"\ngraph g { node a = inner(q: ‸"y") start -> a }')).toEqual([
    "inner(q: string)",
    0,
  ]);
  expect(help('import { f } from "./nodes.ts"\ngraph g { node a = f(‸"y") start -> a }')).toEqual([
    "function f(text: string): string",
    0,
  ]);
  expect(help("graph g { node a = 1‸ start -> a }")).toBeNull();
});

const EXAMPLES = [...exampleFiles(".ngraph"), ...exampleFiles(".yaml")];

test.each(EXAMPLES)("%s: each name has a declaration and references", (path) => {
  const index = new NameIndex(createNodeHost(), new Map());
  const file = index.of(path) as FileNames;
  expect(file.uses.length).toBeGreaterThan(3);
  for (const use of file.uses) {
    if (use.kind === "builtin" || use.kind === "library" || use.role !== "declaration") continue;
    expect(findDefinition(file, use.span.start, index).length, use.name).toBeGreaterThan(0);
    const places = findReferences(file, use.span.start, [file], index, { withDeclaration: true });
    expect(places.length, use.name).toBeGreaterThan(0);
  }
});

test("a derived name has its type as a hint, and none where its expression has an error", () => {
  const { checked } = project(
    'graph g { input n: int output r: string derive few = n < 3 derive bad = n + "x" derive label = few ? "a" : "b" ' +
      "node a = label into r start -> a }",
  );
  const hints = findHints(checked, { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } });
  expect(hints.map(({ label, position }) => [label, position.character])).toEqual([
    [": bool", 50],
    [': "a" | "b"', 92],
  ]);
  expect(findHints(checked, { start: { line: 0, character: 0 }, end: { line: 0, character: 60 } })).toHaveLength(1);
});

test("no request fails at any place of a damaged text", () => {
  const texts = EXAMPLES.map((path) => ({ path: `/p/${path}`, text: readFileSync(path, "utf8") })).filter(
    ({ text }) => text.length < 4000,
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(30),
      fc.constantFrom("", "{", "}", '"', "`", " -> ", "\n", "import { } from", "match x {", "for ", "- ", ": "),
      ({ path, text }, at, length, inserted) => {
        const start = Math.floor(at * text.length);
        const changed = `${text.slice(0, start)}${inserted}${text.slice(start + length)}`;
        const { checked, file, index, host } = project(
          changed,
          {},
          path.replace(/(?<!\.ngraph)\.yaml$/, ".ngraph.yaml"),
        );
        const offset = Math.min(changed.length, start + inserted.length);
        findCompletions(checked, file, offset, { index, host });
        findHover(checked, file, offset, index);
        findSignature(checked, file, offset, index);
        findDefinition(file, offset, index);
        rename(file, offset, "other_name", [file]);
        expect(findTokens(file).length % 5).toBe(0);
        findHints(checked, { start: { line: 0, character: 0 }, end: { line: 10_000, character: 0 } });
        for (const { span } of namesAt(file, offset)) expect(span.end).toBeLessThanOrEqual(changed.length);
      },
    ),
    { numRuns: numRuns(150) },
  );
});
