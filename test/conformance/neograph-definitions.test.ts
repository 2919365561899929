/**
 * More cases like those of NeoGraph's compiler (C52, C86 - C92): wrong definitions in both spellings, each with the
 * place and the way out that the message has.
 */
import { describe, expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { createEngine } from "../../runtime/index.ts";

type Case = readonly [name: string, text: string, code: string, at: string, says: readonly string[]];

function firstError(text: string, path: string) {
  const { table, diagnostics } = compile(text, { path, host: memoryHost({}) });
  const error = diagnostics.find(({ severity }) => severity === "error");
  const messages = [error?.message, error?.help, error?.label, ...(error?.notes ?? [])].join(" ");
  const span = error?.span;
  return { table, code: error?.code, at: span === undefined ? undefined : text.slice(span.start, span.end), messages };
}

const A = 'nodes: { a: { expr: "1" }, b: { expr: "1" } }';
const yaml: readonly Case[] = [
  ["C86: nodes in a list", "graph: g\nnodes: [a]\nedges: [start -> a]", "NG014", "[a]", ["map", "nodes", "a list"]],
  ["C86: nodes as text", "graph: g\nnodes: a\nedges: [start -> a]", "NG014", "a", ["map", "nodes"]],
  ["C86: edges as text", `graph: g\n${A}\nedges: start -> a`, "NG014", "start -> a", ["list of edges"]],
  ["C86: edges by key", `graph: g\n${A}\nedges: { e: start -> a }`, "NG014", "{ e: start -> a }", ["list of edges"]],
  ["C86: an edge that is a number", `graph: g\n${A}\nedges: [start -> a, 5]`, "NG014", "5", ["edge", "number 5"]],
  ["C86: channels in a list", `graph: g\nstate: [x]\n${A}\nedges: [start -> a]`, "NG014", "[x]", ["map"]],
  ["C86: barriers waiting for a number", `graph: g\n${A}\nedges: [start -> a, { all: 3, to: b }]`, "NG014", "3", []],
  ["C87: no name", `graph:\n${A}\nedges: [start -> a]`, "NG014", "", ["name for the graph"]],
  ["C88: a misspelt key", `graph: g\n${A}\nedgs: []\nedges: [start -> a]`, "NG011", "edgs", ["`edges`"]],
  [
    "C88: a misspelt key that resembles none: the known ones are listed",
    `graph: g\n${A}\nconditionnal_edges: []\nedges: [start -> a]`,
    "NG011",
    "conditionnal_edges",
    ["`nodes`", "`edges`", "`state`"],
  ],
  [
    "C88: of a channel",
    `graph: g\noutput: { x: { type: int, defualt: 1 } }\n${A}\nedges: [start -> a]`,
    "NG011",
    "defualt",
    ["`default`"],
  ],
  [
    "C88: of a node",
    'graph: g\nnodes: { a: { expr: "1", timeuot: 3s } }\nedges: [start -> a]',
    "NG011",
    "timeuot",
    ["`timeout`"],
  ],
  [
    "C88: of a barrier",
    `graph: g\n${A}\nedges: [start -> a, { all: [a], too: b }]`,
    "NG011",
    "too",
    ["an edge", "`to`"],
  ],
  ["C88: of an edge", `graph: g\n${A}\nedges: [start -> a, { from: a, to: b, prio: 1 }]`, "NG011", "prio", ["an edge"]],
  [
    "C88: odd characters",
    `graph: g\n"bad~/field": 1\n${A}\nedges: [start -> a]`,
    "NG011",
    '"bad~/field"',
    ["bad~/field"],
  ],
  ["C88: a version", `version: 2\ngraph: g\n${A}\nedges: [start -> a]`, "NG011", "version", ["`version`"]],
  ["C88: an annotation", `graph: g\nx-note: hi\n${A}\nedges: [start -> a]`, "NG011", "x-note", ["x-note"]],
  [
    "C88: a node without a body",
    "graph: g\nnodes: { a: { into: x } }\nedges: [start -> a]",
    "NG014",
    "",
    ["`call`", "`expr`"],
  ],
  ["C88: what is missing from an edge", `graph: g\n${A}\nedges: [start -> a, { from: a }]`, "NG014", "", ["`to`"]],
  [
    "C88: `to` beside arms",
    `graph: g\nstate: { m: { type: string, default: "" } }\n${A}\nedges: [start -> a, { from: a, match: m, to: b, arms: [{ else: end }] }]`,
    "NG014",
    "",
    ["`arms`", "`to`", "exclude"],
  ],
  [
    "C88: tries as text",
    'graph: g\nnodes: { a: { expr: "1", tries: many } }\nedges: [start -> a]',
    "NG014",
    "many",
    ["attempts", "many"],
  ],
  [
    "C88: tries of half",
    'graph: g\nnodes: { a: { expr: "1", tries: 1.5 } }\nedges: [start -> a]',
    "NG014",
    "1.5",
    ["1.5"],
  ],
  [
    "C88: tries below one",
    'graph: g\nnodes: { a: { expr: "1", tries: -1 } }\nedges: [start -> a]',
    "NG014",
    "-1",
    ["-1"],
  ],
  ["C88: no try", 'graph: g\nnodes: { a: { expr: "1", tries: 0 } }\nedges: [start -> a]', "NG006", "0", ["at least 1"]],
  [
    "C88: a number that is out of range",
    'graph: g\nnodes: { a: { expr: "1", tries: 18446744073709551615 } }\nedges: [start -> a]',
    "NG014",
    "18446744073709551615",
    ["18446744073709551615"],
  ],
  [
    "C88: a barrier without members",
    `graph: g\n${A}\nedges: [start -> a, { all: [], to: b }]`,
    "NG301",
    "",
    ["`all()`", "no node"],
  ],
  [
    "C88: an empty `waits`",
    'graph: g\nnodes: { a: { expr: "1" }, b: { expr: "1", waits: [] } }\nedges: [start -> a -> b]',
    "NG014",
    "[]",
    ["empty list"],
  ],
  [
    "C92: a barrier's unknown member",
    `graph: g\n${A}\nedges: [start -> a, { all: [a, ghost], to: b }]`,
    "NG101",
    "ghost",
    ["`a` and `b`"],
  ],
  [
    "C52: an unknown reducer",
    `graph: g\noutput: { x: { type: int, default: 0, reduce: sums } }\n${A}\nedges: [start -> a]`,
    "NG105",
    "sums",
    ["`sum`"],
  ],
  ["C52: an unknown call", "graph: g\nnodes: { a: { call: prnt } }\nedges: [start -> a]", "NG105", "prnt", ["`print`"]],
  [
    "C52: an unknown type",
    `graph: g\noutput: { x: { type: strng } }\n${A}\nedges: [start -> a]`,
    "NG105",
    "strng",
    ["`string`"],
  ],
  [
    "C88: a node twice",
    'graph: g\nnodes: { a: { expr: "1" }, a: { expr: "2" } }\nedges: [start -> a]',
    "NG012",
    "a",
    ["twice"],
  ],
  ["C86: a list for a document", "- a", "NG014", "", ["a list"]],
];

const N = "node a = 1  node b = 1";
const text: readonly Case[] = [
  ["C88: a barrier without members", `${N}  start -> a  all() -> b`, "NG301", "all()", ["`all()`", "no node"]],
  ["C88: a source without nodes", `${N}  start -> a  any() -> b`, "NG301", "any()", ["`any()`"]],
  ["C88: a member without nodes", `${N}  start -> a  all(a, any()) -> b`, "NG301", "any()", ["`any()`"]],
  ["C88: `waits` without nodes", "node a = 1  node b = 1 { waits }  start -> a -> b", "NG001", "}", ["`waits`"]],
  [
    "C92: a barrier that waits for itself",
    `${N}  start -> a  all(a, b) -> b`,
    "NG301",
    "",
    ["`b`", "only runs after it"],
  ],
  ["C92: `waits` for itself", "node a = 1  node b = 1 { waits a, b }  start -> a -> b", "NG301", "b", ["`b`"]],
  ["C92: a barrier's unknown member", `${N}  start -> a  all(a, ghost) -> b`, "NG101", "ghost", ["`a` and `b`"]],
  ["C92: `start` in a barrier", `${N}  start -> a  all(start, a) -> b`, "NG109", "start", ["barrier"]],
  ["C92: `end` in a barrier", `${N}  start -> a  all(a, end) -> b`, "NG109", "end", ["barrier"]],
  ["C91: an edge into `start`", `${N}  start -> a -> start  b -> end`, "NG109", "start", ["start"]],
  ["C91: an edge out of `end`", `${N}  start -> a -> end  end -> b`, "NG109", "end", ["end"]],
  ["C91: a self loop without an exit", `node a = 1  start -> a -> a`, "NG204", "", ["`a -> a`"]],
  ["C91: two nodes in a trap", `${N}  start -> a -> b -> a`, "NG204", "", ["a", "b"]],
  ["C91: no arm", `state m: string = ""  node a = 1  start -> a  a -> match m { }`, "NG501", "", ["m"]],
  [
    "C91: an enum with a value missing",
    `state m: "x" | "y" | "z" = "x"  ${N}  start -> a  a -> match m { "x" -> b  "z" -> end }`,
    "NG501",
    "",
    ['"y"'],
  ],
  [
    "C91: a gap between conditions",
    `state n: int = 0  ${N}  start -> a  a -> b when n > 5  a -> end when n < 5`,
    "NG515",
    "",
    ["5"],
  ],
  [
    "C92: a value that is impossible",
    `state m: "yes" | "no" = "no"  ${N}  start -> a  a -> match m { "yes" -> b  "maybe" -> end  else -> end }`,
    "NG513",
    '"maybe"',
    ["maybe"],
  ],
  ["C88: an enum's default", `output m: "x" | "y" = "z"  ${N}  start -> a -> b`, "NG408", '"z"', []],
  [
    "C88: a reducer that does not fit",
    `output m: string = "" reduce sum  node a = "x" into m  start -> a`,
    "NG408",
    "",
    ["number"],
  ],
  ["C88: the nested field", `output m: { p: { q: int } } = { p: { q: "x" } }  ${N}  start -> a -> b`, "NG408", "", []],
  ["C88: an unknown policy", "node a = 1 { retries 3 }  start -> a", "NG001", "retries", ["`tries`"]],
  ["C88: a limit of nothing", "limit steps 0  node a = 1  start -> a", "NG006", "0", ["none"]],
  ["C91: nothing starts", "node a = 1  a -> end", "NG103", "", ["start -> a"]],
  ["C91: a graph of nothing", "", "NG103", "", ["start"]],
];

describe("in YAML", () => {
  test.each(yaml)("%s", (_name, definition, code, at, says) => {
    expectError(definition, "case.yaml", code, at, says);
  });
});

describe("as text", () => {
  test.each(text)("%s", (_name, definition, code, at, says) => {
    expectError(`graph g { ${definition} }`, "case.ngraph", code, at, says);
  });
});

function expectError(definition: string, path: string, code: string, at: string, says: readonly string[]): void {
  const found = firstError(definition, path);
  expect(found.table).toBeUndefined();
  expect(found.code, found.messages).toBe(code);
  if (at !== "") expect(found.at).toBe(at);
  for (const word of says) expect(found.messages).toContain(word);
}

test("C88: several errors come together, in the order of the text, in both spellings alike on every call", () => {
  const codes = (source: string, path: string): readonly string[] =>
    compile(source, { path, host: memoryHost({}) }).diagnostics.map(({ code }) => code);
  const wrong = 'graph: g\nstat: {}\nnodes: { a: { expr: "1", trys: 3 } }\nedges: [5, start -> a]\nzz: 1';
  expect(codes(wrong, "x.yaml")).toEqual(["NG011", "NG011", "NG014", "NG011"]);
  const words = "graph g { output x: strng = 0  node a = 1 into y  node a = 2  start -> b }";
  expect(codes(words, "x.ngraph")).toEqual(codes(words, "x.ngraph"));
  expect(codes(words, "x.ngraph").length).toBeGreaterThan(3);
});

describe("C87, C90: both spellings of one graph are one graph", () => {
  const written = `graph g {
    output n: int = 42  output log: string[] = [] reduce append
    node a = n + 1 into n { tries 3 backoff 10ms..1s  timeout 5s }
    node b = "b" into log  node j = "j" into log
    start -> a, b  all(a, b) -> j
    j -> match n { 43 -> end  else -> a }
  }`;
  const spelled = `graph: g
output: { n: { type: int, default: 42 }, log: { type: "string[]", default: [], reduce: append } }
nodes:
  a: { expr: n + 1, into: n, tries: 3, backoff: 10ms..1s, timeout: 5s }
  b: { expr: '"b"', into: log }
  j: { expr: '"j"', into: log }
edges:
  - start -> a, b
  - { all: [a, b], to: j }
  - { from: j, match: n, arms: [{ is: 43, to: end }, { else: a }] }
`;
  const tableOf = (source: string, path: string) => compile(source, { path, host: memoryHost({}) }).table!;

  test("their digests are equal, and they run alike", async () => {
    const [one, other] = [tableOf(written, "g.ngraph"), tableOf(spelled, "g.yaml")];
    expect(other.digest).toBe(one.digest);
    for (const table of [one, other]) {
      const result = await createEngine(table).run({});
      expect(result).toMatchObject({
        status: "completed",
        output: { n: 43, log: ["b", "j"] },
        steps: [["a", "b"], ["j"]],
      });
    }
  });

  test.each([
    ["an arm leads elsewhere", "{ else: a }", "{ else: b }"],
    ["a barrier is dropped", "{ all: [a, b], to: j }", "any(a, b) -> j"],
    ["a pause is added", "timeout: 5s", "timeout: 5s, pause: before"],
    ["a member is dropped", "{ all: [a, b], to: j }", "{ all: [a], to: j }"],
    ["a start value differs", "default: 42", "default: 41"],
    ["a policy is dropped", ", timeout: 5s", ""],
    ["a reducer differs", "reduce: append", "reduce: union"],
  ])("C90: where %s, the digest differs", (_name, from, to) => {
    expect(spelled).toContain(from);
    const { table } = compile(spelled.replace(from, to), { path: "g.yaml", host: memoryHost({}) });
    expect(table?.digest).not.toBe(tableOf(spelled, "g.yaml").digest);
  });

  test.each(["# a comment\n", "doc: What it does\n"])("C90: %j changes nothing", (line) => {
    expect(tableOf(spelled.replace("output:", `${line}output:`), "g.yaml").digest).toBe(
      tableOf(spelled, "g.yaml").digest,
    );
  });
});
