/**
 * The ways that one super-step can go: every combination of what the nodes that run may do, as far as conditions allow
 * them together. Combinations that come to the same are kept once, as they arise.
 */
import type { Environment, Known, Tracker } from "./environment.ts";
import type { Cube } from "./formula.ts";
import { type Branch, type ControlModel, END_TARGET } from "./model.ts";
import { type Outcome, type Outcomes, START_NODE } from "./outcomes.ts";
import type { Sites } from "./term-liveness.ts";
import { FLAG_ENDS, FLAG_FAILED, FLAG_INEXACT, FLAG_UNDECIDED, type Meeting, type State } from "./state-graph.ts";
import { intersectValues, isNothing, sameValues, type ValueSet, valueSetKey } from "./value-set.ts";

export interface StepContext {
  readonly model: ControlModel;
  readonly outcomes: Outcomes;
  readonly sites: Sites;
  readonly tracker: Tracker;
  /** Watched node -> its bit. */
  readonly watched: ReadonlyMap<number, number>;
  /** By node: it writes something that is followed. */
  readonly writesFollowed: readonly boolean[];
  /** Branches that can be taken; noted before combinations that come to the same are dropped. */
  readonly taken: Set<Branch>;
}

export interface Ways {
  readonly ways: readonly Way[];
  /** There were more than are looked at; these are some of them. */
  readonly isCut: boolean;
}

/** One way that a step can go. */
export interface Way {
  /** Of the state that it leads to. */
  readonly key: string;
  readonly places: readonly number[];
  readonly environment: Environment;
  readonly flags: number;
  readonly signalled: readonly number[];
  readonly fired: readonly number[];
  readonly meetings: readonly Meeting[];
  readonly chosen: Chosen | undefined;
}

/** What each node did, the last one decided first. */
export interface Chosen {
  /** Among the nodes that ran. */
  readonly position: number;
  readonly outcome: Outcome;
  readonly before: Chosen | undefined;
}

/** Ways of one step that are looked at. Where there are more nothing can be proven, and a few show what there is to see. */
const MAX_WAYS = 8192;
const FEW_WAYS = 64;

export function waysFrom(context: StepContext, state: State): Ways {
  const { outcomes, tracker } = context;
  const isStart = state.id === 0;
  if (!isStart && state.ready === 0) return { ways: [], isCut: false };
  const cut: Cut = { isCut: false };
  const ready = isStart ? [START_NODE] : state.places.slice(0, state.ready);
  const found = new Map<string, Way>();
  // Which nodes fail decides what is written, and with it the values that all conditions of the step see.
  for (const failing of isStart ? [NOBODY] : failurePatterns(context, ready, cut)) {
    const writers = failing.size === 0 ? ready : ready.filter((node) => !failing.has(node));
    const environment = isStart ? state.environment : tracker.write(state.environment, writers);
    const options = ready.map((node) => {
      const all = node === START_NODE ? outcomes.start : outcomes.nodes[node]!;
      return context.writesFollowed[node] === true
        ? all.filter((outcome) => (outcome.kind === "error") === failing.has(node))
        : all;
    });
    for (const partial of combine(context, environment, ready, options, cut)) {
      const way = finishWay(context, state, partial);
      found.set(`${way.key}/${way.flags}/${way.meetings.map(meetingKey).join()}`, way);
    }
    if (found.size > MAX_WAYS) {
      cut.isCut = true;
      break;
    }
  }
  const ways = [...found.values()];
  return cut.isCut ? { ways: ways.slice(0, FEW_WAYS), isCut: true } : { ways, isCut: false };
}

/** Noted where combinations are dropped. */
interface Cut {
  isCut: boolean;
}

/** In the order of the nodes that ran. */
export function outcomesOfWay(way: Way): readonly Outcome[] {
  const found: Outcome[] = [];
  for (let at = way.chosen; at !== undefined; at = at.before) found[at.position] = at.outcome;
  return found;
}

export function meetingKey(meeting: Meeting): string {
  return `${meeting.kind}${meeting.place}:${meeting.sources[0]}:${meeting.sources[1]}`;
}

const NOBODY: ReadonlySet<number> = new Set();
const NO_DECISIONS: Cube = new Map();
const NO_MEETINGS: readonly Meeting[] = [];

/** What the nodes handled so far lead to. */
interface Partial {
  /** Each once, in no order; aligned with `sources`. */
  readonly places: readonly number[];
  readonly sources: readonly number[];
  readonly environment: Environment;
  /** What was decided about terms that are not followed: one decision a step. */
  readonly decided: Cube;
  readonly flags: number;
  readonly meetings: readonly Meeting[];
  readonly exclusive: Outcome | undefined;
  readonly chosen: Chosen | undefined;
}

/** Sets of nodes that fail while the others do not, as far as that changes what is written. */
function failurePatterns(context: StepContext, ready: readonly number[], cut: Cut): readonly ReadonlySet<number>[] {
  let patterns: readonly ReadonlySet<number>[] = [NOBODY];
  for (const node of ready) {
    if (!context.writesFollowed[node]) continue;
    const kinds = new Set(context.outcomes.nodes[node]!.map((outcome) => outcome.kind === "error"));
    if (!kinds.has(true)) continue;
    const failed = patterns.map((pattern) => new Set([...pattern, node]));
    patterns = kinds.has(false) ? [...patterns, ...failed] : failed;
    if (patterns.length <= MAX_WAYS) continue;
    cut.isCut = true;
    patterns = patterns.slice(0, FEW_WAYS);
  }
  return patterns;
}

/** Every combination of what the nodes may do. */
function combine(
  context: StepContext,
  environment: Environment,
  ready: readonly number[],
  options: readonly (readonly Outcome[])[],
  cut: Cut,
): readonly Partial[] {
  // Where there is nothing to choose, no combinations arise: those nodes come first.
  const open: number[] = [];
  const certain: number[] = [];
  options.forEach((choices, position) => {
    const [first, second] = choices;
    const isCertain = first !== undefined && second === undefined && first.cubes === undefined;
    (isCertain ? certain : open).push(position);
  });
  let partials: readonly Partial[] = [startWith(context, environment, ready, options, certain)];
  for (const position of open) {
    const found = new Map<string, Partial>();
    for (const partial of partials) {
      for (const outcome of options[position]!) {
        for (const narrowed of narrow(context, partial, ready[position]!, outcome)) {
          for (const branch of outcome.branches) context.taken.add(branch);
          const next = addSignals(context, narrowed, position, ready[position]!, outcome);
          const key = partialKey(context, next);
          if (!found.has(key)) found.set(key, next);
        }
      }
      if (found.size > MAX_WAYS) break;
    }
    partials = [...found.values()];
    if (partials.length <= MAX_WAYS) continue;
    cut.isCut = true;
    partials = partials.slice(0, FEW_WAYS);
  }
  return partials;
}

/** What the nodes without a choice do, all at once: there may be thousands. */
function startWith(
  context: StepContext,
  environment: Environment,
  ready: readonly number[],
  options: readonly (readonly Outcome[])[],
  certain: readonly number[],
): Partial {
  const sources = new Map<number, number>();
  const meetings: Meeting[] = [];
  let flags = 0;
  let chosen: Chosen | undefined;
  for (const position of certain) {
    const node = ready[position]!;
    const outcome = options[position]![0]!;
    for (const branch of outcome.branches) context.taken.add(branch);
    for (const place of outcome.places) {
      const other = sources.get(place);
      if (other === undefined) sources.set(place, node);
      else meetings.push(meetingAt(context, place, other, node));
    }
    flags |= flagsOf(context, node, outcome);
    chosen = { position, outcome, before: chosen };
  }
  return {
    places: [...sources.keys()],
    sources: [...sources.values()],
    environment,
    decided: NO_DECISIONS,
    flags,
    meetings,
    exclusive: undefined,
    chosen,
  };
}

/** The ways in which an outcome's conditions can hold here: one for each cube that is not ruled out. */
function narrow(context: StepContext, partial: Partial, node: number, outcome: Outcome): readonly Partial[] {
  if (outcome.cubes === undefined) return [partial];
  const found: Partial[] = [];
  for (const cube of outcome.cubes) {
    let followedNow: Map<number, Known> | undefined;
    let decided: Map<number, ValueSet> | undefined;
    let isExact = true;
    let isPossible = true;
    for (const [id, set] of cube) {
      const position = context.tracker.positions.get(id);
      const followed =
        position === undefined
          ? undefined
          : (followedNow?.get(position) ?? context.tracker.valueOf(partial.environment, position));
      const known = followed === undefined ? (decided ?? partial.decided).get(id) : followed.set;
      const met = known === undefined ? set : intersectValues(known, set);
      if (isNothing(met)) {
        isPossible = false;
        break;
      }
      if (known !== undefined && sameValues(met, known)) continue;
      if (context.sites.entangled.has(id) || !context.sites.isOpen(node, id)) isExact = false;
      if (position !== undefined && followed !== undefined) {
        if (!followed.exact) isExact = false;
        followedNow ??= new Map();
        followedNow.set(position, { set: met, exact: followed.exact });
      } else {
        decided ??= new Map(partial.decided);
        decided.set(id, met);
      }
    }
    if (!isPossible) continue;
    found.push({
      ...partial,
      environment:
        followedNow === undefined ? partial.environment : context.tracker.update(partial.environment, followedNow),
      decided: decided ?? partial.decided,
      flags: isExact ? partial.flags : partial.flags | FLAG_INEXACT | FLAG_UNDECIDED,
    });
  }
  return found;
}

function addSignals(context: StepContext, partial: Partial, position: number, node: number, outcome: Outcome): Partial {
  let { places, sources, meetings } = partial;
  if (outcome.places.length > 0) {
    const added = [...places];
    const from = [...sources];
    const met: Meeting[] = [];
    for (const place of outcome.places) {
      const index = places.indexOf(place);
      if (index === -1) {
        added.push(place);
        from.push(node);
      } else met.push(meetingAt(context, place, sources[index]!, node));
    }
    places = added;
    sources = from;
    if (met.length > 0) meetings = [...meetings, ...met];
  }
  return {
    places,
    sources,
    environment: partial.environment,
    decided: partial.decided,
    flags: partial.flags | flagsOf(context, node, outcome),
    meetings,
    // Of several exclusive jumps the last in task order wins.
    exclusive: outcome.exclusive ? outcome : partial.exclusive,
    chosen: { position, outcome, before: partial.chosen },
  };
}

function meetingAt(context: StepContext, place: number, first: number, second: number): Meeting {
  return { kind: place < context.model.nodes.length ? "collapse" : "lost", place, sources: [first, second] };
}

function flagsOf(context: StepContext, node: number, outcome: Outcome): number {
  let flags = 0;
  if (outcome.ends) flags |= FLAG_ENDS;
  if (!outcome.exact) flags |= outcome.silent === true ? FLAG_INEXACT : FLAG_INEXACT | FLAG_UNDECIDED;
  const bit = outcome.kind === "error" ? context.watched.get(node) : undefined;
  return bit === undefined ? flags : flags | (FLAG_FAILED << bit);
}

function partialKey(context: StepContext, partial: Partial): string {
  const places = partial.places.length < 2 ? partial.places : partial.places.toSorted((a, b) => a - b);
  const environment = partial.environment.size === 0 ? "" : context.tracker.key(partial.environment);
  const decided =
    partial.decided.size === 0
      ? ""
      : [...partial.decided].map(([term, set]) => `${term}:${valueSetKey(set)}`).join(";");
  const exclusive = partial.exclusive === undefined ? "" : partial.exclusive.places.join();
  const meetings = partial.meetings.length === 0 ? "" : partial.meetings.map(meetingKey).join();
  return `${places.join()}/${partial.flags}/${environment}/${decided}/${exclusive}/${meetings}`;
}

/** Adds what barriers already hold, lets complete ones fire, and forgets what no longer matters. */
function finishWay(context: StepContext, state: State, partial: Partial): Way {
  const { model, tracker } = context;
  const nodeCount = model.nodes.length;
  const marked = new Set<number>();
  for (let index = state.ready; index < state.places.length; index++) marked.add(state.places[index]!);
  let meetings = partial.meetings;
  let signalled = partial.places;
  let { flags } = partial;
  if (partial.exclusive !== undefined) {
    // The jump takes the whole step over: of the others only error routes count, and barriers collect nothing else.
    const kept = new Set<number>();
    for (let at = partial.chosen; at !== undefined; at = at.before) {
      if (at.outcome !== partial.exclusive && at.outcome.kind !== "error") continue;
      for (const place of at.outcome.places) kept.add(place);
    }
    signalled = [...kept];
    meetings = NO_MEETINGS;
  }
  const note = (meeting: Meeting): void => {
    meetings = [...meetings, meeting];
  };
  const touched = new Set<number>();
  for (const place of signalled) {
    if (place >= nodeCount) {
      if (marked.has(place)) note({ kind: "lost", place, sources: [-1, sourceOf(partial, place)] });
      else touched.add(model.barrierOfPlace[place]!);
    }
    marked.add(place);
  }
  const fired: number[] = [];
  const firedInto = new Map<number, number>();
  for (const index of touched.size < 2 ? touched : [...touched].sort((a, b) => a - b)) {
    const { members, target } = model.barriers[index]!;
    if (!members.every((member) => marked.has(member.place))) continue;
    fired.push(index);
    for (const member of members) marked.delete(member.place);
    if (target === END_TARGET) {
      flags |= FLAG_ENDS;
      continue;
    }
    const direct = signalled.includes(target) ? sourceOf(partial, target) : undefined;
    const other = firedInto.get(target) ?? direct;
    if (other !== undefined) note({ kind: "collapse", place: target, sources: [other, nodeCount + index] });
    firedInto.set(target, nodeCount + index);
  }
  for (const target of firedInto.keys()) marked.add(target);
  const places = [...marked].sort((a, b) => a - b);
  const environment = tracker.forget(partial.environment, places);
  const key = environment.size === 0 ? places.join() : `${places.join()}|${tracker.key(environment)}`;
  return { key, places, environment, flags, signalled, fired, meetings, chosen: partial.chosen };
}

function sourceOf(partial: Partial, place: number): number {
  return partial.sources[partial.places.indexOf(place)] ?? -1;
}
