/**
 * The reachability graph of the Petri net, in breadth-first order. State 0 is the state before `start`. Every other
 * state is a marking (nodes that run next, barrier members that have signalled) with an environment (the values of
 * tracked terms). An edge is one super-step.
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
  /** A run has rolled back: it has ended, and has not completed. */
  readonly rolledBack: boolean;
  /** The number of super-steps before it; 0 for the states that `start` leads to. */
  readonly depth: number;
}

export interface StepEdge {
  readonly from: number;
  readonly to: number;
  /** Some branch ends in this step. */
  readonly ends: boolean;
  /** Its conditions are known to be satisfiable, together with those of the exact steps before it. */
  readonly exact: boolean;
  /** Watched nodes that failed in it. */
  readonly failed: readonly number[];
  /** In the order of the nodes that ran. */
  readonly outcomes: readonly Outcome[];
}

/** Two signals into one place. */
export interface Collision {
  /** `collapse`: into a node, in the same step. `lost`: into a barrier member that is already marked. */
  readonly kind: "collapse" | "lost";
  readonly place: number;
  /**
   * The sources of the signals. An index from the number of nodes on is a barrier; -1 is a signal of an earlier step.
   */
  readonly sources: readonly [number, number];
}

export interface Step extends StepEdge {
  readonly collisions: readonly Collision[];
  /** Barriers that fired in it. */
  readonly fired: readonly number[];
}

/** Why a search is incomplete: too many states, or too many transitions of one step. */
export type GaveUp =
  | { readonly kind: "states"; readonly count: number }
  | { readonly kind: "work"; readonly count: number }
  /** The nodes of one step have too many combinations of outcomes. */
  | { readonly kind: "step"; readonly nodes: readonly number[] }
  /** One node has too many combinations of conditions or jumps. */
  | { readonly kind: "node"; readonly node: number };

export interface StateGraph {
  readonly model: ControlModel;
  readonly outcomes: Outcomes;
  /** Whether it contains every reachable state. */
  readonly complete: boolean;
  /** Whether terms were tracked; otherwise every condition was nondeterministic. */
  readonly followsValues: boolean;
  readonly states: readonly State[];
  /** By state: its successors, one for each edge; aligned with `flags`. */
  readonly successors: readonly Int32Array[];
  /** By state, by edge: bit 0 `ends`, bit 1 not `exact`, bit 2 undecided, bit 3 rolls back, further bits: watched nodes that failed. */
  readonly flags: readonly Int32Array[];
  /** Nodes whose failures are recorded in `flags`. */
  readonly watched: readonly number[];
  /** By node: it runs in some state. By barrier: it fires in some step. */
  readonly nodeRuns: Uint8Array;
  readonly barrierFires: Uint8Array;
  /** By place: marked in some state, or signalled in some step. */
  readonly placeMarked: Uint8Array;
  /** Branches that some step takes, and whether one such step is exact. */
  readonly taken: ReadonlyMap<Branch, boolean>;
  /** By node (`START_NODE` for `start`): where a run fails because no edge can be taken. */
  readonly stuck: ReadonlyMap<number, Stuck>;
  /** The first reason why it is not complete. */
  readonly gaveUp: GaveUp | undefined;
  /** The collisions of all steps, without duplicates. */
  readonly collisions: readonly Collision[];
  /** Whether a node that runs in a state can succeed there: surely, or as far as is known. */
  success(state: number, node: number): "sure" | "possible" | "never";
  /** Whether an asserted condition (by its position) of a node that runs in a state can fail there. */
  violation(state: number, node: number, condition: number): "sure" | "possible" | "never";
  /** The steps from an explored state; of other states, none. Several of them can lead to the same successor. */
  steps(state: number): readonly Step[];
}

export const FLAG_ENDS = 1;
export const FLAG_INEXACT = 2;
/** It depends on unknown values whether a run that reaches the state can take this step. */
export const FLAG_UNDECIDED = 4;
/** The run rolls back. */
export const FLAG_ROLLS_BACK = 8;
export const FLAG_FAILED = 16;

/** The key of the state after a rollback, which has no places. */
export const ROLLED_BACK_KEY = "rolled back";

export type Ending = "completed" | "incomplete" | "failed" | "rolled back";

/** How runs end in a state; `undefined` if they continue, or if the state was not explored. */
export function endingOf(graph: StateGraph, id: number): Ending | undefined {
  const state = graph.states[id]!;
  const followed = graph.successors[id];
  if (state.rolledBack) return "rolled back";
  if (id > 0 && state.ready === 0) return state.places.length === 0 ? "completed" : "incomplete";
  return followed === undefined || followed.length > 0 ? undefined : "failed";
}
