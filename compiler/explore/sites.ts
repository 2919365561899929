/**
 * Where conditions look at channels, and for how long what they learnt may matter again: the proofs forget
 * the value of a channel as soon as no condition can read it before it is written anew.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import { type Formula, formulaOf, isCondition, termsOf } from "./formula.ts";
import type { ControlModel, Routing } from "./model.ts";
import { START_NODE } from "./outcomes.ts";
import { formulasOf, successorsOf } from "./signals.ts";
import { channelsOf, type Term } from "./terms.ts";
import type { ValueSet } from "./value-set.ts";

export interface Sites {
  /** Channels whose values are followed, by index; in the order of environments. */
  readonly tracked: readonly number[];
  /** By place: which tracked channels (bits, in that order) matter while it is marked. */
  readonly live: readonly bigint[];
  /** Terms (by id) whose value cannot be taken as a new free choice each time it is asked for. */
  readonly correlated: ReadonlySet<number>;
  /** By channel index: the sets that conditions ask about. */
  readonly asked: ReadonlyMap<number, readonly ValueSet[]>;
}

/** What each node's conditions read. */
interface NodeReads {
  /** Conditions of its edges, asked after its step. */
  readonly edges: readonly Formula[];
  /** Conditions inside expressions that it writes to channels, asked before. */
  readonly inside: readonly Formula[];
  /** Channels that its edges' conditions read. */
  readonly after: ReadonlySet<number>;
}

export function sitesOf(model: ControlModel, track: boolean): Sites {
  const reads = model.nodes.map((node) =>
    readsOf([node.routing, node.errorRouting], conditionsInside(model, node.index)),
  );
  const startReads = readsOf([model.start], []);
  const tracked = track ? trackedChannels(model, [startReads, ...reads]) : [];
  const successors = successorsOf(model);
  return {
    tracked,
    live: liveness(model, tracked, reads, successors),
    correlated: correlatedTerms(model, startReads, reads, successors),
    asked: setsAsked([startReads, ...reads]),
  };
}

function readsOf(routings: readonly (Routing | undefined)[], inside: readonly Formula[]): NodeReads {
  const edges = routings.flatMap(formulasOf);
  const after = new Set<number>();
  for (const formula of edges) for (const term of termsOf(formula)) for (const read of term.channels) after.add(read);
  return { edges, inside, after };
}

/** `x < 3 ? x + 1 : 0` asks whether `x < 3`. */
function conditionsInside(model: ControlModel, node: number): Formula[] {
  const found: Formula[] = [];
  const pending = (model.data.writes[node] ?? []).flatMap((write) => write.expression ?? []);
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (isCondition(part)) found.push(formulaOf(model.terms, part));
    else {
      if (part.op === "if") found.push(formulaOf(model.terms, part.condition));
      pending.push(...expressionParts(part));
    }
  }
  return found;
}

function setsAsked(reads: readonly NodeReads[]): ReadonlyMap<number, readonly ValueSet[]> {
  const found = new Map<number, ValueSet[]>();
  for (const { edges, inside } of reads) {
    const pending: Formula[] = [...edges, ...inside];
    for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
      if (part.kind === "not") pending.push(part.of);
      else if (part.kind === "and" || part.kind === "or") pending.push(...part.parts);
      else if (part.kind === "in" && part.term.channel !== undefined) {
        const known = found.get(part.term.channel);
        if (known === undefined) found.set(part.term.channel, [part.set]);
        else known.push(part.set);
      }
    }
  }
  return found;
}

/** Channels that a condition asks about on their own, and those that their values are computed from. */
function trackedChannels(model: ControlModel, reads: readonly NodeReads[]): readonly number[] {
  const found = new Set<number>();
  for (const { edges } of reads) {
    for (const formula of edges) {
      for (const term of termsOf(formula)) if (term.channel !== undefined) found.add(term.channel);
    }
  }
  for (const channel of found) {
    for (const writes of model.data.writes) {
      for (const write of writes) {
        if (write.channel !== channel || write.expression === undefined) continue;
        for (const source of channelsOf(write.expression)) found.add(source);
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}

function liveness(
  model: ControlModel,
  tracked: readonly number[],
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): readonly bigint[] {
  const bits = new Map(tracked.map((channel, index) => [channel, 1n << BigInt(index)]));
  const maskOf = (channels: Iterable<number>): bigint => {
    let mask = 0n;
    for (const channel of channels) mask |= bits.get(channel) ?? 0n;
    return mask;
  };
  const live: bigint[] = Array.from({ length: model.placeCount }, () => 0n);
  if (tracked.length === 0) return live;
  const needed = model.nodes.map((node) => maskOf(reads[node.index]!.after));
  const computedFrom = model.nodes.map((node) => {
    let mask = 0n;
    for (const write of model.data.writes[node.index] ?? []) {
      if (bits.has(write.channel) && write.expression !== undefined) mask |= maskOf(channelsOf(write.expression));
    }
    return mask;
  });
  const overwritten = model.nodes.map((node) => {
    if (node.errorRouting !== undefined) return 0n;
    const writes = (model.data.writes[node.index] ?? []).filter(
      (write) => !write.optional && model.data.channels[write.channel]?.reducer === undefined,
    );
    return maskOf(writes.map((write) => write.channel));
  });
  const predecessors: number[][] = model.nodes.map(() => []);
  successors.forEach((targets, from) => {
    for (const target of targets) predecessors[target]?.push(from);
  });
  const pending = new Set(model.nodes.map((node) => node.index).reverse());
  for (const node of pending) {
    pending.delete(node);
    let after = needed[node]!;
    for (const successor of successors[node] ?? []) after |= live[successor]!;
    const next = computedFrom[node]! | (after & ~overwritten[node]!);
    if (next === live[node]) continue;
    live[node] = next;
    for (const predecessor of predecessors[node]!) pending.add(predecessor);
  }
  for (const barrier of model.barriers) {
    for (const member of barrier.members) live[member.place] = live[barrier.target] ?? 0n;
  }
  return live;
}

/**
 * A term outside the domain is a free choice only where nothing else looks at the same channels: another condition, or the
 * same one in a later round that did not write them again.
 */
function correlatedTerms(
  model: ControlModel,
  startReads: NodeReads,
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): ReadonlySet<number> {
  const readersOfChannel = new Map<number, Set<number>>();
  const sitesOfTerm = new Map<Term, Set<number>>();
  const note = (site: number, { edges, inside }: NodeReads): void => {
    for (const formula of [...edges, ...inside]) {
      for (const term of termsOf(formula)) {
        addTo(sitesOfTerm, term, site);
        for (const channel of term.channels) addTo(readersOfChannel, channel, site);
      }
    }
  };
  note(START_NODE, startReads);
  for (const node of model.nodes) note(node.index, reads[node.index]!);
  for (const node of model.nodes) {
    for (const write of model.data.writes[node.index] ?? []) {
      if (write.expression === undefined || !readersOfChannel.has(write.channel)) continue;
      for (const channel of channelsOf(write.expression)) addTo(readersOfChannel, channel, node.index);
    }
  }
  const result = new Set<number>();
  let budget = 200;
  for (const [term, sites] of sitesOfTerm) {
    if (term.channel !== undefined) continue;
    const [site] = sites;
    const alone = sites.size === 1 && term.channels.every((channel) => (readersOfChannel.get(channel)?.size ?? 0) <= 1);
    if (!alone || budget-- <= 0 || (site !== undefined && repeatsUnwritten(model, successors, site, term.channels))) {
      result.add(term.id);
    }
  }
  return result;
}

/** Whether a node can come round to itself without any of the channels being written again. */
function repeatsUnwritten(
  model: ControlModel,
  successors: readonly (readonly number[])[],
  site: number,
  channels: readonly number[],
): boolean {
  if (site === START_NODE) return false;
  const writes = (node: number): boolean =>
    (model.data.writes[node] ?? []).some((write) => !write.optional && channels.includes(write.channel));
  if (writes(site) && model.nodes[site]?.errorRouting === undefined) return false;
  const seen = new Set<number>(successors[site]);
  for (const node of seen) {
    if (node === site) return true;
    if (!writes(node)) for (const next of successors[node] ?? []) seen.add(next);
  }
  return false;
}

function addTo<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}
