import { printable } from "../../diagnostics/render/index.ts";
import { printExpression, type ExpressionNames } from "../../runtime/expression/print-expression.ts";
import { routeBranches, type RouteBranch } from "../../runtime/table/route-branches.ts";
import type { DrawnRun, NodeRun } from "./drawn-run.ts";
import type { DrawnFinding } from "./findings.ts";
import { markLoops } from "./loops.ts";
import type { NodeFacts } from "./node-facts.ts";
import { marksOf } from "./node-marks.ts";
import {
  barrierTargets,
  END,
  ROLLBACK,
  type CallSpec,
  type NodeSpec,
  type PlanCallSpec,
  type RouteSpec,
  type Table,
  type TargetSpec,
} from "../../runtime/table/table.ts";

/** A graph as boxes and arrows: the input of every picture format. */
export interface Drawing {
  readonly name: string;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  /** The run that is drawn over the graph. */
  readonly run?: DrawnRun;
  /** Calls that are drawn with the nodes of the graph that they call. */
  readonly groups?: readonly DrawnGroup[];
  /** Findings that belong to no node. */
  readonly findings?: readonly DrawnFinding[];
}

/** The frame around an unfolded call. The node of the call is its first one. */
export interface DrawnGroup {
  /** The id of the node of the call. */
  readonly id: string;
  readonly label: string;
  /** The group around it. */
  readonly parent?: string;
}

export interface DrawnNode {
  /** Unique: node names, `start`, `finally`, `end`, `rollback`, and barriers by their id in brackets (`[draft]`). */
  readonly id: string;
  /** `connector`: represents a node that is drawn elsewhere (see `shortenEdges`). */
  readonly kind: "start" | "end" | "node" | "barrier" | "connector";
  readonly label: string;
  /** A short description of the node's call: `searchDocs()`, `ask()`, `rounds + 1`. */
  readonly detail: string;
  readonly pauses: boolean;
  /** One task for each item of a list. */
  readonly fansOut?: true;
  /** What its policies and effects mean for a run, each with a sign of its own: `↶ undo cancel()`, `◷ within 2h`. */
  readonly marks?: readonly string[];
  /** What the source states about it. */
  readonly facts?: NodeFacts;
  readonly findings?: readonly DrawnFinding[];
  /** The graph or plan that it calls, or the graphs among the tools of a model. */
  readonly calls?: string;
  /** The group around it. */
  readonly group?: string;
  /** What the drawn run did here; absent if it was not here. */
  readonly run?: NodeRun;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: "plain" | "conditional" | "otherwise" | "error" | "jump";
  readonly label: string;
  /** It leads back: it closes a cycle. */
  readonly loop?: true;
  /** Whether both ends ran one after the other in the drawn run; of coverage, `false` where no test takes it. */
  readonly taken?: boolean;
}

/** Maximum length of a condition in a picture; longer ones are cut. */
const MAX_LABEL = 60;

export function drawTable(table: Table): Drawing {
  const expression = expressionPrinter(table);
  const { edges } = drawnEdges(table, expression);
  const ends = ["end", "rollback"].filter((name) => edges.some((edge) => edge.to === name));
  return {
    name: table.name,
    nodes: [
      { id: "start", kind: "start", label: "start", detail: "", pauses: false },
      ...(table.finally === undefined
        ? []
        : [{ id: "finally", kind: "start", label: "finally", detail: "", pauses: false } as const]),
      ...table.nodes.map((node): DrawnNode => ({
        id: node.name,
        kind: "node",
        label: node.name,
        detail: describeNode(table, node, expression),
        pauses: node.pauseBefore === true || node.pauseAfter === true || waitsInside(node),
        ...(node.each === undefined ? {} : { fansOut: true as const }),
        ...marksOf(node, (call) => describeCall(table, call, expression)),
        ...calledBy(table, node),
      })),
      ...table.barriers.map((barrier): DrawnNode => ({
        id: barrierName(barrier.id),
        kind: "barrier",
        label: barrier.kind,
        detail: "",
        pauses: false,
      })),
      ...ends.map((name) => ({ id: name, kind: "end", label: name, detail: "", pauses: false }) as const),
    ],
    edges: markLoops(mergeEdges(edges)),
  };
}

/**
 * The edges of a table, not merged. `branches` has those of each branch of its routes, in the order in which coverage counts
 * them (`CoverageCounter`).
 */
export function drawnEdges(
  table: Table,
  expression: (index: number) => string = expressionPrinter(table),
): { readonly edges: readonly DrawnEdge[]; readonly branches: readonly (readonly DrawnEdge[])[] } {
  const nodeName = (index: number): string => {
    if (index === ROLLBACK) return "rollback";
    return index === END ? "end" : (table.nodes[index]?.name ?? "end");
  };
  const targetName = (target: TargetSpec): string => {
    if ("node" in target) return nodeName(target.node);
    return barrierName(table.barriers[target.barrier]?.id ?? "");
  };

  const edges: DrawnEdge[] = [];
  const branches: DrawnEdge[][] = [];
  const add = (drawn: DrawnEdge[]): void => {
    branches.push(drawn);
    edges.push(...drawn);
  };
  const route = (from: string, spec: RouteSpec): void => {
    for (const branch of routeBranches(spec)) {
      const { kind, label } = shownBranch(spec, branch, expression);
      add(branch.targets.map((target) => ({ from, to: targetName(target), kind, label })));
    }
  };

  for (const spec of table.start) route("start", spec);
  for (const spec of table.finally ?? []) route("finally", spec);
  for (const node of table.nodes) {
    for (const spec of node.routes) route(node.name, spec);
    for (const error of node.onError) {
      const label = typeof error.condition === "number" ? `on error when ${expression(error.condition)}` : "on error";
      add(error.targets.map((target) => ({ from: node.name, to: targetName(target), kind: "error", label })));
    }
    for (const target of node.goes ?? []) {
      edges.push({ from: node.name, to: nodeName(target), kind: "jump", label: "goes" });
    }
  }
  for (const barrier of table.barriers) {
    for (const target of barrierTargets(barrier)) {
      edges.push({ from: barrierName(barrier.id), to: nodeName(target), kind: "plain", label: "" });
    }
  }
  return { edges, branches };
}

function calledBy(table: Table, { call }: NodeSpec): Pick<DrawnNode, "calls"> {
  if (call.kind === "builtin") {
    const tools = (call.tools ?? []).flatMap(({ name, graph }) => (graph === undefined ? [] : [name]));
    return tools.length === 0 ? {} : { calls: tools.join(", ") };
  }
  const name =
    call.kind === "graph"
      ? table.graphs[call.graph]?.name
      : call.kind === "plan"
        ? table.plans?.[call.plan]?.name
        : undefined;
  return name === undefined ? {} : { calls: name };
}

function shownBranch(
  route: RouteSpec,
  { kind, expression: index, values = [] }: RouteBranch,
  expression: (index: number) => string,
): Pick<DrawnEdge, "kind" | "label"> {
  if (kind === "always") return { kind: "plain", label: "" };
  if (kind === "otherwise" || index === undefined)
    return { kind: "otherwise", label: route.kind === "otherwise" ? "otherwise" : "else" };
  const text = expression(index);
  if (kind === "condition") return { kind: "conditional", label: text };
  return {
    kind: "conditional",
    label: shorten(`${text} is ${values.map((value) => JSON.stringify(value)).join(" | ")}`),
  };
}

/** The text of an expression by its index. */
export function expressionPrinter(
  table: Pick<Table, "channels" | "functions" | "expressions">,
): (index: number) => string {
  const names: ExpressionNames = {
    channels: table.channels.map((channel) => channel.name),
    functions: table.functions.map((item) => item.name),
  };
  return (index) => {
    const found = table.expressions[index];
    return found === undefined ? "" : shorten(printExpression(found, names));
  };
}

function barrierName(id: string): string {
  return `[${id}]`;
}

function waitsInside(node: NodeSpec): boolean {
  return node.call.kind === "builtin" && (node.call.name === "ask" || node.call.name === "receive");
}

function describeNode(table: Table, node: NodeSpec, expression: (index: number) => string): string {
  const each = node.each === undefined ? "" : ` for each of ${expression(node.each.list)}`;
  return `${describeCall(table, node.call, expression)}${each}`;
}

/** A short description of a call. */
export function describeCall(
  table: Pick<Table, "functions" | "graphs" | "plans">,
  call: CallSpec | PlanCallSpec,
  expression: (index: number) => string,
): string {
  switch (call.kind) {
    case "function":
      return `${table.functions[call.function]?.name ?? ""}()`;
    case "builtin":
      return `${call.name}()`;
    case "plan": {
      const called = table.plans?.[call.plan];
      const [task] = called?.tasks ?? [];
      if (called?.matrix === undefined || task?.item === undefined) return `plan ${called?.name ?? ""}`;
      return `${describeCall(called, task.call, () => "")} for each ${task.item.name}`;
    }
    case "graph":
      return `graph ${table.graphs[call.graph]?.name ?? ""}`;
    case "expression":
      return expression(call.expression);
  }
}

/** Merges equal edges: one node may be in several members of a barrier. */
function mergeEdges(edges: readonly DrawnEdge[]): DrawnEdge[] {
  const merged = new Map<string, DrawnEdge>();
  for (const edge of edges) merged.set(edgeKey(edge), edge);
  return [...merged.values()];
}

/** The same for edges that are drawn as one. */
export function edgeKey({ from, to, kind, label }: DrawnEdge): string {
  return JSON.stringify([from, to, kind, label]);
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= MAX_LABEL ? line : `${line.slice(0, MAX_LABEL - 1)}…`;
}

/** A drawing whose texts contain no characters that act on a terminal or change the direction of text; for written pictures. */
export function printableDrawing(drawing: Drawing): Drawing {
  return {
    ...drawing,
    name: printable(drawing.name),
    nodes: drawing.nodes.map((node) => ({
      ...node,
      label: printable(node.label),
      detail: printable(node.detail),
      ...(node.marks === undefined ? {} : { marks: node.marks.map(printable) }),
      ...(node.findings === undefined ? {} : { findings: node.findings.map(printableFinding) }),
      ...(node.facts === undefined ? {} : { facts: printableFacts(node.facts) }),
      ...(node.calls === undefined ? {} : { calls: printable(node.calls) }),
      ...(node.run === undefined ? {} : { run: { ...node.run, text: printable(node.run.text) } }),
    })),
    edges: drawing.edges.map((edge) => ({ ...edge, label: printable(edge.label) })),
    ...(drawing.groups === undefined
      ? {}
      : { groups: drawing.groups.map((group) => ({ ...group, label: printable(group.label) })) }),
    ...(drawing.findings === undefined ? {} : { findings: drawing.findings.map(printableFinding) }),
    ...(drawing.run === undefined
      ? {}
      : { run: { ...drawing.run, title: printable(drawing.run.title), end: printable(drawing.run.end) } }),
  };
}

function printableFinding(finding: DrawnFinding): DrawnFinding {
  return { ...finding, message: printable(finding.message), file: printable(finding.file) };
}

function printableFacts({ doc, place, ...facts }: NodeFacts): NodeFacts {
  return {
    ...facts,
    ...(doc === undefined ? {} : { doc: doc.split("\n").map(printable).join("\n") }),
    ...(place === undefined ? {} : { place: { ...place, file: printable(place.file) } }),
  };
}
