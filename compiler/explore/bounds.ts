/**
 * How long runs can take and how often nodes can run, from a complete state graph. States in which somebody is waited for
 * cut runs into stretches: what comes round only through a pause is bounded by people.
 */
import { findComponents, isCyclic } from "../algorithms/components.ts";
import type { StateGraph } from "./state-graph.ts";

export interface Bounds {
  /** Ways to go round without a pause that conditions do not end: states of each. */
  readonly endless: readonly (readonly number[])[];
  /** Runs can go round through pauses, so what follows holds between two of them. */
  readonly perAnswer: boolean;
  /** Most steps of one stretch; `undefined` where some loop is endless. */
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

/** Stretches of runs: from one pause to the next where `perAnswer` says so, otherwise whole runs. */
export interface Stretches {
  /** Most often that a weight of states can add up along one stretch. By state; states that are not in it weigh nothing. */
  heaviest(weights: ArrayLike<number>): number;
}

/** Only for graphs in which no loop is endless. */
export function findStretches(graph: StateGraph, perAnswer: boolean): Stretches {
  const { states } = graph;
  // A stretch ends with the pause; the next begins behind it.
  const leads = (state: number): ArrayLike<number> =>
    perAnswer && isPause(graph, state) ? NONE : (graph.successors[state] ?? NONE);
  // Sinks come first, and without cycles every component is one state.
  const order = Int32Array.from(findComponents(states.length, leads).members, ([id = 0]) => id);
  const sums = new Float64Array(states.length);
  const pauses = perAnswer ? graph.states.filter(({ id }) => isPause(graph, id)).map(({ id }) => id) : [];
  // Successors of all states in one array: there is one walk for each loop.
  const firstEdge = new Int32Array(order.length + 1);
  order.forEach((id, index) => (firstEdge[index + 1] = firstEdge[index]! + leads(id).length));
  const edges = new Int32Array(firstEdge[order.length]!);
  order.forEach((id, index) => edges.set(Array.from(leads(id)), firstEdge[index]));
  return {
    heaviest(weights) {
      let most = 0;
      for (let index = 0; index < order.length; index++) {
        const id = order[index]!;
        let behind = 0;
        for (let edge = firstEdge[index]!; edge < firstEdge[index + 1]!; edge++) {
          const beyond = sums[edges[edge]!]!;
          if (beyond > behind) behind = beyond;
        }
        const sum = behind + (weights[id] ?? 0);
        sums[id] = sum;
        if (sum > most) most = sum;
      }
      // A pause may come before its step or after it: the step counts with the stretch on either side.
      for (const id of pauses) {
        let behind = 0;
        for (const next of graph.successors[id] ?? []) behind = Math.max(behind, sums[next]!);
        most = Math.max(most, behind + (weights[id] ?? 0));
      }
      return most;
    },
  };
}

/** By state, whether it is a step of the run: neither the start nor one in which nothing is left to run. */
function steps(graph: StateGraph): Uint8Array {
  return Uint8Array.from(graph.states, ({ id, ready }) => (id > 0 && ready > 0 ? 1 : 0));
}

/** Whether every run that gets past a state has waited for a person. */
export function isPause(graph: StateGraph, id: number): boolean {
  const { places, ready } = graph.states[id]!;
  for (let index = 0; index < ready; index++) if (graph.model.nodes[places[index]!]!.alwaysPauses) return true;
  return false;
}

const NONE: ArrayLike<number> = [];

function endlessLoops(graph: StateGraph): readonly (readonly number[])[] {
  // Nothing leads out of a pause here, so no way round passes one.
  const leads = (state: number): ArrayLike<number> =>
    isPause(graph, state) ? NONE : (graph.successors[state] ?? NONE);
  const { members } = findComponents(graph.states.length, leads);
  return members.filter((group) => isCyclic(group, leads));
}

function hasCycle(graph: StateGraph): boolean {
  const leads = (state: number): ArrayLike<number> => graph.successors[state] ?? NONE;
  return findComponents(graph.states.length, leads).members.some((group) => isCyclic(group, leads));
}
