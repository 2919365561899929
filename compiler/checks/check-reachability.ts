import { cycleWithoutExit, noPathToEnd, noWayToEnd, unreachableNode } from "../../diagnostics/catalog/reachability.ts";
import { START } from "../bind/bound-graph.ts";
import { memberUnreachable } from "../../diagnostics/catalog/barriers.ts";
import type { Diagnostic, Label } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import { predecessorsOf } from "../algorithms/predecessors.ts";
import { findComponents, isCyclic, shortestCycle } from "../algorithms/components.ts";
import { type ControlBarrier, END_TARGET } from "../control/net.ts";
import type { ControlNode } from "../explore/model.ts";
import { signalsOf, successorsOf } from "../control/signals.ts";
import { type CheckContext, edgeOf, targetOf } from "./check-context.ts";

/**
 * Reports NG201, NG203, NG204, NG304 and NG106, which follow from the edges without conditions. Each problem has one
 * finding: a node that is unreachable only because its predecessor is has none. Returns NG203 and NG204 for the caller
 * to report.
 */
export function checkReachability(context: CheckContext): readonly Trap[] {
  if (!context.isComplete || signalsOf(context.model.start).length === 0) return [];
  const successors = successorsOf(context.model);
  reportUnreachable(context, successors);
  if (context.model.entry === START) reportNoEnd(context);
  return findTraps(context, successors);
}

/** An endless loop of the edges (NG203, NG204). It is reported unless the exploration proves that no run enters it. */
export interface Trap {
  readonly nodes: readonly number[];
  readonly diagnostic: Diagnostic;
}

/** Reports NG201, or NG304 if a barrier waits for an unreachable node. */
function reportUnreachable(context: CheckContext, successors: readonly (readonly number[])[]): void {
  const { model, reach } = context;
  if (!reach.possible.includes(0)) return;
  const isCut = (node: number): boolean => reach.possible[node] === 0;
  const inside = (node: number): number[] => (isCut(node) ? (successors[node] ?? []).filter(isCut) : []);
  const { componentOf, members } = findComponents(model.nodes.length, inside);
  const entered = new Uint8Array(members.length);
  model.nodes.forEach(({ index }) => {
    for (const target of inside(index))
      if (componentOf[target] !== componentOf[index]) entered[componentOf[target]!] = 1;
  });
  members.forEach((group, component) => {
    if (entered[component] === 1 || !isCut(group[0]!)) return;
    const nodes = group.toSorted((a, b) => a - b);
    if (nodes.some((node) => context.graph.poisoned.has(context.nodeName(node)))) return;
    const behind = namesBehind(context, nodes, inside);
    const waiting = findWaiting(context, nodes);
    if (waiting !== undefined) {
      const { barrier, member, span } = waiting;
      context.explained.add(barrier.index);
      context.report(
        memberUnreachable(context.place(span), {
          ...targetOf(context, barrier),
          member: context.nodeName(member),
          declaration: { ...context.nodePlace(member), message: "no edge leads here" },
          behind,
        }),
      );
      return;
    }
    // A node of the other part of the graph.
    if (nodes.some((node) => context.graph.absent?.has(context.nodeName(node)) === true)) return;
    const [first = 0, ...others] = nodes;
    context.report(
      unreachableNode(context.nodePlace(first), {
        node: context.nodeName(first),
        cycleWith: others.map(context.nodeName),
        behind,
      }),
    );
  });
}

function namesBehind(context: CheckContext, nodes: readonly number[], inside: (node: number) => number[]): string[] {
  const seen = new Set(nodes);
  for (const node of seen) for (const next of inside(node)) seen.add(next);
  return [...seen].filter((node) => !nodes.includes(node)).map(context.nodeName);
}

/** A barrier that has a reachable member and waits for one of these nodes. */
function findWaiting(
  context: CheckContext,
  nodes: readonly number[],
): { barrier: ControlBarrier; member: number; span: Span } | undefined {
  const { model, reach } = context;
  for (const barrier of model.barriers) {
    // `settled(…)` does not wait for a node that cannot run.
    if (barrier.settled !== undefined) continue;
    if (!barrier.members.some(({ place }) => reach.placeFilled[place] === 1)) continue;
    for (const { nodes: fillers, place } of barrier.members) {
      if (reach.placeFilled[place] === 1) continue;
      const member = fillers.find((node) => nodes.includes(node));
      const span = member === undefined ? undefined : memberSpan(context, barrier, member);
      if (member !== undefined && span !== undefined) return { barrier, member, span };
    }
  }
  return undefined;
}

/** The position of a member's name in a barrier. */
export function memberSpan(context: CheckContext, barrier: ControlBarrier, node: number): Span | undefined {
  const name = context.nodeName(node);
  const source = edgeOf(context, barrier.origin)?.source;
  if (source !== undefined && source.kind !== "nodes")
    return source.members.flat().find((reference) => reference.name === name)?.span;
  for (const policy of context.graph.nodes[barrier.target]?.declaration.policies ?? []) {
    if (policy.kind === "Waits") return policy.nodes.find((reference) => reference.name === name)?.span;
  }
  return undefined;
}

/** Finds nodes from which every path stays among these nodes. */
function findTraps(context: CheckContext, successors: readonly (readonly number[])[]): readonly Trap[] {
  const { model, reach } = context;
  const leavesHere = (node: ControlNode): boolean => {
    const { routing, errorRouting, jumps, jumpsBack, alwaysFails } = node;
    if (jumpsBack) return true;
    if (alwaysFails && errorRouting === undefined) return true;
    // A node without edges of its own ends its branch when it succeeds.
    if (!alwaysFails && jumps === undefined && routing.groups.length === 0) return true;
    const own = alwaysFails ? [] : signalsOf(routing);
    const failed = signalsOf(errorRouting);
    const signals = failed.length === 0 ? own : [...own, ...failed];
    if (signals.length === 0 && jumps === undefined) return true;
    if (jumps?.includes(END_TARGET) === true) return true;
    // If all conditions are false, the run fails. That is a finding about the conditions.
    const mayStick = routing.groups.every(
      (group) => group.kind === "several" && group.otherwise === undefined && group.branches.length > 0,
    );
    if (mayStick && routing.groups.length > 0) return true;
    // A signal into a barrier can end the branch. The exploration decides whether the other members signal.
    return signals.some(
      ({ place, node: target }) =>
        target === END_TARGET ||
        place === undefined ||
        (model.barriers[model.barrierOfPlace[place]!]?.members.length ?? 0) > 1,
    );
  };
  const canEnd = new Uint8Array(model.nodes.length);
  const predecessors = predecessorsOf(successors);
  const pending = model.nodes.filter(leavesHere).map((node) => node.index);
  for (const node of pending) canEnd[node] = 1;
  for (let at = 0; at < pending.length; at++) {
    const node = pending[at]!;
    for (let index = predecessors.first[node]!; index < predecessors.first[node + 1]!; index++) {
      const from = predecessors.vertices[index]!;
      if (canEnd[from] === 1) continue;
      canEnd[from] = 1;
      pending.push(from);
    }
  }
  if (!canEnd.includes(0)) return [];
  const isTrapped = (node: number): boolean => canEnd[node] === 0 && reach.possible[node] === 1;
  const inside = (node: number): readonly number[] => (isTrapped(node) ? (successors[node] ?? []) : []);
  const { componentOf, members } = findComponents(model.nodes.length, inside);
  return members.flatMap((group, component) => {
    if (!isTrapped(group[0]!) || !isCyclic(group, inside)) return [];
    if (group.some((node) => inside(node).some((target) => componentOf[target] !== component))) return [];
    return [{ nodes: group, diagnostic: describeTrap(context, group, inside) }];
  });
}

function describeTrap(
  context: CheckContext,
  group: readonly number[],
  inside: (node: number) => readonly number[],
): Diagnostic {
  const nodes = new Set(group);
  for (const node of nodes) context.trapped.add(node);
  const entry = entryOf(context, nodes);
  const isSimple = group.every((node) => inside(node).length === 1);
  if (!isSimple) {
    const names = group.toSorted((a, b) => a - b).map(context.nodeName);
    return noWayToEnd(context.nodePlace(entry), { node: context.nodeName(entry), nodes: names });
  }
  const cycle = shortestCycle(entry, inside, (node) => nodes.has(node));
  const last = cycle.at(-1) ?? entry;
  const closing = signalsOf(context.model.nodes[last]?.routing).find((signal) => signal.node === entry);
  const span = closing?.origin.target;
  const labels: Label[] = span === undefined ? [] : [{ ...context.nodePlace(entry), message: "the cycle begins here" }];
  return cycleWithoutExit(span === undefined ? context.nodePlace(entry) : context.place(span), {
    cycle: cycle.map(context.nodeName),
    labels,
  });
}

/** The node of the set nearest to `start`. */
function entryOf(context: CheckContext, nodes: ReadonlySet<number>): number {
  const { model } = context;
  const seen = new Set<number>();
  for (const { node, place } of signalsOf(model.start)) if (place !== undefined && node !== END_TARGET) seen.add(node);
  for (const node of seen) {
    if (nodes.has(node)) return node;
    for (const routing of [model.nodes[node]?.routing, model.nodes[node]?.errorRouting]) {
      for (const signal of signalsOf(routing)) {
        if (signal.place !== undefined && signal.node !== END_TARGET) seen.add(signal.node);
      }
    }
    for (const jump of model.nodes[node]?.jumps ?? []) if (jump !== END_TARGET) seen.add(jump);
  }
  let least = Infinity;
  for (const node of nodes) least = Math.min(least, node);
  return least;
}

/** Reports NG106: the text does not mention `end`. */
function reportNoEnd(context: CheckContext): void {
  const { model, graph, reach } = context;
  if (context.trapped.size > 0) return;
  const mentions = (routing: ControlNode["routing"] | undefined): boolean =>
    signalsOf(routing).some((signal) => signal.node === END_TARGET);
  if (mentions(model.start)) return;
  for (const node of model.nodes) {
    if (mentions(node.routing) || mentions(node.errorRouting) || node.jumps?.includes(END_TARGET) === true) return;
  }
  const last = model.nodes.filter((node) => reach.actual[node.index] === 1 && node.routing.groups.length === 0);
  context.report(
    noPathToEnd(context.place(graph.declaration.name.span), {
      graph: graph.name,
      lastNodes: last.map((node) => node.name),
    }),
  );
}
