import { traceUndecided } from "../../diagnostics/catalog/proofs.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Diagnostic, Label, Place } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { type BoundEdge, type BoundGraph, END_NAME, START } from "../bind/bound-graph.ts";
import { buildModel } from "../explore/build-model.ts";
import type { ControlModel } from "../explore/model.ts";
import { findReach, type Reach } from "../explore/reach.ts";
import type { Run } from "../explore/runs.ts";

/** What every check of one graph works on. */
export interface CheckContext {
  readonly graph: BoundGraph;
  readonly model: ControlModel;
  readonly reach: Reach;
  /** All edges and nodes could be read and bound: what seems to be missing is missing. */
  readonly isComplete: boolean;
  /** Edges by the name of a source, barriers among them. */
  readonly edgesFrom: ReadonlyMap<string, readonly BoundEdge[]>;
  /** Nodes that findings about endless loops (NG203 to NG205, NG208, NG311) speak of. */
  readonly trapped: Set<number>;
  /** Conditions that a worse finding speaks of: nothing else is said about them. */
  readonly spoken: Set<Span>;
  report(diagnostic: Diagnostic): void;
  /** A finding that a run shows; where the run's conditions could not be decided together, that is said too (NG901). */
  reportFinding(diagnostic: Diagnostic, run: Run): void;
  prove(code: DiagnosticCode, message: string): void;
  place(span: Span): Place;
  label(span: Span, message: string): Label;
  /** Where a node's name is declared. */
  nodePlace(index: number): Place;
  nodeName(index: number): string;
  /** Where the graph's name is declared. */
  graphPlace(): Place;
}

/** A property that holds for every run. */
export interface Proof {
  readonly code: DiagnosticCode;
  readonly message: string;
}

export function createCheckContext(
  graph: BoundGraph,
  report: (diagnostic: Diagnostic) => void,
  prove: (proof: Proof) => void,
): CheckContext {
  const model = buildModel(graph);
  const place = (span: Span): Place => ({ file: graph.file, span });
  return {
    graph,
    model,
    reach: findReach(model),
    isComplete: isCompletelyBound(graph),
    edgesFrom: groupEdges(graph),
    trapped: new Set(),
    spoken: new Set(),
    report,
    reportFinding: (diagnostic, run) => {
      report(diagnostic);
      if (run.feasible) return;
      report(traceUndecided(diagnostic, { code: diagnostic.code }));
    },
    prove: (code, message) => prove({ code, message }),
    place,
    label: (span, message) => ({ ...place(span), message }),
    nodePlace: (index) => place(graph.nodes[index]?.declaration.name.span ?? graph.declaration.name.span),
    graphPlace: () => place(graph.declaration.name.span),
    nodeName: (index) => graph.nodes[index]?.name ?? END_NAME,
  };
}

function groupEdges(graph: BoundGraph): ReadonlyMap<string, readonly BoundEdge[]> {
  const found = new Map<string, BoundEdge[]>();
  for (const edge of graph.edges) {
    for (const { name } of edge.source.kind === "nodes" ? edge.source.nodes : edge.source.members.flat()) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [edge]);
      else if (known.at(-1) !== edge) known.push(edge);
    }
  }
  return found;
}

/**
 * Whether the bound graph holds every node and edge that the text has. Where something is left out because it could not be
 * read, nothing can be said about what leads where: it would only follow from that first error.
 */
function isCompletelyBound(graph: BoundGraph): boolean {
  if (!graph.hasErrors) return true;
  const names = new Set<string>();
  for (const statement of graph.declaration.statements) {
    if (statement.kind === "Broken" && statement.of !== "channel") return false;
    if (statement.kind !== "Node") continue;
    if (names.has(statement.name.name)) return false;
    names.add(statement.name.name);
  }
  if (graph.nodes.length !== names.size) return false;
  const isTarget = (name: string): boolean => names.has(name) || name === END_NAME;
  return graph.declaration.statements.every((statement) => {
    if (statement.kind === "Edge") return edgeIsKnown(statement, names, isTarget);
    if (statement.kind !== "Node") return true;
    return statement.policies.every(
      (policy) =>
        (policy.kind !== "Waits" && policy.kind !== "Goes") || policy.nodes.every(({ name }) => isTarget(name)),
    );
  });
}

function edgeIsKnown(edge: Ast.EdgeDecl, names: ReadonlySet<string>, isTarget: (name: string) => boolean): boolean {
  const sources =
    edge.source.kind === "NodeList"
      ? edge.source.nodes
      : edge.source.members.flatMap((member) => (member.kind === "AnyOf" ? member.nodes : [member]));
  const isSource = ({ name }: Ast.Identifier): boolean => names.has(name) || name === START;
  const targets = edge.to.kind === "Targets" ? edge.to.nodes : edge.to.arms.flatMap((arm) => arm.targets);
  return (
    sources.every(isSource) &&
    edge.chain.every(({ name }) => names.has(name)) &&
    targets.every(({ name }) => isTarget(name))
  );
}
