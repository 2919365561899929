import { addToList, emptyLists } from "../algorithms/add-to-list.ts";
import { positionsByName } from "../algorithms/positions-by-name.ts";
import { type BoundReference, END_NAME, FINALLY, ROLLBACK_NAME, START } from "../bind/bound-graph.ts";
import { type EdgeParts, targetsOf } from "../bind/edge-parts.ts";
import {
  type BarrierMember,
  type ControlBarrier,
  type ControlNet,
  ELSE_ARM,
  END_TARGET,
  type NetBranch,
  type NetEntry,
  type NetNode,
  type NetRouting,
  type PassedSignals,
  type Route,
  type RouteGroup,
  type Signal,
} from "./net.ts";
import { createMemberReach } from "./member-reach.ts";

/** The part of a graph that decides its control flow. A `BoundGraph` has this form. */
export interface NetInput {
  readonly nodes: readonly {
    readonly name: string;
    readonly waits?: readonly string[];
    readonly goes?: readonly string[];
  }[];
  readonly edges: readonly NetEdge[];
  /** Default: `start`. */
  readonly entry?: NetEntry;
}

/** An edge before or after its conditions are typed. */
export interface NetEdge extends EdgeParts<BoundReference, unknown> {
  readonly onError: boolean;
}

/**
 * Builds the net of a graph, in linear time. Unknown names have been reported and are left out.
 *
 * @param options.sent add a node for the tasks that can be sent to a node (see `NodeRoutes.isSent`)
 */
export function buildNet(graph: NetInput, options: { readonly sent?: boolean } = {}): ControlNet {
  const sent = options.sent === true ? sentNodes(graph) : [];
  const places = layOutPlaces(graph, sent);
  const routes = collectRoutes(graph, places);
  const nodeOf = (declared: number, index: number, isSent: boolean): NetNode => {
    const { name, goes } = graph.nodes[declared]!;
    const failed = routes.failed[declared]!;
    const jumps = goes === undefined ? undefined : jumpTargets(goes, places);
    return {
      index,
      name,
      declared,
      isSent,
      routing: routingOf(routes.done[declared]!),
      errorRouting: failed.length === 0 ? undefined : routingOf(failed),
      jumps,
      jumpsBack: goes?.includes(ROLLBACK_NAME) === true,
      sends: jumps === undefined ? NO_NODES : sentBy(jumps, places),
      waits: places.waits.get(declared) ?? -1,
    };
  };
  const nodes = [
    ...graph.nodes.map((_, index) => nodeOf(index, index, false)),
    ...sent.map((declared, at) => nodeOf(declared, graph.nodes.length + at, true)),
  ];
  return {
    nodes,
    start: routingOf(routes.start),
    finally: routingOf(routes.finally),
    barriers: places.settled.length === 0 ? places.barriers : withReach(places, nodes),
    placeCount: places.barrierOfPlace.length,
    barrierOfPlace: Int32Array.from(places.barrierOfPlace),
  };
}

function sentBy(jumps: readonly number[], { sent }: Places): readonly number[] {
  return jumps.flatMap((target) => (target === END_TARGET ? [] : (sent.get(target) ?? [])));
}

const NO_NODES: readonly number[] = [];

/** Nodes to which another node can send tasks. */
function sentNodes(graph: NetInput): readonly number[] {
  const targets = new Set(graph.nodes.flatMap((node) => node.goes ?? []));
  return graph.nodes.flatMap((node, index) => (targets.has(node.name) ? [index] : []));
}

function jumpTargets(names: readonly string[], places: Places): number[] {
  const targets = names.map((name) => (name === END_NAME ? END_TARGET : places.nodeIndex.get(name)));
  return targets.filter((target) => target !== undefined);
}

// Places ----------------------------------------------------------------------------------------------

interface Places {
  readonly nodeIndex: ReadonlyMap<string, number>;
  readonly barriers: readonly ControlBarrier[];
  readonly barrierOfPlace: readonly number[];
  /** Node -> the `waits` barrier that gates it. */
  readonly waits: ReadonlyMap<number, number>;
  /** By barrier of `waits`: node -> the place that its signals mark. */
  readonly gateMembers: readonly ReadonlyMap<number, number>[];
  /** Edge -> its barriers, one for each target. */
  readonly ofEdge: ReadonlyMap<NetEdge, readonly ControlBarrier[]>;
  /** Declared node -> the model node for the tasks that are sent to it. */
  readonly sent: ReadonlyMap<number, number>;
  /** The barriers of each `settled(…)`. */
  readonly settled: readonly (readonly ControlBarrier[])[];
}

function layOutPlaces(graph: NetInput, sentTo: readonly number[]): Places {
  const nodeIndex = positionsByName(graph.nodes);
  const indexesOf = (names: readonly string[]): number[] => names.flatMap((name) => nodeIndex.get(name) ?? []);
  const sent = new Map(sentTo.map((declared, at) => [declared, graph.nodes.length + at]));
  const barrierOfPlace = Array.from({ length: graph.nodes.length + sentTo.length }, () => -1);
  const barriers: ControlBarrier[] = [];
  const waits = new Map<number, number>();
  const gateMembers: ReadonlyMap<number, number>[] = [];
  const perTarget = new Map<string, number>();
  const add = (
    kind: ControlBarrier["kind"],
    target: number,
    members: readonly (readonly number[])[],
    origin: ControlBarrier["origin"],
    sharedId?: string,
    rollsBack = false,
  ): ControlBarrier => {
    const name = rollsBack ? ROLLBACK_NAME : target === END_TARGET ? END_NAME : (graph.nodes[target]?.name ?? "");
    const count = (perTarget.get(name) ?? 0) + 1;
    if (sharedId === undefined) perTarget.set(name, count);
    const index = barriers.length;
    const laidOut = members.map((nodes): BarrierMember => {
      barrierOfPlace.push(index);
      // Mutation point: barrier-members
      return { place: barrierOfPlace.length - 1, nodes: [...nodes, ...nodes.flatMap((node) => sent.get(node) ?? [])] };
    });
    const id = sharedId ?? (count === 1 ? name : `${name}#${count}`);
    const gate = kind === "all" ? gateMembers[waits.get(target) ?? -1] : undefined;
    const passesOn = gate && members.map((nodes) => passedSignals(nodes, gate));
    const ends = rollsBack ? ({ rollsBack } as const) : {};
    const barrier = { index, id, kind, target, ...ends, members: laidOut, origin, passesOn, settled: undefined };
    barriers.push(barrier);
    return barrier;
  };
  // Gates (`waits`) come first, so that the ids and numbers of barriers do not depend on the position of edges in the
  // file.
  graph.nodes.forEach((node, index) => {
    if (node.waits === undefined) return;
    const gate = add(
      "waits",
      index,
      indexesOf(node.waits).map((member) => [member]),
      undefined,
    );
    waits.set(index, gate.index);
    gateMembers.push(new Map(gate.members.map(({ nodes: [node = -1], place }) => [node, place])));
  });
  const ofEdge = new Map<NetEdge, ControlBarrier[]>();
  const settled: ControlBarrier[][] = [];
  for (const [position, edge] of graph.edges.entries()) {
    if (edge.source.kind === "nodes") continue;
    const { kind } = edge.source;
    const members = edge.source.members.map((member) => indexesOf(member.map(({ name }) => name)));
    const made: ControlBarrier[] = [];
    // Binding reports a barrier with conditions as an error.
    for (const { name, span } of edge.to.kind === "plain" ? edge.to.targets : []) {
      const rollsBack = name === ROLLBACK_NAME;
      const index = name === END_NAME || rollsBack ? END_TARGET : nodeIndex.get(name);
      if (index === undefined) continue;
      const origin = { edge: position, target: span };
      made.push(add(kind, index, members, origin, kind === "settled" ? made[0]?.id : undefined, rollsBack));
    }
    ofEdge.set(edge, made);
    if (kind === "settled" && made.length > 0) settled.push(made);
  }
  return { nodeIndex, barriers, barrierOfPlace, waits, gateMembers, ofEdge, sent, settled };
}

/** The barriers, with the reach of each `settled(…)`. */
function withReach(
  { barriers, barrierOfPlace, settled }: Places,
  nodes: readonly NetNode[],
): readonly ControlBarrier[] {
  if (settled.length === 0) return barriers;
  const found = [...barriers];
  const reachOf = createMemberReach({ nodes, barriers, barrierOfPlace });
  for (const group of settled) {
    const [first] = group;
    const reach = reachOf(group);
    const own = { first: first!.index, barriers: group.map(({ index }) => index), reach };
    for (const barrier of group) found[barrier.index] = { ...barrier, settled: own };
  }
  return found;
}

function passedSignals(nodes: readonly number[], gate: ReadonlyMap<number, number>): PassedSignals {
  const places = nodes.flatMap((node) => gate.get(node) ?? []);
  return { places, isAll: nodes.length === 1, atLeast: places.length === nodes.length ? 1 : 0 };
}

// Routes ----------------------------------------------------------------------------------------------

interface NamedRoute extends Route {
  readonly kind: NetEdge["to"]["kind"];
}

interface Routes {
  readonly start: NamedRoute[];
  readonly finally: NamedRoute[];
  /** By declared node: the routes after success, and after a failure. */
  readonly done: NamedRoute[][];
  readonly failed: NamedRoute[][];
}

function collectRoutes(graph: NetInput, places: Places): Routes {
  const { entry = START } = graph;
  const ofEntry = new Map([
    [START, entry === FINALLY ? undefined : START],
    [FINALLY, entry === START ? FINALLY : START],
  ] as const);
  const count = graph.nodes.length;
  const routes: Routes = { start: [], finally: [], done: emptyLists(count), failed: emptyLists(count) };
  for (const [position, edge] of graph.edges.entries()) {
    if (edge.source.kind !== "nodes") {
      for (const [node, route] of barrierRoutes(edge, position, places)) addToList(routes.done, node, route);
      continue;
    }
    const isGated =
      places.waits.size > 0 && targetsOf(edge).some(({ name }) => places.waits.has(places.nodeIndex.get(name) ?? -1));
    let shared: NamedRoute | undefined;
    for (const { name } of edge.source.nodes) {
      const isEntry = name === START || name === FINALLY;
      const source = isEntry ? undefined : places.nodeIndex.get(name);
      const route = shared ?? routeOf(edge, position, source, places);
      if (!isGated) shared = route;
      if (isEntry) {
        const target = ofEntry.get(name);
        if (target !== undefined) routes[target].push(route);
      } else if (source !== undefined) addToList(edge.onError ? routes.failed : routes.done, source, route);
    }
  }
  return routes;
}

/** The routes of the members of a barrier, by node. A node can be in several members. */
function barrierRoutes(edge: NetEdge, position: number, places: Places): ReadonlyMap<number, NamedRoute> {
  const signals = new Map<number, Signal[]>();
  const barriers = places.ofEdge.get(edge) ?? [];
  const [first] = barriers;
  for (const at of first?.members.keys() ?? []) {
    for (const node of first?.members[at]?.nodes ?? []) {
      const own = signals.get(node) ?? [];
      signals.set(node, own);
      for (const { members, target, origin } of barriers) {
        if (origin !== undefined) own.push({ place: members[at]?.place, node: target, origin });
      }
    }
  }
  return new Map(
    [...signals].map(([node, own]) => [
      node,
      { kind: "plain", edge: position, branches: [{ edge: position, arm: 0, signals: own }] },
    ]),
  );
}

function routeOf(edge: NetEdge, position: number, source: number | undefined, places: Places): NamedRoute {
  const { to } = edge;
  const branch = (arm: number, targets: readonly BoundReference[]): NetBranch => ({
    edge: position,
    arm,
    signals:
      targets.length === 1
        ? signalOf(targets[0]!, position, source, places)
        : // A list that has grown has room for sixteen more, and lives as long as the graph.
          targets.flatMap((target) => signalOf(target, position, source, places)).slice(),
  });
  const branches =
    to.kind === "match" || to.kind === "cases"
      ? [
          ...to.arms.map(({ targets }, arm) => branch(arm, targets)),
          ...(to.otherwise === undefined ? [] : [branch(ELSE_ARM, to.otherwise.targets)]),
        ]
      : [branch(0, to.targets)];
  return { kind: to.kind, edge: position, branches };
}

/** If the target has `waits`, only signals of its members count, and they mark the barrier of `waits`. */
function signalOf({ name, span }: BoundReference, edge: number, source: number | undefined, places: Places): Signal[] {
  const origin = { edge, target: span };
  if (name === END_NAME) return [{ place: END_TARGET, node: END_TARGET, origin }];
  if (name === ROLLBACK_NAME) return [{ place: END_TARGET, node: END_TARGET, origin, rollsBack: true }];
  const node = places.nodeIndex.get(name);
  if (node === undefined) return [];
  const gate = places.waits.get(node);
  if (gate === undefined) return [{ place: node, node, origin }];
  const member = source === undefined ? undefined : places.gateMembers[gate]?.get(source);
  // Mutation point: gate-signals
  if (member === undefined) return [{ place: undefined, node, origin }];
  return [{ place: member, node, origin }];
}

/** Sorts routes into independent groups: what is always signalled, the conditional edges, and each `match`. */
function routingOf(routes: readonly NamedRoute[]): NetRouting {
  const [only] = routes;
  if (routes.length === 1 && only?.kind === "plain" && only.branches.length === 1) {
    const { signals } = only.branches[0]!;
    return { routes, groups: signals.length === 0 ? [] : [{ kind: "always", signals }] };
  }
  const always: NetBranch[] = [];
  const whens: NetBranch[] = [];
  const otherwise: NetBranch[] = [];
  for (const { kind, branches } of routes) {
    const list = kind === "plain" ? always : kind === "when" ? whens : kind === "otherwise" ? otherwise : undefined;
    if (list !== undefined) for (const branch of branches) list.push(branch);
  }
  const groups: RouteGroup<NetBranch>[] = [];
  if (always.some(({ signals }) => signals.length > 0))
    groups.push({
      kind: "always",
      signals: always.length === 1 ? always[0]!.signals : always.flatMap(({ signals }) => signals),
    });
  if (whens.length > 0 || otherwise.length > 0) {
    groups.push({ kind: "several", branches: whens, otherwise: mergeBranches(otherwise) });
  }
  for (const { kind, branches } of routes)
    if (kind === "match" || kind === "cases") groups.push({ kind: "one", branches });
  return { routes, groups };
}

/** Binding reports a second `otherwise` of a node. The signals of both are kept, so no target becomes unreachable. */
function mergeBranches(branches: readonly NetBranch[]): NetBranch | undefined {
  const last = branches.at(-1);
  if (last === undefined || branches.length === 1) return last;
  return { ...last, signals: branches.flatMap(({ signals }) => signals) };
}
