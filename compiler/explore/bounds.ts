/**
 * Bounds for the number of steps of a run and of the runs of a node, from a complete state graph. The model has no
 * bound for a loop that contains a pause: each round needs an answer. Runs are therefore split into stretches, the parts between two
 * pauses.
 */
import { findComponents, isCyclic } from "../algorithms/components.ts";
import type { StateGraph } from "./state-graph.ts";

export interface Bounds {
  /** Loops without a pause that conditions do not bound: the states of each. */
  readonly endless: readonly (readonly number[])[];
  /** Runs have loops through pauses, so the bounds hold between two pauses. */
  readonly perAnswer: boolean;
  /** The largest number of steps of one stretch; `undefined` if a loop is endless. */
  readonly steps: number | undefined;
}

export function findBounds(graph: StateGraph): Bounds {
  const endless = endlessLoops(graph);
  const perAnswer = endless.length === 0 && hasCycle(graph);
  return {
    endless,
    perAnswer,
    steps: endless.length > 0 ? undefined : findStretches(graph, perAnswer).heaviest(steps(graph)),
  };
}

/** Stretches of runs: with `perAnswer` from one pause to the next, otherwise whole runs. */
export interface Stretches {
  /**
   * The largest sum of the weights of states along one stretch. `weights` is indexed by state; missing weights are 0.
   */
  heaviest(weights: ArrayLike<number>): number;
}

/** Requires a graph without endless loops. */
export function findStretches(graph: StateGraph, perAnswer: boolean): Stretches {
  const { states } = graph;
  // A stretch ends with a pause.
  const next = (state: number): ArrayLike<number> =>
    perAnswer && isPause(graph, state) ? NONE : (graph.successors[state] ?? NONE);
  // Without cycles, every component is one state. Tarjan's algorithm returns them in reverse topological order.
  const order = Int32Array.from(findComponents(states.length, next).members, ([id = 0]) => id);
  const sums = new Float64Array(states.length);
  const pauses = perAnswer ? graph.states.filter(({ id }) => isPause(graph, id)).map(({ id }) => id) : [];
  // The successors of all states in one array, because `heaviest` reads all of them once for each loop.
  const firstEdge = new Int32Array(order.length + 1);
  order.forEach((id, index) => (firstEdge[index + 1] = firstEdge[index]! + next(id).length));
  const edges = new Int32Array(firstEdge[order.length]!);
  order.forEach((id, index) => edges.set(Array.from(next(id)), firstEdge[index]));
  return {
    heaviest(weights) {
      let most = 0;
      for (let index = 0; index < order.length; index++) {
        const id = order[index]!;
        let longest = 0;
        for (let edge = firstEdge[index]!; edge < firstEdge[index + 1]!; edge++) {
          const sum = sums[edges[edge]!]!;
          if (sum > longest) longest = sum;
        }
        const sum = longest + (weights[id] ?? 0);
        sums[id] = sum;
        if (sum > most) most = sum;
      }
      // A pause can come before or after its step, so the step counts in the stretch before it and in the one after it.
      for (const id of pauses) {
        let longest = 0;
        for (const target of graph.successors[id] ?? []) longest = Math.max(longest, sums[target]!);
        most = Math.max(most, longest + (weights[id] ?? 0));
      }
      return most;
    },
  };
}

/** By state, 1 if the state is a step of a run: not the start, and with a node to run. */
function steps(graph: StateGraph): Uint8Array {
  return Uint8Array.from(graph.states, ({ id, ready }) => (id > 0 && ready > 0 ? 1 : 0));
}

/** Whether every run that continues after a state has waited for a person. */
export function isPause(graph: StateGraph, id: number): boolean {
  const { places, ready } = graph.states[id]!;
  for (let index = 0; index < ready; index++) if (graph.model.nodes[places[index]!]!.alwaysPauses) return true;
  return false;
}

const NONE: ArrayLike<number> = [];

function endlessLoops(graph: StateGraph): readonly (readonly number[])[] {
  // A pause has no successors here, so no component contains one.
  const leads = (state: number): ArrayLike<number> =>
    isPause(graph, state) ? NONE : (graph.successors[state] ?? NONE);
  const { members } = findComponents(graph.states.length, leads);
  return members.filter((group) => isCyclic(group, leads));
}

function hasCycle(graph: StateGraph): boolean {
  const leads = (state: number): ArrayLike<number> => graph.successors[state] ?? NONE;
  return findComponents(graph.states.length, leads).members.some((group) => isCyclic(group, leads));
}
