/**
 * How long runs can take and how often nodes can run, from a complete state graph. States in which somebody is waited for
 * cut runs into stretches: what comes round only through a pause is bounded by people.
 */
import { findComponents, isCyclic } from "./components.ts";
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
    steps: endless.length > 0 ? undefined : heaviestStretch(graph, perAnswer, () => 1),
  };
}

/** Most often that a weight can add up along one stretch of a run; only where no loop is endless. */
export function heaviestStretch(graph: StateGraph, perAnswer: boolean, weight: (state: number) => number): number {
  const { states } = graph;
  // A stretch ends with the pause; the next begins behind it.
  const leads = (state: number): ArrayLike<number> =>
    perAnswer && isPause(graph, state) ? NONE : (graph.successors[state] ?? NONE);
  const { members } = findComponents(states.length, leads);
  const heaviest = new Float64Array(states.length);
  let most = 0;
  // Sinks come first, and without cycles every component is one state.
  for (const [id = 0] of members) {
    let behind = 0;
    const targets = leads(id);
    for (let edge = 0; edge < targets.length; edge++) behind = Math.max(behind, heaviest[targets[edge]!]!);
    heaviest[id] = behind + (id > 0 && states[id]!.ready > 0 ? weight(id) : 0);
    most = Math.max(most, heaviest[id]!);
  }
  return most;
}

/** Whether some node that runs in a state waits for a person. */
export function isPause(graph: StateGraph, id: number): boolean {
  const { places, ready } = graph.states[id]!;
  for (let index = 0; index < ready; index++) if (graph.model.nodes[places[index]!]!.pauses) return true;
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
