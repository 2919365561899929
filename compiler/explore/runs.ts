/** Runs as evidence: shortest paths through a state graph, and their traces for messages. */
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import { FLAG_INEXACT, type State, type StateGraph, type Step } from "./state-graph.ts";

/** A path of states from `start`, optionally with one more step from its last state. */
export interface Run {
  readonly states: readonly number[];
  readonly last: Step | undefined;
  /** A node that does not finish on this run: if it runs, it fails. */
  readonly without?: number;
  /** By position: whether `without` finishes in the step from this state after all; `undefined` if either will do. */
  readonly finishes?: readonly (boolean | undefined)[];
  /** Its conditions are known to be satisfiable together; otherwise they could not be decided. */
  readonly feasible: boolean;
}

/** The result of a breadth-first search. A parent is -1 for a root, and -2 for a state that was not reached. */
export interface Search {
  readonly parents: Int32Array;
  /** The reached states, in the order of the search. */
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

/** The path of a search to a state. */
export function pathTo(search: Search, state: number): number[] {
  const path: number[] = [];
  for (let at = state; at >= 0; at = search.parents[at]!) path.push(at);
  return path.reverse();
}

/** Finds shortest runs in one state graph. Both searches (exact edges, all edges) run once and are shared. */
export interface RunFinder {
  /** A shortest run to an accepted state, preferably a feasible one. */
  toState(accept: (state: State) => boolean): Run | undefined;
  /** A shortest run to an accepted step, preferably a feasible one. Only steps of states with `worth` are computed. */
  toStep(accept: (step: Step) => boolean, worth?: (state: State) => boolean): Run | undefined;
  /** A shortest run to a state, preferably a feasible one. */
  to(state: number): Run;
  /** Whether a feasible run leads to a state. */
  isFeasible(state: number): boolean;
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
    isFeasible: (state) => exactSearch().parents[state] !== -2,
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

/** The trace of a run: for each step its nodes, their choices, and the signals in barriers. */
export function traceOf(graph: StateGraph, run: Run): TraceStep[] {
  const { model } = graph;
  const trace: TraceStep[] = [];
  /** Barrier member -> the name of the node that signalled it. */
  const signalled = new Map<number, string>();
  let startChoice: string | undefined;
  run.states.forEach((id, position) => {
    const state = graph.states[id]!;
    const next = run.states[position + 1];
    const step = next === undefined ? run.last : stepBetween(graph, id, next, run, position);
    if (id === 0) {
      startChoice = step?.outcomes[0]?.label;
      return;
    }
    if (state.ready === 0) return;
    const nodes = state.places.slice(0, state.ready);
    const chose: [string, string][] = [];
    if (trace.length === 0 && startChoice !== undefined && startChoice !== "") chose.push([model.entry, startChoice]);
    nodes.forEach((node, index) => {
      const outcome = step?.outcomes[index];
      if (outcome === undefined) return;
      const name = model.nodes[node]!.name;
      if (outcome.label !== "") chose.push([name, outcome.label]);
      for (const place of outcome.places) if (model.barrierOfPlace[place] !== -1) signalled.set(place, name);
    });
    for (const index of step?.fired ?? []) {
      for (const member of model.barriers[index]!.members) signalled.delete(member.place);
    }
    trace.push({
      step: trace.length,
      ...(model.entry === "finally" && trace.length === 0 ? { entry: model.entry } : {}),
      ran: nodes.map((node) => model.nodes[node]!.name),
      chose: Object.fromEntries(chose),
      barriers: Object.fromEntries(signalsByBarrier(graph, signalled)),
    });
  });
  return trace;
}

/** "stuck: publish has 1 of 2 (waits for rewrite)". */
export function describeStuck(graph: StateGraph, barrier: number, places: readonly number[]): string {
  const { members, target, rollsBack } = graph.model.barriers[barrier]!;
  const missing = members.filter((member) => !places.includes(member.place));
  const names = missing.map((member) => memberName(graph, member.nodes)).join(", ");
  const name = rollsBack === true ? "rollback" : (graph.model.nodes[target]?.name ?? "end");
  return `stuck: ${name} has ${members.length - missing.length} of ${members.length} (waits for ${names})`;
}

/** `a`, or `any(a, h)`. */
export function memberName(graph: Pick<StateGraph, "model">, nodes: readonly number[]): string {
  const names = nodes.map((node) => graph.model.nodes[node]?.name ?? "");
  return names.length === 1 ? (names[0] ?? "") : `any(${names.join(", ")})`;
}

function signalsByBarrier(graph: StateGraph, signalled: ReadonlyMap<number, string>): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const [place, name] of signalled) {
    const barrier = graph.model.barriers[graph.model.barrierOfPlace[place]!];
    if (barrier === undefined) continue;
    const names = found.get(barrier.id);
    if (names === undefined) found.set(barrier.id, [name]);
    else if (!names.includes(name)) names.push(name);
  }
  return [...found];
}

function stepBetween(graph: StateGraph, from: number, to: number, run: Run, position: number): Step | undefined {
  const { places, ready } = graph.states[from]!;
  const { without, finishes } = run;
  const at = without === undefined || !graph.watched.includes(without) ? -1 : places.indexOf(without);
  const wanted = at === -1 || at >= ready ? undefined : finishes === undefined ? false : finishes[position];
  const steps = graph
    .steps(from)
    .filter((step) => step.to === to && (wanted === undefined || step.failed.includes(without ?? -1) !== wanted));
  return steps.find((step) => step.exact) ?? steps[0];
}
