/**
 * The outcomes of one node's step: every set of signals that its routes allow, with the conditions of each.
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
  termsOf,
} from "./formula.ts";
import {
  type Branch,
  type ControlModel,
  type ControlNode,
  END_TARGET,
  type RouteGroup,
  type Routing,
  type Signal,
} from "./model.ts";
import { formulasOf, signalsOf } from "./signals.ts";
import {
  areDisjoint,
  complementValues,
  intersectValues,
  isNothing,
  uniteDisjoint,
  type ValueSet,
} from "./value-set.ts";
import { channelsWrittenAfter, type WrittenAfter } from "./written-before.ts";

/** Limit of the combinations of one node that are enumerated. */
const MAX_OUTCOMES = 4096;

export interface Outcome {
  /**
   * `own`: its edges; `error`: its `on error` edges; `jump`: a `goto`, `stop` or `send`; `stuck`: none of its edges is
   * taken, or a condition has no value, which fails the run.
   */
  readonly kind: "own" | "error" | "jump" | "stuck";
  /** Places that get a signal, each once, ascending. */
  readonly places: readonly number[];
  /** The branch ends here (`end`, or no edge at all). */
  readonly ends: boolean;
  /** The taken branches, in source form; empty if the node has no choice. */
  readonly label: string;
  /** The condition in disjunctive normal form; `undefined` if it is always true. */
  readonly cubes: readonly Cube[] | undefined;
  /** Whether each condition by itself is known to be satisfiable. */
  readonly exact: boolean;
  /** It is inexact only because the text does not state that the branch can end here. */
  readonly silent?: true;
  /** An exclusive jump: the other signals of the step are dropped, except those of error edges. */
  readonly exclusive: boolean;
  /** Places that error edges signal, if some of the sent tasks fail and others do not. An exclusive jump keeps them. */
  readonly errorPlaces?: readonly number[];
  /** The branches that it takes. */
  readonly branches: readonly Branch[];
}

export interface Outcomes {
  /** The outcomes of `start`. */
  readonly start: readonly Outcome[];
  /** By node. */
  readonly nodes: readonly (readonly Outcome[])[];
  /**
   * Nodes (`START_NODE` for `start`) with too many combinations. Their outcomes are some of the combinations, and one
   * that signals all places, for analyses that need only the set of places that can be signalled.
   */
  readonly tooMany: ReadonlySet<number>;
}

/** The index of `start` among nodes. */
export const START_NODE = -1;

export function outcomesOf(model: ControlModel): Outcomes {
  const mayBeNull = new Set<number>();
  for (const term of model.terms.terms) {
    const channel = term.channel === undefined ? undefined : model.data.channels[term.channel];
    if (channel?.domain.null === true && !channel.declared.null) mayBeNull.add(term.channel!);
  }
  const written = mayBeNull.size === 0 ? undefined : channelsWrittenAfter(model, mayBeNull);
  const tooMany = new Set<number>();
  const nodes = model.nodes.map((node) => {
    const found = outcomesOfNode(model, node, notNull(model, node, written));
    if (found.isCut) tooMany.add(node.index);
    return node.isSent ? outcomesOfMany(found, () => tooMany.add(node.index)) : found.outcomes;
  });
  const start = combine(model.start, "own", new Map());
  if (start.isCut) tooMany.add(START_NODE);
  return { start: start.outcomes, nodes, tooMany };
}

/** Channels that have been written when a node ends, and so are not null in its conditions. */
function notNull(model: ControlModel, node: ControlNode, written: WrittenAfter | undefined): Cube {
  const known = new Map<number, ValueSet>();
  if (written === undefined) return known;
  for (const formula of formulasOf(node.routing)) {
    for (const { id, channel } of termsOf(formula)) {
      if (channel === undefined || known.has(id) || !written(node.index, channel)) continue;
      const declared = model.data.channels[channel]?.declared;
      if (declared !== undefined) known.set(id, declared);
    }
  }
  return known;
}

/** Outcomes of one routing or node. */
interface Found {
  readonly outcomes: readonly Outcome[];
  /** There are too many combinations; the last outcome signals all places. */
  readonly isCut: boolean;
}

function outcomesOfNode(model: ControlModel, node: ControlNode, known: Cube): Found {
  const found: Outcome[] = [];
  let isCut = false;
  if (!node.alwaysFails) {
    const own = combine(node.routing, "own", known);
    isCut ||= own.isCut;
    // A node with `goes` and without edges may always jump. It can also end its branch, but the text does not state it.
    const silent = node.jumps !== undefined && node.routing.groups.length === 0;
    const isUnwritten = silent && !node.jumps.includes(END_TARGET);
    for (const item of own.outcomes) found.push(isUnwritten ? { ...item, exact: false, silent: true as const } : item);
    if (node.jumps !== undefined) {
      const isSure = node.fails === "freely";
      // Mutation point: goto-one
      for (const each of singleJumps(model, node)) found.push(isSure ? each : { ...each, exact: false });
      if (model.jumps === "any") isCut = addJumps(model, node, own.outcomes, found) || isCut;
    }
  }
  // Mutation point: error-edges
  if (node.errorRouting !== undefined && (node.fails !== "never" || node.defined !== undefined)) {
    const failed = combine(node.errorRouting, "error", new Map());
    isCut ||= failed.isCut;
    // A failure that no error edge takes fails the run, as it does without error edges.
    const isSure = node.fails === "freely" || node.alwaysFails;
    for (const item of failed.outcomes) {
      if (item.kind !== "stuck") found.push(isSure ? item : { ...item, exact: false });
    }
  }
  return { outcomes: found, isCut };
}

/** The outcomes of several sent tasks in one step: each succeeds or fails independently. */
function outcomesOfMany({ outcomes }: Found, giveUp: () => void): readonly Outcome[] {
  const failed = outcomes.filter(({ kind }) => kind === "error");
  const others = outcomes.filter(({ kind }) => kind !== "error");
  if (failed.length > 4) giveUp();
  const some: Outcome[] = [];
  for (let mask = 1; mask < 2 ** Math.min(failed.length, 4); mask++) {
    const chosen = failed.filter((_, bit) => (mask & (2 ** bit)) !== 0);
    const [first] = chosen;
    if (first === undefined) continue;
    const places = [...new Set(chosen.flatMap((outcome) => outcome.places))].sort((a, b) => a - b);
    some.push(chosen.length === 1 ? first : { ...first, places, cubes: undefined, exact: false });
  }
  const mixed = others.flatMap((own) =>
    own.kind === "stuck"
      ? []
      : some.map((failure): Outcome => ({
          ...own,
          places: [...new Set([...own.places, ...failure.places])].sort((a, b) => a - b),
          ends: own.ends || failure.ends,
          label: [own.label, failure.label].filter((part) => part !== "").join(", "),
          exact: own.exact && failure.exact && failure.cubes === undefined,
          errorPlaces: failure.places,
        })),
  );
  return [...others, ...some, ...mixed];
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
  const [first] = arms;
  if (first?.formula.kind !== "in") return undefined;
  const { term } = first.formula;
  const sets: ValueSet[] = [];
  for (const { formula } of arms) {
    if (formula.kind !== "in" || formula.term !== term) return undefined;
    sets.push(formula.set);
  }
  const union = uniteDisjoint(sets);
  if (union === undefined) return undefined;
  const rest = negation({ ...first.formula, set: union });
  const found = arms.map((branch) => ({ branch, formula: branch.formula }));
  return fallback === undefined
    ? { branches: found, none: rest }
    : { branches: [...found, { branch: fallback, formula: rest }], none: NEVER };
}

/** Above this number, combinations of independent conditions that signal the same places are merged. */
const MERGE_ABOVE = 64;
/** Outcomes that are kept if a routing has too many. */
const FEW_OUTCOMES = 64;

/** All combinations of the groups of a routing. */
function combine(routing: Routing, kind: "own" | "error", known: Cube): Found {
  const everything: Cubes = { cubes: [known], exact: true };
  let partials: Partial[] = [{ signals: [], branches: [], cubes: everything }];
  let isCut = false;
  const cut = (items: Partial[]): Partial[] => {
    if (items.length <= MAX_OUTCOMES) return items;
    isCut = true;
    return items.slice(0, FEW_OUTCOMES);
  };
  const extend: Extend = (from, branches, conditions) => {
    const cubes = conditions.reduce(restrict, from.cubes);
    if (cubes.cubes.length === 0) return undefined;
    return {
      signals: [...from.signals, ...branches.flatMap((branch) => branch.signals)],
      branches: [...from.branches, ...branches],
      cubes,
    };
  };
  for (const group of routing.groups) {
    if (group.kind === "always") {
      partials = partials.map((partial) => ({ ...partial, signals: [...partial.signals, ...group.signals] }));
      continue;
    }
    const next: Partial[] = [];
    for (const partial of partials) {
      const extended =
        group.kind === "one" ? oneOf(partial, group.branches, extend) : someOf(partial, group, extend, cut);
      for (const each of extended) next.push(each);
      if (next.length > MAX_OUTCOMES) break;
    }
    partials = cut(next);
  }
  const outcomes = partials.map((partial): Outcome => {
    const { signals, branches, cubes } = partial;
    // A run fails if a node has edges and none is taken. A node without edges ends its branch.
    const isStuck = routing.groups.length > 0 && signals.length === 0;
    const { places, ends } = isStuck ? { places: [], ends: false } : placesOf(signals);
    const free = cubes.cubes.some((cube) => cube.size === 0) || cubes.cubes.every((cube) => cube === known);
    return {
      kind: isStuck ? "stuck" : kind,
      places,
      ends,
      label: [...(kind === "error" ? ["on error"] : []), ...branches.map((branch) => branch.label)].join(", "),
      cubes: free ? undefined : cubes.cubes,
      exact: cubes.exact && partial.merged === undefined,
      exclusive: false,
      branches: partial.merged ?? branches,
    };
  });
  // Mutation point: condition-without-value
  if (kind === "own") for (const each of withoutValue(routing, everything)) outcomes.push(each);
  if (isCut) outcomes.push(everySignal(routing, kind));
  return { outcomes, isCut };
}

/** Adds a group `several`: all branches whose conditions are true, or `otherwise` if none is. */
function someOf(
  partial: Partial,
  group: RouteGroup & { readonly kind: "several" },
  extend: Extend,
  cut: (items: Partial[]) => Partial[],
): Partial[] {
  const defined = group.branches.flatMap((branch) => branch.defined ?? []);
  const base = defined.length === 0 ? partial : extend(partial, [], defined);
  if (base === undefined) return [];
  let partials: Partial[] = [base];
  for (const branch of group.branches) {
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
    partials = cut(next.length > MERGE_ABOVE ? mergeEqual(next, partial) : next);
  }
  return partials.flatMap((item) => {
    if (item.branches.length > partial.branches.length || group.otherwise === undefined) return [item];
    // Mutation point: otherwise
    return extend(item, [group.otherwise], [ALWAYS]) ?? [];
  });
}

function mergedWith({ merged }: Partial, branch: Branch | undefined): { readonly merged?: readonly Branch[] } {
  if (merged === undefined) return {};
  return { merged: branch === undefined ? merged : [...merged, branch] };
}

/** Merges combinations that signal the same places. The result is inexact. */
function mergeEqual(items: readonly Partial[], before: Partial): Partial[] {
  const found = new Map<string, Partial>();
  for (const item of items) {
    const { places, ends } = placesOf(item.signals);
    const key = `${places.join()}/${ends}/${item.branches.length > before.branches.length}`;
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
  const known = part.kind === "in" && cubes.cubes.length === 1 ? only?.get(part.term.id) : undefined;
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

function placesOf(signals: readonly Signal[]): { places: readonly number[]; ends: boolean } {
  const places = new Set<number>();
  let ends = signals.length === 0;
  for (const { place } of signals) {
    if (place === END_TARGET) ends = true;
    // Mutation point: signalled-places
    if (place !== undefined && place !== END_TARGET) places.add(place);
  }
  return { places: [...places].sort((a, b) => a - b), ends: ends || places.size === 0 };
}

/** A `goto` of one target, or (`end`) a stop. */
function singleJumps(model: ControlModel, node: ControlNode): readonly Outcome[] {
  return (node.jumps ?? []).map((target) => jump(model, node, [target], [], `goto ${nameOf(model, target)}`, false));
}

/** Limit of the jump targets of which all subsets are enumerated. */
const MAX_JUMPS = 4;

/**
 * Adds the other jumps of a node to `found`: a `goto` to several nodes, an exclusive `goto`, and each of these, and the
 * node's own edges, with `send`. The items of a `for` can jump differently, which results in the same sets. Returns
 * whether combinations are missing.
 */
function addJumps(model: ControlModel, node: ControlNode, own: readonly Outcome[], found: Outcome[]): boolean {
  const targets = (node.jumps ?? []).filter((target) => target !== END_TARGET);
  // Mutation point: stop
  const canStop = node.jumps?.includes(END_TARGET) === true;
  const isCut = targets.length > MAX_JUMPS;
  const sets = subsetsOf(targets.slice(0, MAX_JUMPS));
  // Mutation point: sent-nodes
  const sent = subsetsOf(node.sends.slice(0, MAX_JUMPS));
  const names = (nodes: readonly number[]): string => nodes.map((target) => nameOf(model, target)).join(", ");
  const withSent = (outcome: Outcome, nodes: readonly number[]): Outcome => ({
    ...outcome,
    kind: "jump",
    places: [...new Set([...outcome.places, ...nodes])].sort((a, b) => a - b),
    label: [outcome.label, nodes.length === 0 ? "" : `send ${names(nodes)}`].filter((part) => part !== "").join(", "),
  });
  for (const nodes of sent) {
    if (nodes.length > 0) {
      for (const outcome of own) if (outcome.kind !== "stuck") found.push(withSent(outcome, nodes));
      if (canStop) found.push(withSent(jump(model, node, [], [], "stop", false), nodes));
    }
    for (const set of sets) {
      const label = `goto ${names(set)}`;
      const isKnown = set.length === 1 && nodes.length === 0;
      if (set.length > 0 && !isKnown)
        found.push(endsIf(canStop, withSent(jump(model, node, set, [], label, false), nodes)));
      if (set.length === 0 && !canStop) continue;
      const exclusive = jump(
        model,
        node,
        [],
        set,
        `exclusive goto ${names(set.length === 0 ? [END_TARGET] : set)}`,
        true,
      );
      found.push(endsIf(canStop, withSent(exclusive, nodes)));
    }
  }
  // Some of several sent tasks can take the edges of the node while others jump.
  if (node.isSent) {
    for (const outcome of own) {
      if (outcome.kind === "stuck") continue;
      for (const set of sets) {
        if (set.length === 0) continue;
        const { places } = jump(model, node, set, [], "", false);
        const label = [outcome.label, `goto ${names(set)}`].filter((part) => part !== "").join(", ");
        const both = { ...outcome, places: [...new Set([...outcome.places, ...places])], label };
        for (const nodes of sent) found.push(endsIf(canStop, withSent(both, nodes)));
      }
    }
  }
  found.sort((left, right) => Number(left.exclusive) - Number(right.exclusive));
  if (isCut) {
    const all = jump(model, node, targets, targets, `goto ${names(targets)}`, false);
    const places = [...new Set([...all.places, ...node.sends, ...own.flatMap((outcome) => outcome.places)])];
    found.push({ ...all, places: places.sort((a, b) => a - b), ends: true, exact: false });
  }
  return isCut;
}

/** A jump to `end` beside other targets ends a branch, too. */
function endsIf(canStop: boolean, outcome: Outcome): Outcome {
  return canStop ? { ...outcome, ends: true } : outcome;
}

function subsetsOf(items: readonly number[]): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** items.length }, (_, mask) =>
    items.filter((_item, bit) => (mask & (2 ** bit)) !== 0),
  );
}

function jump(
  model: ControlModel,
  node: ControlNode,
  targets: readonly number[],
  direct: readonly number[],
  label: string,
  exclusive: boolean,
): Outcome {
  const places = new Set<number>(direct);
  for (const target of targets) {
    if (target === END_TARGET) continue;
    const gate = model.nodes[target]?.waits ?? -1;
    if (gate === -1) places.add(target);
    else {
      for (const member of model.barriers[gate]?.members ?? []) {
        if (member.nodes.includes(node.index)) places.add(member.place);
      }
    }
  }
  return {
    kind: "jump",
    places: [...places].sort((a, b) => a - b),
    ends: places.size === 0,
    label,
    cubes: undefined,
    exact: true,
    exclusive,
    branches: [],
  };
}

function nameOf(model: ControlModel, target: number): string {
  return target === END_TARGET ? "end" : (model.nodes[target]?.name ?? "");
}
