import { expect, test } from "vitest";
import { check, memoryHost } from "../../compiler/index.ts";

const host = memoryHost({ "nodes.ts": "export const f = (x: number): number => x;" });

const LINES = {
  imports: "imports: { ./nodes.ts: [f] }",
  types: "types: { T: int }",
  input: "input: { x: T }",
  output: "output: { y: int }",
  nodes: "nodes: { a: { call: f, args: [x], into: y } }",
  asserts: "asserts: [once a]",
  edges: "edges: [start -> a]",
};

function findings(changes: Partial<Record<keyof typeof LINES, string>>): string[] {
  const text = ["graph: g", ...Object.values({ ...LINES, ...changes })].join("\n");
  const { diagnostics } = check(text, { path: "g.yaml", host });
  return diagnostics
    .filter((item) => item.severity !== "info")
    .map((item) => `${item.code} line ${item.file.position(item.span.start).line}`);
}

test("the graph has nothing wrong in it", () => {
  expect(findings({})).toEqual([]);
});

// A broken part suppresses its consequences.
test.each([
  ["edges of a wrong type", { edges: "edges: start -> a" }, "NG014 line 8"],
  ["a misspelled key", { edges: "edgs: [start -> a]" }, "NG011 line 8"],
  ["nodes of a wrong type", { nodes: "nodes: [a]" }, "NG014 line 6"],
  ["one node of a wrong type", { nodes: "nodes: { a: [f, x] }" }, "NG014 line 6"],
  ["a key of a node", { nodes: "nodes: { a: { call: f, args: [x], inot: y } }" }, "NG011 line 6"],
  ["channels of a wrong type", { output: "output: y" }, "NG014 line 5"],
  ["one channel of a wrong type", { output: "output: { y: [int] }" }, "NG014 line 5"],
  ["a type that cannot be read", { output: 'output: { y: "int[" }' }, "NG001 line 5"],
  ["imports of a wrong type", { imports: "imports: [f]" }, "NG014 line 2"],
  ["one import of a wrong type", { imports: "imports: { ./nodes.ts: { f: f } }" }, "NG014 line 2"],
  ["types of a wrong type", { types: "types: T" }, "NG014 line 3"],
  ["an assertion of a wrong type", { asserts: "asserts: { once: a }" }, "NG014 line 7"],
  ["an edge of a wrong type", { edges: "edges: [[start, a]]" }, "NG014 line 8"],
  ["a key of an edge", { edges: "edges: [{ form: start, to: a }]" }, "NG011 line 8"],
  ["a duplicate key", { edges: "edges: [start -> a]\nedges: [start -> a]" }, "NG012 line 9"],
  ["a merge key", { nodes: "nodes: { <<: { b: { call: f } }, a: { call: f, args: [x], into: y } }" }, "NG011 line 6"],
  ["an unknown tag", { nodes: "nodes: { a: !node { call: f, args: [x], into: y } }" }, "NG014 line 6"],
  ["a template without quotes", { nodes: "nodes: { a: { expr: `x ${x}`, into: y } }" }, "NG010 line 6"],
  ["a condition that YAML takes for a tag", { edges: "edges: [{ from: start, to: a, when: !x }]" }, "NG014 line 8"],
  ["a YAML syntax error", { nodes: "nodes: { a: { call: f, args: [x], into: y }" }, "NG010 line 7"],
])("%s is all that is reported", (_, changes, finding) => {
  expect(findings(changes)).toEqual([finding]);
});
