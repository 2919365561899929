import { findComponents } from "../algorithms/components.ts";
import { termsOf } from "./formula.ts";
import { type Branch, type ControlModel, type ControlNode, END_TARGET } from "./model.ts";
import { branchesOf, signalsOf, successorsOf } from "./signals.ts";
import type { StateGraph } from "./state-graph.ts";

/** A loop whose choices look only at what the loop leaves alone: taken once, it is taken forever. */
export interface FrozenLoop {
  readonly nodes: ReadonlySet<number>;
  /** A node of it that could lead out. */
  readonly decides: number;
  readonly branches: readonly Branch[];
  /** Channels that its conditions ask about. */
  readonly reads: readonly number[];
}

/** Sets of channels that are looked at; each costs a walk over its loop. */
const MAX_CANDIDATES = 100;

/**
 * For each node that can lead out of a loop: the part of the loop in which nothing writes what the node asks about. Where no
 * other choice there can change either, a run that comes back to the node once comes back forever.
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
    if (reads === undefined || choicesOf(node).length === 0 || seen.size >= MAX_CANDIDATES) continue;
    const key = `${componentOf[node.index]}/${[...reads].join()}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const inside = new Set(group.filter((member) => !writesAny(model, member, reads)));
    const loop = loopThrough(node.index, successors, inside);
    if (loop === undefined || found.some((other) => other.nodes.has(node.index))) continue;
    if (!canLeave(node, loop) || !isFrozen(model, loop) || runsBesideOthers(graph, loop)) continue;
    // A loop that no run takes ends at once.
    if (!goesRound(graph, node, loop)) continue;
    found.push({ nodes: loop, decides: node.index, branches: choicesOf(node), reads: [...reads] });
  }
  return found;
}

function choicesOf(node: ControlNode): readonly Branch[] {
  return node.routing.groups.flatMap((group) => (group.kind === "always" ? [] : branchesOf(group)));
}

/** Channels that decide where a node leads; `undefined` where more than channels does. */
function readsOf(node: ControlNode): ReadonlySet<number> | undefined {
  if (node.jumps !== undefined || node.errorRouting !== undefined || node.pauses || node.alwaysFails) return undefined;
  const found = new Set<number>();
  for (const { formula } of choicesOf(node)) {
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
  const choices = choicesOf(node);
  return choices.some(leaves) && !choices.every(leaves);
}

/** Every choice of the loop asks only about what the loop leaves alone. */
function isFrozen(model: ControlModel, loop: ReadonlySet<number>): boolean {
  const written = new Set<number>();
  for (const node of loop) for (const write of model.data.writes[node]!) written.add(write.channel);
  for (const index of loop) {
    const node = model.nodes[index]!;
    const reads = readsOf(node);
    if (reads === undefined || [...reads].some((channel) => written.has(channel))) return false;
    // A barrier of the loop may wait for others, and an end is a way out.
    for (const { place, node: target } of signalsOf(node.routing)) {
      if (place !== undefined && place !== END_TARGET && model.barrierOfPlace[place] !== -1 && loop.has(target))
        return false;
    }
  }
  return true;
}

/** Whether some run that can be taken stays in the loop when the node decides. */
function goesRound({ taken }: StateGraph, node: ControlNode, loop: ReadonlySet<number>): boolean {
  return choicesOf(node).some(
    (branch) => taken.get(branch) === true && branch.signals.some(({ node: target }) => loop.has(target)),
  );
}

/** Something else runs at the same time, and may write what the loop waits for. */
function runsBesideOthers(graph: StateGraph, loop: ReadonlySet<number>): boolean {
  return graph.states.some(({ places, ready }) => {
    if (ready < 2) return false;
    const nodes = places.slice(0, ready);
    return nodes.some((node) => loop.has(node)) && nodes.some((node) => !loop.has(node));
  });
}
