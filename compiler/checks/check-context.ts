import { traceUndecided } from "../../diagnostics/catalog/proofs.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Diagnostic, Label, Place } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { sourceNames, targetNames } from "../../grammar/edge-syntax.ts";
import {
  type BoundEdge,
  type BoundGraph,
  type BoundNode,
  END_NAME,
  FINALLY,
  START,
  ROLLBACK_NAME,
} from "../bind/bound-graph.ts";
import { sourcesOf } from "../bind/edge-parts.ts";
import { controlModel } from "../explore/build-model.ts";
import type { ControlBarrier, Origin } from "../control/net.ts";
import type { ControlModel, ControlNode, JumpReading } from "../explore/model.ts";
import { findReach, type Reach } from "../explore/reach.ts";
import type { OpenProperty } from "./verdict.ts";
import type { Run } from "../explore/runs.ts";
import { signalsOf } from "../control/signals.ts";

/** The input and shared results of the checks of one graph. */
export interface CheckContext {
  readonly graph: BoundGraph;
  readonly model: ControlModel;
  readonly reach: Reach;
  /** All nodes and edges of the text are bound. Otherwise a missing edge may be the consequence of an error. */
  readonly isComplete: boolean;
  /** Source name -> edges, including the edges of barriers with this member. */
  readonly edgesFrom: ReadonlyMap<string, readonly BoundEdge[]>;
  /** Channel name -> index. */
  readonly channelIndex: ReadonlyMap<string, number>;
  /** Nodes that a reported endless loop (NG203 to NG205, NG208, NG311) contains. */
  readonly trapped: Set<number>;
  /** Conditions that a more severe finding covers. Other findings about them are not reported. */
  readonly reportedConditions: Set<Span>;
  /** Findings whose run may be impossible, because its conditions could not be decided. */
  readonly undecided: Set<Diagnostic>;
  /** Barriers that never fire and have been reported without an exploration. */
  readonly explained: Set<number>;
  /** Properties that are neither proven nor refuted. */
  readonly open: OpenProperty[];
  /** Assertions that a finding refutes. */
  readonly refuted: Set<string>;
  report(diagnostic: Diagnostic): void;
  /** Reports a finding that a run shows, and NG901 if the conditions of the run could not be decided together. */
  reportFinding(diagnostic: Diagnostic, run: Run): void;
  /** Records a property that holds for every run. `span` is its place, by default the graph's name. */
  prove(code: DiagnosticCode, message: string, span?: Span): void;
  place(span: Span): Place;
  label(span: Span, message: string): Label;
  /** Where a node's name is declared. */
  nodePlace(index: number): Place;
  nodeName(index: number): string;
  /** The declared node of a model node. */
  node(index: number): BoundNode;
  /** Where the graph's name is declared. */
  graphPlace(): Place;
}

/** A property that holds for every run. */
export interface Proof {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** The place of the property. */
  readonly span: Span;
}

export function createCheckContext(
  graph: BoundGraph,
  report: (diagnostic: Diagnostic) => void,
  prove: (proof: Proof) => void,
  jumps: JumpReading = "one",
): CheckContext {
  const model = controlModel(graph, jumps);
  const declared = (index: number): BoundNode | undefined => graph.nodes[model.nodes[index]?.declared ?? -1];
  const undecided = new Set<Diagnostic>();
  const place = (span: Span): Place => ({ file: graph.file, span });
  return {
    graph,
    model,
    reach: findReach(model),
    isComplete: isCompletelyBound(graph),
    edgesFrom: groupEdges(graph),
    channelIndex: new Map(graph.channels.map(({ name }, index) => [name, index])),
    trapped: new Set(),
    reportedConditions: new Set(),
    undecided,
    explained: new Set(),
    open: [],
    refuted: new Set(),
    report,
    reportFinding: (diagnostic, run) => {
      report(diagnostic);
      if (run.feasible) return;
      undecided.add(diagnostic);
      report(traceUndecided(diagnostic, { code: diagnostic.code }));
    },
    prove: (code, message, span = graph.declaration.name.span) => prove({ code, message, span }),
    place,
    label: (span, message) => ({ ...place(span), message }),
    nodePlace: (index) => place(declared(index)?.declaration.name.span ?? graph.declaration.name.span),
    graphPlace: () => place(graph.declaration.name.span),
    nodeName: (index) => declared(index)?.name ?? END_NAME,
    node: (index) => declared(index)!,
  };
}

/** The edge of a signal or barrier. */
export function edgeOf({ graph }: CheckContext, origin: Origin | undefined): BoundEdge | undefined {
  return graph.edges[origin?.edge ?? -1];
}

/** The target of a barrier that never fires, and whether another edge, or the other part of the graph, runs it. */
export function targetOf(
  { graph, model, nodeName, reach }: CheckContext,
  barrier: ControlBarrier,
): { readonly target: string; readonly runsOtherwise: boolean } {
  const { index, target } = barrier;
  const signals = ({ routing, errorRouting }: ControlNode): boolean =>
    [routing, errorRouting].some((from) => signalsOf(from).some(({ place }) => place === target));
  const runsOtherwise =
    target >= 0 &&
    (graph.shared?.has(nodeName(target)) === true ||
      signalsOf(model.start).some(({ place }) => place === target) ||
      model.nodes.some((node) => reach.actual[node.index] === 1 && (signals(node) || node.jumps?.includes(target))) ||
      model.barriers.some(
        (other) => other.index !== index && other.target === target && reach.barrierOpens[other.index] === 1,
      ));
  return { target: targetName(nodeName, barrier), runsOtherwise };
}

/** The name of a barrier's target: a node, `end` or `rollback`. */
export function targetName(
  nodeName: CheckContext["nodeName"],
  { target, rollsBack }: Pick<ControlBarrier, "target" | "rollsBack">,
): string {
  return rollsBack === true ? ROLLBACK_NAME : nodeName(target);
}

/** The reason why a property that only some jumps violate is not proven. */
export function jumpReason({ model, nodeName }: CheckContext): string | undefined {
  if (model.jumps !== "any") return undefined;
  const node = model.nodes.find((candidate) => candidate.jumps !== undefined);
  return node && `\`${nodeName(node.index)}\` may jump to several nodes, exclusively, or by \`send\``;
}

function groupEdges(graph: BoundGraph): ReadonlyMap<string, readonly BoundEdge[]> {
  const found = new Map<string, BoundEdge[]>();
  for (const edge of graph.edges) {
    for (const { name } of sourcesOf(edge)) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [edge]);
      else if (known.at(-1) !== edge) known.push(edge);
    }
  }
  return found;
}

/**
 * Whether the bound graph contains every node and edge of the text. If one is missing because of an error, findings
 * about control flow could be consequences of that error.
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
  if (graph.entry === undefined && graph.nodes.length !== names.size) return false;
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
  return (
    sourceNames(edge).every(({ name }) => names.has(name) || name === START || name === FINALLY) &&
    edge.chain.every(({ name }) => names.has(name)) &&
    targetNames(edge).every(({ name }) => isTarget(name))
  );
}
