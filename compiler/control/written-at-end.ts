import { depthFirst } from "../algorithms/depth-first.ts";
import { type ControlNet, END_TARGET, type NetNode, type NetRouting, type Signal } from "./net.ts";
import { branchesOf, startTargets, successorsOf } from "./signals.ts";

/**
 * The channels of `channels` that some completed run may not have written: a backward "must" analysis from the ends of
 * the graph. A node certainly leads to its own writes, and to the intersection of what its alternatives lead to. An
 * alternative leads to the union of what its parallel targets lead to. A completed run leaves no barrier partly filled,
 * so a signal into a barrier counts as a signal into the target of the barrier.
 *
 * @param writes by node: channels that it writes
 */
export function unwrittenAtEnd(
  net: ControlNet,
  writes: readonly (readonly string[])[],
  channels: readonly string[],
): Set<string> {
  const order = channels.length === 0 ? [] : postorder(net);
  const unwritten = new Set<string>();
  for (let base = 0; base < channels.length; base += 32) {
    const block = channels.slice(base, base + 32);
    const bits = certainWrites(net, order, writes, block);
    for (const [i, channel] of block.entries()) if ((bits & (1 << i)) === 0) unwritten.add(channel);
  }
  return unwritten;
}

const ALL = -1;

/** The declared nodes that runs can reach: outside of cycles, each after its successors. */
function postorder(net: ControlNet): readonly NetNode[] {
  const declared = net.nodes.filter((node) => !node.isSent);
  const successors = successorsOf(net);
  const order: NetNode[] = [];
  depthFirst(startTargets(net), {
    edges: (node) => successors[node] ?? [],
    target: (node) => (node < declared.length ? node : undefined),
    leave: (node) => order.push(declared[node] as NetNode),
  });
  return order;
}

/**
 * The bits of the channels of a block that every completed run writes: the greatest fixed point. Bits are only cleared,
 * so it ends after at most 32 passes for each node. The postorder leaves one pass for a graph without cycles.
 */
function certainWrites(
  { nodes, start }: ControlNet,
  order: readonly NetNode[],
  writes: readonly (readonly string[])[],
  block: readonly string[],
): number {
  const declared = nodes.filter((node) => !node.isSent);
  const position = new Map(block.map((channel, i) => [channel, 1 << i]));
  const own = declared.map((_, node) =>
    (writes[node] ?? []).reduce((bits, name) => bits | (position.get(name) ?? 0), 0),
  );
  const certain = new Int32Array(declared.length).fill(ALL);
  /** The result for a list of signals in the current pass, shared by its sources. */
  const memo = new Map<readonly Signal[], number>();
  const after = (signals: readonly Signal[]): number => {
    let bits = memo.get(signals);
    if (bits !== undefined) return bits;
    // A run that rolls back does not complete.
    bits = signals.some(({ rollsBack }) => rollsBack === true) ? ALL : 0;
    for (const { place, node } of signals)
      if (place !== undefined && node !== END_TARGET) bits |= certain[node] as number;
    memo.set(signals, bits);
    return bits;
  };
  const leading = ({ routing, errorRouting, jumps = [], index }: NetNode): number => {
    let bits = leaving(routing, after) | (own[index] as number);
    if (errorRouting !== undefined) bits &= leaving(errorRouting, after);
    for (const target of jumps) bits &= target === END_TARGET ? 0 : (certain[target] as number);
    return bits;
  };
  for (let changed = true; changed;) {
    changed = false;
    memo.clear();
    for (const node of order) {
      const bits = leading(node);
      if (bits === certain[node.index]) continue;
      certain[node.index] = bits;
      changed = true;
    }
  }
  memo.clear();
  return leaving(start, after);
}

/** The union of the unconditional routes, and the intersection of the conditional ones. */
function leaving({ groups }: NetRouting, after: (signals: readonly Signal[]) => number): number {
  let bits = 0;
  const hasPlain = groups.some(({ kind }) => kind === "always");
  for (const group of groups) {
    if (group.kind === "always") {
      bits |= after(group.signals);
      continue;
    }
    // Beside a plain edge, all conditions may be false.
    if (group.kind === "several" && group.otherwise === undefined && hasPlain) continue;
    bits |= branchesOf(group).reduce((common, { signals }) => common & after(signals), ALL);
  }
  return bits;
}
