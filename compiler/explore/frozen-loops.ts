import { findComponents } from "../algorithms/components.ts";
import { termsOf } from "./formula.ts";
import { END_TARGET } from "../control/net.ts";
import type { Branch, ControlModel, ControlNode } from "./model.ts";
import { choicesOf, signalsOf, successorsOf } from "../control/signals.ts";
import type { StateGraph } from "./state-graph.ts";

/** A loop whose conditions read only channels that the loop does not write: once taken, it never ends. */
export interface FrozenLoop {
  readonly nodes: ReadonlySet<number>;
  /** A node of the loop with an edge out of it. */
  readonly decides: number;
  readonly branches: readonly Branch[];
  /** Channels that its conditions read. */
  readonly reads: readonly number[];
}

/** Limit of the analysed sets of channels; each costs a search over its loop. */
const MAX_CANDIDATES = 100;

/**
 * Finds, for each node with an edge out of a loop, the part of the loop that writes no channel which the node reads. If
 * the other choices in this part cannot change either, a run that returns to the node once returns to it forever.
 */
export function findFrozenLoops(graph: StateGraph): FrozenLoop[] {
  const { model } = graph;
  const successors = successorsOf(model);
  const runs = (node: number): boolean => graph.nodeRuns[node] === 1;
  const { members, componentOf } = findComponents(model.nodes.length, (node) => (runs(node) ? successors[node]! : []));
  const found: FrozenLoop[] = [];
  const seen = new Set<string>();
  for (const node of model.nodes) {
    const group = members[componentOf[node.index]!]!;
    if (!runs(node.index) || (group.length === 1 && !successors[node.index]!.includes(node.index))) continue;
    const reads = readsOf(node);
    if (reads === undefined || choicesOf(node.routing).length === 0 || seen.size >= MAX_CANDIDATES) continue;
    const key = `${componentOf[node.index]}/${[...reads].join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const inside = new Set(group.filter((member) => !writesAny(model, member, reads)));
    const loop = loopThrough(node.index, successors, inside);
    if (loop === undefined || found.some((other) => other.nodes.has(node.index))) continue;
    if (!canLeave(node, loop) || !isFrozen(model, loop) || runsBesideOthers(graph, loop)) continue;
    // A loop that no run takes is not reported.
    if (!goesRound(graph, node, loop)) continue;
    found.push({ nodes: loop, decides: node.index, branches: choicesOf(node.routing), reads: [...reads] });
  }
  return found;
}

/** Channels that decide which edges of a node are taken; `undefined` if failures, jumps or pauses decide as well. */
function readsOf(node: ControlNode): ReadonlySet<number> | undefined {
  if (node.jumps !== undefined || node.errorRouting !== undefined || node.pauses || node.alwaysFails) return undefined;
  const found = new Set<number>();
  for (const { formula } of choicesOf(node.routing)) {
    for (const term of termsOf(formula)) {
      if (!term.isSteady) return undefined;
      for (const channel of term.channels) found.add(channel);
    }
  }
  return found;
}

function writesAny(model: ControlModel, node: number, channels: ReadonlySet<number>): boolean {
  return model.data.writes[node]!.some((write) => channels.has(write.channel));
}

/** Nodes of `inside` that lie on a cycle through the node. */
function loopThrough(
  node: number,
  successors: readonly (readonly number[])[],
  inside: ReadonlySet<number>,
): ReadonlySet<number> | undefined {
  if (!inside.has(node)) return undefined;
  const order = [...inside];
  const position = new Map(order.map((member, index) => [member, index]));
  const { members, componentOf } = findComponents(order.length, (index) =>
    successors[order[index]!]!.flatMap((target) => position.get(target) ?? []),
  );
  const group = members[componentOf[position.get(node)!]!]!.map((index) => order[index]!);
  return group.length > 1 || successors[node]!.includes(node) ? new Set(group) : undefined;
}

function canLeave(node: ControlNode, loop: ReadonlySet<number>): boolean {
  const leaves = (branch: Branch): boolean => branch.signals.every(({ node: target }) => !loop.has(target));
  const choices = choicesOf(node.routing);
  return choices.some(leaves) && !choices.every(leaves);
}

/** Whether no condition of the loop reads a channel that the loop writes. */
function isFrozen(model: ControlModel, loop: ReadonlySet<number>): boolean {
  const written = new Set<number>();
  for (const node of loop) for (const write of model.data.writes[node]!) written.add(write.channel);
  for (const index of loop) {
    const node = model.nodes[index]!;
    const reads = readsOf(node);
    if (reads === undefined || [...reads].some((channel) => written.has(channel))) return false;
    // A barrier inside the loop can wait for nodes outside of it.
    for (const { place, node: target } of signalsOf(node.routing)) {
      if (place !== undefined && place !== END_TARGET && model.barrierOfPlace[place] !== -1 && loop.has(target))
        return false;
    }
  }
  return true;
}

/** Whether a feasible run takes a branch of the node that stays in the loop. */
function goesRound({ taken }: StateGraph, node: ControlNode, loop: ReadonlySet<number>): boolean {
  return choicesOf(node.routing).some(
    (branch) => taken.get(branch) === true && branch.signals.some(({ node: target }) => loop.has(target)),
  );
}

/** Whether a node outside of the loop runs in the same step. It could write a channel that the loop reads. */
function runsBesideOthers(graph: StateGraph, loop: ReadonlySet<number>): boolean {
  return graph.states.some(({ places, ready }) => {
    if (ready < 2) return false;
    const nodes = places.slice(0, ready);
    return nodes.some((node) => loop.has(node)) && nodes.some((node) => !loop.has(node));
  });
}
