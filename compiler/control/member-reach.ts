/** The reach of the members of a `settled(…)`: from which nodes a signal can come to which of its members. */
import { findComponents } from "../algorithms/components.ts";
import { type ControlBarrier, END_TARGET, type MemberReach, type NetNode } from "./net.ts";
import { signalsOf } from "./signals.ts";

/** The part of a net that decides which signals are possible. */
interface Signals {
  readonly nodes: readonly NetNode[];
  readonly barriers: readonly ControlBarrier[];
  readonly barrierOfPlace: ArrayLike<number>;
}

/**
 * Backward reachability for 32 members at a time, over the strongly connected components (Tarjan): members x edges / 32.
 *
 * @param group the barriers of the statement, one for each target
 */
export function findMemberReach(
  { nodes, barriers, barrierOfPlace }: Signals,
  group: readonly ControlBarrier[],
): MemberReach {
  const targets = new Set(group.map(({ target }) => target));
  const members = group[0]!.members;
  const words = (members.length + 31) >> 5;
  const bits = new Int32Array(nodes.length * words);
  /** By place of the first barrier: the position of its member. */
  const memberAt = new Map(members.map(({ place }, member) => [place, member]));
  // A task that was sent to a target passes through the target.
  const isTarget = (node: number): boolean => targets.has(nodes[node]!.declared);
  const successors: number[][] = nodes.map(() => []);
  for (const node of nodes) {
    if (isTarget(node.index)) continue;
    const own = new Set<number>();
    for (const routing of [node.routing, node.errorRouting]) {
      for (const { place } of signalsOf(routing)) {
        if (place === undefined || place === END_TARGET) continue;
        const member = memberAt.get(place);
        if (member !== undefined) {
          bits[node.index * words + (member >> 5)]! |= 1 << (member & 31);
          continue;
        }
        const next = place < nodes.length ? place : barriers[barrierOfPlace[place]!]!.target;
        if (next !== END_TARGET && !isTarget(next)) own.add(next);
      }
    }
    // A jump into a node with `waits` can be exclusive: it runs the node at once.
    for (const next of [...(node.jumps ?? []), ...node.sends])
      if (next !== END_TARGET && !isTarget(next)) own.add(next);
    successors[node.index] = [...own];
  }
  const components = findComponents(nodes.length, (node) => successors[node]!);
  for (let word = 0; word < words; word++) {
    // Tarjan numbers a component after all components that it leads to.
    for (const group of components.members) {
      let all = 0;
      for (const node of group) {
        all |= bits[node * words + word]!;
        for (const next of successors[node]!) all |= bits[next * words + word]!;
      }
      for (const node of group) bits[node * words + word] = all;
    }
  }
  return { words, bits };
}
