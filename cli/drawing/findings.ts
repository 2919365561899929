/** The findings of `ngc check` in a picture: each at the node whose declaration or edges it is about. */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { BoundPlan } from "../../compiler/bind/plan/bound-plan.ts";
import { sourcesOf } from "../../compiler/bind/edge-parts.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Drawing, DrawnNode } from "./drawing.ts";

export interface DrawnFinding {
  readonly code: string;
  readonly severity: Diagnostic["severity"];
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

/** Signs of the severities. */
export const FINDING_SIGNS: Readonly<Record<Diagnostic["severity"], string>> = {
  error: "✗",
  warning: "⚠",
  info: "i",
};

/** Adds findings about a graph or plan. Those of other graphs of the file are left out. */
export function withFindings(
  drawing: Drawing,
  bound: BoundGraph | BoundPlan,
  diagnostics: readonly Diagnostic[],
): Drawing {
  const inside = ({ file, span }: Diagnostic): boolean =>
    file.path === bound.file.path && contains(bound.declaration.span, span);
  const places = placesOf(bound);
  const byNode = new Map<string, DrawnFinding[]>();
  const others: DrawnFinding[] = [];
  for (const diagnostic of diagnostics.filter(inside)) {
    const { code, severity, message, file, span } = diagnostic;
    const finding = { code, severity, message, file: file.path, line: file.position(span.start).line };
    const node = places.find((place) => contains(place.span, span))?.node;
    if (node === undefined) others.push(finding);
    else byNode.set(node, [...(byNode.get(node) ?? []), finding]);
  }
  if (byNode.size === 0 && others.length === 0) return drawing;
  const nodes = drawing.nodes.map((node): DrawnNode => {
    const found = node.kind === "node" || node.kind === "start" ? byNode.get(node.label) : undefined;
    return found === undefined ? node : { ...node, findings: found };
  });
  return { ...drawing, nodes, ...(others.length === 0 ? {} : { findings: others }) };
}

/** The places of nodes: their declarations, then the edges that lead away from them. */
function placesOf(bound: BoundGraph | BoundPlan): readonly { readonly span: Span; readonly node: string }[] {
  if (!("nodes" in bound)) return bound.tasks.map(({ name, declaration: { span } }) => ({ span, node: name }));
  const edges = bound.edges.flatMap((edge) => {
    const [source] = sourcesOf(edge);
    return source === undefined ? [] : [{ span: edge.span, node: source.name }];
  });
  return [...bound.nodes.map(({ name, declaration: { span } }) => ({ span, node: name })), ...edges];
}

function contains(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}
