/** Soundness defects of a workflow net (van der Aalst) in an explored state graph. `compiler/checks/` reports them. */
import { addToList, emptyLists } from "../algorithms/add-to-list.ts";
import { findComponents, isCyclic, shortestCycle } from "../algorithms/components.ts";
import { END_TARGET } from "../control/net.ts";
import { statesThatAreLeft } from "./ranked-loops.ts";
import { createRunFinder, isExactEdge, type Run, type RunFinder } from "./runs.ts";
import { type DoubleRun, findDoubleRuns, MAX_TRACED, tracedPlaces } from "./runs-twice.ts";
import { successorsOf } from "../control/signals.ts";
import { endingOf, FLAG_UNDECIDED, type StateGraph } from "./state-graph.ts";

export interface Defects {
  /** Barriers that never fire although a member signals. */
  readonly neverFire: readonly {
    readonly barrier: number;
    readonly run: Run | undefined;
    /** Some run ends while a member is marked; otherwise all such runs stay in a loop. */
    readonly ends: boolean;
  }[];
  readonly leftIncomplete: readonly {
    readonly barrier: number;
    readonly run: Run;
    /** It has fired before on every run to such an end. */
    readonly firesFirst: boolean;
  }[];
  readonly lostSignals: readonly { readonly place: number; readonly sameStep: boolean; readonly run: Run }[];
  readonly livelocks: readonly {
    readonly nodes: readonly number[];
    /** The states of the loop, from which no run ends. */
    readonly states: readonly number[];
    readonly run: Run;
  }[];
  /** States of loops whose exits depend on conditions that cannot be decided. */
  readonly mayGoOn: readonly number[];
  readonly doubleRuns: readonly DoubleRun[];
  readonly accidentalJoins: readonly DoubleRun[];
  /** All states were explored: a defect that is not listed does not exist. */
  readonly complete: boolean;
}

export function findDefects(graph: StateGraph, finder: RunFinder = createRunFinder(graph)): Defects {
  const neverFire = findNeverFiring(graph, finder);
  const doubleRuns = findDoubleRuns(graph, finder);
  return {
    neverFire,
    leftIncomplete: findLeftIncomplete(graph, finder, new Set(neverFire.map(({ barrier }) => barrier))),
    lostSignals: findLostSignals(graph, finder),
    livelocks: findLivelocks(graph, finder),
    mayGoOn: graph.complete ? statesThatMayGoOn(graph) : [],
    doubleRuns: doubleRuns.found,
    accidentalJoins: findAccidentalJoins(graph, finder, new Set(doubleRuns.found.map(({ node }) => node))),
    complete: graph.complete && doubleRuns.complete,
  };
}

/**
 * Soundness: every reachable state can complete, no barrier stays partly filled, and parallel branches join at barriers
 * only.
 */
export function isSound(defects: Defects): boolean {
  return isSoundButForJoins(defects) && defects.accidentalJoins.length === 0;
}

/** As `isSound`, but parallel branches may also meet at a node in one step, which then runs once for both. */
export function isSoundButForJoins(defects: Defects): boolean {
  // Mutation point: double-runs
  return (
    defects.complete &&
    defects.neverFire.length === 0 &&
    defects.leftIncomplete.length === 0 &&
    defects.lostSignals.length === 0 &&
    defects.livelocks.length === 0 &&
    defects.mayGoOn.length === 0 &&
    defects.doubleRuns.length === 0
  );
}

function findNeverFiring(graph: StateGraph, finder: RunFinder): Defects["neverFire"] {
  if (!graph.complete) return [];
  return graph.model.barriers
    .filter(({ index, members }) => {
      return graph.barrierFires[index] === 0 && members.some(({ place }) => graph.placeMarked[place] === 1);
    })
    .map(({ index, members }) => {
      const holds = new Set(members.map(({ place }) => place));
      const ends = finder.toState(
        ({ id, places }) => endingOf(graph, id) !== undefined && places.some((place) => holds.has(place)),
      );
      return {
        barrier: index,
        ends: ends !== undefined,
        run: ends ?? finder.toState(({ places }) => places.some((place) => holds.has(place))),
      };
    });
}

function findLeftIncomplete(
  graph: StateGraph,
  finder: RunFinder,
  neverFire: ReadonlySet<number>,
): Defects["leftIncomplete"] {
  const { model } = graph;
  const successors = successorsOf(model);
  const targetReach = new Map<number, ReadonlySet<number>>();
  const reachOf = (barrier: number): ReadonlySet<number> => {
    let reach = targetReach.get(barrier);
    if (reach === undefined) {
      reach = reachedFrom(model.barriers[barrier]!.target, successors);
      targetReach.set(barrier, reach);
    }
    return reach;
  };
  /** Incomplete barriers of a state, without those that are incomplete only because another one did not fire. */
  const rootsOf = (places: readonly number[]): number[] => {
    const partial = [...new Set(places.map((place) => model.barrierOfPlace[place]!))];
    const isFollowUp = (barrier: number): boolean =>
      partial.some((other) => {
        if (other === barrier) return false;
        const missing = model.barriers[barrier]!.members.filter((member) => !places.includes(member.place));
        return missing.some((member) => member.nodes.some((node) => reachOf(other).has(node)));
      });
    const roots = partial.filter((barrier) => !isFollowUp(barrier));
    return roots.length > 0 ? roots : partial;
  };
  const states = new Map<number, Set<number>>();
  for (const { id, places } of graph.states) {
    if (endingOf(graph, id) !== "incomplete") continue;
    for (const barrier of rootsOf(places)) {
      if (neverFire.has(barrier)) continue;
      const known = states.get(barrier);
      if (known === undefined) states.set(barrier, new Set([id]));
      else known.add(id);
    }
  }
  return [...states]
    .sort(([a], [b]) => a - b)
    .map(([barrier, ends]) => {
      const first = graph.barrierFires[barrier] === 0 ? undefined : runWithoutFiring(graph, barrier, ends);
      const run = first ?? finder.toState(({ id }) => ends.has(id))!;
      return { barrier, run, firesFirst: graph.barrierFires[barrier] === 1 && first === undefined };
    });
}

/** A shortest run to one of these states on which a barrier has not fired yet; feasible where possible. */
function runWithoutFiring(graph: StateGraph, barrier: number, ends: ReadonlySet<number>): Run | undefined {
  for (const exactOnly of [true, false]) {
    const parents = new Map<number, number>([[0, -1]]);
    const queue = [0];
    for (const id of queue) {
      if (ends.has(id)) {
        const states: number[] = [];
        for (let at = id; at !== -1; at = parents.get(at)!) states.push(at);
        return { states: states.reverse(), last: undefined, feasible: exactOnly };
      }
      for (const step of graph.steps(id)) {
        if (step.to === -1 || parents.has(step.to) || step.fired.includes(barrier) || (exactOnly && !step.exact))
          continue;
        parents.set(step.to, id);
        queue.push(step.to);
      }
    }
  }
  return undefined;
}

function findLostSignals(graph: StateGraph, finder: RunFinder): Defects["lostSignals"] {
  const byPlace = new Map<number, boolean>();
  for (const { kind, place, sources } of graph.collisions) {
    if (kind !== "lost") continue;
    // A trace in which one member signals in two steps is easier to read than one with two signals in the same step.
    byPlace.set(place, (byPlace.get(place) ?? true) && sources[0] !== -1);
  }
  let traced = 0;
  return [...byPlace]
    .sort(([a], [b]) => a - b)
    .flatMap(([place, sameStep]) => {
      if (traced > MAX_TRACED) return [];
      const run = finder.toStep((step) =>
        step.collisions.some(
          (collision) =>
            collision.kind === "lost" && collision.place === place && (collision.sources[0] !== -1) === sameStep,
        ),
      );
      if (run === undefined) return [];
      traced += tracedPlaces(graph, run);
      return [{ place, sameStep, run }];
    });
}

function findAccidentalJoins(graph: StateGraph, finder: RunFinder, known: ReadonlySet<number>): DoubleRun[] {
  const byNode = new Map<number, readonly [number, number]>();
  for (const { kind, place, sources } of graph.collisions) {
    if (kind === "collapse" && !known.has(place) && !byNode.has(place)) byNode.set(place, sources);
  }
  let traced = 0;
  return [...byNode]
    .sort(([a], [b]) => a - b)
    .flatMap(([node]) => {
      if (traced > MAX_TRACED) return [];
      const run = finder.toStep((step) =>
        step.collisions.some((collision) => collision.kind === "collapse" && collision.place === node),
      );
      const collision = run?.last?.collisions.find(({ kind, place }) => kind === "collapse" && place === node);
      if (run === undefined || collision === undefined) return [];
      traced += tracedPlaces(graph, run);
      return [{ node, sources: collision.sources, run }];
    });
}

/** States from which no run ends, one finding for each loop. */
function findLivelocks(graph: StateGraph, finder: RunFinder): Defects["livelocks"] {
  if (!graph.complete) return [];
  const endless = new Set(statesWithoutEnd(graph, () => true));
  const found: { nodes: readonly number[]; states: readonly number[]; run: Run }[] = [];
  const covered = new Uint8Array(graph.states.length);
  for (const id of endless) {
    if (covered[id] === 1 || found.length >= 10) continue;
    const nodes = new Set<number>();
    const group = [id];
    covered[id] = 1;
    for (const state of group) {
      const { places, ready } = graph.states[state]!;
      for (let index = 0; index < ready; index++) nodes.add(places[index]!);
      for (const target of graph.successors[state]!) {
        if (covered[target] === 1) continue;
        covered[target] = 1;
        group.push(target);
      }
    }
    found.push({ nodes: [...nodes].sort((a, b) => a - b), states: group, run: runAround(graph, finder, group) });
  }
  return found;
}

/**
 * A run into a loop among these states and once around it, from which no run ends. It is feasible if it is possible to
 * stay in the loop: otherwise a run might fail there.
 */
function runAround(graph: StateGraph, finder: RunFinder, states: readonly number[]): Run {
  const exact = (id: number): number[] =>
    Array.from(graph.successors[id]!).filter((_, edge) => isExactEdge(graph, id, edge));
  const all = (id: number): number[] => Array.from(graph.successors[id]!);
  const reachable = states.filter((id) => finder.isFeasible(id));
  for (const [from, next] of [
    [reachable, exact],
    [states, all],
  ] as const) {
    const own = new Set(from);
    const inside = (id: number): number[] => (own.has(id) ? next(id).filter((target) => own.has(target)) : []);
    const positions = new Map(from.map((id, position) => [id, position]));
    const leads = (position: number): number[] => inside(from[position]!).map((target) => positions.get(target)!);
    const { members } = findComponents(from.length, leads);
    const looping = new Set(members.filter((group) => isCyclic(group, leads)).flat());
    const entry = from.find((_, position) => looping.has(position));
    if (entry === undefined) continue;
    const cycle = shortestCycle(entry, inside, (id) => own.has(id));
    const { states: before } = finder.to(entry);
    return { states: [...before, ...cycle.slice(1), entry], last: undefined, feasible: next === exact };
  }
  return { ...finder.to(states[0]!), feasible: false };
}

/** States from which an end is reached by undecided conditions only, if at all, without loops that a counter bounds. */
function statesThatMayGoOn(graph: StateGraph): readonly number[] {
  const isDecided = (state: number, edge: number): boolean => (graph.flags[state]![edge]! & FLAG_UNDECIDED) === 0;
  let left: readonly number[] = [];
  for (let round = 0; round < MAX_RANKED; round++) {
    const open = statesWithoutEnd(graph, isDecided, left);
    const more = open.length === 0 ? [] : statesThatAreLeft(graph, open);
    if (more.length === 0) return open;
    left = left.concat(more);
  }
  return statesWithoutEnd(graph, isDecided, left);
}

/** Rounds in which loops that are left can show that others are left, too. */
const MAX_RANKED = 20;

/**
 * States from which no run ends, ascending, by backward reachability from the ends. A run can use an allowed step to
 * end. A state also ends if all its steps, allowed or not, lead to states that end, because one of them is taken.
 * @param known other states from which runs end
 */
function statesWithoutEnd(
  graph: StateGraph,
  allow: (state: number, edge: number) => boolean,
  known: readonly number[] = [],
): readonly number[] {
  const predecessors = emptyLists<number>(graph.states.length);
  const allowed = emptyLists<boolean>(graph.states.length);
  const open = new Int32Array(graph.states.length);
  graph.successors.forEach((targets, from) => {
    open[from] = targets.length;
    targets.forEach((target, edge) => {
      addToList(predecessors, target, from);
      addToList(allowed, target, allow(from, edge));
    });
  });
  const canEnd = new Uint8Array(graph.states.length);
  const pending: number[] = [];
  const ends = (id: number): void => {
    if (canEnd[id] === 1) return;
    canEnd[id] = 1;
    pending.push(id);
  };
  for (const { id } of graph.states) if (endingOf(graph, id) !== undefined) ends(id);
  for (const id of known) ends(id);
  for (let at = 0; at < pending.length; at++) {
    const target = pending[at]!;
    predecessors[target]!.forEach((from, index) => {
      open[from]!--;
      if (allowed[target]![index] === true || open[from] === 0) ends(from);
    });
  }
  return graph.states.filter(({ id }) => canEnd[id] === 0).map(({ id }) => id);
}

function reachedFrom(node: number, successors: readonly (readonly number[])[]): ReadonlySet<number> {
  const seen = new Set<number>([node]);
  for (const at of seen) for (const next of successors[at] ?? []) if (next !== END_TARGET) seen.add(next);
  return seen;
}
