/** Lowering, loading and emitting cost no stack and no more than the graph's size. */
import { expect, test } from "vitest";
import type { BoundEdge, BoundGraph, BoundNode, TypedExpression } from "../../compiler/bind/bound-graph.ts";
import { buildNet } from "../../compiler/control/build-net.ts";
import { emitTypeScript } from "../../compiler/emit/emit-typescript.ts";
import { loadTable } from "../../compiler/table/load-table.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { scale } from "../support/depth.ts";

const SPAN = { start: 0, end: 0 };
const FILE = new SourceFile("large.ngraph", "");
const NAME: Ast.Identifier = { kind: "Identifier", span: SPAN, name: "x" };

function expression(value: number): TypedExpression {
  return {
    expression: {
      op: "binary",
      operator: "+",
      left: { op: "channel", channel: 0 },
      right: { op: "const", value },
      int: true,
    },
    type: { kind: "int" },
    span: SPAN,
    syntax: { kind: "Null", span: SPAN },
    reads: ["x"],
  };
}

function node(name: string, call: BoundNode["call"]): BoundNode {
  return {
    declaration: { kind: "Node", span: SPAN, name: NAME, call: { kind: "Null", span: SPAN }, policies: [] },
    name,
    call,
    output: { kind: "channel", channel: "x" },
    pauseBefore: false,
    pauseAfter: false,
    idempotent: false,
    effects: [],
    reads: ["x"],
    writes: ["x"],
  };
}

function graph(
  name: string,
  nodes: readonly BoundNode[],
  edges: readonly BoundEdge[],
  graphs: readonly BoundGraph[] = [],
): BoundGraph {
  const declaration: Ast.GraphDecl = { kind: "Graph", span: SPAN, name: NAME, statements: [] };
  const channel: Ast.ChannelDecl = {
    kind: "Channel",
    span: SPAN,
    role: "output",
    name: NAME,
    type: { kind: "NamedType", span: SPAN, name: "int" },
  };
  return {
    file: FILE,
    declaration,
    name,
    channels: [{ declaration: channel, name: "x", role: "output", type: { kind: "int" }, initial: 0 }],
    config: [],
    nodes,
    edges,
    control: buildNet({ nodes, edges }),
    assertions: [],
    limits: { steps: null, parallel: null },
    functions: [],
    types: [],
    typeScriptChecks: [],
    graphs,
    secrets: [],
    hasErrors: false,
    poisoned: new Set(),
  };
}

function edge(from: string, to: string): BoundEdge {
  const syntax: Ast.EdgeDecl = {
    kind: "Edge",
    span: SPAN,
    source: { kind: "NodeList", span: SPAN, nodes: [] },
    chain: [],
    to: { kind: "Targets", span: SPAN, nodes: [], onError: false },
  };
  return {
    span: SPAN,
    syntax,
    source: { kind: "nodes", nodes: [{ name: from, span: SPAN }] },
    onError: false,
    to: { kind: "plain", targets: [{ name: to, span: SPAN }] },
  };
}

const source = (bound: BoundGraph) => ({
  path: "large.ngraph",
  types: [],
  namedTypes: new Map(),
  importerOf: (_type: string, _module: string, from: string) => from,
  graphs: [{ bound, table: lowerGraph(bound) }],
});

/** Generous: the tests are about stack and memory, and machines are slow when others use them. */
const TIMEOUT = 300_000;
const COUNT = scale(100_000, 20_000);

function chain(count: number): BoundGraph {
  const names = Array.from({ length: count }, (_, i) => `n${i}`);
  const nodes = names.map((name, i) => node(name, { kind: "expression", expression: expression(i) }));
  const edges = names.map((name, i) => edge(i === 0 ? "start" : (names[i - 1] as string), name));
  return graph("chain", nodes, edges);
}

test("a chain of many nodes", { timeout: TIMEOUT }, () => {
  const table = lowerGraph(chain(COUNT));
  expect(table.nodes.at(-2)?.routes).toEqual([{ kind: "plain", targets: [{ node: COUNT - 1 }] }]);
  expect(table.expressions).toHaveLength(COUNT);
});

test("a long chain loads and becomes a module", { timeout: TIMEOUT }, () => {
  const bound = chain(COUNT / 5);
  const table = lowerGraph(bound);
  expect(loadTable(JSON.stringify(table)).digest).toBe(table.digest);
  expect(emitTypeScript(source(bound)).length).toBeGreaterThan(10 * COUNT);
});

test("one node with many targets, and two that many nodes signal", { timeout: TIMEOUT }, () => {
  const count = COUNT;
  const names = Array.from({ length: count }, (_, i) => `n${i}`);
  const nodes = [...names, "last"].map((name) => node(name, { kind: "expression", expression: expression(1) }));
  const all = names.map((name) => ({ name, span: SPAN }));
  const fork: BoundEdge = { ...edge("start", "last"), to: { kind: "plain", targets: all } };
  const join: BoundEdge = {
    ...edge("n0", "last"),
    source: { kind: "all", members: all.map((name) => [name]), span: SPAN },
  };
  const gated: BoundNode = { ...node("gate", { kind: "expression", expression: expression(1) }), waits: names };
  const gate: BoundEdge = { ...edge("n0", "gate"), source: { kind: "nodes", nodes: all } };
  const table = lowerGraph(graph("wide", [...nodes, gated], [fork, join, gate]));
  expect(table.start[0]).toMatchObject({ kind: "plain", targets: { length: count } });
  expect(table.barriers.map(({ id, members }) => [id, members.length])).toEqual([
    ["gate", count],
    ["last", count],
  ]);
  expect(table.nodes.at(-3)?.routes).toEqual([
    { kind: "plain", targets: [{ barrier: 1, member: count - 1 }] },
    { kind: "plain", targets: [{ barrier: 0, member: count - 1 }] },
  ]);
  expect(table.expressions).toHaveLength(1);
});

test("graphs that call graphs, 2,000 deep, and a ladder in which each level calls two", { timeout: TIMEOUT }, () => {
  let bound = graph("leaf", [node("a", { kind: "expression", expression: expression(1) })], [edge("start", "a")]);
  for (let i = 0; i < 2000; i++) {
    bound = graph(`level${i}`, [node("a", { kind: "graph", graph: bound, args: [] })], [edge("start", "a")], [bound]);
  }
  expect(lowerGraph(bound).graphs).toHaveLength(1);
  let rungs = [graph("l", [], []), graph("r", [], [])] as const;
  for (let i = 0; i < 60; i++) {
    const both = rungs.map((called, at) => node(`call${at}`, { kind: "graph", graph: called, args: [] }));
    rungs = [graph(`l${i}`, both, [], rungs), graph(`r${i}`, both, [], rungs)];
  }
  const table = lowerGraph(rungs[0]);
  expect(table.graphs.map(({ name }) => name)).toEqual(["l58", "r58"]);
  expect(emitTypeScript(source(rungs[0])).match(/const \$graph/g)).toHaveLength(121);
});
