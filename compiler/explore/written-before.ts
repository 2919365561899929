import { type BitRows, createBitRows } from "./bit-rows.ts";
import { type ControlModel, END_TARGET, type Routing } from "./model.ts";

/** Whether a channel has certainly been written once a node's own step is over, on every way from `start`. */
export type WrittenAfter = (node: number, channel: number) => boolean;

/**
 * For some channels, at every node: whether they have been written by then. A channel that starts as `null` is not null any
 * more where it has.
 *
 * A forward "must" analysis (Kildall): one bit for each channel and node, which begin as "written" everywhere. A node keeps
 * the bits that all its arrivals have; an arrival by a barrier has the bits of any member, since all have signalled. Both
 * are monotone, so bits are only ever cleared. A node is looked at again only when a bit of a predecessor was cleared, which
 * happens at most nodes x channels times.
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
  /** Nodes whose failure leads here: what they write does not count. */
  readonly failed: Set<number>;
  /** By barrier and member: who fills it. */
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

/** Fills `result` with what has been written however the node is reached: everything where nothing leads to it. */
function writtenBefore(arrivals: Arrivals, result: Int32Array, { before, own }: Written): void {
  const words = result.length;
  const after = (node: number, word: number): number =>
    before.all[node * words + word]! | own.all[node * words + word]!;
  result.fill(arrivals.fromStart ? 0 : -1);
  for (const node of arrivals.direct) {
    for (let word = 0; word < words; word++) result[word]! &= after(node, word);
  }
  for (const node of arrivals.failed) {
    for (let word = 0; word < words; word++) result[word]! &= before.all[node * words + word]!;
  }
  for (const members of arrivals.barriers) {
    for (let word = 0; word < words; word++) {
      // All members have signalled; of the nodes that can fill one, at least one has.
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
