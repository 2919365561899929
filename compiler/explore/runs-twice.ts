import { Marks } from "./marks.ts";
import { END_TARGET } from "../control/net.ts";
import { signalsOf } from "../control/signals.ts";
import type { ControlModel } from "./model.ts";
import type { Run, RunFinder } from "./runs.ts";
import { type State, type StateGraph, type Step } from "./state-graph.ts";

/** A node that runs twice in one round although neither run is a consequence of the other. */
export interface DoubleRun {
  readonly node: number;
  /** The sources of the two signals. An index from the number of nodes on is a barrier. */
  readonly sources: readonly [number, number];
  readonly run: Run;
}

export interface DoubleRuns {
  readonly found: readonly DoubleRun[];
  /** Whether all states were searched. */
  readonly complete: boolean;
}

/** Limit of the states of the second search, over all nodes. */
const MAX_VISITS = 20_000;
const MORE_VISITS = 1000;
/** States that are searched if the state graph is incomplete. */
const MAX_PARTIAL = 2000;
/** Limit of the reported nodes. */
const MAX_FOUND = 50;
/** Limit of the places in the traces of one kind of finding. It bounds the memory and the output. */
export const MAX_TRACED = 100_000;
/** Limit of the places that `findCandidates` visits. */
const MAX_LOOKS = 5_000_000;

/**
 * Finds nodes in which parallel branches meet in different steps, by taint propagation. The first run of the node marks
 * all places that it leads to. A second signal into the node from an unmarked place and from another source is a double
 * run.
 */
export function findDoubleRuns(graph: StateGraph, finder: RunFinder): DoubleRuns {
  const { model } = graph;
  const merges = mergeNodes(model);
  if (merges.size === 0) return { found: [], complete: true };
  const { candidates, isCut } = findCandidates(graph, merges);
  if (candidates.size === 0) return { found: [], complete: !isCut };
  const found = new Map<number, DoubleRun>();
  let traced = 0;
  let visits = 0;
  let most = graph.complete ? MAX_VISITS : MORE_VISITS;
  let complete = !isCut;
  for (const { node, source, entries } of findFirstSignals(graph, candidates)) {
    if (found.has(node)) continue;
    if (found.size >= MAX_FOUND || traced > MAX_TRACED) break;
    const result = follow(graph, entries, node, source, () => ++visits <= most);
    if (result === "too many") complete = false;
    else if (result !== undefined) {
      // One such node shows that the graph is not sound, so the search for others has a small budget.
      most = Math.min(most, visits + MORE_VISITS);
      const before = finder.to(result.before);
      const run = {
        states: [...before.states, ...result.states],
        last: result.last,
        feasible: before.feasible && result.exact,
      };
      traced += tracedPlaces(graph, run);
      found.set(node, { node, sources: [source, result.source], run });
    }
  }
  return { found: [...found.values()].sort((x, y) => x.node - y.node), complete };
}

/** The number of places that the trace of a run shows. */
export function tracedPlaces({ states }: StateGraph, run: Run): number {
  return run.states.reduce((sum, id) => sum + states[id]!.places.length, 0);
}

/** Nodes with more than one source of signals. */
function mergeNodes(model: ControlModel): ReadonlySet<number> {
  const none = -2;
  /** By node: the first source of a signal into it. */
  const sources = new Int32Array(model.nodes.length).fill(none);
  const merges = new Set<number>();
  const add = (target: number, source: number): void => {
    if (target < 0) return;
    if (sources[target] === none) sources[target] = source;
    else if (sources[target] !== source) merges.add(target);
  };
  for (const { index, declared } of model.nodes) {
    for (const target of directTargets(model, index)) add(target, declared);
  }
  for (const target of directTargets(model, -1)) add(target, -1);
  for (const { target, index, passesOn } of model.barriers)
    if (passesOn === undefined) add(target, model.nodes.length + index);
  return merges;
}

function directTargets(model: ControlModel, from: number): readonly number[] {
  const node = model.nodes[from];
  const routings = node === undefined ? [model.start] : [node.routing, node.errorRouting];
  const found = (node?.jumps ?? []).filter((target) => target !== END_TARGET);
  for (const routing of routings) {
    for (const { place, node: target } of signalsOf(routing))
      if (place === target && target !== END_TARGET) found.push(target);
  }
  return found;
}

/** States in which a merge node runs while other places of the marking can still lead to a signal into it. */
function findCandidates(
  graph: StateGraph,
  merges: ReadonlySet<number>,
): { readonly candidates: ReadonlyMap<number, readonly number[]>; readonly isCut: boolean } {
  const known = new Map<string, boolean>();
  const signalled = createSignalled(graph);
  const marked = new Marks(graph.model.placeCount);
  const candidates = new Map<number, number[]>();
  let looks = 0;
  for (const state of graph.states) {
    // An incomplete state graph proves nothing, so only its beginning is searched for defects.
    if (!graph.complete && state.id > MAX_PARTIAL) break;
    if (state.ready < 2) continue;
    for (let index = 0; index < state.ready; index++) {
      const node = state.places[index]!;
      if (!merges.has(node)) continue;
      const others = state.places.filter((place) => place !== node);
      // The result depends on the marking only, so states that differ in values share it.
      const key = others.length > 64 ? `${state.id}|${node}` : `${node}|${others.join()}`;
      let reaches = known.get(key);
      if (reaches === undefined) {
        const answer = canSignal(graph, marked, signalled, others, node);
        looks += answer.looks + others.length;
        if (looks > MAX_LOOKS) return { candidates, isCut: true };
        reaches = answer.reaches;
        known.set(key, reaches);
      }
      if (!reaches) continue;
      const nodes = candidates.get(state.id);
      if (nodes === undefined) candidates.set(state.id, [node]);
      else nodes.push(node);
    }
  }
  return { candidates, isCut: false };
}

/** Creates a function that returns every place that some outcome of a node signals. */
function createSignalled({ outcomes }: StateGraph): (node: number) => readonly number[] {
  const known = new Map<number, readonly number[]>();
  return (node) => {
    let found = known.get(node);
    if (found === undefined) {
      const places = new Set<number>();
      for (const outcome of outcomes.nodes[node]!) for (const place of outcome.places) places.add(place);
      found = [...places];
      known.set(node, found);
    }
    return found;
  };
}

/**
 * Whether these places alone can lead to a signal into a node, if barriers wait for all their members. A `settled(…)`
 * with a signal fires sooner or later.
 */
function canSignal(
  { model }: StateGraph,
  marked: Marks,
  signalled: (node: number) => readonly number[],
  places: readonly number[],
  node: number,
): { readonly reaches: boolean; readonly looks: number } {
  marked.reset(places);
  let looks = places.length;
  const pending = places.filter((place) => place < model.nodes.length);
  for (const place of places) {
    const { settled, target = END_TARGET } = model.barriers[model.barrierOfPlace[place]!] ?? {};
    if (settled === undefined || target === END_TARGET) continue;
    if (target === node) return { reaches: true, looks };
    if (marked.has(target)) continue;
    marked.add(target);
    pending.push(target);
    looks++;
  }
  for (const at of pending) {
    const targets = signalled(at);
    looks += targets.length;
    for (const place of targets) {
      if (place === node) return { reaches: true, looks };
      if (marked.has(place)) continue;
      marked.add(place);
      const barrier = model.barriers[model.barrierOfPlace[place]!];
      if (barrier === undefined) pending.push(place);
      else if (barrier.settled !== undefined || barrier.members.every((member) => marked.has(member.place))) {
        if (barrier.target === node) return { reaches: true, looks };
        if (barrier.target === END_TARGET || marked.has(barrier.target)) continue;
        marked.add(barrier.target);
        pending.push(barrier.target);
      }
    }
  }
  return { reaches: false, looks };
}

/** The steps in which one source starts the first run of a node. */
interface FirstSignals {
  readonly node: number;
  readonly source: number;
  /** In breadth-first order, so the entry nearest to `start` is the first. */
  readonly entries: readonly Entry[];
}

interface Entry {
  /** The state before the node runs. */
  readonly before: number;
  /** The state in which the node runs. */
  readonly state: number;
  /** The step between the two is exact. */
  readonly exact: boolean;
}

function findFirstSignals(graph: StateGraph, candidates: ReadonlyMap<number, readonly number[]>): FirstSignals[] {
  const found = new Map<string, FirstSignals & { readonly entries: Entry[] }>();
  graph.successors.forEach((targets, before) => {
    if (!targets.some((target) => candidates.has(target))) return;
    for (const step of graph.steps(before)) {
      for (const node of candidates.get(step.to) ?? []) {
        for (const source of sourcesOf(graph, graph.states[before]!, step, node)) {
          const key = `${node}/${source}`;
          const known = found.get(key);
          const entry = { before, state: step.to, exact: step.exact };
          if (known === undefined) found.set(key, { node, source, entries: [entry] });
          else known.entries.push(entry);
        }
      }
    }
  });
  return [...found.values()];
}

/** Nodes (or barriers, counted from the number of nodes on; -1 for `start`) whose signals run a node after a step. */
function sourcesOf(graph: StateGraph, state: State, step: Step, node: number): number[] {
  const found: number[] = [];
  const ran = state.id === 0 ? [-1] : state.places.slice(0, state.ready);
  ran.forEach((source, index) => {
    if (step.outcomes[index]?.places.includes(node) === true) found.push(source);
  });
  for (const barrier of step.fired) {
    const { target, passesOn } = graph.model.barriers[barrier]!;
    if (target === node && passesOn === undefined) found.push(graph.model.nodes.length + barrier);
  }
  return found;
}

/** An element of the search of `follow`. */
interface Followed {
  readonly id: number;
  /** Places that are consequences of the first run. */
  readonly marked: ReadonlySet<number>;
  /** The state before the first run. */
  readonly before: number;
  readonly parent: Followed | undefined;
  readonly exact: boolean;
}

/** One breadth-first search from all first runs of one source, which share the visited states. */
function follow(
  graph: StateGraph,
  entries: FirstSignals["entries"],
  node: number,
  source: number,
  mayVisit: () => boolean,
): { before: number; source: number; states: readonly number[]; last: Step; exact: boolean } | "too many" | undefined {
  const queue: Followed[] = [];
  const seen = new Set<string>();
  // Exact steps come first, and one entry for each state is sufficient.
  for (const { before, state, exact } of [...entries].sort((a, b) => Number(b.exact) - Number(a.exact))) {
    if (seen.has(`${state}|${node}`)) continue;
    seen.add(`${state}|${node}`);
    queue.push({ id: state, marked: new Set([node]), before, parent: undefined, exact });
  }
  for (const here of queue) {
    if (!mayVisit()) return "too many";
    const state = graph.states[here.id]!;
    for (const step of graph.steps(here.id)) {
      if (step.to === -1) return "too many";
      const { marked, freshSources } = spreadMark(graph, state, step, here.marked, node);
      const other = freshSources.find(
        (candidate) => declaredOf(graph.model, candidate) !== declaredOf(graph.model, source),
      );
      if (other !== undefined) {
        const states: number[] = [];
        for (let at: Followed | undefined = here; at !== undefined; at = at.parent) states.push(at.id);
        return {
          before: here.before,
          source: other,
          states: states.reverse(),
          last: step,
          exact: here.exact && step.exact,
        };
      }
      const next = graph.states[step.to]!;
      // Without an unmarked node that runs, no second signal is possible.
      let outside = false;
      for (let index = 0; index < next.ready; index++) if (!marked.has(next.places[index]!)) outside = true;
      if (!outside) continue;
      const key = `${step.to}|${[...marked].sort((x, y) => x - y).join()}`;
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push({ id: step.to, marked, before: here.before, parent: here, exact: here.exact && step.exact });
    }
  }
  return undefined;
}

/** Sent tasks count as their declared node. */
function declaredOf({ nodes }: ControlModel, source: number): number {
  return nodes[source]?.declared ?? source;
}

/** The marked places after one more step, and the unmarked sources that signal the node in it. */
function spreadMark(
  graph: StateGraph,
  state: State,
  step: Step,
  marked: ReadonlySet<number>,
  node: number,
): { marked: ReadonlySet<number>; freshSources: readonly number[] } {
  const { model } = graph;
  const next = new Set<number>();
  for (let index = state.ready; index < state.places.length; index++) {
    if (marked.has(state.places[index]!)) next.add(state.places[index]!);
  }
  const fresh: number[] = [];
  step.outcomes.forEach((outcome, index) => {
    const source = state.places[index]!;
    for (const place of outcome.places) {
      if (marked.has(source)) next.add(place);
      else if (place === node) fresh.push(source);
    }
  });
  for (const index of step.fired) {
    const barrier = model.barriers[index]!;
    const isMarked = barrier.members.some((member) => next.has(member.place));
    for (const member of barrier.members) next.delete(member.place);
    if (barrier.passesOn !== undefined) {
      if (isMarked) for (const { places } of barrier.passesOn) for (const place of places) next.add(place);
    } else if (isMarked) next.add(barrier.target);
    else if (barrier.target === node) fresh.push(model.nodes.length + index);
  }
  // Two signals in the same step run the node once, which is another finding (an accidental join).
  return { marked: next, freshSources: next.has(node) ? [] : fresh };
}
