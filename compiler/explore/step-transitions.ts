/**
 * The transitions of one super-step: every combination of the outcomes of its nodes whose conditions are satisfiable
 * together. Equal combinations are merged while they are built.
 */
import type { Environment, Known, Tracker } from "./environment.ts";
import { fireBarriers } from "./fire-barriers.ts";
import { type Cube, cubesOf, type Formula, termsOf } from "./formula.ts";
import type { AssertedCondition, Branch, ControlModel } from "./model.ts";
import { type Outcome, type Outcomes, START_NODE } from "./outcomes.ts";
import type { TermLiveness } from "./term-liveness.ts";
import {
  FLAG_ENDS,
  FLAG_FAILED,
  FLAG_INEXACT,
  FLAG_ROLLS_BACK,
  FLAG_UNDECIDED,
  ROLLED_BACK_KEY,
  type Collision,
  type State,
} from "./state-graph.ts";
import { intersectValues, isNothing, sameValues, type ValueSet, valueSetKey } from "./value-set.ts";

export interface StepContext {
  readonly model: ControlModel;
  readonly outcomes: Outcomes;
  readonly liveness: TermLiveness;
  readonly tracker: Tracker;
  /** Watched node -> its bit. */
  readonly watched: ReadonlyMap<number, number>;
  /** By node: it writes a channel that a tracked term reads. */
  readonly writesTracked: readonly boolean[];
  /** Terms that the conditions of several nodes read. What one node decides about another term concerns no other node of its step. */
  readonly shared: ReadonlySet<number>;
  /** Branches that can be taken, and whether one such step is exact. Recorded before equal combinations are merged. */
  readonly taken: Map<Branch, boolean>;
  /** By node (`START_NODE` for `start`): a step in which none of its edges is taken, or a condition has no value. */
  readonly stuck: Map<number, Stuck>;
}

/** The run fails at a node because no edge can be taken. */
export interface Stuck {
  readonly state: number;
  readonly exact: boolean;
  /** The condition without a value; `undefined` if all conditions are false. */
  readonly branch: Branch | undefined;
}

export interface Transitions {
  readonly transitions: readonly Transition[];
  /** There are too many transitions; these are some of them. */
  readonly isCut: boolean;
  /** The work of finding them, in the unit of `MAX_STEP_WORK`. */
  readonly work?: number;
}

/** A transition to one successor state. */
export interface Transition {
  /** The key of the successor state. */
  readonly key: string;
  readonly places: readonly number[];
  readonly environment: Environment;
  readonly flags: number;
  readonly signalled: readonly number[];
  readonly fired: readonly number[];
  readonly collisions: readonly Collision[];
  readonly chosen: Chosen | undefined;
}

/** The outcomes of the nodes, as a linked list from the last one to the first. */
export interface Chosen {
  /** The position among the nodes that ran. */
  readonly position: number;
  readonly outcome: Outcome;
  readonly before: Chosen | undefined;
}

/**
 * Limit of the transitions of one step. If there are more, nothing is proven, and a few of them are explored for
 * defects.
 */
const MAX_TRANSITIONS = 8192;
const FEW_TRANSITIONS = 64;
/** Limits of the transitions that are explored after the limit was reached: their places and values, in all and over all nodes. */
const FEW_PLACES = 10_000;
const FEW_WORK = 1_000_000;
/** Limit of the outcomes, cubes and places that one step enumerates. */
const MAX_STEP_WORK = 500_000;
/** Places and values above this number count more, because each combination stores and compares them. */
const MANY_PLACES = 64;

export function transitionsFrom(context: StepContext, state: State): Transitions {
  const { outcomes, tracker } = context;
  const isStart = state.id === 0;
  if (!isStart && state.ready === 0) return { transitions: [], isCut: false };
  const cut: Cut = { isCut: false, left: MAX_STEP_WORK };
  const ready = isStart ? [START_NODE] : state.places.slice(0, state.ready);
  const found = new Map<string, Transition>();
  // A failed node writes nothing, so the set of failed nodes decides the environment of all conditions of the step.
  const values = ready.map((node) => valuesAt(context, state, node));
  const racing = racingPositions(context, ready);
  // A run with a broken assertion fails in this step.
  // Mutation point: asserted-step
  const flags = mayViolate(context, state, ready) ? FLAG_INEXACT : 0;
  for (const failing of isStart ? [NO_NODES] : failurePatterns(context, ready, values, cut)) {
    const writers = failing.size === 0 ? ready : ready.filter((node) => !failing.has(node));
    const environment = isStart ? state.environment : tracker.write(state.environment, writers);
    const options = ready.map((node, position) => {
      const all = outcomesAt(outcomes, node, values[position]!);
      return context.writesTracked[node] === true
        ? all.filter((outcome) => (outcome.kind === "error") === failing.has(node))
        : all;
    });
    for (const combined of combine(context, { id: state.id, environment, flags }, ready, options, cut)) {
      const partial = racing.length > 0 ? afterRace(combined, racing) : combined;
      const finished = finishTransitions(context, state, partial);
      if (finished === undefined) cut.isCut = true;
      for (const transition of finished ?? []) {
        const key = `${transition.key}/${transition.flags}/${transition.collisions.map(collisionKey).join()}`;
        if (!found.has(key)) found.set(key, transition);
      }
    }
    // Only a few transitions of a step that was cut are kept.
    if (found.size > (cut.isCut ? FEW_TRANSITIONS : MAX_TRANSITIONS) || cut.left < 0) {
      cut.isCut = true;
      break;
    }
  }
  const transitions = [...found.values()];
  if (cut.isCut) {
    // A step of many nodes costs more: each combination stores all places and values.
    const size = ready.length + transitions.reduce((most, { environment }) => Math.max(most, environment.size), 0);
    const work = MAX_STEP_WORK * (1 + Math.min(3, size >> 6));
    return { transitions: transitions.slice(0, FEW_TRANSITIONS), isCut: true, work };
  }
  return { transitions, isCut: false, work: MAX_STEP_WORK - cut.left };
}

/** Pairs of positions in a step whose nodes both write one channel without a reducer. The run fails if both succeed. */
function racingPositions({ model }: StepContext, ready: readonly number[]): readonly (readonly [number, number])[] {
  if (ready.length < 2) return NO_PAIRS;
  const writers = new Map<number, number>();
  let found: [number, number][] | undefined;
  for (const [position, node] of ready.entries()) {
    for (const { channel, optional } of model.data.writes[node] ?? []) {
      if (optional || model.data.channels[channel]!.reducer !== undefined) continue;
      const other = writers.get(channel);
      if (other === undefined) writers.set(channel, position);
      else if (other !== position) (found ??= []).push([other, position]);
    }
  }
  return found ?? NO_PAIRS;
}

const NO_PAIRS: readonly (readonly [number, number])[] = [];

/** No run continues after a step in which two nodes write one channel. The exploration does, to find other defects. */
function afterRace(partial: Partial, racing: readonly (readonly [number, number])[]): Partial {
  const failed = new Set<number>();
  for (let at = partial.chosen; at !== undefined; at = at.before)
    if (at.outcome.kind === "error") failed.add(at.position);
  const isRace = racing.some(([a, b]) => !failed.has(a) && !failed.has(b));
  return isRace ? { ...partial, flags: partial.flags | FLAG_INEXACT } : partial;
}

/** Whether the expression of a node can have a value in a state, and whether it can have none. */
interface HasValue {
  readonly succeeds: boolean;
  readonly fails: boolean;
  /** Whether a success is known to be possible (below: a failure). Otherwise it is only not excluded. */
  readonly isSureSuccess: boolean;
  readonly isSureFailure: boolean;
}

const ALWAYS_SUCCEEDS: HasValue = { succeeds: true, fails: false, isSureSuccess: true, isSureFailure: false };
const ANY_END: HasValue = { succeeds: true, fails: true, isSureSuccess: true, isSureFailure: true };

function valuesAt(context: StepContext, state: State, node: number): HasValue {
  const { defined, fails } = context.model.nodes[node] ?? {};
  if (defined === undefined) return fails === "never" ? ALWAYS_SUCCEEDS : ANY_END;
  const { isOpen } = context.liveness;
  const at = { state, node, isOpen: (id: number, set: ValueSet) => isOpen(node, id, set) };
  const [success, failure] = [possibility(context, at, defined, true), possibility(context, at, defined, false)];
  const mayFail = failure.isPossible || (success.isPossible && fails !== "never");
  return {
    succeeds: success.isPossible,
    fails: mayFail,
    isSureSuccess: success.isSure || !mayFail,
    isSureFailure: failure.isSure || !success.isPossible,
  };
}

interface Possibility {
  readonly isPossible: boolean;
  /** It is known to be possible. Otherwise it is only not excluded. */
  readonly isSure: boolean;
}

/** Whether a formula can have a value when a node starts in a state. */
function possibility(
  { tracker, liveness, model }: StepContext,
  at: {
    readonly state: State;
    readonly node: number;
    /** Whether a term that is not tracked is known to be able to have a value of the set. */
    readonly isOpen: (term: number, set: ValueSet) => boolean;
  },
  formula: Formula,
  value: boolean,
): Possibility {
  let isPossible = false;
  for (const cube of cubesOf(formula, value).cubes) {
    let isSure = true;
    const isMet = [...cube].every(([id, set]) => {
      const position = tracker.positions.get(id);
      const known =
        position === undefined || !liveness.live.has(at.node, position)
          ? { set: model.terms.terms[id]!.domain, exact: at.isOpen(id, set) }
          : tracker.valueOf(at.state.environment, position);
      const met = intersectValues(known.set, set);
      // An opaque term has one definite value, so a set of values does not show that each of them is possible.
      const isKnown = known.exact && (model.terms.terms[id]!.channel !== undefined || at.isOpen(id, set));
      isSure &&= isKnown || sameValues(met, known.set);
      return !isNothing(met);
    });
    if (!isMet) continue;
    isPossible = true;
    if (isSure) return { isPossible, isSure };
  }
  return { isPossible, isSure: false };
}

/**
 * Whether an asserted condition of a node can fail when the node starts in a state: surely, as far as is known, or
 * never.
 */
export function violationOf(
  context: StepContext,
  state: State,
  node: number,
  { formula, isTotal }: AssertedCondition,
): "sure" | "possible" | "never" {
  const { neverCalls, itemsFrom } = context.model.nodes[node]!;
  if (neverCalls) return "never";
  const at = { state, node, isOpen: () => false };
  const { isPossible, isSure } = possibility(context, at, formula, false);
  // Mutation point: asserted-condition
  if (!isPossible) return isTotal ? "never" : "possible";
  // Without items, the condition is not evaluated. Terms that exclude each other's values are not independent.
  const isEntangled = [...termsOf(formula)].some(({ id }) => context.liveness.entangled.has(id));
  const { exact } = cubesOf(formula, false);
  return isSure && exact && itemsFrom === undefined && !isEntangled ? "sure" : "possible";
}

/** Whether some asserted condition can fail in a state. The run then fails in this step. */
function mayViolate(context: StepContext, state: State, ready: readonly number[]): boolean {
  return ready.some((node) =>
    (context.model.nodes[node]?.asserted ?? []).some(
      (condition) => violationOf(context, state, node, condition) !== "never",
    ),
  );
}

/** See `StateGraph.success`. */
export function successOf(context: StepContext, state: State, node: number): "sure" | "possible" | "never" {
  if (context.model.nodes[node]?.alwaysFails === true) return "never";
  const { succeeds, isSureSuccess } = valuesAt(context, state, node);
  return !succeeds ? "never" : isSureSuccess ? "sure" : "possible";
}

/** The outcomes of a node, depending on whether its expression has a value. */
function outcomesAt({ start, nodes }: Outcomes, node: number, value: HasValue): readonly Outcome[] {
  if (node === START_NODE) return start;
  const all = nodes[node]!;
  if (value === ANY_END) return all;
  const found: Outcome[] = [];
  for (const outcome of all) {
    const isError = outcome.kind === "error";
    if (isError ? !value.fails : !value.succeeds) continue;
    found.push((isError ? value.isSureFailure : value.isSureSuccess) ? outcome : inexact(outcome));
  }
  return found;
}

/** The same outcome, not known to be possible. Equal arguments have the same result. */
function inexact(outcome: Outcome): Outcome {
  if (!outcome.exact) return outcome;
  let found = inexactOutcomes.get(outcome);
  if (found === undefined) {
    found = { ...outcome, exact: false };
    inexactOutcomes.set(outcome, found);
  }
  return found;
}

const inexactOutcomes = new WeakMap<Outcome, Outcome>();

/** The remaining budget of a step, and whether combinations were dropped. */
interface Cut {
  isCut: boolean;
  /** The remaining work. */
  left: number;
}

/** In the order of the nodes that ran. */
export function outcomesOfTransition(transition: Transition): readonly Outcome[] {
  const found: Outcome[] = [];
  for (let at = transition.chosen; at !== undefined; at = at.before) found[at.position] = at.outcome;
  return found;
}

export function collisionKey(collision: Collision): string {
  return `${collision.kind}${collision.place}:${collision.sources[0]}:${collision.sources[1]}`;
}

const NO_NODES: ReadonlySet<number> = new Set();
const NO_DECISIONS: Cube = new Map();
const NO_VALUES: Environment = new Map();
const NO_COLLISIONS: readonly Collision[] = [];

/** A combination of the outcomes of the nodes that have been processed so far. */
interface Partial {
  /** Without duplicates, unordered; aligned with `sources`. */
  readonly places: readonly number[];
  readonly sources: readonly number[];
  readonly environment: Environment;
  /** The values chosen for terms that are not tracked. Within one step, a term has one value. */
  readonly decided: Cube;
  readonly flags: number;
  readonly collisions: readonly Collision[];
  readonly exclusive: Outcome | undefined;
  readonly chosen: Chosen | undefined;
}

/** The possible sets of failed nodes, for nodes that write tracked channels. */
function failurePatterns(
  context: StepContext,
  ready: readonly number[],
  values: readonly HasValue[],
  cut: Cut,
): readonly ReadonlySet<number>[] {
  let patterns: readonly ReadonlySet<number>[] = [NO_NODES];
  for (const [position, node] of ready.entries()) {
    if (!context.writesTracked[node]) continue;
    const possible = outcomesAt(context.outcomes, node, values[position]!);
    const kinds = new Set(possible.map((outcome) => outcome.kind === "error"));
    if (!kinds.has(true)) continue;
    const failed = patterns.map((pattern) => new Set([...pattern, node]));
    patterns = kinds.has(false) ? [...patterns, ...failed] : failed;
    if (patterns.length <= MAX_TRANSITIONS) continue;
    cut.isCut = true;
    patterns = patterns.slice(0, FEW_TRANSITIONS);
  }
  return patterns;
}

/** All combinations of the outcomes of the nodes. */
function combine(
  context: StepContext,
  from: { readonly id: number; readonly environment: Environment; readonly flags: number },
  ready: readonly number[],
  options: readonly (readonly Outcome[])[],
  cut: Cut,
): readonly Partial[] {
  // Nodes with a single outcome create no combinations and are processed first.
  const open: number[] = [];
  const certain: number[] = [];
  options.forEach((choices, position) => {
    const [first, second] = choices;
    const isCertain =
      first !== undefined && second === undefined && first.cubes === undefined && first.kind !== "stuck";
    (isCertain ? certain : open).push(position);
  });
  let partials: readonly Partial[] = [startWith(context, from, ready, options, certain)];
  let most = MAX_TRANSITIONS;
  for (const position of open) {
    const found = new Map<string, Partial>();
    for (const partial of partials) {
      if (cut.left < 0) break;
      for (const outcome of options[position]!) {
        const size = partial.places.length + partial.environment.size;
        cut.left -= 1 + (outcome.cubes?.length ?? 1) + (size >> 2) + Math.max(0, size - MANY_PLACES);
        for (const narrowed of narrow(context, partial, ready[position]!, outcome)) {
          const isExact = outcome.exact && (narrowed.flags & FLAG_INEXACT) === 0;
          if (outcome.kind === "stuck") {
            // The run fails in this step, so it has no successor.
            const known = context.stuck.get(ready[position]!);
            if (known === undefined || (isExact && !known.exact))
              context.stuck.set(ready[position]!, { state: from.id, exact: isExact, branch: outcome.branches[0] });
            continue;
          }
          for (const branch of outcome.branches) noteTaken(context, branch, isExact);
          const next = addSignals(context, narrowed, position, ready[position]!, outcome);
          // A single combination needs no comparison.
          const key = most === 1 ? "" : partialKey(context, next);
          if (!found.has(key)) found.set(key, next);
          // Sent tasks run in the order of sending, which the model does not represent: either exclusive jump can be
          // the last.
          if (!outcome.exclusive || narrowed.exclusive === undefined || !isSent(context, ready[position]!)) continue;
          const earlier: Partial = { ...next, exclusive: narrowed.exclusive };
          const earlierKey = partialKey(context, earlier);
          if (!found.has(earlierKey)) found.set(earlierKey, earlier);
        }
      }
      if (found.size > most) break;
    }
    partials = [...found.values()];
    if (partials.length <= most && cut.left >= 0) continue;
    cut.isCut = true;
    // Continues with a few combinations to the end of the step.
    cut.left = Infinity;
    const largest = partials.reduce(
      (most, { places, environment }) => Math.max(most, places.length + environment.size),
      1,
    );
    const fewer = Math.min(FEW_PLACES / largest, FEW_WORK / (largest * open.length));
    most = Math.min(FEW_TRANSITIONS, 1 + Math.floor(fewer));
    partials = partials.slice(0, most);
  }
  return partials;
}

function isSent({ model }: StepContext, node: number): boolean {
  return model.nodes[node]?.isSent === true;
}

function noteTaken({ taken }: StepContext, branch: Branch, isExact: boolean): void {
  taken.set(branch, isExact || taken.get(branch) === true);
}

/** The combination of all nodes with a single outcome. There can be thousands of them. */
function startWith(
  context: StepContext,
  { environment, flags: initial }: { readonly environment: Environment; readonly flags: number },
  ready: readonly number[],
  options: readonly (readonly Outcome[])[],
  certain: readonly number[],
): Partial {
  const sources = new Map<number, number>();
  const collisions: Collision[] = [];
  let flags = initial;
  let chosen: Chosen | undefined;
  for (const position of certain) {
    const node = ready[position]!;
    const outcome = options[position]![0]!;
    for (const branch of outcome.branches) noteTaken(context, branch, outcome.exact && initial === 0);
    for (const place of outcome.places) {
      const other = sources.get(place);
      if (other === undefined) sources.set(place, node);
      else if (collide(context, place, other, node)) collisions.push(collisionAt(context, place, other, node));
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
    collisions,
    exclusive: undefined,
    chosen,
  };
}

/** The combination with the conditions of an outcome added: one result for each satisfiable cube. */
function narrow(context: StepContext, partial: Partial, node: number, outcome: Outcome): readonly Partial[] {
  if (outcome.cubes === undefined) return [partial];
  const found: Partial[] = [];
  for (const cube of outcome.cubes) {
    let narrowed: Map<number, Known> | undefined;
    let decided: Map<number, ValueSet> | undefined;
    let isExact = true;
    let isDecided = true;
    let isPossible = true;
    for (const [id, set] of cube) {
      // `error` has a different value for each node that failed in the step.
      // Mutation point: steady-term
      const isSteady = context.model.terms.terms[id]!.isSteady;
      const key = isSteady ? id : -1 - (id * (context.model.nodes.length + 1) + node + 1);
      const position = context.tracker.positions.get(id);
      const tracked =
        position === undefined
          ? undefined
          : (narrowed?.get(position) ?? context.tracker.valueOf(partial.environment, position));
      const known = tracked === undefined ? (decided ?? partial.decided).get(key) : tracked.set;
      const met = known === undefined ? set : intersectValues(known, set);
      if (isNothing(met)) {
        isPossible = false;
        break;
      }
      if (known !== undefined && sameValues(met, known)) continue;
      // The equal condition on other terms, which is in the same cube, decides whether the value is possible.
      const { channel } = context.model.terms.terms[id]!;
      const isEqual = channel !== undefined && context.model.nodes[node]?.equals.has(channel) === true;
      if (isEqual) {
        if (position !== undefined) (narrowed ??= new Map()).set(position, { set: met, exact: true });
        else if (isSteady && context.shared.has(id)) (decided ??= new Map(partial.decided)).set(key, met);
        continue;
      }
      if (context.liveness.entangled.has(id) || !context.liveness.isOpen(node, id, met)) isExact = false;
      if (!context.liveness.isFresh(node, id)) isDecided = false;
      if (position !== undefined && tracked !== undefined) {
        if (!tracked.exact) isExact = false;
        narrowed ??= new Map();
        narrowed.set(position, { set: met, exact: tracked.exact });
      } else if (isSteady && context.shared.has(id)) {
        decided ??= new Map(partial.decided);
        decided.set(key, met);
      }
    }
    if (!isPossible) continue;
    found.push({
      ...partial,
      environment: narrowed === undefined ? partial.environment : context.tracker.update(partial.environment, narrowed),
      decided: decided ?? partial.decided,
      flags: partial.flags | (isExact ? 0 : FLAG_INEXACT | FLAG_UNDECIDED) | (isDecided ? 0 : FLAG_UNDECIDED),
    });
  }
  return found;
}

/** Terms in the conditions of more than one node. */
export function sharedTerms({ nodes }: Outcomes): ReadonlySet<number> {
  const reader = new Map<number, number>();
  const shared = new Set<number>();
  for (const [node, outcomes] of nodes.entries()) {
    for (const { cubes } of outcomes) {
      for (const cube of cubes ?? []) {
        for (const id of cube.keys()) {
          const first = reader.get(id);
          if (first === undefined) reader.set(id, node);
          else if (first !== node) shared.add(id);
        }
      }
    }
  }
  return shared;
}

function addSignals(context: StepContext, partial: Partial, position: number, node: number, outcome: Outcome): Partial {
  let { places, sources, collisions } = partial;
  if (outcome.places.length > 0) {
    const added = [...places];
    const from = [...sources];
    const met: Collision[] = [];
    for (const place of outcome.places) {
      const index = places.indexOf(place);
      if (index === -1) {
        added.push(place);
        from.push(node);
      } else if (collide(context, place, sources[index]!, node))
        met.push(collisionAt(context, place, sources[index]!, node));
    }
    places = added;
    sources = from;
    if (met.length > 0) collisions = [...collisions, ...met];
  }
  return {
    places,
    sources,
    environment: partial.environment,
    decided: partial.decided,
    flags: partial.flags | flagsOf(context, node, outcome),
    collisions,
    // The last of several exclusive jumps, in task order, takes effect.
    exclusive: outcome.exclusive ? outcome : partial.exclusive,
    chosen: { position, outcome, before: partial.chosen },
  };
}

/**
 * Whether the signals of two nodes into one place are a collision. A node and the tasks sent to it have the same edges,
 * so their signals are intended. Each task that is sent runs, also if several nodes send to one node in a step.
 */
function collide({ model }: StepContext, place: number, a: number, b: number): boolean {
  if (model.nodes[place]?.isSent === true) return false;
  const [first, second] = [model.nodes[a], model.nodes[b]];
  return first === undefined || second === undefined || first.declared !== second.declared;
}

function collisionAt(context: StepContext, place: number, first: number, second: number): Collision {
  return { kind: place < context.model.nodes.length ? "collapse" : "lost", place, sources: [first, second] };
}

function flagsOf(context: StepContext, node: number, outcome: Outcome): number {
  let flags = 0;
  if (outcome.ends) flags |= FLAG_ENDS;
  if (outcome.rollsBack === true) flags |= FLAG_ROLLS_BACK;
  if (!outcome.exact) flags |= outcome.endIsUnstated === true ? FLAG_INEXACT : FLAG_INEXACT | FLAG_UNDECIDED;
  // Mutation point: failed-flag
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
  const exclusive = partial.exclusive === undefined ? "" : `!${partial.exclusive.places.join()}`;
  const collisions = partial.collisions.length === 0 ? "" : partial.collisions.map(collisionKey).join();
  return `${places.join()}/${partial.flags}/${environment}/${decided}/${exclusive}/${collisions}`;
}

/** Adds the marked barrier members of the state, fires complete barriers, and removes dead terms. */
function finishTransitions(context: StepContext, state: State, partial: Partial): readonly Transition[] | undefined {
  const { model, tracker } = context;
  let signalled = partial.places;
  let before = partial.collisions;
  // Mutation point: exclusive-jump
  if (partial.exclusive !== undefined) {
    // An exclusive jump drops all other signals of the step, except those of error edges.
    const kept = new Set<number>();
    for (let at = partial.chosen; at !== undefined; at = at.before) {
      const isKept = at.outcome === partial.exclusive || at.outcome.kind === "error";
      for (const place of isKept ? at.outcome.places : (at.outcome.errorPlaces ?? [])) kept.add(place);
    }
    signalled = [...kept];
    before = NO_COLLISIONS;
  }
  // Mutation point: rolled-back
  if ((partial.flags & FLAG_ROLLS_BACK) !== 0 && isKeptRollback(partial)) return [rollBack(partial)];
  const firings = fireBarriers(model, state.places.slice(state.ready), signalled, (place) => sourceOf(partial, place));
  const isExact = firings?.length === 1;
  return firings?.map(({ marked, fired, ends, rollsBack, collisions: own }): Transition => {
    if (rollsBack) return { ...rollBack(partial), fired };
    const places = [...marked].sort((a, b) => a - b);
    const environment = tracker.forget(partial.environment, places);
    // Mutation point: state-key
    const key = environment.size === 0 ? places.join() : `${places.join()}|${tracker.key(environment)}`;
    const flags = partial.flags | (ends ? FLAG_ENDS : 0) | (isExact ? 0 : FLAG_INEXACT | FLAG_UNDECIDED);
    const collisions = own.length === 0 ? before : [...before, ...own];
    // Mutation point: collisions
    return { key, places, environment, flags, signalled, fired, collisions, chosen: partial.chosen };
  });
}

/** Whether no exclusive jump drops the signal to `rollback`. */
function isKeptRollback({ exclusive, chosen }: Partial): boolean {
  if (exclusive === undefined) return true;
  for (let at = chosen; at !== undefined; at = at.before) {
    const { outcome } = at;
    if (outcome.errorRollsBack === true) return true;
    if (outcome.rollsBack === true && (outcome === exclusive || outcome.kind === "error")) return true;
  }
  return false;
}

/** R3: the run ends with this step. All other signals, and those that barriers hold, are dropped. */
function rollBack({ flags, chosen }: Partial): Transition {
  return {
    key: ROLLED_BACK_KEY,
    places: [],
    environment: NO_VALUES,
    flags: flags & ~FLAG_ENDS,
    signalled: [],
    fired: [],
    collisions: NO_COLLISIONS,
    chosen,
  };
}

function sourceOf(partial: Partial, place: number): number {
  return partial.sources[partial.places.indexOf(place)] ?? -1;
}
