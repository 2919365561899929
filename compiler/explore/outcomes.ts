/**
 * What one node's step can lead to: every set of signals that its routes allow, with the conditions under which
 * it comes about. Contradictory combinations (`x < 1` and `x > 2`) are left out here already.
 */
import {
  ALWAYS,
  both,
  type Cube,
  cubeKey,
  type Cubes,
  cubesOf,
  type Formula,
  meetCubes,
  negation,
  NEVER,
  termsOf,
} from "./formula.ts";
import { type Branch, type ControlModel, type ControlNode, END_TARGET, type Routing, type Signal } from "./model.ts";
import { formulasOf } from "./signals.ts";
import {
  areDisjoint,
  complementValues,
  intersectValues,
  isNothing,
  uniteDisjoint,
  type ValueSet,
} from "./value-set.ts";
import { channelsWrittenAfter, type WrittenAfter } from "./written-before.ts";

/** More combinations than this at one node are not looked at one by one. */
const MAX_OUTCOMES = 4096;

export interface Outcome {
  /** `own`: its edges; `error`: its `on error` edges; `jump`: a `goto`, `stop` or `send`. */
  readonly kind: "own" | "error" | "jump";
  /** Places that get a signal, each once, ascending. */
  readonly places: readonly number[];
  /** The branch ends here (`end`, or no edge at all). */
  readonly ends: boolean;
  /** Which way choices went, in source form; empty where there was none. */
  readonly label: string;
  /** One of them holds; `undefined` where nothing is asked. */
  readonly cubes: readonly Cube[] | undefined;
  /** Whether the conditions are known to be meetable, each on its own. */
  readonly exact: boolean;
  /** It is not `exact` merely because nobody wrote that the branch may end here. */
  readonly silent?: true;
  /** It takes the whole step over: everything else that the step would signal is dropped. */
  readonly exclusive: boolean;
  /** The branches that it takes. */
  readonly branches: readonly Branch[];
}

export interface Outcomes {
  /** Of `start`. */
  readonly start: readonly Outcome[];
  /** By node. */
  readonly nodes: readonly (readonly Outcome[])[];
  /** Nodes (`START_NODE` for `start`) with more combinations than can be looked at. */
  readonly tooMany: readonly number[];
}

/** Stands for `start` where nodes are given by index. */
export const START_NODE = -1;

/** `plain`: a jump leads to one place. `all`: also to several, by `send`, and exclusively. */
export type JumpReading = "plain" | "all";

export function outcomesOf(model: ControlModel, reading: JumpReading = "plain"): Outcomes {
  const mayBeNull = new Set<number>();
  for (const term of model.terms.terms) {
    const channel = term.channel === undefined ? undefined : model.data.channels[term.channel];
    if (channel?.domain.null === true && !channel.declared.null) mayBeNull.add(term.channel!);
  }
  const written = mayBeNull.size === 0 ? undefined : channelsWrittenAfter(model, mayBeNull);
  const tooMany: number[] = [];
  const nodes = model.nodes.map((node) => {
    const known = notNull(model, node, written);
    const found = outcomesOfNode(model, node, reading, known);
    if (found === undefined) tooMany.push(node.index);
    return found ?? [];
  });
  const start = combine(model.start, "own", new Map());
  if (start === undefined) tooMany.unshift(START_NODE);
  return { start: start ?? [], nodes, tooMany };
}

/** Channels that have been written are not null any more: what the conditions of this node may rely on. */
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

function outcomesOfNode(
  model: ControlModel,
  node: ControlNode,
  reading: JumpReading,
  known: Cube,
): readonly Outcome[] | undefined {
  const found: Outcome[] = [];
  if (!node.alwaysFails) {
    const own = combine(node.routing, "own", known);
    if (own === undefined) return undefined;
    // Edges that say nothing for one who always jumps: that it also ends there is possible, but nobody wrote it.
    const silent = node.jumps !== undefined && node.routing.groups.length === 0;
    const isUnwritten = silent && !node.jumps.includes(END_TARGET);
    for (const item of own) found.push(isUnwritten ? { ...item, exact: false, silent: true as const } : item);
    if (node.jumps !== undefined) {
      const jumps = reading === "plain" ? singleJumps(model, node) : allJumps(model, node, own);
      if (jumps === undefined) return undefined;
      for (const each of jumps) found.push(each);
    }
  }
  if (node.errorRouting !== undefined) {
    const failed = combine(node.errorRouting, "error", new Map());
    if (failed === undefined) return undefined;
    for (const each of failed) found.push(each);
  }
  return found;
}

/** What some of a routing's groups contribute. */
interface Partial {
  readonly signals: readonly Signal[];
  readonly branches: readonly Branch[];
  readonly cubes: Cubes;
}

/** With more branches taken, where their conditions can hold. */
type Extend = (from: Partial, branches: readonly Branch[], conditions: readonly Formula[]) => Partial | undefined;

/** The first branch that holds, or none. */
function oneOf(partial: Partial, branches: readonly Branch[], extend: Extend): Partial[] {
  const found: Partial[] = [];
  const add = (extended: Partial | undefined): void => {
    if (extended !== undefined) found.push(extended);
  };
  const apart = branchesApart(branches);
  if (apart !== undefined) {
    for (const { branch, formula } of apart.branches) add(extend(partial, [branch], [formula]));
    add(extend(partial, [], [apart.none]));
    return found;
  }
  // What is left for the branches that follow: kept as it shrinks.
  let left: Partial | undefined = partial;
  for (const branch of branches) {
    add(left && extend(left, [branch], [branch.formula]));
    left = left && extend(left, [], [negation(branch.formula)]);
    if (left === undefined || found.length > MAX_OUTCOMES) return found;
  }
  add(left);
  return found;
}

/**
 * Arms of a `match` ask for different values of one term: each holds by itself, and what none asks for is worked out once. So
 * a choice among thousands of values does not cost millions of comparisons.
 */
function branchesApart(
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
  const rest = negation({ kind: "in", term, set: union });
  const found = arms.map((branch) => ({ branch, formula: branch.formula }));
  return fallback === undefined
    ? { branches: found, none: rest }
    : { branches: [...found, { branch: fallback, formula: rest }], none: NEVER };
}

/** Every combination of one routing's groups; `undefined` when there are too many. */
function combine(routing: Routing, kind: "own" | "error", known: Cube): readonly Outcome[] | undefined {
  let partials: Partial[] = [{ signals: [], branches: [], cubes: { cubes: [known], exact: true } }];
  const extend: Extend = (from, branches, conditions) => {
    const cubes = restrict(from.cubes, both(conditions));
    if (cubes.cubes.length === 0) return undefined;
    return {
      signals: [...from.signals, ...branches.flatMap((branch) => branch.signals)],
      branches: [...from.branches, ...branches],
      cubes,
    };
  };
  for (const group of routing.groups) {
    const next: Partial[] = [];
    for (const partial of partials) {
      if (group.kind === "always") next.push({ ...partial, signals: [...partial.signals, ...group.signals] });
      else if (group.kind === "one") for (const each of oneOf(partial, group.branches, extend)) next.push(each);
      else {
        let ways: Partial[] = [partial];
        for (const branch of group.branches) {
          const widened: Partial[] = [];
          for (const way of ways) {
            if (isOutside(way.cubes, branch.formula)) {
              widened.push(way);
              continue;
            }
            const taken = extend(way, [branch], [branch.formula]);
            const passed = extend(way, [], [negation(branch.formula)]);
            if (taken !== undefined) widened.push(taken);
            if (passed !== undefined) widened.push(passed);
          }
          if (widened.length > MAX_OUTCOMES) return undefined;
          ways = widened;
        }
        for (const way of ways) {
          const none = way.branches.length === partial.branches.length;
          if (!none) next.push(way);
          else if (group.otherwise !== undefined) {
            const extended = extend(way, [group.otherwise], [ALWAYS]);
            if (extended !== undefined) next.push(extended);
          } else next.push(way);
        }
      }
    }
    if (next.length > MAX_OUTCOMES) return undefined;
    partials = next;
  }
  // Edges of which none is taken fail the run; a node without edges ends its branch.
  const routed = routing.groups.length === 0 ? partials : partials.filter(({ signals }) => signals.length > 0);
  return routed.map(({ signals, branches, cubes }) => {
    const { places, ends } = placesOf(signals);
    const free = cubes.cubes.some((cube) => cube.size === 0) || cubes.cubes.every((cube) => cube === known);
    return {
      kind,
      places,
      ends,
      label: [...(kind === "error" ? ["on error"] : []), ...branches.map((branch) => branch.label)].join(", "),
      cubes: free ? undefined : cubes.cubes,
      exact: cubes.exact,
      exclusive: false,
      branches,
    };
  });
}

/** Whether a formula about one term cannot hold there: most of a long list of `x == …` cannot. */
function isOutside({ cubes }: Cubes, formula: Formula): boolean {
  if (formula.kind !== "in" || cubes.length !== 1) return false;
  const known = cubes[0]?.get(formula.term.id);
  return known !== undefined && areDisjoint(known, formula.set);
}

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
    else if (place !== undefined) places.add(place);
  }
  return { places: [...places].sort((a, b) => a - b), ends: ends || places.size === 0 };
}

/** A `goto` of one target, or (`end`) a stop. */
function singleJumps(model: ControlModel, node: ControlNode): readonly Outcome[] {
  return (node.jumps ?? []).map((target) => jump(model, node, [target], [], `goto ${nameOf(model, target)}`, false));
}

/** Also to several at once, by `send` beside the own edges, and exclusively. */
function allJumps(model: ControlModel, node: ControlNode, own: readonly Outcome[]): readonly Outcome[] | undefined {
  const targets = node.jumps ?? [];
  const nodes = targets.filter((target) => target !== END_TARGET);
  if (nodes.length > 6) return undefined;
  const found: Outcome[] = [...singleJumps(model, node)];
  for (const target of targets) {
    found.push({
      ...jump(model, node, [], target === END_TARGET ? [] : [target], `exclusive goto ${nameOf(model, target)}`, true),
      ends: target === END_TARGET,
    });
  }
  for (let mask = 1; mask < 2 ** nodes.length; mask++) {
    const chosen = nodes.filter((_, bit) => (mask & (2 ** bit)) !== 0);
    const names = chosen.map((target) => nameOf(model, target)).join(", ");
    if (chosen.length > 1) found.push(jump(model, node, chosen, [], `goto ${names}`, false));
    for (const base of own) {
      const places = [...new Set([...base.places, ...chosen])].sort((a, b) => a - b);
      const label = [base.label, `send ${names}`].filter((part) => part !== "").join(", ");
      found.push({ ...base, kind: "jump", places, ends: false, label });
    }
  }
  return found.length > MAX_OUTCOMES ? undefined : found;
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
