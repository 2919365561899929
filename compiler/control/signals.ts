/** Signals, branches and successors of the nodes of a net, with or without conditions. */
import { findComponents, isCyclic } from "../algorithms/components.ts";
import { END_TARGET, type NodeRoutes, type RouteGroup, type Routing, type Signal } from "./net.ts";

/** A routing whose branches have at least their signals. */
export type AnyRouting = Routing<{ readonly signals: readonly Signal[] }>;

/** All signals of a routing. The signals of a choice are cached, because many checks need them. */
export function signalsOf(routing: AnyRouting | undefined): readonly Signal[] {
  const first = routing?.groups[0];
  if (routing === undefined || first === undefined) return NO_SIGNALS;
  if (routing.groups.length === 1 && first.kind === "always") return first.signals;
  let found = known.get(routing);
  if (found === undefined) {
    found = routing.groups.flatMap((group) =>
      group.kind === "always" ? group.signals : branchesOf(group).flatMap((branch) => branch.signals),
    );
    known.set(routing, found);
  }
  return found;
}

const known = new WeakMap<AnyRouting, readonly Signal[]>();
const NO_SIGNALS: readonly Signal[] = [];

/** The branches of a choice, `otherwise` last. */
export function branchesOf<B>(group: Exclude<RouteGroup<B>, { readonly kind: "always" }>): readonly B[] {
  return group.kind === "several" && group.otherwise !== undefined
    ? [...group.branches, group.otherwise]
    : group.branches;
}

/** All branches of a routing that depend on conditions. */
export function choicesOf<B extends { readonly signals: readonly Signal[] }>(routing: Routing<B> | undefined): B[] {
  return (routing?.groups ?? []).flatMap((group) => (group.kind === "always" ? [] : branchesOf(group)));
}

interface Net {
  readonly nodes: readonly NodeRoutes<AnyRouting>[];
  readonly start: AnyRouting;
}

/**
 * By node: the nodes that its signals can start, directly or through a barrier. Without duplicates. The result is
 * cached, because many checks need it.
 */
export function successorsOf({ nodes }: Pick<Net, "nodes">): readonly (readonly number[])[] {
  const found = knownSuccessors.get(nodes) ?? findSuccessors(nodes);
  knownSuccessors.set(nodes, found);
  return found;
}

const knownSuccessors = new WeakMap<Net["nodes"], readonly (readonly number[])[]>();

function findSuccessors(nodes: Net["nodes"]): readonly (readonly number[])[] {
  return nodes.map((node) => {
    const routed = routedTo(node.routing);
    if (node.errorRouting === undefined && node.jumps === undefined) return routed;
    const found = new Set([...routed, ...routedTo(node.errorRouting)]);
    for (const jump of node.jumps ?? []) if (jump !== END_TARGET) found.add(jump);
    return [...found];
  });
}

/** The nodes on cycles of `successorsOf`. The result is cached, because several checks need it. */
export function nodesInLoops(net: Pick<Net, "nodes">): ReadonlySet<number> {
  const successors = successorsOf(net);
  let found = knownLoops.get(successors);
  if (found === undefined) {
    const leads = (node: number): readonly number[] => successors[node]!;
    const { members } = findComponents(successors.length, leads);
    found = new Set(members.filter((group) => isCyclic(group, leads)).flat());
    knownLoops.set(successors, found);
  }
  return found;
}

const knownLoops = new WeakMap<readonly (readonly number[])[], ReadonlySet<number>>();

/** Whether a routing can end a branch of a run: at `end`, or because it has no route. The conditions of a graph have no gap. */
export function canEnd(routing: AnyRouting | undefined): boolean {
  if (routing === undefined) return false;
  return (
    routing.groups.length === 0 ||
    signalsOf(routing).some(
      ({ place, node, rollsBack }) => place === undefined || (node === END_TARGET && rollsBack !== true),
    )
  );
}

/** Nodes that the signals of a routing can start, directly or through a barrier. */
export function routedTo(routing: AnyRouting | undefined): readonly number[] {
  const signals = signalsOf(routing).filter(({ place, node }) => place !== undefined && node !== END_TARGET);
  const targets = signals.map(({ node }) => node);
  return targets.length < 2 ? targets : [...new Set(targets)];
}

/** Nodes that `start` signals. */
export function startTargets(net: Pick<Net, "start">): readonly number[] {
  return routedTo(net.start);
}
