import { createTracker } from "./environment.ts";
import type { ControlModel } from "./model.ts";
import { type Outcomes, START_NODE } from "./outcomes.ts";
import { startTargets, successorsOf } from "../control/signals.ts";
import { findTermLiveness } from "./term-liveness.ts";
import {
  FLAG_ENDS,
  FLAG_FAILED,
  FLAG_INEXACT,
  ROLLED_BACK_KEY,
  type GaveUp,
  type Collision,
  type State,
  type StateGraph,
  type Step,
} from "./state-graph.ts";
import {
  collisionKey,
  outcomesOfTransition,
  sharedTerms,
  type StepContext,
  successOf,
  violationOf,
  type Transition,
  transitionsFrom,
} from "./step-transitions.ts";

export interface ExploreOptions {
  /** Track the values that conditions read; otherwise every condition is nondeterministic. */
  readonly data: boolean;
  readonly maxStates?: number;
  /**
   * Called when the search has become large (`LARGE`). Returns whether the defects found so far are sufficient. A graph
   * whose parallel branches meet without a barrier is not sound, and it has the largest number of states.
   */
  readonly isEnough?: (states: number) => boolean;
  /** Nodes whose failures are recorded in transitions, for assertions (at most 24). */
  readonly watched?: readonly number[];
  /** Computes the transitions of a state. Tests replace it to plant mistakes. */
  readonly stepsFrom?: typeof transitionsFrom;
}

export const MAX_STATES = 100_000;
/** Limit of the work for each allowed state, in nodes that steps run. It bounds the time. */
const WORK_PER_STATE = 4;

/** Limit of the places and values of all states together. It bounds the memory. */
const MAX_SIZE = 6_000_000;

/** Numbers of states at which a search counts as large, and as very large. */
export const LARGE = 500;
const VERY_LARGE = 3000;

/** States that are still explored after a limit was reached: they can show defects, but prove nothing. */
const FEW_STATES = 1000;

/**
 * Reachability analysis of the Petri net of a graph: explores all states that super-steps can reach, breadth first, so
 * runs to a state are shortest ones. Stops at `maxStates`. The state graph is then not `complete`: its states are
 * reachable, but others may be missing.
 */
export function explore(model: ControlModel, outcomes: Outcomes, options: ExploreOptions): StateGraph {
  const maxStates = options.maxStates ?? MAX_STATES;
  const stepsFrom = options.stepsFrom ?? transitionsFrom;
  const watched = (options.watched ?? []).slice(0, 24);
  const liveness = findTermLiveness(model, options.data);
  const trackedChannels = new Set(liveness.tracked.flatMap((term) => term.channels));
  const context: StepContext = {
    model,
    outcomes,
    liveness,
    tracker: createTracker(model, liveness),
    watched: new Map(watched.map((node, bit) => [node, bit])),
    writesTracked: model.data.writes.map((writes) => writes.some((write) => trackedChannels.has(write.channel))),
    shared: sharedTerms(outcomes),
    taken: new Map(),
    stuck: new Map(),
  };
  const states: State[] = [];
  const ids = new Map<string, number>();
  const successors: Int32Array[] = [];
  const flags: Int32Array[] = [];
  const nodeRuns = new Uint8Array(model.nodes.length);
  const barrierFires = new Uint8Array(model.barriers.length);
  const placeMarked = new Uint8Array(model.placeCount);
  const collisions = new Map<string, Collision>();
  let gaveUp: GaveUp | undefined;
  let limit = needsMore(model, maxStates) ? Math.min(FEW_STATES, maxStates) : maxStates;
  const mostWork = limit * WORK_PER_STATE;
  let work = 0;
  let size = 0;
  /** The transitions of the first states, because searches along runs need them again. */
  const known = new Map<number, readonly Transition[]>();
  let kept = 0;
  /** Records why the state graph is incomplete, and lowers the limit to a few more states. */
  const giveUp = (why: GaveUp): void => {
    gaveUp ??= why;
    limit = Math.min(limit, states.length + FEW_STATES);
  };

  const reach = (transition: Transition, depth: number): number => {
    const known = ids.get(transition.key);
    if (known !== undefined) return known;
    const { places, environment } = transition;
    const id = states.length;
    ids.set(transition.key, id);
    const ready = countReady(model, places);
    states.push({ id, places, ready, environment, depth, rolledBack: transition.key === ROLLED_BACK_KEY });
    size += 16 + places.length + 8 * environment.size;
    for (let index = 0; index < ready; index++) nodeRuns[places[index]!] = 1;
    for (const place of places) placeMarked[place] = 1;
    return id;
  };

  states.push({ id: 0, places: [], ready: 0, environment: context.tracker.initial, depth: -1, rolledBack: false });
  for (let id = 0; id < states.length; id++) {
    if (states.length > limit) {
      gaveUp ??= { kind: "states", count: states.length };
      break;
    }
    if (work > mostWork || size > MAX_SIZE) {
      gaveUp ??= { kind: "work", count: states.length };
      break;
    }
    if ((id === LARGE || id === VERY_LARGE) && gaveUp === undefined && options.isEnough?.(id) === true) {
      gaveUp = { kind: "states", count: states.length };
      break;
    }
    const state = states[id]!;
    const { transitions, isCut, work: own = 0 } = stepsFrom(context, state);
    if (kept + transitions.length <= MAX_KEPT) {
      kept += transitions.length;
      known.set(id, transitions);
    }
    work += transitions.length * (1 + state.ready + (state.environment.size >> 1)) + (own >> 3);
    const ready = id === 0 ? [START_NODE] : state.places.slice(0, state.ready);
    const large = outcomes.tooMany.size === 0 ? undefined : ready.find((node) => outcomes.tooMany.has(node));
    if (large !== undefined) giveUp({ kind: "node", node: large });
    else if (isCut) giveUp({ kind: "step", nodes: ready });
    const seen = new Set<string>();
    const to: number[] = [];
    const edgeFlags: number[] = [];
    for (const transition of transitions) {
      const target = reach(transition, state.depth + 1);
      for (const place of transition.signalled) placeMarked[place] = 1;
      for (const barrier of transition.fired) barrierFires[barrier] = 1;
      for (const collision of transition.collisions) collisions.set(collisionKey(collision), collision);
      const edge = `${target}/${transition.flags}`;
      if (seen.has(edge)) continue;
      seen.add(edge);
      to.push(target);
      edgeFlags.push(transition.flags);
    }
    successors.push(Int32Array.from(to));
    flags.push(Int32Array.from(edgeFlags));
  }
  return {
    model,
    outcomes,
    complete: gaveUp === undefined,
    gaveUp,
    followsValues: liveness.tracked.length > 0,
    states,
    successors,
    flags,
    watched,
    nodeRuns,
    barrierFires,
    placeMarked,
    taken: context.taken,
    stuck: context.stuck,
    collisions: [...collisions.values()],
    success: (id, node) => successOf(context, states[id]!, node),
    violation: (id, node, condition) => {
      const asserted = model.nodes[node]?.asserted[condition];
      return asserted === undefined ? "never" : violationOf(context, states[id]!, node, asserted);
    },
    steps: remember((id) => {
      // The steps of a state beyond the limit lead nowhere, and there can be thousands of such states.
      if (id >= successors.length) return [];
      const transitions = known.get(id) ?? stepsFrom(context, states[id]!).transitions;
      return transitions.map((transition) => toStep(context, ids, id, transition));
    }),
  };
}

/**
 * Whether the search cannot end within a number of states if every node is reachable: each step on the way to the node that is
 * farthest from the start is a state of its own. A search that ends earlier is complete nevertheless.
 */
function needsMore(model: ControlModel, states: number): boolean {
  if (model.nodes.length < states) return false;
  const successors = successorsOf(model);
  const found = new Uint8Array(model.nodes.length);
  let depth = 0;
  for (let nodes = startTargets(model); nodes.length > 0; depth++) {
    const next: number[] = [];
    for (const node of nodes) {
      if (found[node] === 1) continue;
      found[node] = 1;
      for (const each of successors[node]!) next.push(each);
    }
    nodes = next;
  }
  return depth + 1 > states;
}

/** Limit of the transitions that are kept during the search, and of the steps that `remember` caches. */
const MAX_KEPT = 50_000;

/** Caches the steps of states: searches along runs compute the same steps many times. */
function remember(steps: (id: number) => readonly Step[]): (id: number) => readonly Step[] {
  const known = new Map<number, readonly Step[]>();
  let count = 0;
  return (id) => {
    let found = known.get(id);
    if (found === undefined) {
      found = steps(id);
      count += found.length;
      if (count > MAX_KEPT) {
        known.clear();
        count = found.length;
      }
      known.set(id, found);
    }
    return found;
  };
}

function toStep(context: StepContext, ids: ReadonlyMap<string, number>, from: number, transition: Transition): Step {
  return {
    from,
    to: ids.get(transition.key) ?? -1,
    ends: (transition.flags & FLAG_ENDS) !== 0,
    exact: (transition.flags & FLAG_INEXACT) === 0,
    failed: [...context.watched]
      .filter(([, bit]) => (transition.flags & (FLAG_FAILED << bit)) !== 0)
      .map(([node]) => node),
    outcomes: outcomesOfTransition(transition),
    collisions: transition.collisions,
    fired: transition.fired,
  };
}

function countReady(model: ControlModel, places: readonly number[]): number {
  let count = 0;
  while (count < places.length && places[count]! < model.nodes.length) count++;
  return count;
}
