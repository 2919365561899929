/**
 * Proofs for graphs with too many states for `explore.ts`, by interleaving with partial-order reduction (stubborn sets,
 * Valmari). Nodes run one at a time instead of in super-steps, and conditions are nondeterministic. For nodes that are
 * independent of each other, only one order is explored. Parallel branches with choices then cost the sum of their
 * states instead of the product.
 *
 * As long as no place is signalled twice, every run in super-steps is one of these runs with its steps regrouped. A
 * proof about the interleaved runs therefore holds for super-steps. It relies on the nets being free-choice: only the
 * node itself consumes its token, and each barrier member has its own place. A failed proof shows nothing, because
 * conditions and the grouping into steps are ignored.
 */
import { ApartStates } from "./apart-states.ts";
import { Marks } from "./marks.ts";
import { type ControlModel, hasPlainBarriers } from "./model.ts";
import { type Outcome, type Outcomes, START_NODE } from "./outcomes.ts";

export interface ApartOptions {
  readonly maxStates: number;
  /**
   * Proves that every completed run finishes this node: explores the runs in which it does not finish (it may fail).
   */
  readonly without?: number;
  /** Proves that this node runs at most once. */
  readonly once?: number;
}

export interface Apart {
  /**
   * No place is signalled twice, every run can end, and no run leaves a barrier partly filled. With `without`: no run
   * completes. With `once`: the node does not run again. `false`: not proven.
   */
  readonly holds: boolean;
  /** Set if the property is not proven because a place can be signalled twice when all choices are free. */
  readonly isUnsafe?: true;
  readonly states: number;
}

/** Limit of the visited places, over all states and searches. */
const MAX_WORK = 4_000_000;

/** Explores the interleaved runs of a graph. */
export function exploreApart(model: ControlModel, outcomes: Outcomes, options: ApartOptions): Apart {
  if (outcomes.tooMany.size > 0 || !hasPlainBarriers(model) || model.nodes.some((node) => node.jumps !== undefined)) {
    return { holds: false, states: 0 };
  }
  const { without, once } = options;
  // Most nodes cannot get stuck: their lists are not copied.
  const routed = [outcomes.start, ...outcomes.nodes].map((list) =>
    list.some(({ kind }) => kind === "stuck") ? list.filter(({ kind }) => kind !== "stuck") : list,
  );
  const allowed = (node: number): readonly Outcome[] => {
    const all = routed[node + 1]!;
    return node === without ? all.filter((outcome) => outcome.kind === "error") : all;
  };
  // A run that fails because no edge is taken does not complete and runs no node twice.
  const mayStick = (node: number): boolean =>
    without === undefined && once === undefined && routed[node + 1]!.length < outcomesAt(outcomes, node).length;
  if (mayStick(START_NODE)) return { holds: false, states: 0 };
  const marked = new Marks(model.placeCount);
  const states = new ApartStates();
  const ends: number[] = [];
  for (const outcome of routed[0]!) {
    const next = signal(model, marked, [], outcome.places);
    if (next === undefined) return { holds: false, isUnsafe: true, states: states.count };
    states.reach(next, false, -1);
  }
  const budget: Budget = { left: MAX_WORK };
  const isUnreached = model.placeCount > MAX_LEADS ? createSearch(model, routed, budget) : createLookup(model, routed);
  const isReady = (place: number): boolean => place < model.nodes.length && allowed(place).length > 0;
  for (let id = 0; id < states.count; id++) {
    const places = states.placesOf(id);
    const hasRun = states.hasRun(id);
    budget.left -= places.length;
    if (states.count > options.maxStates || budget.left < 0) return { holds: false, states: states.count };
    const ready = places.every(isReady) ? places : places.filter(isReady);
    if (ready.length === 0) {
      if (without === undefined ? !endsWell(model, outcomes, places) : places.length === 0) {
        return { holds: false, states: states.count };
      }
      ends.push(id);
      continue;
    }
    for (const node of chooseNodes(model, marked, allowed, isUnreached, places, ready, budget)) {
      if (mayStick(node)) return { holds: false, states: states.count };
      if (node === once && hasRun) return { holds: false, states: states.count };
      const rest = places.toSpliced(places.indexOf(node), 1);
      for (const outcome of allowed(node)) {
        const next = signal(model, marked, rest, outcome.places);
        if (next === undefined) return { holds: false, isUnsafe: true, states: states.count };
        states.reach(next, hasRun || node === once, id);
      }
    }
  }
  return { holds: states.canAllEnd(ends), states: states.count };
}

function outcomesAt({ start, nodes }: Outcomes, node: number): readonly Outcome[] {
  return node === START_NODE ? start : nodes[node]!;
}

interface Budget {
  left: number;
}

/** Whether no place is marked, or a node that always fails ends the run. */
function endsWell(model: ControlModel, outcomes: Outcomes, places: readonly number[]): boolean {
  return (
    places.length === 0 || places.some((place) => place < model.nodes.length && outcomes.nodes[place]!.length === 0)
  );
}

/**
 * The marking after more signals, with complete barriers fired; `undefined` if a place would be marked twice. Markings and signals are
 * ascending.
 */
function signal(
  model: ControlModel,
  marked: Marks,
  places: readonly number[],
  signals: readonly number[],
): readonly number[] | undefined {
  marked.reset(places);
  let touched: number[] | undefined;
  for (const place of signals) {
    if (marked.has(place)) return undefined;
    marked.add(place);
    const barrier = model.barrierOfPlace[place]!;
    if (barrier === -1) continue;
    touched ??= [];
    if (!touched.includes(barrier)) touched.push(barrier);
  }
  // Most steps of a large graph follow one edge, and share the list of its target.
  if (touched === undefined && places.length === 0) return signals;
  const fired: number[] = [];
  for (const index of touched ?? []) {
    const { members, target } = model.barriers[index]!;
    if (!members.every((member) => marked.has(member.place))) continue;
    for (const member of members) marked.delete(member.place);
    if (target < 0) continue;
    if (marked.has(target)) return undefined;
    marked.add(target);
    fired.push(target);
  }
  const next = places.concat(signals, fired);
  return (touched === undefined ? next : next.filter((place) => marked.has(place))).sort((a, b) => a - b);
}

/**
 * A stubborn set of the marking. A node that the other places cannot signal is independent of them: it can run first,
 * and the other orders need not be explored. If there is no such node, all ready nodes are returned.
 */
function chooseNodes(
  model: ControlModel,
  marked: Marks,
  allowed: (node: number) => readonly Outcome[],
  isUnreached: IsUnreached,
  places: readonly number[],
  ready: readonly number[],
  budget: Budget,
): readonly number[] {
  if (ready.length === 1) return ready;
  for (const node of ready) {
    if (budget.left < 0) break;
    if (isUnreached(node, places)) return [node];
    if (!canBeSignalled(model, marked, allowed, places, node, budget)) return [node];
  }
  return ready;
}

/** Whether no other place of a marking leads to a signal into the node, if barriers fire with one member. */
type IsUnreached = (node: number, places: readonly number[]) => boolean;

/** Searches backwards from the node each time, until it finds a marked place. */
function createSearch(model: ControlModel, routed: readonly (readonly Outcome[])[], budget: Budget): IsUnreached {
  let predecessors: number[][] | undefined;
  const marked = new Marks(model.placeCount);
  const found = new Marks(model.placeCount);
  return (node, places) => {
    predecessors ??= predecessorsOf(model, routed);
    marked.reset(places);
    marked.delete(node);
    const before: number[] = [];
    const add = (all: readonly number[]): void => {
      for (const place of all) {
        if (found.has(place)) continue;
        found.add(place);
        before.push(place);
      }
    };
    found.reset([]);
    add(predecessors[node]!);
    for (const place of before) {
      budget.left--;
      if (marked.has(place)) return false;
      add(predecessors[place]!);
    }
    return true;
  };
}

/** Keeps the places that lead to each node (backward reachability), computed when they are needed. */
function createLookup(model: ControlModel, routed: readonly (readonly Outcome[])[]): IsUnreached {
  let predecessors: number[][] | undefined;
  const known = new Map<number, Uint8Array>();
  const placesBefore = (node: number): Uint8Array => {
    const found = known.get(node);
    if (found !== undefined) return found;
    predecessors ??= predecessorsOf(model, routed);
    const before = new Uint8Array(model.placeCount);
    const pending = [...predecessors[node]!];
    for (const place of pending) before[place] = 1;
    for (const place of pending) {
      for (const earlier of predecessors[place]!) {
        if (before[earlier] === 1) continue;
        before[earlier] = 1;
        pending.push(earlier);
      }
    }
    known.set(node, before);
    return before;
  };
  return (node, places) => {
    const before = placesBefore(node);
    return !places.some((place) => place !== node && before[place] === 1);
  };
}

/** Limit of the places for `createLookup`, whose results are quadratic in them. */
const MAX_LEADS = 2000;

function predecessorsOf(model: ControlModel, routed: readonly (readonly Outcome[])[]): number[][] {
  const predecessors: Set<number>[] = Array.from({ length: model.placeCount }, () => new Set<number>());
  model.nodes.forEach((_, node) => {
    for (const { places } of routed[node + 1]!) for (const place of places) predecessors[place]!.add(node);
  });
  for (const { target, members } of model.barriers)
    for (const { place } of members) if (target >= 0) predecessors[target]!.add(place);
  return predecessors.map((set) => [...set]);
}

/** Whether the other places of a marking can lead to a signal into the node. */
function canBeSignalled(
  model: ControlModel,
  marked: Marks,
  allowed: (node: number) => readonly Outcome[],
  places: readonly number[],
  node: number,
  budget: Budget,
): boolean {
  marked.reset(places);
  const pending = places.filter((place) => place < model.nodes.length && place !== node);
  budget.left -= places.length;
  for (const at of pending) {
    budget.left--;
    for (const { places: signals } of allowed(at)) {
      for (const place of signals) {
        if (place === node) return true;
        if (marked.has(place)) continue;
        marked.add(place);
        const barrier = model.barriers[model.barrierOfPlace[place]!];
        if (barrier === undefined) pending.push(place);
        else if (barrier.target >= 0 && barrier.members.every((member) => marked.has(member.place))) {
          if (barrier.target === node) return true;
          if (marked.has(barrier.target)) continue;
          marked.add(barrier.target);
          pending.push(barrier.target);
        }
      }
    }
  }
  return false;
}
