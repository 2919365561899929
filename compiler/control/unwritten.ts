/**
 * Channels that may still have their initial `null` when they are read. A channel is written at a reader if every path
 * from `start` to the reader passes a node that writes it. After a barrier, it is written if one of the members has
 * written it. On an error edge, the writes of the failed node do not count. A condition such as `x != null` counts as a
 * write.
 *
 * A forward data-flow analysis ("may" analysis, Kildall): one bit for each channel means "may be null". The bits of 32
 * channels propagate from `start` at a time.
 */
import { type Components, findComponents, isCyclic } from "../algorithms/components.ts";
import { nonNullPaths, type Facts } from "../expressions/facts.ts";
import { reversePostorder, type Arrival, type ControlGraph } from "./control-graph.ts";
import { type Dominators, findDominators } from "./dominators.ts";

/**
 * A point where expressions are evaluated: when a node starts, or when its edges are evaluated (also those of `start`).
 */
export interface Site {
  readonly vertex: number;
  readonly when: "before" | "after" | "failed";
}

export interface NullChannel {
  readonly name: string;
  /** Nodes that write it. */
  readonly writers: readonly number[];
  /** `writers`, and nodes that write it in some of their runs. */
  readonly mayWrite?: readonly number[];
}

/** `always`: no run has written the channel when it reaches this point for the first time. */
export type Unwritten = "always" | "sometimes";

/** Whether a channel may be unwritten at a site. At an unreachable site, no channel is unwritten. */
export type MayBeUnwritten = (site: Site, channel: number) => boolean;

/** The analysis of `channels`. It runs once for each block of 32 channels that a caller needs. */
export function unwrittenChannels(graph: ControlGraph, channels: readonly NullChannel[]): MayBeUnwritten {
  let flat: FlatGraph | undefined;
  const indexes = new Map(channels.map((channel, index) => [channel.name, index]));
  const blocks = new Map<number, (site: Site) => number>();
  return (site, channel) => {
    let block = blocks.get(channel >> 5);
    if (block === undefined) {
      flat ??= flatten(graph);
      block = spread(flat, channels, indexes, channel & ~31);
      blocks.set(channel >> 5, block);
    }
    return (block(site) & (1 << (channel & 31))) !== 0;
  };
}

/**
 * The unwritten channels of each read: `reads[i]` has a site and the channels (by index) that are read there, and the
 * result at `i` maps those that may be unwritten.
 */
export function findUnwritten(
  graph: ControlGraph,
  channels: readonly NullChannel[],
  reads: readonly { readonly site: Site; readonly channels: Iterable<number> }[],
): ReadonlyMap<number, Unwritten>[] {
  const isUnwritten = unwrittenChannels(graph, channels);
  const isAlways = alwaysUnwritten(graph, channels);
  return reads.map(({ site, channels: wanted }) => {
    let found: Map<number, Unwritten> | undefined;
    for (const channel of wanted)
      if (isUnwritten(site, channel))
        (found ??= new Map()).set(channel, isAlways(site, channel) ? "always" : "sometimes");
    return found ?? NONE;
  });
}

const NONE: ReadonlyMap<number, Unwritten> = new Map();

/** The least fixed point for the 32 channels from `base` on: the bits of the channels that may be null at a site. */
function spread(
  graph: FlatGraph,
  channels: readonly NullChannel[],
  indexes: ReadonlyMap<string, number>,
  base: number,
): (site: Site) => number {
  const { order, first, from, isDone, barriers, facts, successors } = graph;
  const before = new Int32Array(graph.size);
  const writes = new Int32Array(graph.size);
  for (let channel = base; channel < base + 32; channel++) {
    const bit = 1 << (channel & 31);
    for (const writer of channels[channel]?.writers ?? []) writes[writer] = (writes[writer] as number) | bit;
  }
  const cleared = facts.map((list) => nonNullBits(list, indexes, base));
  const leaving = (vertex: number, done: number): number => {
    const bits = before[vertex] as number;
    // Mutation point: written-by-failed
    return done === 1 ? bits & ~(writes[vertex] as number) : bits;
  };
  const arriving = (vertex: number): number => {
    let bits = 0;
    for (let at = first[vertex] as number, end = first[vertex + 1] as number; at < end; at++) {
      const source = from[at] as number;
      if (source >= 0) {
        const factsIndex = graph.factsAt[at] as number;
        const arrived = leaving(source, isDone[at] as number);
        bits |= factsIndex < 0 ? arrived : arrived & ~(cleared[factsIndex] as number);
      } else bits |= passBarrier(barriers[-source - 1] as Barrier, leaving);
    }
    return bits;
  };
  before[graph.start] = -1;
  // One pass in reverse postorder solves the acyclic part; later passes visit successors of changed vertices only.
  const stale = new Uint8Array(graph.size);
  let changed = false;
  const settle = (vertex: number, isFirst: boolean): void => {
    const bits = arriving(vertex);
    if (bits === before[vertex]) return;
    before[vertex] = bits;
    for (const target of successors[vertex] as readonly number[]) {
      if (isFirst && (graph.rank[target] as number) > (graph.rank[vertex] as number)) continue;
      stale[target] = 1;
      changed = true;
    }
  };
  for (const vertex of order) if (vertex !== graph.start) settle(vertex, true);
  while (changed) {
    changed = false;
    for (const vertex of order) {
      if (stale[vertex] === 0) continue;
      stale[vertex] = 0;
      if (vertex !== graph.start) settle(vertex, false);
    }
  }
  return ({ vertex, when }) => leaving(vertex, when === "after" ? 1 : 0);
}

type Barrier = Extract<Arrival, { kind: "barrier" }>["members"];

/** Bits after a barrier: a channel may be null if it may be null after every member. */
function passBarrier(members: Barrier, leaving: (vertex: number, done: number) => number): number {
  let all = -1;
  for (const member of members) {
    let some = 0;
    for (const { from, exit } of member) some |= leaving(from, exit === "done" ? 1 : 0);
    all &= some;
  }
  return all;
}

/** Arrivals in flat arrays, because the analysis reads all of them once for every 32 channels. */
interface FlatGraph {
  readonly size: number;
  readonly start: number;
  readonly order: readonly number[];
  /** Index in `order`. */
  readonly rank: Int32Array;
  /** Arrivals of a vertex: from `first[vertex]` to `first[vertex + 1]`. */
  readonly first: Int32Array;
  /** Source of an arrival; `-1 - i` for barrier i. */
  readonly from: Int32Array;
  readonly isDone: Uint8Array;
  /** Index in `facts`, or -1. */
  readonly factsAt: Int32Array;
  readonly facts: readonly Facts[];
  readonly barriers: readonly Barrier[];
  readonly successors: ControlGraph["successors"];
}

/** The result is cached, because the analysis runs for several sets of channels. */
function flatten(graph: ControlGraph): FlatGraph {
  const found = knownFlat.get(graph) ?? flattenAll(graph);
  knownFlat.set(graph, found);
  return found;
}

const knownFlat = new WeakMap<ControlGraph, FlatGraph>();

function flattenAll(graph: ControlGraph): FlatGraph {
  const order = reversePostorder(graph);
  const rank = new Int32Array(graph.size).fill(-1);
  for (const [index, vertex] of order.entries()) rank[vertex] = index;
  const count = graph.arrivals.reduce((sum, list) => sum + list.length, 0);
  const first = new Int32Array(graph.size + 1);
  const from = new Int32Array(count);
  const isDone = new Uint8Array(count);
  const factsAt = new Int32Array(count).fill(-1);
  const facts: Facts[] = [];
  const barriers: Barrier[] = [];
  let at = 0;
  for (const [vertex, list] of graph.arrivals.entries()) {
    first[vertex] = at;
    for (const arrival of list) {
      if (arrival.kind === "barrier") from[at] = -barriers.push(arrival.members);
      else {
        from[at] = arrival.from;
        isDone[at] = arrival.exit === "done" ? 1 : 0;
        if (arrival.facts !== undefined) factsAt[at] = facts.push(arrival.facts) - 1;
      }
      at++;
    }
  }
  first[graph.size] = at;
  const { size, start, successors } = graph;
  return { size, start, order, rank, first, from, isDone, factsAt, facts, barriers, successors };
}

/** The bits of the channels that the facts exclude from being null. */
function nonNullBits(facts: Facts, indexes: ReadonlyMap<string, number>, base: number): number {
  let bits = 0;
  for (const path of nonNullPaths(facts)) {
    const channel = indexes.get(path);
    if (channel !== undefined && channel >= base && channel < base + 32) bits |= 1 << (channel & 31);
  }
  return bits;
}

/**
 * Whether the first read at a site must find `null`: the site's node dominates every writer. If the site and a writer
 * are in the same loop, a later read can find a value, so the channel is "sometimes" unwritten.
 */
function alwaysUnwritten(
  graph: ControlGraph,
  channels: readonly NullChannel[],
): (site: Site, channel: number) => boolean {
  const successors = (vertex: number): readonly number[] => graph.successors[vertex] ?? [];
  let facts: { dominators: Dominators; components: Components } | undefined;
  return ({ vertex, when }, channel) => {
    const writers = channels[channel]?.mayWrite ?? channels[channel]?.writers ?? [];
    if (writers.length === 0) return true;
    facts ??= { dominators: findDominators(graph), components: findComponents(graph.size, successors) };
    const { dominators, components } = facts;
    const component = components.componentOf[vertex];
    return writers.every((writer) => {
      if (writer === vertex)
        return when !== "after" && !isCyclic(components.members[component ?? -1] ?? [], successors);
      return dominators.dominates(vertex, writer) && component !== components.componentOf[writer];
    });
  };
}
