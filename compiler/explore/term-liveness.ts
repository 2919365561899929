/**
 * Where conditions look at what, and for how long what they learnt may matter again: the proofs forget the value of a
 * term as soon as no condition can ask for it before its channels are written anew.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import { type BitRows, createBitRows } from "./bit-rows.ts";
import { findComponents, isCyclic } from "../algorithms/components.ts";
import { type Formula, formulaOf, isCondition, termsOf } from "./formula.ts";
import type { ControlModel, ControlNode, Routing } from "./model.ts";
import { START_NODE } from "./outcomes.ts";
import { formulasOf, successorsOf } from "./signals.ts";
import { channelsOf, type Term, termOf } from "./terms.ts";
import { complementValues, intersectValues, isNothing, type ValueSet } from "./value-set.ts";
import { createWitnesses } from "./witnesses.ts";
import { channelsWrittenAfter } from "./written-before.ts";

export interface TermLiveness {
  /** Terms whose values are followed, in the order of environments. */
  readonly tracked: readonly Term[];
  /** By place: which tracked terms (by position) matter while it is marked. */
  readonly live: BitRows;
  /** Terms (by id) that say something about each other, which this domain does not follow. */
  readonly entangled: ReadonlySet<number>;
  /**
   * Whether a term that this domain does not look into may have a value of the set when a node asks for it: what it is made
   * of came from outside by then, and a sample shows such a value.
   */
  isOpen(node: number, term: number, set: ValueSet): boolean;
  /** Whether it may have one whatever came before: only channels decide it that the node itself has just written. */
  isFresh(node: number, term: number): boolean;
  /** By channel index: the sets that conditions ask about. */
  readonly asked: ReadonlyMap<number, readonly ValueSet[]>;
}

/** What each node's conditions read. */
interface NodeReads {
  /** Conditions of its edges, asked after its step. */
  readonly edges: readonly Formula[];
  /** Conditions inside expressions that it writes to channels, asked before. */
  readonly inside: readonly Formula[];
  /** Where its expression has a value, asked before; no bound of a counter. */
  readonly defined: readonly Formula[];
  /** Terms of its edges' conditions. */
  readonly after: ReadonlySet<Term>;
}

export function findTermLiveness(model: ControlModel, track: boolean): TermLiveness {
  const reads = model.nodes.map((node) => readsOfNode(model, node));
  const startReads = readsOf([model.start], []);
  const successors = successorsOf(model);
  const tracked = track ? trackedTerms(model, startReads, reads, successors) : [];
  const isCut = tracked.length === mostTracked(model) || countOpaque([startReads, ...reads]) > MAX_OPAQUE;
  return {
    tracked,
    live: liveness(model, tracked, reads, successors),
    entangled: entangledTerms([startReads, ...reads], isCut),
    isOpen: openTerms(model, [startReads, ...reads]),
    isFresh: (node, id) => {
      const { channels } = model.terms.terms[id]!;
      return channels.length < 2 || channels.every((channel) => isWrittenFreely(model, node, channel));
    },
    asked: setsAsked([startReads, ...reads]),
  };
}

function readsOfNode(model: ControlModel, node: ControlNode): NodeReads {
  const reads = readsOf([node.routing, node.errorRouting], conditionsInside(model, node.index));
  return node.defined === undefined || node.errorRouting === undefined ? reads : { ...reads, defined: [node.defined] };
}

function readsOf(routings: readonly (Routing | undefined)[], inside: readonly Formula[]): NodeReads {
  const edges = routings.flatMap(formulasOf);
  const after = new Set<Term>();
  for (const formula of edges) for (const term of termsOf(formula)) after.add(term);
  return { edges, inside, defined: [], after };
}

/** `x < 3 ? x + 1 : 0` asks whether `x < 3`. */
function conditionsInside(model: ControlModel, node: number): Formula[] {
  const found: Formula[] = [];
  const pending = (model.data.writes[node] ?? []).flatMap((write) => write.expression ?? []);
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (isCondition(part)) found.push(formulaOf(model.terms, part));
    else {
      if (part.op === "if") found.push(formulaOf(model.terms, part.condition));
      for (const each of expressionParts(part)) pending.push(each);
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
      else if (part.kind === "and" || part.kind === "or") for (const each of part.parts) pending.push(each);
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
 * Channels that a condition asks about, those that their values are computed from, and whatever else is asked about more
 * than once. What is asked about once is a free choice.
 */
function trackedTerms(
  model: ControlModel,
  startReads: NodeReads,
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): readonly Term[] {
  const channels = new Set<number>();
  for (const [term, readers] of readersByTerm(startReads, reads)) {
    if (term.channel !== undefined && !isFreshEachTime(model, term.channel, readers)) channels.add(term.channel);
  }
  for (const channel of channels) {
    for (const { expression } of model.data.computed[channel]!) {
      for (const source of expression === undefined ? [] : channelsOf(expression)) channels.add(source);
    }
  }
  return [
    ...[...channels].sort((a, b) => a - b).map((channel) => termOf(model.terms, { op: "channel", channel })),
    ...termsAskedAgain(model, startReads, reads, successors),
  ].slice(0, mostTracked(model));
}

/** Asked about by one node only, which has just written it, with a value that the graph does not know: a free choice. */
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
  // Asked after the node's step, whatever it writes in it.
  const needed = createBitRows(model.nodes.length, tracked.length);
  for (const { index, errorRouting } of model.nodes) {
    const ask = (rows: BitRows, terms: Iterable<Term>): void => {
      for (const term of terms) {
        const position = positions.get(term);
        if (position !== undefined) rows.add(index, position);
      }
    };
    ask(needed, reads[index]!.after);
    for (const formula of [...reads[index]!.inside, ...reads[index]!.defined]) ask(live, termsOf(formula));
    for (const { channel, expression, optional } of model.data.writes[index] ?? []) {
      const own = ofChannel.get(channel);
      if (own !== undefined && expression !== undefined) {
        for (const source of channelsOf(expression)) {
          const position = ofChannel.get(source);
          if (position !== undefined) live.add(index, position);
        }
      }
      if (optional || errorRouting !== undefined) continue;
      // What a reducer makes of a counter depends on what it was; any other term is a new one after a write.
      if (own !== undefined && model.data.channels[channel]?.reducer === undefined) overwritten.add(index, own);
      for (const position of dependents.get(channel) ?? []) overwritten.add(index, position);
    }
  }
  const predecessors: number[][] = model.nodes.map(() => []);
  successors.forEach((targets, from) => {
    for (const target of targets) predecessors[target]?.push(from);
  });
  const { words } = live;
  const pending = new Set(model.nodes.map((node) => node.index).reverse());
  for (const node of pending) {
    pending.delete(node);
    const behind = successors[node] ?? [];
    let grew = false;
    for (let word = 0; word < words; word++) {
      const at = node * words + word;
      let after = needed.all[at]!;
      for (const successor of behind) after |= live.all[successor * words + word]!;
      const next = live.all[at]! | (after & ~overwritten.all[at]!);
      if (next === live.all[at]) continue;
      live.all[at] = next;
      grew = true;
    }
    if (grew) for (const predecessor of predecessors[node]!) pending.add(predecessor);
  }
  for (const barrier of model.barriers) {
    if (barrier.target < 0) continue;
    const from = barrier.target * words;
    for (const { place } of barrier.members) live.all.copyWithin(place * words, from, from + words);
  }
  return live;
}

/** Bits that say which terms matter where. */
const MAX_LIVENESS = 2 ** 28;

/** Terms that are followed; what is asked about beyond that is a free choice each time. */
function mostTracked(model: ControlModel): number {
  return Math.max(256, Math.floor(MAX_LIVENESS / Math.max(1, model.placeCount)));
}

function countOpaque(reads: readonly NodeReads[]): number {
  const found = new Set<Term>();
  for (const { edges, inside } of reads) {
    for (const formula of [...edges, ...inside])
      for (const term of termsOf(formula)) if (term.channel === undefined) found.add(term);
  }
  return found.size;
}

/** Terms outside the domain that are followed one by one; each costs a walk over its loop. */
const MAX_OPAQUE = 200;

/**
 * A term outside the domain is a free choice only where it is asked for once: not by another condition too, nor by the same
 * one in a later round that did not write its channels again.
 */
function termsAskedAgain(
  model: ControlModel,
  startReads: NodeReads,
  reads: readonly NodeReads[],
  successors: readonly (readonly number[])[],
): readonly Term[] {
  return [...readersByTerm(startReads, reads)]
    .filter(([term]) => term.channel === undefined && term.isSteady)
    .slice(0, MAX_OPAQUE)
    .filter(([term, readers]) => isAskedAgain(model, successors, term, readers))
    .map(([term]) => term);
}

function isAskedAgain(
  model: ControlModel,
  successors: readonly (readonly number[])[],
  term: Term,
  readers: ReadonlySet<number>,
): boolean {
  const [reader] = readers;
  return readers.size > 1 || (reader !== undefined && repeatsUnwritten(model, successors, reader, term.channels));
}

function readersByTerm(startReads: NodeReads, reads: readonly NodeReads[]): ReadonlyMap<Term, ReadonlySet<number>> {
  const found = new Map<Term, Set<number>>();
  const note = (reader: number, { edges, inside, defined }: NodeReads): void => {
    for (const formula of [...edges, ...inside, ...defined]) {
      for (const term of termsOf(formula)) {
        const known = found.get(term);
        if (known === undefined) found.set(term, new Set([reader]));
        else known.add(reader);
      }
    }
  };
  note(START_NODE, startReads);
  reads.forEach((read, node) => note(node, read));
  return found;
}

/**
 * Whether every choice inside a loop is made anew in every round, by values that only imported functions, models or people
 * know. A search that does not follow conditions can then tell, too, whether loops can be left.
 */
export function hasFreeLoops(model: ControlModel): boolean {
  const successors = successorsOf(model);
  const leads = (node: number): readonly number[] => successors[node]!;
  const { members } = findComponents(model.nodes.length, leads);
  const looping = new Set(members.filter((group) => isCyclic(group, leads)).flat());
  if (looping.size === 0) return true;
  const reads = model.nodes.map((node) => readsOfNode(model, node));
  const startReads = readsOf([model.start], []);
  const readers = readersByTerm(startReads, reads);
  const isOpen = openTerms(model, [startReads, ...reads]);
  let budget = MAX_OPAQUE;
  for (const node of looping) {
    for (const term of reads[node]!.after) {
      if (budget-- <= 0 || isAskedAgain(model, successors, term, readers.get(term) ?? new Set())) return false;
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

/** The questions that a formula is made of. */
function membershipsOf(formula: Formula): (Formula & { readonly kind: "in" })[] {
  if (formula.kind === "in") return [formula];
  if (formula.kind === "not") return membershipsOf(formula.of);
  return formula.kind === "const" ? [] : formula.parts.flatMap(membershipsOf);
}

function isComputed(model: ControlModel, channel: number): boolean {
  return !model.data.channels[channel]!.isForeign;
}

/** Whether the node's own step gives the channel a value that nothing before it restricts. */
function isWrittenFreely(model: ControlModel, node: number, channel: number): boolean {
  const { reducer } = model.data.channels[channel]!;
  if (reducer !== undefined && reducer !== "last") return false;
  return (model.data.writes[node] ?? []).some((write) => write.channel === channel && write.isFree && !write.optional);
}

/** Different questions about one channel may have answers that exclude each other. Fields of a record are apart. */
function entangledTerms(reads: readonly NodeReads[], isCut: boolean): ReadonlySet<number> {
  const byChannel = new Map<number, Set<Term>>();
  for (const { edges, inside } of reads) {
    for (const formula of [...edges, ...inside]) {
      for (const term of termsOf(formula)) {
        for (const channel of term.channels) {
          const known = byChannel.get(channel);
          if (known === undefined) byChannel.set(channel, new Set([term]));
          else known.add(term);
        }
      }
    }
  }
  const found = new Set<number>();
  for (const terms of byChannel.values()) {
    // Where not all can be followed, what a run shows is possible at best.
    if (isCut) for (const term of terms) found.add(term.id);
    if (terms.size < 2 || isCut) continue;
    const paths = [...terms].map((term) => term.path);
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
 * What the graph itself computes, or what nobody has written yet, has one value that merely is not known here: that a choice
 * by it can go either way is possible, and no more.
 */
function openTerms(model: ControlModel, reads: readonly NodeReads[]): TermLiveness["isOpen"] {
  const channels = new Set<number>();
  for (const { after } of reads) {
    for (const term of after)
      if (term.channel === undefined) for (const channel of term.channels) channels.add(channel);
  }
  const witnesses = createWitnesses(model.terms);
  const isForeign = (channel: number): boolean => model.data.channels[channel]!.isGiven || !isComputed(model, channel);
  const wanted = new Set([...channels].filter((channel) => isForeign(channel)));
  const written = wanted.size === 0 ? undefined : channelsWrittenAfter(model, wanted);
  return (node, id, set) => {
    const term = model.terms.terms[id]!;
    if (term.channel !== undefined) return true;
    if (!term.isSteady || (term.path === undefined && !witnesses(term, set))) return false;
    if (term.channels.length === 0) return term.isCall;
    const isOpen = (channel: number): boolean =>
      isForeign(channel) && (model.data.channels[channel]!.isGiven || written?.(node, channel) === true);
    return term.isCall ? term.channels.some(isOpen) : term.channels.every(isOpen);
  };
}

/** Whether a node can come round to itself without any of the channels being written again. */
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
