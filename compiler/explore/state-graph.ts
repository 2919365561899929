/**
 * All states that runs of a graph can reach, super-step by super-step, as the breadth-first search found them.
 * State 0 stands before `start`; every other is a set of places (nodes that run next, barrier members that have
 * signalled) with what is known of tracked channels. An edge is one super-step.
 */
import type { Environment } from "./environment.ts";
import type { Branch, ControlModel } from "./model.ts";
import type { Outcome, Outcomes } from "./outcomes.ts";
import type { Stuck } from "./step-transitions.ts";

export interface State {
  readonly id: number;
  /** Ascending; nodes come before barrier members. */
  readonly places: readonly number[];
  /** How many of `places` are nodes. */
  readonly ready: number;
  readonly environment: Environment;
  /** Super-steps that have run before it; the state that `start` leads to has 0. */
  readonly depth: number;
}

export interface StepEdge {
  readonly from: number;
  readonly to: number;
  /** Some branch ends in this step. */
  readonly ends: boolean;
  /** Its conditions can be met, together with those of other exact steps that lead here. */
  readonly exact: boolean;
  /** Watched nodes that failed in it. */
  readonly failed: readonly number[];
  /** In the order of the nodes that ran. */
  readonly outcomes: readonly Outcome[];
}

/** Two signals where one is expected. */
export interface Collision {
  /** `collapse`: into a node, in one step. `lost`: into a barrier member that is already filled. */
  readonly kind: "collapse" | "lost";
  readonly place: number;
  /** Nodes, or barriers counted from the number of nodes on; -1 for a signal of an earlier step. */
  readonly sources: readonly [number, number];
}

export interface Step extends StepEdge {
  readonly collisions: readonly Collision[];
  /** Barriers that fired in it. */
  readonly fired: readonly number[];
}

/** What made the search too large: all states, the transitions of one step, or a construct that the model leaves out. */
export type GaveUp =
  | { readonly kind: "states"; readonly count: number }
  | { readonly kind: "work"; readonly count: number }
  /** So many nodes run in one step, each with a choice. */
  | { readonly kind: "step"; readonly nodes: readonly number[] }
  /** One node has too many combinations of conditions or jumps. */
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "unsupported"; readonly what: string };

export interface StateGraph {
  readonly model: ControlModel;
  readonly outcomes: Outcomes;
  /** Whether every reachable state is in it. */
  readonly complete: boolean;
  /** Whether the values of conditions were followed: otherwise every choice was free. */
  readonly followsValues: boolean;
  readonly states: readonly State[];
  /** By state: the states that one step leads to, each edge once; aligned with `flags`. */
  readonly successors: readonly Int32Array[];
  /** By state, by edge: bit 0 `ends`, bit 1 not `exact`, bit 2 undecided, further bits: watched nodes that failed. */
  readonly flags: readonly Int32Array[];
  /** Nodes whose failures are told apart. */
  readonly watched: readonly number[];
  /** By node: it runs in some state. By barrier: it fires in some step. */
  readonly nodeRuns: Uint8Array;
  readonly barrierFires: Uint8Array;
  /** By place: marked in some state, or signalled in some step. */
  readonly placeMarked: Uint8Array;
  /** Branches that some step takes, and whether one such step is exact. */
  readonly taken: ReadonlyMap<Branch, boolean>;
  /** By node (`START_NODE` for `start`): where runs fail for want of a route. */
  readonly stuck: ReadonlyMap<number, Stuck>;
  /** Why it is not complete; the first reason. */
  readonly gaveUp: GaveUp | undefined;
  /** Collisions of any step, each (kind, place, sources) once. */
  readonly collisions: readonly Collision[];
  /** The steps that leave a state; several may lead to one successor. */
  steps(state: number): readonly Step[];
}

export const FLAG_ENDS = 1;
export const FLAG_INEXACT = 2;
/** Whether runs that reach the state can take it depends on values that are not known. */
export const FLAG_UNDECIDED = 4;
export const FLAG_FAILED = 8;

export type Ending = "completed" | "incomplete" | "failed";

/** How runs that reach a state end there; `undefined` where they go on, or where nobody looked further. */
export function endingOf(graph: StateGraph, id: number): Ending | undefined {
  const state = graph.states[id]!;
  const followed = graph.successors[id];
  if (id > 0 && state.ready === 0) return state.places.length === 0 ? "completed" : "incomplete";
  return followed === undefined || followed.length > 0 ? undefined : "failed";
}
