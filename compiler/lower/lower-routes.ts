/**
 * Lowers the control flow of a graph: the routes of each node in source order, and its barriers. If the target has
 * `waits` and the source is a member of its barrier, a route signals the barrier. Otherwise it signals the node, and the
 * scheduler ignores signals to nodes with `waits` (3.2). The table still contains such an arm, so that its choice is
 * exhaustive.
 */
import {
  END,
  ROLLBACK,
  type BarrierIndex,
  type BarrierSpec,
  type ErrorRouteSpec,
  type NodeIndex,
  type RouteSpec,
  type TargetSpec,
} from "../../runtime/table/table.ts";
import { END_NAME, ROLLBACK_NAME, type BoundGraph } from "../bind/bound-graph.ts";
import {
  ELSE_ARM,
  END_TARGET,
  type ControlBarrier,
  type ControlNet,
  type MemberReach,
  type Route,
  type Signal,
} from "../control/net.ts";
import type { ExpressionPool } from "./expression-pool.ts";

export interface LoweredRoutes {
  readonly start: readonly RouteSpec[];
  readonly finally: readonly RouteSpec[];
  /** By node. */
  readonly routes: readonly (readonly RouteSpec[])[];
  readonly onError: readonly (readonly ErrorRouteSpec[])[];
  readonly barriers: readonly BarrierSpec[];
  /** The barrier of each node with `waits`, by node. */
  readonly waits: readonly (BarrierIndex | undefined)[];
}

export function lowerRoutes(bound: BoundGraph, pool: ExpressionPool): LoweredRoutes {
  const { nodes, start, finally: ending, barriers } = bound.control;
  const context: RouteContext = { bound, pool, targets: createTargets(bound.control) };
  const startRoutes = start.routes.map((route) => lowerRoute(route, context));
  const routes = nodes.map(({ routing, errorRouting }) => {
    if (errorRouting === undefined) {
      // Copied by `map`, which leaves no room for further items.
      return { own: routing.routes.map((route) => lowerRoute(route, context)), failed: NO_ROUTES };
    }
    const own: RouteSpec[] = [];
    const failed: ErrorRouteSpec[] = [];
    // In source order, which numbers the expressions of the table.
    for (const route of inSourceOrder(routing.routes, errorRouting.routes)) {
      if (bound.edges[route.edge]?.onError === true) failed.push(lowerErrorRoute(route, context));
      else own.push(lowerRoute(route, context));
    }
    return { own, failed };
  });
  return {
    start: startRoutes,
    finally: ending.routes.map((route) => lowerRoute(route, context)),
    routes: routes.map(({ own }) => own),
    onError: routes.map(({ failed }) => failed),
    barriers: barriers.filter(isOwn).map((barrier) => lowerBarrier(barrier, barriers)),
    waits: nodes.map(({ waits }) => (waits === -1 ? undefined : waits)),
  };
}

/** Whether the table has the barrier. The barriers of one `settled(…)` are one barrier in the table. */
function isOwn({ index, settled }: ControlBarrier): boolean {
  return settled === undefined || settled.first === index;
}

function lowerBarrier(barrier: ControlBarrier, barriers: readonly ControlBarrier[]): BarrierSpec {
  const { id, kind, members, settled } = barrier;
  const target = targetOf(barrier);
  const spec = { id, kind, target, members: members.map((member) => member.nodes) };
  if (settled === undefined) return spec;
  const others = [...new Set(settled.barriers.map((index) => targetOf(barriers[index]!)))].filter(
    (each) => each !== target,
  );
  return {
    ...spec,
    ...(others.length === 0 ? {} : { others }),
    reach: members.map((_, member) => rangesOf(settled.reach, member)),
  };
}

function targetOf({ target, rollsBack }: ControlBarrier): NodeIndex {
  return rollsBack === true ? ROLLBACK : target;
}

/** The nodes that reach a member, as ranges of their indexes. */
function rangesOf({ words, bits }: MemberReach, member: number): number[] {
  const ranges: number[] = [];
  for (let node = 0; node * words < bits.length; node++) {
    if ((bits[node * words + (member >> 5)]! & (1 << (member & 31))) === 0) continue;
    if (ranges.at(-1) === node - 1) ranges[ranges.length - 1] = node;
    else ranges.push(node, node);
  }
  return ranges;
}

const NO_ROUTES: readonly never[] = [];

function inSourceOrder(own: readonly Route[], failed: readonly Route[]): readonly Route[] {
  return [...own, ...failed].sort((a, b) => a.edge - b.edge);
}

interface RouteContext {
  readonly bound: BoundGraph;
  readonly pool: ExpressionPool;
  readonly targets: (signals: readonly Signal[]) => readonly TargetSpec[];
}

/** Lowers lists of signals. Nodes with the same targets share their list. */
function createTargets({ nodes, barriers, barrierOfPlace }: ControlNet): RouteContext["targets"] {
  /** By barrier: its index in the table. */
  const indexes: number[] = [];
  let count = 0;
  for (const barrier of barriers) indexes.push(isOwn(barrier) ? count++ : indexes[barrier.settled!.first]!);
  const target = ({ place, node, rollsBack }: Signal): TargetSpec => {
    if (node === END_TARGET && place === END_TARGET) return { node: rollsBack === true ? ROLLBACK : END };
    if (place === undefined || place < nodes.length) return { node };
    const barrier = barrierOfPlace[place]!;
    // The places of one barrier are consecutive.
    return { barrier: indexes[barrier]!, member: place - barriers[barrier]!.members[0]!.place };
  };
  const isLowered = ({ place }: Signal): boolean => {
    const barrier = place === undefined || place < nodes.length ? undefined : barriers[barrierOfPlace[place]!];
    return barrier === undefined || isOwn(barrier);
  };
  const known = new Map<readonly Signal[], readonly TargetSpec[]>();
  return (signals) => {
    const found = known.get(signals) ?? signals.filter(isLowered).map(target);
    known.set(signals, found);
    return found;
  };
}

/** Binding reports a barrier with conditions as an error, and graphs with errors are not lowered. */
function lowerRoute({ edge, branches }: Route, { bound, pool, targets }: RouteContext): RouteSpec {
  const { to } = bound.edges[edge]!;
  const [only] = branches;
  const own = targets(only?.signals ?? []);
  switch (to.kind) {
    case "plain":
    case "otherwise":
      return { kind: to.kind, targets: own };
    case "when":
      return { kind: "when", condition: pool.expression(to.condition), targets: own };
    case "match":
      return {
        kind: "match",
        subject: pool.expression(to.subject),
        arms: to.arms.map(({ values }, arm) => ({ values, targets: targets(branches[arm]?.signals ?? []) })),
        ...otherwiseOf(branches, targets),
      };
    case "cases":
      return {
        kind: "cases",
        arms: to.arms.map(({ condition }, arm) => ({
          condition: pool.expression(condition),
          targets: targets(branches[arm]?.signals ?? []),
        })),
        ...otherwiseOf(branches, targets),
      };
    default:
      return to satisfies never;
  }
}

function otherwiseOf(
  branches: Route["branches"],
  targets: RouteContext["targets"],
): { readonly otherwise?: readonly TargetSpec[] } {
  const last = branches.at(-1);
  return last?.arm === ELSE_ARM ? { otherwise: targets(last.signals) } : {};
}

function lowerErrorRoute({ edge, branches: [only] }: Route, { bound, pool, targets }: RouteContext): ErrorRouteSpec {
  const { to } = bound.edges[edge]!;
  const own = targets(only?.signals ?? []);
  if (to.kind === "when") return { condition: pool.expression(to.condition), targets: own };
  return to.kind === "otherwise" ? { condition: "otherwise", targets: own } : { targets: own };
}

export function indexOf(nodeIndex: ReadonlyMap<string, NodeIndex>, name: string): NodeIndex {
  if (name === ROLLBACK_NAME) return ROLLBACK;
  return name === END_NAME ? END : (nodeIndex.get(name) ?? END);
}
