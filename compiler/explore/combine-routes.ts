/**
 * The combinations of the route groups of one routing: the sets of signals that its conditions allow together.
 * Contradictory combinations (`x < 1` and `x > 2`) are already removed here.
 */
import {
  ALWAYS,
  type Cube,
  cubeKey,
  type Cubes,
  cubesOf,
  type Formula,
  meetCubes,
  negation,
  NEVER,
  sumOf,
} from "./formula.ts";
import { END_TARGET, type Signal } from "../control/net.ts";
import type { Branch, RouteGroup, Routing } from "./model.ts";
import type { Outcome } from "./outcomes.ts";
import { signalsOf } from "../control/signals.ts";
import {
  areDisjoint,
  complementValues,
  intersectValues,
  isNothing,
  uniteDisjoint,
  type ValueSet,
} from "./value-set.ts";

/** Limit of the combinations of one node that are enumerated. */
const MAX_OUTCOMES = 4096;
/** Limit of the signals in all combinations of one node. */
const MAX_SIGNALS = 500_000;
/** Limit of the signals in the combinations that are kept after a limit was reached. */
const FEW_SIGNALS = 5000;
/** Conditions of one group after which the enumeration ends if a limit was reached. */
const MAX_CONDITIONS = 1000;

/** Outcomes of one routing or node. */
export interface Combinations {
  readonly outcomes: readonly Outcome[];
  /** There are too many combinations; the last outcome signals all places. */
  readonly isCut: boolean;
}

/** A combination of the groups of a routing that have been processed so far. */
interface Partial {
  readonly signals: readonly Signal[];
  readonly branches: readonly Branch[];
  readonly cubes: Cubes;
  /** Set if several combinations were merged: the branches that any of them takes. */
  readonly merged?: readonly Branch[];
}

/** Adds taken branches and conditions to a combination; `undefined` if the conditions are unsatisfiable. */
type Extend = (from: Partial, branches: readonly Branch[], conditions: readonly Formula[]) => Partial | undefined;

/** Adds a group `one`: the first branch whose condition is true, or none. */
function oneOf(partial: Partial, branches: readonly Branch[], extend: Extend): Partial[] {
  const found: Partial[] = [];
  const add = (extended: Partial | undefined): void => {
    if (extended !== undefined) found.push(extended);
  };
  const disjoint = disjointBranches(branches);
  if (disjoint !== undefined) {
    const always = branches[0]?.defined ?? ALWAYS;
    // Mutation point: value-arms
    for (const { branch, formula } of disjoint.branches) add(extend(partial, [branch], [always, formula]));
    add(extend(partial, [], [always, disjoint.none]));
    return found;
  }
  // The combination in which no earlier branch is taken.
  let left: Partial | undefined = partial;
  // Mutation point: condition-arms
  for (const branch of branches) {
    const { formula, defined = ALWAYS } = branch;
    add(left && extend(left, [branch], [defined, formula]));
    left = left && extend(left, [], [defined, negation(formula)]);
    if (left === undefined || found.length > MAX_OUTCOMES) return found;
  }
  add(left);
  return found;
}

/**
 * The branches of a `match`, if their conditions are disjoint sets of values of one term. Each branch is then
 * independent of the order, and the remaining values are computed once. A `match` with thousands of values costs linear
 * instead of quadratic time.
 */
function disjointBranches(
  branches: readonly Branch[],
):
  | { readonly branches: readonly { readonly branch: Branch; readonly formula: Formula }[]; readonly none: Formula }
  | undefined {
  const last = branches.at(-1);
  const fallback = last?.formula.kind === "const" && last.formula.value ? last : undefined;
  const arms = fallback === undefined ? branches : branches.slice(0, -1);
  const union = disjointSets(arms);
  if (union === undefined) return undefined;
  const rest = negation(union);
  const found = arms.map((branch) => ({ branch, formula: branch.formula }));
  return fallback === undefined
    ? { branches: found, none: rest }
    : { branches: [...found, { branch: fallback, formula: rest }], none: NEVER };
}

type DisjointSets = Formula & { readonly kind: "in" };

/** The disjunction of the conditions, if they are disjoint sets of values of one term. */
function disjointSets(branches: readonly Branch[]): DisjointSets | undefined {
  const first = branches[0]?.formula;
  if (first?.kind !== "in") return undefined;
  const sets: ValueSet[] = [];
  for (const { formula } of branches) {
    if (formula.kind !== "in" || formula.term !== first.term) return undefined;
    sets.push(formula.set);
  }
  const union = uniteDisjoint(sets);
  return union === undefined ? undefined : { ...first, set: union };
}

/** Above this number, combinations of independent conditions that signal the same places are merged. */
const MERGE_ABOVE = 64;
/** Outcomes that are kept if a routing has too many. */
const FEW_OUTCOMES = 64;

/** All combinations of the groups of a routing. */
export function combineRoutes(routing: Routing, kind: "own" | "error", known: Cube): Combinations {
  const everything: Cubes = { cubes: [known], exact: true };
  const [only] = routing.groups;
  if (only?.kind === "always" && routing.groups.length === 1) {
    const partial: Partial = { signals: only.signals, branches: [], cubes: everything };
    return { outcomes: [outcomeOf(partial, kind, true, known)], isCut: false };
  }
  let partials: Partial[] = [{ signals: [], branches: [], cubes: everything }];
  let isCut = false;
  const cut = (items: Partial[]): Partial[] => {
    let size = 0;
    for (const { signals } of items) size += 1 + signals.length;
    // After the first cut, combinations only show defects, so few of them are kept.
    if (items.length <= (isCut ? FEW_OUTCOMES : MAX_OUTCOMES) && size <= MAX_SIGNALS) return items;
    isCut = true;
    return items.slice(0, Math.max(2, Math.min(FEW_OUTCOMES, Math.floor((items.length * FEW_SIGNALS) / size))));
  };
  const extend: Extend = (from, branches, conditions) => {
    const cubes = conditions.reduce(restrict, from.cubes);
    if (cubes.cubes.length === 0) return undefined;
    if (branches.length === 0) return { signals: from.signals, branches: from.branches, cubes };
    return {
      signals: [...from.signals, ...branches.flatMap((branch) => branch.signals)],
      branches: [...from.branches, ...branches],
      cubes,
    };
  };
  for (const group of routing.groups) {
    if (group.kind === "always") {
      partials = partials.map((partial) => withSignals(partial, group.signals));
      continue;
    }
    const next: Partial[] = [];
    for (const partial of partials) {
      const extended =
        group.kind === "one"
          ? oneOf(partial, group.branches, extend)
          : someOf(partial, group, extend, cut, () => isCut);
      for (const each of extended) next.push(each);
      if (next.length > MAX_OUTCOMES) break;
    }
    partials = cut(next);
  }
  const outcomes = partials.map((partial) => outcomeOf(partial, kind, routing.groups.length > 0, known));
  // Mutation point: condition-without-value
  if (kind === "own") for (const each of withoutValue(routing, everything)) outcomes.push(each);
  if (isCut) outcomes.push(everySignal(routing, kind));
  return { outcomes, isCut };
}

function outcomeOf(partial: Partial, kind: "own" | "error", hasEdges: boolean, known: Cube): Outcome {
  const { signals, branches, cubes } = partial;
  // A run fails if a node has edges and none is taken. A node without edges ends its branch.
  const isStuck = hasEdges && signals.length === 0;
  const { places, ends, rollsBack } = isStuck ? NO_SIGNALS : placesOf(signals);
  const free = cubes.cubes.some((cube) => cube.size === 0) || cubes.cubes.every((cube) => cube === known);
  return {
    kind: isStuck ? "stuck" : kind,
    places,
    ends,
    label: labelOf(kind, branches),
    cubes: free ? undefined : cubes.cubes,
    exact: cubes.exact && partial.merged === undefined,
    exclusive: false,
    branches: partial.merged ?? branches,
    ...(rollsBack ? { rollsBack } : {}),
  };
}

function labelOf(kind: "own" | "error", branches: readonly Branch[]): string {
  if (branches.length === 0) return kind === "error" ? "on error" : "";
  return [...(kind === "error" ? ["on error"] : []), ...branches.map((branch) => branch.label)].join(", ");
}

/** Adds the signals of a group `always`: most nodes have no other. */
function withSignals(partial: Partial, signals: readonly Signal[]): Partial {
  const { branches, cubes, merged } = partial;
  const all = partial.signals.length === 0 ? signals : [...partial.signals, ...signals];
  return merged === undefined ? { signals: all, branches, cubes } : { signals: all, branches, cubes, merged };
}

/** Adds a group `several`: all branches whose conditions are true, or `otherwise` if none is. */
function someOf(
  partial: Partial,
  group: RouteGroup & { readonly kind: "several" },
  extend: Extend,
  cut: (items: Partial[]) => Partial[],
  isCut: () => boolean,
): Partial[] {
  const defined = group.branches.flatMap((branch) => branch.defined ?? []);
  const base = defined.length === 0 ? partial : extend(partial, [], defined);
  if (base === undefined) return [];
  const disjoint = group.branches.length > MERGE_ABOVE ? disjointSets(group.branches) : undefined;
  let partials: Partial[] = disjoint === undefined ? [base] : combineDisjoint(base, group.branches, disjoint, extend);
  if (disjoint !== undefined) partials = cut(mergeEqual(partials, partial));
  let mergeAbove = MERGE_ABOVE;
  for (const [position, branch] of (disjoint === undefined ? group.branches : []).entries()) {
    // Only the outcome that signals all places remains (`everySignal`).
    if (position > MAX_CONDITIONS && isCut()) return [];
    const next: Partial[] = [];
    for (const item of partials) {
      if (isOutside(item.cubes, branch.formula)) {
        next.push(item);
        continue;
      }
      const taken = extend(item, [branch], [branch.formula]);
      const passed = extend(item, [], [negation(branch.formula)]);
      if (taken !== undefined) next.push({ ...taken, ...mergedWith(item, branch) });
      // Mutation point: when-passed
      if (passed !== undefined) next.push({ ...passed, ...mergedWith(item, undefined) });
    }
    const merged = next.length > mergeAbove ? mergeEqual(next, partial) : next;
    // Combinations that could not be merged are compared again only when their number has doubled.
    mergeAbove = merged.length > mergeAbove ? merged.length * 2 : mergeAbove;
    partials = cut(merged);
  }
  return partials.flatMap((item) => {
    if (item.branches.length > partial.branches.length || group.otherwise === undefined) return [item];
    // Mutation point: otherwise
    return extend(item, [group.otherwise], [ALWAYS]) ?? [];
  });
}

/** At most one of several disjoint conditions is true. */
function combineDisjoint(base: Partial, branches: readonly Branch[], union: DisjointSets, extend: Extend): Partial[] {
  return [
    ...branches.flatMap((branch) => extend(base, [branch], [branch.formula]) ?? []),
    ...[extend(base, [], [negation(union)]) ?? []].flat(),
  ];
}

function mergedWith({ merged }: Partial, branch: Branch | undefined): { readonly merged?: readonly Branch[] } {
  if (merged === undefined) return {};
  return { merged: branch === undefined ? merged : [...merged, branch] };
}

/** Merges combinations that signal the same places. The result is inexact. */
function mergeEqual(items: readonly Partial[], before: Partial): Partial[] {
  const found = new Map<string, Partial>();
  for (const item of items) {
    const { places, ends, rollsBack } = placesOf(item.signals);
    const key = `${places.join()}/${ends}/${rollsBack}/${item.branches.length > before.branches.length}`;
    const known = found.get(key);
    if (known === undefined) {
      found.set(key, item);
      continue;
    }
    const merged = new Set([...(known.merged ?? known.branches), ...(item.merged ?? item.branches)]);
    found.set(key, { ...known, cubes: sumOf(known.cubes, item.cubes), merged: [...merged] });
  }
  return [...found.values()];
}

/** Outcomes in which a condition has no value. The run then fails at this node. */
function withoutValue(routing: Routing, everything: Cubes): Outcome[] {
  const found: Outcome[] = [];
  const add = (branch: Branch, where: readonly Formula[]): void => {
    const { cubes, exact } = where.reduce(restrict, everything);
    if (cubes.length === 0) return;
    const label = `${branch.label} (no value)`;
    found.push({ kind: "stuck", places: [], ends: false, label, cubes, exact, exclusive: false, branches: [branch] });
  };
  for (const group of routing.groups) {
    if (group.kind === "always") continue;
    const earlier: Formula[] = [];
    for (const branch of group.branches) {
      if (branch.defined !== undefined) add(branch, [...earlier, negation(branch.defined)]);
      if (group.kind === "one" && earlier.length < MAX_EARLIER) earlier.push(negation(branch.formula));
    }
  }
  return found;
}

/** Limit of the earlier arms whose false conditions restrict a later arm. Fewer of them over-approximate. */
const MAX_EARLIER = 32;

/** An outcome that signals all places of a routing. */
function everySignal(routing: Routing, kind: "own" | "error"): Outcome {
  const { places } = placesOf(signalsOf(routing));
  return { kind, places, ends: true, label: "", cubes: undefined, exact: false, exclusive: false, branches: [] };
}

/** Whether cubes contradict an atom: a fast path for long lists of `x == …`. */
function isOutside({ cubes }: Cubes, formula: Formula): boolean {
  if (formula.kind !== "in" || cubes.length !== 1) return false;
  const known = cubes[0]?.get(formula.term.id);
  return known !== undefined && areDisjoint(known, formula.set);
}

/** The conjunction of cubes and a formula. */
function restrict(cubes: Cubes, formula: Formula): Cubes {
  if (formula.kind === "const") return formula.value ? cubes : { cubes: [], exact: true };
  const part = formula.kind === "not" ? formula.of : formula;
  const [only] = cubes.cubes;
  const isPlain = part.kind === "in" && part.same === undefined && cubes.cubes.length === 1;
  const known = isPlain ? only?.get(part.term.id) : undefined;
  if (part.kind === "in" && only !== undefined && known !== undefined) {
    const met = intersectValues(known, part === formula ? part.set : complementValues(part.set));
    return { cubes: isNothing(met) ? [] : [new Map(only).set(part.term.id, met)], exact: cubes.exact };
  }
  const wanted = cubesOf(formula);
  const found = new Map<string, Cube>();
  for (const left of cubes.cubes) {
    for (const right of wanted.cubes) {
      const met = meetCubes(left, right);
      if (met !== undefined) found.set(cubeKey(met), met);
    }
  }
  if (found.size > MAX_OUTCOMES) return { cubes: cubes.cubes, exact: false };
  return { cubes: [...found.values()], exact: cubes.exact && wanted.exact };
}

const NO_SIGNALS = { places: [], ends: false, rollsBack: false } as const;

function placesOf(signals: readonly Signal[]): { places: readonly number[]; ends: boolean; rollsBack: boolean } {
  const [only] = signals;
  if (signals.length === 1 && only?.place !== undefined && only.place !== END_TARGET && only.rollsBack !== true)
    return { places: [only.place], ends: false, rollsBack: false };
  const places = new Set<number>();
  let ends = signals.length === 0;
  let isBack = false;
  for (const { place, rollsBack } of signals) {
    if (rollsBack === true) isBack = true;
    else if (place === END_TARGET) ends = true;
    // Mutation point: signalled-places
    if (place !== undefined && place !== END_TARGET) places.add(place);
  }
  return {
    places: [...places].sort((a, b) => a - b),
    ends: ends || (places.size === 0 && !isBack),
    rollsBack: isBack,
  };
}
