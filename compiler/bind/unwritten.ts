/**
 * Which channels may still hold their first `null` when they are read. A channel counts as written where every way to the
 * reader passes a node that writes it: after a barrier, where one of its members has; on an error edge, what the failed
 * node writes does not count; and a condition like `x != null` on the way is as good as a write.
 *
 * The ways are not followed one by one: for 32 channels at a time, bits that say "may be null" spread from `start`.
 */
import { nonNullPaths } from "../expressions/facts.ts";
import { reversePostorder, type Arrival, type ControlGraph, type Exit } from "./control-graph.ts";
import { findCycles, findDominators } from "./dominators.ts";

/** A place where expressions are evaluated: as a node starts, or as its edges are chosen after it (`start`'s too). */
export interface Site {
  readonly vertex: number;
  readonly when: "before" | "after" | "failed";
}

export interface NullChannel {
  readonly name: string;
  /** Nodes that write it. */
  readonly writers: readonly number[];
}

/** `always`: no run has written it here, at least not the first time. */
export type Unwritten = "always" | "sometimes";

/**
 * Answers for reads that are known beforehand. `reads[i]` lists channels (by index) for `sites[i]`; the result lists what
 * is unwritten there. Where nothing leads nothing is unwritten.
 */
export function findUnwritten(
  graph: ControlGraph,
  channels: readonly NullChannel[],
  reads: readonly { readonly site: Site; readonly channels: Iterable<number> }[],
): ReadonlyMap<number, Unwritten>[] {
  const results = reads.map(() => new Map<number, Unwritten>());
  const byBlock = new Map<number, { read: number; channel: number }[]>();
  for (const [read, { channels: wanted }] of reads.entries()) {
    for (const channel of wanted) {
      const block = byBlock.get(channel >> 5);
      if (block === undefined) byBlock.set(channel >> 5, [{ read, channel }]);
      else block.push({ read, channel });
    }
  }
  if (byBlock.size === 0) return results;
  const order = reversePostorder(graph);
  const indexes = new Map(channels.map((channel, index) => [channel.name, index]));
  const isAlways = alwaysUnwritten(graph, channels);
  for (const [block, wanted] of byBlock) {
    const flow = spread(graph, order, channels, indexes, block * 32);
    for (const { read, channel } of wanted) {
      const site = reads[read]?.site;
      if (site === undefined || (flow(site) & (1 << (channel & 31))) === 0) continue;
      results[read]?.set(channel, isAlways(site, channel) ? "always" : "sometimes");
    }
  }
  return results;
}

/** The least solution for the channels from `base` on: bits of what may be null at a site. */
function spread(
  graph: ControlGraph,
  order: readonly number[],
  channels: readonly NullChannel[],
  indexes: ReadonlyMap<string, number>,
  base: number,
): (site: Site) => number {
  const before = new Int32Array(graph.size);
  const writes = new Int32Array(graph.size);
  for (let channel = base; channel < base + 32; channel++) {
    for (const writer of channels[channel]?.writers ?? [])
      writes[writer] = (writes[writer] ?? 0) | (1 << (channel & 31));
  }
  const leaving = (vertex: number, exit: Exit): number => {
    const bits = before[vertex] ?? 0;
    return exit === "done" ? bits & ~(writes[vertex] ?? 0) : bits;
  };
  const arriving = (arrival: Arrival): number => {
    if (arrival.kind === "signal") {
      const bits = leaving(arrival.from, arrival.exit);
      return arrival.facts === undefined ? bits : bits & ~known(arrival.facts, indexes, base);
    }
    let all = -1;
    for (const member of arrival.members) {
      let some = 0;
      for (const { from, exit } of member) some |= leaving(from, exit);
      all &= some;
    }
    return all;
  };
  before[graph.start] = -1;
  const stale = new Uint8Array(graph.size).fill(1);
  for (let changed = true; changed;) {
    changed = false;
    for (const vertex of order) {
      if (stale[vertex] === 0) continue;
      stale[vertex] = 0;
      if (vertex === graph.start) continue;
      let bits = 0;
      for (const arrival of graph.arrivals[vertex] ?? []) bits |= arriving(arrival);
      if (bits === before[vertex]) continue;
      before[vertex] = bits;
      for (const target of graph.successors[vertex] ?? []) {
        stale[target] = 1;
        changed = true;
      }
    }
  }
  return ({ vertex, when }) => leaving(vertex, when === "after" ? "done" : "error");
}

function known(
  facts: NonNullable<Extract<Arrival, { kind: "signal" }>["facts"]>,
  indexes: ReadonlyMap<string, number>,
  base: number,
): number {
  let bits = 0;
  for (const path of nonNullPaths(facts)) {
    const channel = indexes.get(path);
    if (channel !== undefined && channel >= base && channel < base + 32) bits |= 1 << (channel & 31);
  }
  return bits;
}

/**
 * Whether the first read at a site must find `null`: the site's node comes before every writer on all ways. In a loop later
 * reads may find more, so there it is only "sometimes".
 */
function alwaysUnwritten(
  graph: ControlGraph,
  channels: readonly NullChannel[],
): (site: Site, channel: number) => boolean {
  let facts: { dominators: ReturnType<typeof findDominators>; cycles: ReturnType<typeof findCycles> } | undefined;
  return ({ vertex, when }, channel) => {
    const writers = channels[channel]?.writers ?? [];
    if (writers.length === 0) return true;
    facts ??= { dominators: findDominators(graph), cycles: findCycles(graph) };
    const { dominators, cycles } = facts;
    return writers.every((writer) => {
      if (writer === vertex) return when !== "after" && !cycles.isCyclic(vertex);
      return dominators.dominates(vertex, writer) && cycles.component[vertex] !== cycles.component[writer];
    });
  };
}
