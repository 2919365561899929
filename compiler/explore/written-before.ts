import { type BitRows, createBitRows } from "./bit-rows.ts";
import { type ControlModel, END_TARGET, type Routing } from "./model.ts";

/** Whether every path from `start` has written a channel when the step of a node ends. */
export type WrittenAfter = (node: number, channel: number) => boolean;

/**
 * Computes for each node which of the `wanted` channels have been written. A channel with the initial value `null` is
 * not null where it has been written.
 *
 * A forward "must" analysis (Kildall): one bit for each channel and node, initially 1 ("written"). The bits of a node
 * are the intersection of its arrivals. An arrival through a barrier is the union of its members, because all have
 * signalled. Both operations are monotone, so bits are only cleared. A node is visited again when a bit of a
 * predecessor was cleared, at most nodes x channels times.
 */
export function channelsWrittenAfter(model: ControlModel, wanted: ReadonlySet<number>): WrittenAfter {
  const count = model.nodes.length;
  const bits = new Map([...wanted].map((channel, bit) => [channel, bit]));
  const arrivals = arrivalsOf(model);
  const own = createBitRows(count, bits.size);
  for (const { index } of model.nodes) {
    for (const write of model.data.writes[index]!) {
      const bit = bits.get(write.channel);
      if (bit !== undefined && !write.optional) own.add(index, bit);
    }
  }
  const before = createBitRows(count, bits.size);
  before.all.fill(-1);
  const pending = new Set(model.nodes.map(({ index }) => index));
  const next = new Int32Array(before.words);
  for (const node of pending) {
    pending.delete(node);
    writtenBefore(arrivals[node]!, next, { before, own });
    const from = node * before.words;
    if (next.every((word, index) => word === before.all[from + index])) continue;
    before.all.set(next, from);
    for (const successor of arrivals[node]?.leadsTo ?? []) pending.add(successor);
  }
  return (node, channel) => {
    const bit = bits.get(channel);
    return bit !== undefined && (before.has(node, bit) || own.has(node, bit));
  };
}

interface Arrivals {
  fromStart: boolean;
  readonly direct: Set<number>;
  /** Nodes whose `on error` edges lead here. A failed node has written nothing. */
  readonly failed: Set<number>;
  /** By barrier and member: the nodes that signal the member. */
  readonly barriers: (readonly (readonly number[])[])[];
  readonly leadsTo: Set<number>;
}

function arrivalsOf(model: ControlModel): Arrivals[] {
  const arrivals = model.nodes.map((): Arrivals => ({
    fromStart: false,
    direct: new Set(),
    failed: new Set(),
    barriers: [],
    leadsTo: new Set(),
  }));
  const visit = (routing: Routing | undefined, from: number | undefined, kind: "direct" | "failed"): void => {
    for (const group of routing?.groups ?? []) {
      const branches =
        group.kind === "always"
          ? [group]
          : group.kind === "several" && group.otherwise !== undefined
            ? [...group.branches, group.otherwise]
            : group.branches;
      for (const { signals } of branches) {
        for (const { place } of signals) {
          const target = place === undefined ? undefined : arrivals[place];
          if (target === undefined) continue;
          if (from === undefined) target.fromStart = true;
          else {
            target[kind].add(from);
            arrivals[from]?.leadsTo.add(place!);
          }
        }
      }
    }
  };
  visit(model.start, undefined, "direct");
  for (const node of model.nodes) {
    visit(node.routing, node.index, "direct");
    visit(node.errorRouting, node.index, "failed");
    for (const jump of node.jumps ?? []) {
      arrivals[jump]?.direct.add(node.index);
      if (jump >= 0) arrivals[node.index]?.leadsTo.add(jump);
    }
  }
  for (const barrier of model.barriers) {
    if (barrier.target === END_TARGET) continue;
    arrivals[barrier.target]?.barriers.push(barrier.members.map((member) => member.nodes));
    for (const member of barrier.members) for (const node of member.nodes) arrivals[node]?.leadsTo.add(barrier.target);
  }
  return arrivals;
}

interface Written {
  readonly before: BitRows;
  readonly own: BitRows;
}

/** Fills `result` with the channels that all arrivals have written: all channels if there is no arrival. */
function writtenBefore(arrivals: Arrivals, result: Int32Array, { before, own }: Written): void {
  const words = result.length;
  const after = (node: number, word: number): number =>
    before.all[node * words + word]! | own.all[node * words + word]!;
  result.fill(arrivals.fromStart ? 0 : -1);
  for (const node of arrivals.direct) {
    for (let word = 0; word < words; word++) result[word]! &= after(node, word);
  }
  for (const node of arrivals.failed) {
    // Mutation point: written-by-failed
    for (let word = 0; word < words; word++) result[word]! &= before.all[node * words + word]!;
  }
  for (const members of arrivals.barriers) {
    for (let word = 0; word < words; word++) {
      // All members have signalled, and each of them by at least one of its nodes.
      let all = 0;
      for (const nodes of members) {
        let common = -1;
        for (const node of nodes) common &= after(node, word);
        all |= common;
      }
      result[word]! &= all;
    }
  }
}
