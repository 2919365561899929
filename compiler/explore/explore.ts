import { createTracker } from "./environment.ts";
import type { ControlModel } from "./model.ts";
import type { Outcomes } from "./outcomes.ts";
import { sitesOf } from "./term-liveness.ts";
import {
  FLAG_ENDS,
  FLAG_FAILED,
  FLAG_INEXACT,
  type Meeting,
  type State,
  type StateGraph,
  type Step,
} from "./state-graph.ts";
import { meetingKey, outcomesOfWay, type StepContext, type Way, waysFrom } from "./step-transitions.ts";

export interface ExploreOptions {
  /** Follow the values that conditions ask about; otherwise every choice is free. */
  readonly data: boolean;
  readonly maxStates?: number;
  /** Nodes whose failures assertions must tell apart (at most 24). */
  readonly watched?: readonly number[];
  /** How a state's steps are found; tests plant errors here, to see that they are noticed. */
  readonly stepsFrom?: typeof waysFrom;
}

export const MAX_STATES = 100_000;
/** Nodes that all steps together may run, for each state that is allowed: what time goes into. */
const WORK_A_STATE = 8;

/** States looked at where nothing can be proven any more: they may still show what is wrong. */
const FEW_STATES = 1000;

/**
 * Every state that super-steps can reach, breadth first, so that a state's number never exceeds that of a state further
 * from `start`. Stops at `maxStates`; the graph is then not `complete`, and what it holds is true as far as it goes.
 */
export function explore(model: ControlModel, outcomes: Outcomes, options: ExploreOptions): StateGraph {
  const maxStates = options.maxStates ?? MAX_STATES;
  const stepsFrom = options.stepsFrom ?? waysFrom;
  const watched = (options.watched ?? []).slice(0, 24);
  const sites = sitesOf(model, options.data);
  const followed = new Set(sites.tracked.flatMap((term) => term.channels));
  const context: StepContext = {
    model,
    outcomes,
    sites,
    tracker: createTracker(model, sites),
    watched: new Map(watched.map((node, bit) => [node, bit])),
    writesFollowed: model.data.writes.map((writes) => writes.some((write) => followed.has(write.channel))),
    taken: new Set(),
  };
  const states: State[] = [];
  const ids = new Map<string, number>();
  const successors: Int32Array[] = [];
  const flags: Int32Array[] = [];
  const nodeRuns = new Uint8Array(model.nodes.length);
  const barrierFires = new Uint8Array(model.barriers.length);
  const placeMarked = new Uint8Array(model.placeCount);
  const meetings = new Map<string, Meeting>();
  let complete = outcomes.tooMany.length === 0 && model.unsupported.length === 0;
  // Of a model that leaves something out nothing true can be said about runs.
  let limit = complete ? maxStates : 0;
  let work = 0;

  const reach = (way: Way, depth: number): number => {
    const known = ids.get(way.key);
    if (known !== undefined) return known;
    const { places, environment } = way;
    const id = states.length;
    ids.set(way.key, id);
    const ready = countReady(model, places);
    states.push({ id, places, ready, environment, depth });
    for (let index = 0; index < ready; index++) nodeRuns[places[index]!] = 1;
    for (const place of places) placeMarked[place] = 1;
    return id;
  };

  states.push({ id: 0, places: [], ready: 0, environment: context.tracker.initial, depth: -1 });
  for (let id = 0; id < states.length; id++) {
    if (states.length > limit || work > limit * WORK_A_STATE) {
      complete = false;
      break;
    }
    const state = states[id]!;
    const { ways, isCut } = stepsFrom(context, state);
    work += ways.length * (1 + state.ready);
    if (isCut && complete) {
      complete = false;
      limit = Math.min(limit, states.length + FEW_STATES);
    }
    const seen = new Set<string>();
    const to: number[] = [];
    const edgeFlags: number[] = [];
    for (const way of ways) {
      const target = reach(way, state.depth + 1);
      for (const place of way.signalled) placeMarked[place] = 1;
      for (const barrier of way.fired) barrierFires[barrier] = 1;
      for (const meeting of way.meetings) meetings.set(meetingKey(meeting), meeting);
      const edge = `${target}/${way.flags}`;
      if (seen.has(edge)) continue;
      seen.add(edge);
      to.push(target);
      edgeFlags.push(way.flags);
    }
    successors.push(Int32Array.from(to));
    flags.push(Int32Array.from(edgeFlags));
  }
  return {
    model,
    outcomes,
    complete,
    followsValues: sites.tracked.length > 0,
    states,
    successors,
    flags,
    watched,
    nodeRuns,
    barrierFires,
    placeMarked,
    taken: context.taken,
    meetings: [...meetings.values()],
    steps: remember((id) => stepsFrom(context, states[id]!).ways.map((way) => toStep(context, ids, id, way))),
  };
}

/** Searches that follow runs ask for the same steps over and over; those of some thousand states are kept. */
function remember(steps: (id: number) => readonly Step[]): (id: number) => readonly Step[] {
  const known = new Map<number, readonly Step[]>();
  return (id) => {
    let found = known.get(id);
    if (found === undefined) {
      if (known.size >= 4096) known.clear();
      found = steps(id);
      known.set(id, found);
    }
    return found;
  };
}

function toStep(context: StepContext, ids: ReadonlyMap<string, number>, from: number, way: Way): Step {
  return {
    from,
    to: ids.get(way.key) ?? -1,
    ends: (way.flags & FLAG_ENDS) !== 0,
    exact: (way.flags & FLAG_INEXACT) === 0,
    failed: [...context.watched].filter(([, bit]) => (way.flags & (FLAG_FAILED << bit)) !== 0).map(([node]) => node),
    outcomes: outcomesOfWay(way),
    meetings: way.meetings,
    fired: way.fired,
  };
}

function countReady(model: ControlModel, places: readonly number[]): number {
  let count = 0;
  while (count < places.length && places[count]! < model.nodes.length) count++;
  return count;
}
