/**
 * Lowers edges to routes of their sources and members of barriers. If the target has `waits` and the source is a member
 * of its barrier, the edge signals the barrier. Otherwise the edge signals the node, and the scheduler ignores signals
 * to nodes with `waits` (3.2). The table still contains this arm, so that its choice is exhaustive.
 */
import type {
  BarrierIndex,
  BarrierSpec,
  ErrorRouteSpec,
  NodeIndex,
  RouteSpec,
  TargetSpec,
} from "../../runtime/table/table.ts";
import { END } from "../../runtime/table/table.ts";
import { END_NAME, START, type BoundEdge, type BoundGraph, type BoundReference } from "../bind/bound-graph.ts";
import type { ExpressionPool } from "./expression-pool.ts";

export interface LoweredRoutes {
  readonly start: readonly RouteSpec[];
  /** By node. */
  readonly routes: readonly (readonly RouteSpec[])[];
  readonly onError: readonly (readonly ErrorRouteSpec[])[];
  readonly barriers: readonly BarrierSpec[];
  /** The barrier of each node with `waits`, by node. */
  readonly waits: readonly (BarrierIndex | undefined)[];
}

/** The part of an edge that belongs to one of its sources. */
interface OutEdge {
  readonly edge: BoundEdge;
  /** The barriers that the source signals; only for edges from `all(…)`. */
  readonly barrierTargets?: readonly TargetSpec[];
}

export function lowerRoutes(
  bound: BoundGraph,
  nodeIndex: ReadonlyMap<string, NodeIndex>,
  pool: ExpressionPool,
): LoweredRoutes {
  const barriers = createBarriers();
  // Gates (`waits`) come first, so that the ids and numbers of barriers do not depend on the position of edges in the
  // file.
  const waits = bound.nodes.map((node, at) =>
    node.waits === undefined
      ? undefined
      : barriers.add(
          "waits",
          at,
          node.name,
          node.waits.map((name) => [indexOf(nodeIndex, name)]),
        ),
  );
  const out = collectEdges(bound, nodeIndex, barriers);
  const context: RouteContext = { nodeIndex, pool, barriers, waits, memberOf: createMemberIndex(barriers) };
  const start = (out.get(START) ?? []).map(({ edge }) => lowerRoute(edge, undefined, context));
  const routes: RouteSpec[][] = [];
  const onError: ErrorRouteSpec[][] = [];
  bound.nodes.forEach((node, at) => {
    const own: RouteSpec[] = [];
    const failed: ErrorRouteSpec[] = [];
    for (const { edge, barrierTargets } of out.get(node.name) ?? []) {
      if (barrierTargets !== undefined) own.push({ kind: "plain", targets: barrierTargets });
      else if (edge.onError) failed.push(lowerErrorRoute(edge, at, context));
      else own.push(lowerRoute(edge, at, context));
    }
    routes.push(own);
    onError.push(failed);
  });
  return { start, routes, onError, barriers: barriers.specs, waits };
}

interface RouteContext {
  readonly nodeIndex: ReadonlyMap<string, NodeIndex>;
  readonly pool: ExpressionPool;
  readonly barriers: Barriers;
  readonly waits: readonly (BarrierIndex | undefined)[];
  /** Members of a gate by node. */
  readonly memberOf: (gate: BarrierIndex) => ReadonlyMap<NodeIndex, number>;
}

interface Barriers {
  readonly specs: readonly BarrierSpec[];
  add(
    kind: BarrierSpec["kind"],
    target: NodeIndex,
    name: string,
    members: readonly (readonly NodeIndex[])[],
  ): BarrierIndex;
}

function createBarriers(): Barriers {
  const specs: BarrierSpec[] = [];
  const ofTarget = new Map<NodeIndex, number>();
  return {
    specs,
    add(kind, target, name, members) {
      const number = (ofTarget.get(target) ?? 0) + 1;
      ofTarget.set(target, number);
      return specs.push({ id: number === 1 ? name : `${name}#${number}`, kind, target, members }) - 1;
    },
  };
}

/** Computes each gate's index once. A search for each edge would be quadratic: n members may have n edges to a gate. */
function createMemberIndex(barriers: Barriers): RouteContext["memberOf"] {
  const known = new Map<BarrierIndex, ReadonlyMap<NodeIndex, number>>();
  return (gate) => {
    const index =
      known.get(gate) ?? new Map(barriers.specs[gate]?.members.flatMap((nodes, at) => nodes.map((node) => [node, at])));
    known.set(gate, index);
    return index;
  };
}

/** Edges by source, in source order. Each `all(…)` adds one barrier for each target. */
function collectEdges(
  bound: BoundGraph,
  nodeIndex: ReadonlyMap<string, NodeIndex>,
  barriers: Barriers,
): ReadonlyMap<string, readonly OutEdge[]> {
  const out = new Map<string, OutEdge[]>();
  const add = (source: string, edge: OutEdge): void => {
    const known = out.get(source);
    if (known === undefined) out.set(source, [edge]);
    else known.push(edge);
  };
  for (const edge of bound.edges) {
    if (edge.source.kind === "nodes") {
      for (const { name } of edge.source.nodes) add(name, { edge });
      continue;
    }
    // Edges from barriers have no conditions: binding reports them as errors, and graphs with errors are not lowered.
    const targets = edge.to.kind === "plain" ? edge.to.targets : [];
    const members = edge.source.members.map((member) => member.map(({ name }) => indexOf(nodeIndex, name)));
    const made = targets.map(({ name }) => barriers.add("all", indexOf(nodeIndex, name), name, members));
    const signals = new Map<string, TargetSpec[]>();
    edge.source.members.forEach((member, position) => {
      for (const { name } of member) {
        const own = signals.get(name) ?? [];
        signals.set(name, own);
        for (const barrier of made) own.push({ barrier, member: position });
      }
    });
    for (const [name, barrierTargets] of signals) add(name, { edge, barrierTargets });
  }
  return out;
}

function lowerRoute(edge: BoundEdge, source: NodeIndex | undefined, context: RouteContext): RouteSpec {
  const targets = (references: readonly BoundReference[]): readonly TargetSpec[] =>
    lowerTargets(references, source, context);
  const { to } = edge;
  switch (to.kind) {
    case "plain":
    case "otherwise":
      return { kind: to.kind, targets: targets(to.targets) };
    case "when":
      return { kind: "when", condition: context.pool.expression(to.condition), targets: targets(to.targets) };
    case "match":
      return {
        kind: "match",
        subject: context.pool.expression(to.subject),
        arms: to.arms.map((arm) => ({ values: arm.values, targets: targets(arm.targets) })),
        ...(to.otherwise === undefined ? {} : { otherwise: targets(to.otherwise.targets) }),
      };
    case "cases":
      return {
        kind: "cases",
        arms: to.arms.map((arm) => ({
          condition: context.pool.expression(arm.condition),
          targets: targets(arm.targets),
        })),
        ...(to.otherwise === undefined ? {} : { otherwise: targets(to.otherwise.targets) }),
      };
  }
}

function lowerErrorRoute(edge: BoundEdge, source: NodeIndex, context: RouteContext): ErrorRouteSpec {
  const { to } = edge;
  if (to.kind === "match" || to.kind === "cases") return { targets: [] }; // Not in the grammar.
  const targets = lowerTargets(to.targets, source, context);
  if (to.kind === "plain") return { targets };
  return { condition: to.kind === "when" ? context.pool.expression(to.condition) : "otherwise", targets };
}

function lowerTargets(
  references: readonly BoundReference[],
  source: NodeIndex | undefined,
  context: RouteContext,
): readonly TargetSpec[] {
  return references.map(({ name }) => {
    const node = indexOf(context.nodeIndex, name);
    const gate = context.waits[node];
    if (gate === undefined || source === undefined) return { node };
    const member = context.memberOf(gate).get(source);
    return member === undefined ? { node } : { barrier: gate, member };
  });
}

export function indexOf(nodeIndex: ReadonlyMap<string, NodeIndex>, name: string): NodeIndex {
  return name === END_NAME ? END : (nodeIndex.get(name) ?? END);
}
