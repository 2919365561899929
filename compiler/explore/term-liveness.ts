/**
 * Liveness analysis of terms (backward, as for variables in a compiler). A term is live at a place if a condition may
 * read it before its channels are written again. The exploration removes dead terms from the abstract state, which
 * merges states.
 */
import { type BitRows, createBitRows } from "./bit-rows.ts";
import { predecessorsOf } from "../algorithms/predecessors.ts";
import { type Formula, termsOf } from "./formula.ts";
import type { ControlModel } from "./model.ts";
import { type NodeReads, type Readers, readersByTerm, readsOf, readsOfNodes } from "./node-reads.ts";
import { START_NODE } from "./outcomes.ts";
import { nodesInLoops, successorsOf } from "../control/signals.ts";
import { channelsOf, readsOnlyLast, type Term, termOf } from "./terms.ts";
import { complementValues, intersectValues, isNothing, type ValueSet } from "./value-set.ts";
import { hasOneToken } from "./definitions.ts";
import { createWitnesses } from "./witnesses.ts";
import { channelsWritten } from "./written-before.ts";

export interface TermLiveness {
  /** Terms that environments store, by position. All other terms are nondeterministic. */
  readonly tracked: readonly Term[];
  /** By place: the tracked terms (by position) that are live while the place is marked. */
  readonly live: BitRows;
  /**
   * Terms (by id) that depend on each other, such as `len(x)` and `x`. The abstract domain does not model this
   * dependence.
   */
  readonly entangled: ReadonlySet<number>;
  /**
   * Whether an opaque term can have a value of the set when a node evaluates it. This is so if its channels have been
   * written from outside the graph, and if a sample (`witnesses.ts`) has such a value.
   */
  isOpen(node: number, term: number, set: ValueSet): boolean;
  /**
   * Whether the value of a term is independent of earlier steps, because the node itself has just written all its
   * channels.
   */
  isFresh(node: number, term: number): boolean;
  /** By channel index: the sets that conditions compare it with. */
  readonly comparedSets: ReadonlyMap<number, readonly ValueSet[]>;
}

export function findTermLiveness(model: ControlModel, track: boolean): TermLiveness {
  const reads = readsOfNodes(model);
  const startReads = readsOf([model.start], []);
  const successors = successorsOf(model);
  const readers = readersByTerm(startReads, reads);
  const tracked = track ? trackedTerms(model, readers, reads, successors) : [];
  const different = new Set([startReads, ...reads]);
  const isCut = tracked.length === mostTracked(model) || countOpaque(different) > MAX_OPAQUE;
  return {
    tracked,
    live: liveness(model, tracked, reads, successors),
    entangled: entangledTerms(model, different, isCut),
    isOpen: openTerms(model, different, readers),
    isFresh: (node, id) => {
      const { channels } = model.terms.terms[id]!;
      return channels.length < 2 || channels.every((channel) => isWrittenFreely(model, node, channel));
    },
    comparedSets: setsByChannel(different),
  };
}

function setsByChannel(reads: Iterable<NodeReads>): ReadonlyMap<number, readonly ValueSet[]> {
  const found = new Map<number, ValueSet[]>();
  for (const { edges, inside, asserted } of reads) {
    const pending: Formula[] = [...edges, ...inside, ...asserted];
    for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
      if (part.kind === "not") pending.push(part.of);
      else if (part.kind === "and" || part.kind === "or") for (const each of part.parts) pending.push(each);
      else if (part.kind === "in" && part.same !== undefined) pending.push(part.same, withoutSame(part));
      else if (part.kind === "in" && part.term.channel !== undefined) {
        const known = found.get(part.term.channel);
        if (known === undefined) found.set(part.term.channel, [part.set]);
        else known.push(part.set);
      }
    }
  }
  return found;
}

/**
 * The terms to track: channels that a condition reads, channels from which their values are computed, and opaque terms
 * that are evaluated more than once. A term that is evaluated once is a nondeterministic choice and need not be
 * tracked.
 */
function trackedTerms(
  model: ControlModel,
  readers: Readers,
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): readonly Term[] {
  const channels = new Set<number>();
  for (const [term, nodes] of readers) {
    if (term.channel !== undefined && !isFreshEachTime(model, term.channel, nodes)) channels.add(term.channel);
  }
  // An assertion is evaluated before its node writes.
  for (const term of reads.flatMap(({ asserted }) => asserted).flatMap((formula) => [...termsOf(formula)]))
    if (term.channel !== undefined) channels.add(term.channel);
  for (const channel of channels) {
    for (const { expression } of model.data.computed[channel]!) {
      for (const source of expression === undefined ? [] : channelsOf(expression)) channels.add(source);
    }
  }
  return [
    ...[...channels].sort((a, b) => a - b).map((channel) => termOf(model.terms, { op: "channel", channel })),
    ...termsReadAgain(model, readers, successors),
  ].slice(0, mostTracked(model));
}

/**
 * Whether only one node reads a channel, and that node has just written it with an unknown value: a nondeterministic
 * choice.
 */
function isFreshEachTime(model: ControlModel, channel: number, readers: ReadonlySet<number>): boolean {
  const [reader] = readers;
  if (reader === undefined || reader === START_NODE || readers.size > 1) return false;
  const { reducer } = model.data.channels[channel]!;
  if (reducer !== undefined || model.nodes[reader]!.errorRouting !== undefined || isComputed(model, channel))
    return false;
  return model.data.writes[reader]!.some((write) => write.channel === channel && !write.optional);
}

function liveness(
  model: ControlModel,
  tracked: readonly Term[],
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): BitRows {
  const live = createBitRows(model.placeCount, tracked.length);
  if (tracked.length === 0) return live;
  const positions = new Map(tracked.map((term, position) => [term, position]));
  const ofChannel = new Map<number, number>();
  /** By channel: positions of other terms that depend on it. */
  const dependents = new Map<number, number[]>();
  tracked.forEach((term, position) => {
    if (term.channel !== undefined) ofChannel.set(term.channel, position);
    else for (const channel of term.channels) dependents.set(channel, [...(dependents.get(channel) ?? []), position]);
  });
  const overwritten = createBitRows(model.nodes.length, tracked.length);
  // Terms that are read after the node's step, so its own writes do not kill them.
  const needed = createBitRows(model.nodes.length, tracked.length);
  const addTerms = (rows: BitRows, index: number, terms: ReadonlySet<Term>): void => {
    if (terms.size === 0) return;
    for (const term of terms) {
      const position = positions.get(term);
      if (position !== undefined) rows.add(index, position);
    }
  };
  for (const { index, errorRouting } of model.nodes) {
    addTerms(needed, index, reads[index]!.after);
    addTerms(live, index, reads[index]!.before);
    for (const { channel, expression, optional } of model.data.writes[index] ?? []) {
      const own = ofChannel.get(channel);
      if (own !== undefined && expression !== undefined) {
        for (const source of channelsOf(expression)) {
          const position = ofChannel.get(source);
          if (position !== undefined) live.add(index, position);
        }
      }
      if (optional || errorRouting !== undefined) continue;
      // The result of a reducer depends on the old value, so such a write does not kill the channel. It kills opaque
      // terms.
      if (own !== undefined && model.data.channels[channel]?.reducer === undefined) overwritten.add(index, own);
      for (const position of dependents.get(channel) ?? []) overwritten.add(index, position);
    }
  }
  const predecessors = predecessorsOf(successors);
  const { words } = live;
  /** The nodes to visit, in the order in which they were added, and whether each of them is to be visited. */
  const pending = model.nodes.map((node) => node.index).reverse();
  const isPending = new Uint8Array(model.nodes.length).fill(1);
  for (const node of pending) {
    isPending[node] = 0;
    const targets = successors[node] ?? [];
    let grew = false;
    for (let word = 0; word < words; word++) {
      const at = node * words + word;
      let after = needed.all[at]!;
      for (const successor of targets) after |= live.all[successor * words + word]!;
      const next = live.all[at]! | (after & ~overwritten.all[at]!);
      if (next === live.all[at]) continue;
      live.all[at] = next;
      grew = true;
    }
    if (!grew) continue;
    for (let at = predecessors.first[node]!; at < predecessors.first[node + 1]!; at++) {
      const predecessor = predecessors.vertices[at]!;
      if (isPending[predecessor] === 1) continue;
      isPending[predecessor] = 1;
      pending.push(predecessor);
    }
  }
  for (const barrier of model.barriers) {
    if (barrier.target < 0) continue;
    const from = barrier.target * words;
    for (const { place } of barrier.members) live.all.copyWithin(place * words, from, from + words);
  }
  return live;
}

/** Bits of the matrix `live`: places x tracked terms. */
const MAX_LIVENESS = 2 ** 28;

/** The largest number of tracked terms; all other conditions are nondeterministic. */
function mostTracked(model: ControlModel): number {
  return Math.max(256, Math.floor(MAX_LIVENESS / Math.max(1, model.placeCount)));
}

function countOpaque(reads: Iterable<NodeReads>): number {
  const found = new Set<Term>();
  for (const { edges, inside, asserted } of reads) {
    for (const formula of [...edges, ...inside, ...asserted])
      for (const term of termsOf(formula)) if (term.channel === undefined) found.add(term);
  }
  return found.size;
}

/** Opaque terms that are analysed; each costs a search over its loop. */
const MAX_OPAQUE = 200;

/**
 * Opaque terms that can be evaluated twice with the same value: by two nodes, or by one node in two rounds of a loop
 * that does not write their channels. All other opaque terms are nondeterministic choices.
 */
function termsReadAgain(
  model: ControlModel,
  readers: Readers,
  successors: readonly (readonly number[])[],
): readonly Term[] {
  return [...readers]
    .filter(([term]) => term.channel === undefined && term.isSteady)
    .slice(0, MAX_OPAQUE)
    .filter(([term, nodes]) => isReadAgain(model, successors, term, nodes))
    .map(([term]) => term);
}

function isReadAgain(
  model: ControlModel,
  successors: readonly (readonly number[])[],
  term: Term,
  readers: ReadonlySet<number>,
): boolean {
  const [reader] = readers;
  return readers.size > 1 || (reader !== undefined && repeatsUnwritten(model, successors, reader, term.channels));
}

/**
 * Whether every choice and every failure inside a loop depends on what the outside world (imported functions, models,
 * people) decides again in each round. Then an exploration without conditions also decides whether each loop can be
 * left.
 */
export function hasFreeLoops(model: ControlModel): boolean {
  const successors = successorsOf(model);
  const looping = nodesInLoops(model);
  if (looping.size === 0) return true;
  const reads = readsOfNodes(model);
  const startReads = readsOf([model.start], []);
  const readers = readersByTerm(startReads, reads);
  const isOpen = openTerms(model, new Set([startReads, ...reads]), readers);
  let budget = MAX_OPAQUE;
  for (const node of looping) {
    const { errorRouting, fails, itemsFrom, alwaysFails, allowsFailure } = model.nodes[node]!;
    // A failure that may be impossible is no exit of a loop.
    const isSure = alwaysFails || (fails === "freely" && itemsFrom === undefined && !allowsFailure);
    if (errorRouting !== undefined && !isSure) return false;
    for (const term of reads[node]!.after) {
      if (budget-- <= 0 || isReadAgain(model, successors, term, readers.get(term) ?? new Set())) return false;
      if (term.channel !== undefined && isComputed(model, term.channel)) return false;
      if (term.channels.length > 1 && !term.channels.every((channel) => isWrittenFreely(model, node, channel)))
        return false;
    }
    for (const { term, set } of reads[node]!.edges.flatMap(membershipsOf)) {
      const rest = intersectValues(term.domain, complementValues(set));
      if (!isOpen(node, term.id, set) || (!isNothing(rest) && !isOpen(node, term.id, rest))) return false;
    }
  }
  return true;
}

function withoutSame({ same: _same, ...atom }: Formula & { readonly kind: "in" }): Formula {
  return atom;
}

/** The atoms of a formula. */
function membershipsOf(formula: Formula): (Formula & { readonly kind: "in" })[] {
  if (formula.kind === "in") return formula.same === undefined ? [formula] : [formula, ...membershipsOf(formula.same)];
  if (formula.kind === "not") return membershipsOf(formula.of);
  return formula.kind === "const" ? [] : formula.parts.flatMap(membershipsOf);
}

function isComputed(model: ControlModel, channel: number): boolean {
  return !model.data.channels[channel]!.isForeign;
}

/** Whether the node's own step writes the channel with an arbitrary value. */
function isWrittenFreely(model: ControlModel, node: number, channel: number): boolean {
  const { reducer } = model.data.channels[channel]!;
  if (reducer !== undefined && reducer !== "last") return false;
  return (model.data.writes[node] ?? []).some((write) => write.channel === channel && write.isFree && !write.optional);
}

/** Whether the node's own step appends an arbitrary last item to the channel, after all other writers of the step. */
function appendsFreely(model: ControlModel, node: number, channel: number): boolean {
  const { data, net } = model;
  if (data.channels[channel]!.reducer !== "append") return false;
  const writes = (index: number): boolean => data.writes[index]!.some((write) => write.channel === channel);
  // Mutation point: free-last-item
  const isFree = (data.writes[node] ?? []).some(
    (write) => write.channel === channel && write.isFree && !write.optional,
  );
  return isFree && (hasOneToken(net) || data.writes.every((_, index) => index <= node || !writes(index)));
}

/** Different terms of one channel can exclude each other's values. Disjoint fields of a record cannot. */
function entangledTerms({ data }: ControlModel, reads: Iterable<NodeReads>, isCut: boolean): ReadonlySet<number> {
  const byChannel = new Map<number, Set<Term>>();
  for (const { edges, inside, asserted } of reads) {
    for (const formula of [...edges, ...inside, ...asserted]) {
      for (const term of termsOf(formula)) {
        for (const channel of term.channels.flatMap((own) => [own, data.channels[own]?.list ?? own])) {
          const known = byChannel.get(channel);
          if (known === undefined) byChannel.set(channel, new Set([term]));
          else known.add(term);
        }
      }
    }
  }
  const found = new Set<number>();
  for (const terms of byChannel.values()) {
    // If not all terms are tracked, no run is exact.
    if (isCut) for (const term of terms) found.add(term.id);
    if (terms.size < 2 || isCut) continue;
    // The length of a list and its items depend on each other.
    const isOfList = ({ channels }: Term): boolean => channels.some((own) => data.channels[own]?.list !== undefined);
    const paths = [...terms].map((term) => (isOfList(term) ? undefined : term.path));
    const areApart = paths.every(
      (path, index) =>
        path !== undefined &&
        paths.every((other, position) => position === index || other?.startsWith(`${path}.`) === false),
    );
    if (!areApart) for (const term of terms) found.add(term.id);
  }
  return found;
}

/**
 * Creates `isOpen`. A channel that the graph itself computes, or that has not been written, has one definite value
 * which the analysis does not know. A choice that depends on it may have both outcomes, but neither is proven possible.
 */
function openTerms(model: ControlModel, reads: Iterable<NodeReads>, readers: Readers): TermLiveness["isOpen"] {
  const channels = new Set<number>();
  for (const { after, defined } of reads) {
    for (const term of [...after, ...defined.flatMap((formula) => [...termsOf(formula)])])
      if (term.channel === undefined) for (const channel of term.channels) channels.add(channel);
  }
  const collected = evaluatedOnce(model, readers);
  const witnesses = createWitnesses(model.terms);
  const isForeign = (channel: number): boolean => {
    const { isGiven, startsUnknown } = model.data.channels[channel]!;
    return !startsUnknown && (isGiven || !isComputed(model, channel));
  };
  const wanted = new Set([...channels].filter((channel) => isForeign(channel)));
  const written = wanted.size === 0 ? undefined : channelsWritten(model, wanted).after;
  return (node, id, set) => {
    const term = model.terms.terms[id]!;
    if (term.channel !== undefined) return true;
    if (!term.isSteady || (term.path === undefined && !witnesses(term, set))) return false;
    if (term.channels.length === 0) return term.isCall;
    const isOpen = (channel: number): boolean => {
      if (!isForeign(channel) || !(model.data.channels[channel]!.isGiven || written?.(node, channel) === true))
        return false;
      return isReplaced(model, channel) || (startsEmpty(model, channel) && collected.has(channel));
    };
    if (
      term.channels.every((channel) => appendsFreely(model, node, channel) && readsOnlyLast(term.expression, channel))
    )
      return true;
    return term.isCall ? term.channels.some(isOpen) : term.channels.every(isOpen);
  };
}

/**
 * Whether a write can set the channel to any value of its domain, regardless of the old value (for `sum`, by a suitable
 * addend). True for a channel without writes.
 */
function isReplaced({ data }: ControlModel, channel: number): boolean {
  const { reducer } = data.channels[channel]!;
  if (reducer === undefined || reducer === "last" || reducer === "sum") return true;
  return data.writes.every((writes) => writes.every((write) => write.channel !== channel));
}

/** Whether a list or record is empty at the start of a run, so that the first write decides its value. */
function startsEmpty({ data }: ControlModel, channel: number): boolean {
  const { reducer, isGiven, startsEmpty: isEmpty } = data.channels[channel]!;
  return isEmpty && !isGiven && (reducer === "append" || reducer === "union" || reducer === "merge");
}

/**
 * Channels that a run reads only once: in one term, at one node. The later values of a growing list depend on its
 * earlier values, so only a single evaluation can have any value.
 */
function evaluatedOnce(model: ControlModel, readers: Readers): ReadonlySet<number> {
  if (readers.size === 0) return new Set();
  const looping = nodesInLoops(model);
  const evaluations = new Map<number, number>();
  for (const [term, nodes] of readers) {
    const repeats = nodes.size > 1 || [...nodes].some((node) => looping.has(node));
    for (const channel of term.channels) evaluations.set(channel, (evaluations.get(channel) ?? 0) + (repeats ? 2 : 1));
  }
  return new Set([...evaluations].filter(([, count]) => count === 1).map(([channel]) => channel));
}

/** Whether a path from a node to itself writes none of the channels. */
function repeatsUnwritten(
  model: ControlModel,
  successors: readonly (readonly number[])[],
  reader: number,
  channels: readonly number[],
): boolean {
  if (reader === START_NODE) return false;
  const writes = (node: number): boolean =>
    (model.data.writes[node] ?? []).some((write) => !write.optional && channels.includes(write.channel));
  if (writes(reader) && model.nodes[reader]?.errorRouting === undefined) return false;
  const seen = new Set<number>(successors[reader]);
  for (const node of seen) {
    if (node === reader) return true;
    if (!writes(node)) for (const next of successors[node] ?? []) seen.add(next);
  }
  return false;
}
