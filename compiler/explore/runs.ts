/** Runs that show something: shortest ways through a state graph, and how they are told to people. */
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { FLAG_INEXACT, type State, type StateGraph, type Step } from "./state-graph.ts";

/** A way from `start`: states one after the other, and (where a step is what matters) one more step from the last. */
export interface Run {
  readonly states: readonly number[];
  readonly last: Step | undefined;
  /** A node that does not finish on it: where it runs, it fails. */
  readonly without?: number;
  /** Its conditions can be met, as far as is known; otherwise they could not be decided together. */
  readonly feasible: boolean;
}

/** Parents of a breadth-first search; -1 for the states it began with, -2 for what it did not reach. */
export interface Search {
  readonly parents: Int32Array;
  /** In the order they were reached. */
  readonly order: readonly number[];
}

export function searchFrom(
  graph: StateGraph,
  roots: readonly number[],
  allow: (state: number, edge: number, target: number) => boolean,
): Search {
  const parents = new Int32Array(graph.states.length).fill(-2);
  const order: number[] = [];
  for (const root of roots) {
    if (parents[root] !== -2) continue;
    parents[root] = -1;
    order.push(root);
  }
  for (let at = 0; at < order.length; at++) {
    const state = order[at]!;
    const targets = graph.successors[state];
    if (targets === undefined) continue;
    for (let edge = 0; edge < targets.length; edge++) {
      const target = targets[edge]!;
      if (parents[target] !== -2 || !allow(state, edge, target)) continue;
      parents[target] = state;
      order.push(target);
    }
  }
  return { parents, order };
}

export function isExactEdge(graph: StateGraph, state: number, edge: number): boolean {
  return (graph.flags[state]![edge]! & FLAG_INEXACT) === 0;
}

/** The way that a search took to a state. */
export function pathTo(search: Search, state: number): number[] {
  const path: number[] = [];
  for (let at = state; at >= 0; at = search.parents[at]!) path.push(at);
  return path.reverse();
}

/** Answers questions about one state graph; searches are made once. */
export interface RunFinder {
  /** The nearest state that is accepted; one with a feasible run where there is one. */
  toState(accept: (state: State) => boolean): Run | undefined;
  /** The nearest step that is accepted, likewise. `worth` says which states' steps need to be looked at. */
  toStep(accept: (step: Step) => boolean, worth?: (state: State) => boolean): Run | undefined;
  /** The shortest run to a state. */
  to(state: number): Run;
}

export function createRunFinder(graph: StateGraph): RunFinder {
  let exact: Search | undefined;
  let all: Search | undefined;
  const exactSearch = (): Search =>
    (exact ??= searchFrom(graph, [0], (state, edge) => isExactEdge(graph, state, edge)));
  const fullSearch = (): Search => (all ??= searchFrom(graph, [0], () => true));
  const to = (state: number): Run => {
    const feasible = exactSearch().parents[state] !== -2;
    return { states: pathTo(feasible ? exactSearch() : fullSearch(), state), last: undefined, feasible };
  };
  return {
    to,
    toState(accept) {
      for (const search of [exactSearch, fullSearch]) {
        const found = search().order.find((id) => accept(graph.states[id]!));
        if (found !== undefined) return to(found);
      }
      return undefined;
    },
    toStep(accept, worth = () => true) {
      let possible: Run | undefined;
      for (const id of exactSearch().order) {
        if (!worth(graph.states[id]!)) continue;
        for (const step of graph.steps(id)) {
          if (!accept(step)) continue;
          if (step.exact) return { ...to(id), last: step };
          possible ??= { ...to(id), last: step, feasible: false };
        }
      }
      if (possible !== undefined) return possible;
      for (const id of fullSearch().order) {
        if (exactSearch().parents[id] !== -2 || !worth(graph.states[id]!)) continue;
        const step = graph.steps(id).find(accept);
        if (step !== undefined) return { ...to(id), last: step, feasible: false };
      }
      return undefined;
    },
  };
}

/** A run, step by step, with who chose what and what barriers hold. */
export function traceOf(graph: StateGraph, run: Run): TraceStep[] {
  const { model } = graph;
  const trace: TraceStep[] = [];
  /** Barrier member -> who filled it. */
  const held = new Map<number, string>();
  let startChoice: string | undefined;
  run.states.forEach((id, position) => {
    const state = graph.states[id]!;
    const next = run.states[position + 1];
    const step = next === undefined ? run.last : stepBetween(graph, id, next, run.without);
    if (id === 0) {
      startChoice = step?.outcomes[0]?.label;
      return;
    }
    if (state.ready === 0) return;
    const nodes = state.places.slice(0, state.ready);
    const chose: [string, string][] = [];
    if (trace.length === 0 && startChoice !== undefined && startChoice !== "") chose.push(["start", startChoice]);
    nodes.forEach((node, index) => {
      const outcome = step?.outcomes[index];
      if (outcome === undefined) return;
      const name = model.nodes[node]!.name;
      if (outcome.label !== "") chose.push([name, outcome.label]);
      for (const place of outcome.places) if (model.barrierOfPlace[place] !== -1) held.set(place, name);
    });
    for (const index of step?.fired ?? []) {
      for (const member of model.barriers[index]!.members) held.delete(member.place);
    }
    trace.push({
      step: state.depth,
      ran: nodes.map((node) => model.nodes[node]!.name),
      chose: Object.fromEntries(chose),
      barriers: Object.fromEntries(heldByBarrier(graph, held)),
    });
  });
  return trace;
}

/** "stuck: publish has 1 of 2 (waits for rewrite)". */
export function describeStuck(graph: StateGraph, barrier: number, places: readonly number[]): string {
  const { members, target } = graph.model.barriers[barrier]!;
  const missing = members.filter((member) => !places.includes(member.place));
  const names = missing.map((member) => memberName(graph, member.nodes)).join(", ");
  const name = graph.model.nodes[target]?.name ?? "end";
  return `stuck: ${name} has ${members.length - missing.length} of ${members.length} (waits for ${names})`;
}

/** `a`, or `any(a, h)`. */
export function memberName(graph: Pick<StateGraph, "model">, nodes: readonly number[]): string {
  const names = nodes.map((node) => graph.model.nodes[node]?.name ?? "");
  return names.length === 1 ? (names[0] ?? "") : `any(${names.join(", ")})`;
}

function heldByBarrier(graph: StateGraph, held: ReadonlyMap<number, string>): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const [place, name] of held) {
    const barrier = graph.model.barriers[graph.model.barrierOfPlace[place]!];
    if (barrier === undefined) continue;
    const names = found.get(barrier.id);
    if (names === undefined) found.set(barrier.id, [name]);
    else if (!names.includes(name)) names.push(name);
  }
  return [...found];
}

function stepBetween(graph: StateGraph, from: number, to: number, without: number | undefined): Step | undefined {
  const { places, ready } = graph.states[from]!;
  const position = without === undefined ? -1 : places.indexOf(without);
  const mustFail = position !== -1 && position < ready && graph.watched.includes(without ?? -1);
  const steps = graph
    .steps(from)
    .filter((step) => step.to === to && (!mustFail || step.failed.includes(without ?? -1)));
  return steps.find((step) => step.exact) ?? steps[0];
}
