import { createTracker, type Environment, type Known, type Tracker } from "./environment.ts";
import type { Cube } from "./formula.ts";
import { type Branch, type ControlModel, END_TARGET } from "./model.ts";
import type { Outcome, Outcomes } from "./outcomes.ts";
import { type Sites, sitesOf } from "./sites.ts";
import {
  FLAG_ENDS,
  FLAG_FAILED,
  FLAG_INEXACT,
  type Meeting,
  type State,
  type StateGraph,
  type Step,
} from "./state-graph.ts";
import { intersectValues, isNothing, sameValues, type ValueSet, valueSetKey } from "./value-set.ts";

export interface ExploreOptions {
  /** Follow the values that conditions ask about; otherwise every choice is free. */
  readonly data: boolean;
  readonly maxStates?: number;
  /** Nodes whose failures assertions must tell apart (at most 24). */
  readonly watched?: readonly number[];
}

export const MAX_STATES = 100_000;
/** Ways that one step can go, and steps in all: held like states, because they cost as much. */
const MAX_WAYS = 50_000;
const STEPS_A_STATE = 8;

/**
 * Every state that super-steps can reach, breadth first, so that a state's number never exceeds that of a state further
 * from `start`. Stops at `maxStates`; the graph is then not `complete`, and what it holds is true as far as it goes.
 */
export function explore(model: ControlModel, outcomes: Outcomes, options: ExploreOptions): StateGraph {
  const maxStates = options.maxStates ?? MAX_STATES;
  const watched = (options.watched ?? []).slice(0, 24);
  const sites = sitesOf(model, options.data);
  const followed = new Set(sites.tracked.flatMap((term) => term.channels));
  const context: Context = {
    model,
    outcomes,
    sites,
    tracker: createTracker(model, sites),
    watched: new Map(watched.map((node, bit) => [node, bit])),
    writesTracked: model.data.writes.map((writes) => writes.some((write) => followed.has(write.channel))),
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
  let stepCount = 0;

  states.push({ id: 0, places: [], ready: 0, environment: context.tracker.initial, depth: -1 });
  for (let id = 0; id < states.length && complete; id++) {
    const ways = waysFrom(context, states[id]!);
    stepCount += ways?.length ?? 0;
    if (ways === undefined || states.length > maxStates || stepCount > maxStates * STEPS_A_STATE) {
      complete = false;
      break;
    }
    const targets = new Map<string, number>();
    const to: number[] = [];
    const edgeFlags: number[] = [];
    for (const way of ways) {
      let target = ids.get(way.key);
      if (target === undefined) {
        target = states.length;
        ids.set(way.key, target);
        const ready = countReady(model, way.places);
        states.push({
          id: target,
          places: way.places,
          ready,
          environment: way.environment,
          depth: states[id]!.depth + 1,
        });
        for (let index = 0; index < ready; index++) nodeRuns[way.places[index]!] = 1;
        for (const place of way.places) placeMarked[place] = 1;
      }
      for (const place of way.signalled) placeMarked[place] = 1;
      for (const barrier of way.fired) barrierFires[barrier] = 1;
      for (const meeting of way.meetings) meetings.set(meetingKey(meeting), meeting);
      const edgeKey = `${target}/${way.flags}`;
      if (targets.has(edgeKey)) continue;
      targets.set(edgeKey, to.length);
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
    withData: options.data,
    states,
    successors,
    flags,
    watched,
    nodeRuns,
    barrierFires,
    placeMarked,
    taken: context.taken,
    meetings: [...meetings.values()],
    steps: remember((id) => (waysFrom(context, states[id]!) ?? []).map((way) => stepOf(context, ids, id, way))),
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

interface Context {
  readonly model: ControlModel;
  readonly outcomes: Outcomes;
  readonly sites: Sites;
  readonly tracker: Tracker;
  readonly watched: ReadonlyMap<number, number>;
  readonly writesTracked: readonly boolean[];
  /** Branches that can be taken; noted before combinations that come to the same are dropped. */
  readonly taken: Set<Branch>;
}

/** One way that a step can go. */
interface Way {
  readonly key: string;
  readonly places: readonly number[];
  readonly environment: Environment;
  readonly flags: number;
  readonly signalled: readonly number[];
  readonly fired: readonly number[];
  readonly meetings: readonly Meeting[];
  readonly outcomes: readonly Outcome[];
}

function stepOf(context: Context, ids: ReadonlyMap<string, number>, from: number, way: Way): Step {
  return {
    from,
    to: ids.get(way.key) ?? -1,
    ends: (way.flags & FLAG_ENDS) !== 0,
    exact: (way.flags & FLAG_INEXACT) === 0,
    failed: [...context.watched].filter(([, bit]) => (way.flags & (FLAG_FAILED << bit)) !== 0).map(([node]) => node),
    outcomes: way.outcomes,
    meetings: way.meetings,
    fired: way.fired,
  };
}

/** What the nodes handled so far lead to. */
interface Partial {
  /** Each once, in no order; aligned with `sources`. */
  readonly places: readonly number[];
  readonly sources: readonly number[];
  readonly environment: Environment;
  /** What was decided about terms outside the domain: one decision a step. */
  readonly decided: Cube;
  readonly flags: number;
  readonly meetings: readonly Meeting[];
  readonly exclusive: Outcome | undefined;
  /** By position of the node that ran. */
  readonly outcomes: readonly (Outcome | undefined)[];
}

const NO_DECISIONS: Cube = new Map();

/** `undefined` when there are too many. */
function waysFrom(context: Context, state: State): readonly Way[] | undefined {
  const { outcomes, tracker } = context;
  const fromStart = state.id === 0;
  if (!fromStart && state.ready === 0) return [];
  const ready = fromStart ? [-1] : state.places.slice(0, state.ready);
  const found = new Map<string, Way>();
  // Which nodes fail decides what is written, and with it the values that all conditions of the step see.
  for (const failing of fromStart ? [NOBODY] : failurePatterns(context, ready)) {
    const written = fromStart
      ? state.environment
      : tracker.write(state.environment, failing.size === 0 ? ready : ready.filter((node) => !failing.has(node)));
    const options = ready.map((node) => {
      const all = node === -1 ? outcomes.start : outcomes.nodes[node]!;
      return context.writesTracked[node] === true
        ? all.filter((outcome) => (outcome.kind === "error") === failing.has(node))
        : all;
    });
    const partials = combine(context, written, ready, options);
    if (partials === undefined) return undefined;
    for (const partial of partials) {
      const way = finishWay(context, state, partial);
      found.set(`${way.key}/${way.flags}/${way.meetings.map(meetingKey).join()}`, way);
    }
    if (found.size > MAX_WAYS) return undefined;
  }
  return [...found.values()];
}

const NOBODY: ReadonlySet<number> = new Set();

/** Sets of nodes that fail while the others do not, as far as that changes what is written. */
function failurePatterns(context: Context, ready: readonly number[]): readonly ReadonlySet<number>[] {
  let patterns: readonly ReadonlySet<number>[] = [NOBODY];
  for (const node of ready) {
    if (!context.writesTracked[node]) continue;
    const kinds = new Set(context.outcomes.nodes[node]!.map((outcome) => outcome.kind === "error"));
    if (!kinds.has(true)) continue;
    const failed = patterns.map((pattern) => new Set([...pattern, node]));
    patterns = kinds.has(false) ? [...patterns, ...failed] : failed;
    if (patterns.length > MAX_WAYS) break;
  }
  return patterns;
}

/** Every combination of what the nodes may do. Those that come to the same are kept once, as they arise. */
function combine(
  context: Context,
  environment: Environment,
  ready: readonly number[],
  options: readonly (readonly Outcome[])[],
): readonly Partial[] | undefined {
  let only: Partial = {
    places: [],
    sources: [],
    environment,
    decided: NO_DECISIONS,
    flags: 0,
    meetings: [],
    exclusive: undefined,
    outcomes: ready.map(() => undefined),
  };
  // Where there is nothing to choose, no combinations arise: those nodes come first.
  const open: number[] = [];
  const certain: number[] = [];
  options.forEach((choices, position) => {
    const [first, second] = choices;
    const isCertain = first !== undefined && second === undefined && first.cubes === undefined;
    (isCertain ? certain : open).push(position);
  });
  for (const position of certain) for (const branch of options[position]![0]!.branches) context.taken.add(branch);
  if (certain.length > 0) {
    only = addSignals(
      context,
      only,
      certain.map((position) => ({ position, node: ready[position]!, outcome: options[position]![0]! })),
    );
  }
  let partials: readonly Partial[] = [only];
  for (const position of open) {
    const found = new Map<string, Partial>();
    for (const partial of partials) {
      for (const outcome of options[position]!) {
        for (const narrowed of narrow(context, partial, outcome)) {
          for (const branch of outcome.branches) context.taken.add(branch);
          const next = addSignals(context, narrowed, [{ position, node: ready[position]!, outcome }]);
          const key = partialKey(context, next);
          if (!found.has(key)) found.set(key, next);
        }
      }
      if (found.size > MAX_WAYS) return undefined;
    }
    partials = [...found.values()];
  }
  return partials;
}

function partialKey(context: Context, partial: Partial): string {
  const places = partial.places.toSorted((a, b) => a - b).join();
  const environment = partial.environment.length === 0 ? "" : context.tracker.key(partial.environment);
  const decided = [...partial.decided].map(([term, set]) => `${term}:${valueSetKey(set)}`).join(";");
  const exclusive = partial.exclusive === undefined ? "" : partial.exclusive.places.join();
  const meetings = partial.meetings.map(meetingKey).join();
  return `${places}/${partial.flags}/${environment}/${decided}/${exclusive}/${meetings}`;
}

/** The ways in which an outcome's conditions can hold here: one for each cube that is not ruled out. */
function narrow(context: Context, partial: Partial, outcome: Outcome): Partial[] {
  if (outcome.cubes === undefined)
    return [outcome.exact ? partial : { ...partial, flags: partial.flags | FLAG_INEXACT }];
  const found: Partial[] = [];
  for (const cube of outcome.cubes) {
    const environment: Known[] = [...partial.environment];
    let decided: Map<number, ValueSet> | undefined;
    let exact = outcome.exact;
    let possible = true;
    for (const [id, set] of cube) {
      const position = context.tracker.positions.get(id);
      const known = position === undefined ? (decided ?? partial.decided).get(id) : environment[position]!.set;
      const met = known === undefined ? set : intersectValues(known, set);
      if (isNothing(met)) {
        possible = false;
        break;
      }
      if (known !== undefined && sameValues(met, known)) continue;
      if (context.sites.entangled.has(id)) exact = false;
      if (position !== undefined) {
        if (!environment[position]!.exact) exact = false;
        environment[position] = { set: met, exact: environment[position]!.exact };
      } else {
        decided ??= new Map(partial.decided);
        decided.set(id, met);
      }
    }
    if (!possible) continue;
    const flags = exact ? partial.flags : partial.flags | FLAG_INEXACT;
    found.push({ ...partial, environment, decided: decided ?? partial.decided, flags });
  }
  return found;
}

interface Choice {
  /** Among the nodes that run. */
  readonly position: number;
  readonly node: number;
  readonly outcome: Outcome;
}

function addSignals(context: Context, partial: Partial, choices: readonly Choice[]): Partial {
  const { model, watched } = context;
  const places = [...partial.places];
  const sources = [...partial.sources];
  const outcomes = [...partial.outcomes];
  const meetings = [...partial.meetings];
  const known = new Map<number, number>();
  places.forEach((place, index) => known.set(place, sources[index]!));
  let { flags, exclusive } = partial;
  for (const { position, node, outcome } of choices) {
    outcomes[position] = outcome;
    for (const place of outcome.places) {
      const other = known.get(place);
      if (other === undefined) {
        known.set(place, node);
        places.push(place);
        sources.push(node);
      } else {
        meetings.push({ kind: place < model.nodes.length ? "collapse" : "lost", place, sources: [other, node] });
      }
    }
    if (outcome.ends) flags |= FLAG_ENDS;
    if (!outcome.exact) flags |= FLAG_INEXACT;
    const bit = outcome.kind === "error" ? watched.get(node) : undefined;
    if (bit !== undefined) flags |= FLAG_FAILED << bit;
    // Of several exclusive jumps the last in task order wins.
    if (outcome.exclusive) exclusive = outcome;
  }
  return { ...partial, places, sources, flags, meetings, exclusive, outcomes };
}

/** Adds what barriers already hold, lets complete ones fire, and forgets what no longer matters. */
function finishWay(context: Context, state: State, partial: Partial): Way {
  const { model, tracker } = context;
  const nodeCount = model.nodes.length;
  const marked = new Set<number>(state.places.slice(state.ready));
  const meetings: Meeting[] = [];
  let signalled = partial.places;
  let { flags } = partial;
  if (partial.exclusive === undefined) meetings.push(...partial.meetings);
  else {
    // The jump takes the whole step over: of the others only error routes count, and barriers collect nothing else.
    const kept = partial.outcomes.filter((outcome) => outcome === partial.exclusive || outcome?.kind === "error");
    signalled = [...new Set(kept.flatMap((outcome) => outcome?.places ?? []))];
  }
  const touched = new Set<number>();
  for (const place of signalled) {
    if (place >= nodeCount) {
      if (marked.has(place)) meetings.push({ kind: "lost", place, sources: [-1, sourceOf(partial, place)] });
      else touched.add(model.barrierOfPlace[place]!);
    }
    marked.add(place);
  }
  const fired: number[] = [];
  const firedInto = new Map<number, number>();
  for (const index of [...touched].sort((a, b) => a - b)) {
    const barrier = model.barriers[index]!;
    if (!barrier.members.every((member) => marked.has(member.place))) continue;
    fired.push(index);
    for (const member of barrier.members) marked.delete(member.place);
    if (barrier.target === END_TARGET) flags |= FLAG_ENDS;
    else {
      const direct = partial.places.includes(barrier.target) ? sourceOf(partial, barrier.target) : undefined;
      const other = firedInto.get(barrier.target) ?? direct;
      if (other !== undefined) {
        meetings.push({ kind: "collapse", place: barrier.target, sources: [other, nodeCount + index] });
      }
      firedInto.set(barrier.target, nodeCount + index);
    }
  }
  for (const target of firedInto.keys()) marked.add(target);
  const places = [...marked].sort((a, b) => a - b);
  const environment = tracker.forget(partial.environment, places);
  return {
    key: `${places.join()}|${tracker.key(environment)}`,
    places,
    environment,
    flags,
    signalled,
    fired,
    meetings,
    outcomes: partial.outcomes.filter((outcome) => outcome !== undefined),
  };
}

function sourceOf(partial: Partial, place: number): number {
  return partial.sources[partial.places.indexOf(place)] ?? -1;
}

function countReady(model: ControlModel, places: readonly number[]): number {
  let count = 0;
  while (count < places.length && places[count]! < model.nodes.length) count++;
  return count;
}

function meetingKey(meeting: Meeting): string {
  return `${meeting.kind}${meeting.place}:${meeting.sources[0]}:${meeting.sources[1]}`;
}
