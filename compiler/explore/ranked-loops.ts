/**
 * Loops that end because a counter reaches a bound which the loop does not change, such as `when i < len(xs)` with `i + 1 into i`.
 * The bound is unknown, so the search finds no number of rounds. The distance between counter and bound is a ranking function
 * (lexicographic for nested loops): it decreases in each round and has a lower limit.
 */
import { findComponents, isCyclic } from "../algorithms/components.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { counterStep } from "./environment.ts";
import type { ControlModel } from "./model.ts";
import type { Outcome } from "./outcomes.ts";
import type { State, StateGraph } from "./state-graph.ts";
import { channelsOf, type Term } from "./terms.ts";
import { intersectValues, isNothing, type ValueSet, valueSetOf } from "./value-set.ts";

/** A counter that moves towards a bound in each round of a loop. */
export interface Rank {
  /** The index of the channel. */
  readonly counter: number;
  /** The order of the counter and its bound. */
  readonly term: Term;
  readonly grows: boolean;
}

/** Limits of the analysis: the states of one loop, and the counters that are tried. */
const MAX_STATES = 5000;
const MAX_TRIES = 200;

/** The ranks that show that no run stays among these states; `undefined` if they do not show it. */
export function ranksOf(graph: StateGraph, states: readonly number[]): readonly Rank[] | undefined {
  if (states.length > MAX_STATES) return undefined;
  const found: Rank[] = [];
  const removed = new Set<string>();
  let tries = 0;
  const pending = cyclesAmong(graph, states, removed);
  // Each round removes an edge, so the search ends.
  for (let group = pending.pop(); group !== undefined; group = pending.pop()) {
    const own = new Set(group);
    let isRanked = false;
    for (const rank of candidates(graph, group)) {
      if (++tries > MAX_TRIES) return undefined;
      const edges = decreasingEdges(graph, own, removed, rank);
      if (edges.length === 0) continue;
      for (const edge of edges) removed.add(edge);
      found.push(rank);
      pending.push(...cyclesAmong(graph, group, removed));
      isRanked = true;
      break;
    }
    if (!isRanked) return undefined;
  }
  return found;
}

/** The states among `open` from which every run ends or leaves `open`. */
export function statesThatAreLeft(graph: StateGraph, open: readonly number[]): readonly number[] {
  if (open.length > MAX_STATES) return [];
  const position = new Map(open.map((id, at) => [id, at]));
  const leads = (at: number): number[] =>
    Array.from(graph.successors[open[at]!]!).flatMap((id) => position.get(id) ?? []);
  const { members, componentOf } = findComponents(open.length, leads);
  const isLeft = new Uint8Array(members.length);
  // Sinks come first, so what a component leads to is known.
  members.forEach((group, component) => {
    const isOpen = group.some((at) =>
      leads(at).some((to) => componentOf[to] !== component && isLeft[componentOf[to]!] === 0),
    );
    if (isOpen) return;
    const ids = group.map((at) => open[at]!);
    if (!isCyclic(group, leads) || ranksOf(graph, ids) !== undefined) isLeft[component] = 1;
  });
  return open.filter((_, at) => isLeft[componentOf[at]!] === 1);
}

function edgeKey(from: number, to: number): string {
  return `${from}>${to}`;
}

/** The strongly connected components of some states that have a cycle, without the removed edges. */
function cyclesAmong(graph: StateGraph, states: readonly number[], removed: ReadonlySet<string>): number[][] {
  const position = new Map(states.map((id, at) => [id, at]));
  const leads = (at: number): number[] =>
    Array.from(graph.successors[states[at]!]!).flatMap((to) =>
      removed.has(edgeKey(states[at]!, to)) ? [] : (position.get(to) ?? []),
    );
  const { members } = findComponents(states.length, leads);
  return members.filter((group) => isCyclic(group, leads)).map((group) => group.map((at) => states[at]!));
}

/** Counters of a loop, each with a comparison that its conditions make. */
function candidates({ model, outcomes, states }: StateGraph, group: readonly number[]): readonly Rank[] {
  const nodes = new Set(group.flatMap((id) => readyOf(states[id]!)));
  // Mutation point: rank-bound
  const written = new Set([...nodes].flatMap((node) => model.data.writes[node]!.map(({ channel }) => channel)));
  const terms = new Set<Term>();
  for (const node of nodes) {
    for (const { cubes = [] } of outcomes.nodes[node]!)
      for (const cube of cubes) for (const id of cube.keys()) terms.add(model.terms.terms[id]!);
  }
  const found: Rank[] = [];
  for (const term of terms) {
    const { expression, compares, isSteady, isCall } = term;
    if (compares === undefined || !isSteady || isCall || expression.op !== "library") continue;
    const [left, right] = expression.args;
    for (const [side, bound] of [
      [left!, right!],
      [right!, left!],
    ] as const) {
      const counter = counterOf(side);
      if (counter === undefined || channelsOf(bound).some((channel) => written.has(channel))) continue;
      if (!model.data.channels[counter]!.declared.numbers.integer) continue;
      const steps = [...nodes].flatMap((node) => stepsOf(model, node, counter));
      if (steps.length === 0) continue;
      if (steps.every((step) => step !== undefined && step > 0)) found.push({ counter, term, grows: true });
      else if (steps.every((step) => step !== undefined && step < 0)) found.push({ counter, term, grows: false });
    }
  }
  return found;
}

/** The channel of `i`, `i + 1` or `i - 1`. */
function counterOf(side: Expression): number | undefined {
  if (side.op === "channel") return side.channel;
  if (side.op !== "binary" || (side.operator !== "+" && side.operator !== "-")) return undefined;
  return side.left.op === "channel" && side.right.op === "const" ? side.left.channel : undefined;
}

/** What a node adds to a counter; `undefined` for a write of any other value. */
function stepsOf({ data }: ControlModel, node: number, counter: number): (number | undefined)[] {
  const { reducer } = data.channels[counter]!;
  return data.writes[node]!.filter(({ channel }) => channel === counter).map((write) =>
    reducer === undefined || reducer === "last" || reducer === "sum"
      ? counterStep(write, counter, reducer === "sum")
      : undefined,
  );
}

/**
 * Edges within a loop that are taken only while the counter has not passed its bound, and between two of which the counter moves.
 * No run takes one of them infinitely often.
 */
function decreasingEdges(
  graph: StateGraph,
  group: ReadonlySet<number>,
  removed: ReadonlySet<string>,
  rank: Rank,
): readonly string[] {
  const states = [...group];
  const bounded: (readonly [number, number])[] = [];
  const moving = new Set(removed);
  for (const from of states) {
    for (const to of graph.successors[from]!) {
      if (!group.has(to) || removed.has(edgeKey(from, to))) continue;
      if (isBounded(graph, from, to, rank)) bounded.push([from, to]);
      if (isMoved(graph, from, to, rank)) moving.add(edgeKey(from, to));
    }
  }
  if (bounded.length === 0) return [];
  const component = new Map<number, number>();
  cyclesAmong(graph, states, moving).forEach((members, at) => {
    for (const id of members) component.set(id, at);
  });
  return bounded.flatMap(([from, to]) => {
    const key = edgeKey(from, to);
    const own = component.get(from);
    // Every cycle through the edge moves the counter.
    return moving.has(key) || own === undefined || own !== component.get(to) ? [key] : [];
  });
}

/** Whether each way from one state to another takes a branch whose condition compares the counter with its bound. */
function isBounded(graph: StateGraph, from: number, to: number, { counter, term, grows }: Rank): boolean {
  const [left] = (term.expression as Expression & { readonly op: "library" }).args;
  // Mutation point: rank-direction
  const passed = (counterOf(left!) === counter) === grows ? PASSED_ABOVE : PASSED_BELOW;
  return readyOf(graph.states[from]!).some((node) => {
    const taken = outcomesTo(graph, from, to, node);
    return (
      taken.length > 0 &&
      taken.every(
        ({ cubes }) =>
          cubes !== undefined &&
          cubes.every((cube) => {
            const set = cube.get(term.id);
            return set !== undefined && isNothing(intersectValues(set, passed));
          }),
      )
    );
  });
}

const PASSED_ABOVE: ValueSet = valueSetOf([">"]);
const PASSED_BELOW: ValueSet = valueSetOf(["<"]);

/** Whether each way from one state to another moves the counter. */
function isMoved(graph: StateGraph, from: number, to: number, { counter }: Rank): boolean {
  const { writes } = graph.model.data;
  // Mutation point: rank-moves
  return readyOf(graph.states[from]!).some(
    (node) =>
      writes[node]!.some(({ channel, optional }) => channel === counter && !optional) &&
      outcomesTo(graph, from, to, node).every(({ kind }) => kind !== "error"),
  );
}

/** The outcomes of a node with which a step can lead from one state to another: no other outcome does. */
function outcomesTo(
  { outcomes, states, model }: StateGraph,
  from: number,
  to: number,
  node: number,
): readonly Outcome[] {
  const all = outcomes.nodes[node]!.filter(({ kind }) => kind !== "stuck");
  const mayDrop = readyOf(states[from]!).some((each) =>
    outcomes.nodes[each]!.some(({ exclusive, rollsBack }) => exclusive || rollsBack === true),
  );
  if (mayDrop) return all;
  const reached = new Set(states[to]!.places);
  const others = readyOf(states[from]!).filter((each) => each !== node);
  // Mutation point: rank-own-signals
  const own = readyOf(states[to]!).filter(
    (place) =>
      !barrierTargets(model).has(place) &&
      !others.some((each) => outcomes.nodes[each]!.some(({ places }) => places.includes(place))),
  );
  // Nothing else signals these nodes, so an outcome that leaves them out, such as one to `end`, leads elsewhere.
  return all.filter(
    ({ places }) =>
      places.every((place) => place >= model.nodes.length || reached.has(place)) &&
      own.every((place) => places.includes(place)),
  );
}

const targets = new WeakMap<ControlModel, ReadonlySet<number>>();

/** The nodes that barriers signal. */
function barrierTargets(model: ControlModel): ReadonlySet<number> {
  let found = targets.get(model);
  if (found === undefined) {
    found = new Set(model.barriers.map(({ target }) => target));
    targets.set(model, found);
  }
  return found;
}

function readyOf({ places, ready }: State): readonly number[] {
  return places.slice(0, ready);
}
