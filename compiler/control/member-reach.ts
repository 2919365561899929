/** The reach of the members of a `settled(…)`: from which nodes a signal can come to which of its members. */
import { type ControlBarrier, END_TARGET, type MemberReach, type NetNode } from "./net.ts";
import { signalsOf } from "./signals.ts";

/** The part of a net that decides which signals are possible. */
interface Signals {
  readonly nodes: readonly NetNode[];
  readonly barriers: readonly ControlBarrier[];
  readonly barrierOfPlace: ArrayLike<number>;
}

/**
 * Creates the function that computes the reach of a `settled(…)` statement: a backward search from each member, members
 * x edges. The argument of the function is the barriers of the statement, one for each target.
 */
export function createMemberReach({
  nodes,
  barriers,
  barrierOfPlace,
}: Signals): (group: readonly ControlBarrier[]) => MemberReach {
  /** By node: the nodes that lead to it in one step. By place of a barrier: the nodes that signal it. */
  const before: number[][] = nodes.map(() => []);
  const signalling = new Map<number, number[]>();
  for (const node of nodes) {
    const own = new Set<number>();
    const marked = new Set<number>();
    for (const routing of [node.routing, node.errorRouting]) {
      for (const { place } of signalsOf(routing)) {
        if (place === undefined || place === END_TARGET) continue;
        if (place >= nodes.length) marked.add(place);
        const next = place < nodes.length ? place : barriers[barrierOfPlace[place]!]!.target;
        if (next !== END_TARGET) own.add(next);
      }
    }
    // A jump into a node with `waits` can be exclusive: it runs the node at once.
    for (const next of [...(node.jumps ?? []), ...node.sends]) if (next !== END_TARGET) own.add(next);
    for (const next of own) before[next]!.push(node.index);
    for (const place of marked) {
      const known = signalling.get(place);
      if (known === undefined) signalling.set(place, [node.index]);
      else known.push(node.index);
    }
  }
  return (group) => {
    const targets = new Set(group.map(({ target }) => target));
    const members = group[0]!.members;
    const words = (members.length + 31) >> 5;
    const bits = new Int32Array(nodes.length * words);
    // A task that was sent to a target passes through the target.
    const isTarget = (node: number): boolean => targets.has(nodes[node]!.declared);
    for (const [member, { place }] of members.entries()) {
      const word = member >> 5;
      const bit = 1 << (member & 31);
      const pending: number[] = [];
      const reach = (node: number): void => {
        const at = node * words + word;
        if ((bits[at]! & bit) !== 0 || isTarget(node)) return;
        bits[at]! |= bit;
        pending.push(node);
      };
      for (const node of signalling.get(place) ?? []) reach(node);
      for (const node of pending) for (const each of before[node]!) reach(each);
    }
    return { words, bits };
  };
}
