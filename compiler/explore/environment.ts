/**
 * Environments: the values of the tracked terms in one abstract state. Each term has a set of possible values, and
 * different terms are treated as independent. A set is `exact` if every value in it is known to be possible. A trace
 * whose sets are all exact is feasible; other traces may be impossible.
 */
import { addKnown, type Evaluation, evaluateAbstractly } from "./evaluate-abstractly.ts";
import type { ChannelWrite, ControlModel, DataChannel } from "./model.ts";
import {
  ALL_INTEGERS,
  complementNumbers,
  intersectNumbers,
  type NumberSet,
  numbersCompared,
  uniteNumbers,
} from "./number-set.ts";
import type { TermLiveness } from "./term-liveness.ts";
import { channelsOf } from "./terms.ts";
import {
  intersectValues,
  isNothing,
  NOTHING,
  sameValues,
  uniteValues,
  type ValueSet,
  valueSetKey,
} from "./value-set.ts";

export interface Known {
  readonly set: ValueSet;
  readonly exact: boolean;
}

/**
 * Maps positions in `TermLiveness.tracked` to values. A term without an entry has its value at the start of a run.
 * Environments therefore stay small in long graphs, where few terms are live at a time.
 */
export type Environment = ReadonlyMap<number, Known>;

export interface Tracker {
  /** The environment at the start of a run. */
  readonly initial: Environment;
  valueOf(environment: Environment, position: number): Known;
  /** Returns the environment with other values at some positions. */
  update(environment: Environment, changes: ReadonlyMap<number, Known>): Environment;
  /** Term id -> position in environments. */
  readonly positions: ReadonlyMap<number, number>;
  /** The environment after these nodes have written. */
  write(environment: Environment, nodes: readonly number[]): Environment;
  /** Removes the terms that are dead at all of these places. */
  forget(environment: Environment, places: readonly number[]): Environment;
  key(environment: Environment): string;
}

export function createTracker(model: ControlModel, liveness: TermLiveness): Tracker {
  const { channels, writes } = model.data;
  const positions = new Map(liveness.tracked.map((term, index) => [term.id, index]));
  const ofChannel = new Map<number, number>();
  /** By channel: positions of other terms that depend on it. */
  const dependents = new Map<number, number[]>();
  liveness.tracked.forEach((term, position) => {
    if (term.channel !== undefined) ofChannel.set(term.channel, position);
    else for (const channel of term.channels) dependents.set(channel, [...(dependents.get(channel) ?? []), position]);
  });
  const domains = liveness.tracked.map((term): Known => ({ set: term.domain, exact: true }));
  const windows = liveness.tracked.map((term) =>
    term.channel === undefined ? undefined : windowOf(model, liveness, ofChannel, term.channel),
  );
  const start = liveness.tracked.map((term): Known => ({
    set: term.channel === undefined ? term.domain : channels[term.channel]!.initial,
    exact: term.channel === undefined || !channels[term.channel]!.startsUnknown,
  }));
  const valueOf = (environment: Environment, position: number): Known => environment.get(position) ?? start[position]!;
  const update = (environment: Environment, changes: ReadonlyMap<number, Known>): Environment => {
    if (changes.size === 0) return environment;
    const next = new Map(environment);
    for (const [position, known] of changes) {
      const first = start[position]!;
      if (known === first || (known.exact === first.exact && sameValues(known.set, first.set))) next.delete(position);
      else next.set(position, known);
    }
    return next;
  };
  const keys = new WeakMap<ValueSet, string>();
  const keyOf = (set: ValueSet): string => {
    let key = keys.get(set);
    if (key === undefined) {
      key = valueSetKey(set);
      keys.set(set, key);
    }
    return key;
  };

  const write = (environment: Environment, nodes: readonly number[]): Environment => {
    const updates = new Map<number, ChannelWrite[]>();
    const overwritten = new Set<number>();
    for (const node of nodes) {
      for (const item of writes[node] ?? []) {
        for (const dependent of dependents.get(item.channel) ?? []) overwritten.add(dependent);
        const position = ofChannel.get(item.channel);
        if (position === undefined) continue;
        const known = updates.get(position);
        if (known === undefined) updates.set(position, [item]);
        else known.push(item);
      }
    }
    if (updates.size === 0 && overwritten.size === 0) return environment;
    const changes = new Map<number, Known>();
    for (const position of overwritten) changes.set(position, domains[position]!);
    for (const [position, items] of updates) {
      const index = liveness.tracked[position]!.channel!;
      const context: Evaluation = {
        model,
        positions,
        ofChannel,
        entangled: liveness.entangled,
        valueOf: (at) => valueOf(environment, at),
        writes: index,
      };
      const values = items.map(({ expression, domain, isFree, optional }): Written => {
        const value =
          expression === undefined
            ? { set: domain, exact: isFree }
            : within(evaluateAbstractly(context, expression), domain);
        return { ...value, optional };
      });
      const current = valueOf(environment, position);
      changes.set(position, clamp(reduce(channels[index]!, current, values), windows[position]!));
    }
    return update(environment, changes);
  };

  const forget = (environment: Environment, places: readonly number[]): Environment => {
    let dead: number[] | undefined;
    for (const position of environment.keys()) {
      if (!places.some((place) => liveness.live.has(place, position))) (dead ??= []).push(position);
    }
    if (dead === undefined) return environment;
    const next = new Map(environment);
    for (const position of dead) next.delete(position);
    return next;
  };

  return {
    initial: new Map(),
    valueOf,
    update,
    positions,
    write,
    forget,
    key: (environment) =>
      [...environment]
        .sort(([a], [b]) => a - b)
        .map(([position, { set, exact }]) => `${position}${exact ? "=" : "~"}${keyOf(set)}`)
        .join("|"),
  };
}

function unite(a: Known, b: Known): Known {
  return { set: uniteValues(a.set, b.set), exact: a.exact && b.exact };
}

/** Restricts a value to the domain of its channel. A value outside of the domain fails the node and is never stored. */
function within(known: Known, domain: ValueSet): Known {
  const set = intersectValues(known.set, domain);
  return isNothing(set) ? { set: domain, exact: false } : { set, exact: known.exact };
}

/** A value that a node writes if it writes at all. */
interface Written extends Known {
  readonly optional: boolean;
}

/** The value of a channel after the writes of one step, in the order of the tasks. */
function reduce(channel: DataChannel, current: Known, values: readonly Written[]): Known {
  const isSure = values.some((value) => !value.optional);
  switch (channel.reducer) {
    case undefined: {
      // Two writers fail the step, which is reported. The exploration continues with either value to find other
      // defects.
      const written = values.reduce<Known>(unite, values[0]!);
      // Mutation point: plain-write
      return isSure ? written : unite(current, written);
    }
    case "last":
      // Mutation point: last-write
      return values.reduce<Known>((before, value) => (value.optional ? unite(before, value) : value), current);
    case "sum":
      return values.reduce<Known>((before, value) => {
        // Mutation point: sum-write
        const sum = addKnown(before, value, channel.declared.numbers.integer);
        return value.optional ? unite(before, sum) : sum;
      }, current);
    case "append":
    case "merge":
    case "union": {
      const container: Known = { set: { ...NOTHING, other: true }, exact: true };
      return isSure || !current.set.null ? container : unite(current, container);
    }
    case "min":
    case "max": {
      const known: Known = { set: channel.declared, exact: false };
      // Mutation point: least-write
      return isSure || !current.set.null ? known : unite(current, known);
    }
    default:
      // Mutation point: imported-write
      return { set: channel.declared, exact: false };
  }
}

/** All numbers above `above` are one abstract value, and all numbers below `below`: no condition distinguishes them. */
interface Window {
  readonly above: number;
  readonly below: number;
}

/** Margin of the window around the compared numbers, for a counter that both grows and shrinks. */
const MARGIN = 16;
/** Margin for a counter from which other tracked channels are computed. */
const WIDE_MARGIN = 256;

/**
 * The window of a counter: a widening that keeps the number of states finite. A channel that only grows is tracked up
 * to the largest number that a condition compares it with. It has no lower limit, because it grows from there.
 */
function windowOf(
  model: ControlModel,
  liveness: TermLiveness,
  tracked: ReadonlyMap<number, number>,
  channel: number,
): Window {
  let low = Infinity;
  let high = -Infinity;
  for (const set of liveness.comparedSets.get(channel) ?? []) {
    for (const interval of set.numbers.intervals) {
      for (const bound of [interval.low, interval.high]) {
        if (!Number.isFinite(bound)) continue;
        low = Math.min(low, bound);
        high = Math.max(high, bound);
      }
    }
  }
  let grows = false;
  let shrinks = false;
  const { reducer } = model.data.channels[channel]!;
  for (const item of model.data.computed[channel]!) {
    const step = counterStep(item, channel, reducer === "sum");
    if (step === undefined) {
      if (reducer !== undefined || channelsOf(item.expression!).includes(channel)) grows = shrinks = true;
    } else {
      grows ||= step > 0;
      shrinks ||= step < 0;
    }
  }
  if (low > high) low = high = 0;
  // A counter that starts near the compared numbers is followed from its start.
  for (const { low: first, high: last } of model.data.channels[channel]!.initial.numbers.intervals) {
    if (last <= high && first >= low - WIDE_MARGIN) low = Math.min(low, first);
    if (first >= low && last <= high + WIDE_MARGIN) high = Math.max(high, last);
  }
  // The values of other tracked channels depend on this one.
  const isSource = model.data.computedFrom[channel]!.some((write) => tracked.has(write.channel));
  const margin = isSource ? WIDE_MARGIN : grows && shrinks ? MARGIN : 0;
  return {
    above: grows ? high + margin : Infinity,
    below: shrinks ? low - margin : -Infinity,
  };
}

/** The constant that a write adds to a counter; `undefined` for any other write. */
export function counterStep({ expression }: ChannelWrite, channel: number, sums: boolean): number | undefined {
  if (expression === undefined) return undefined;
  if (sums) return expression.op === "const" && typeof expression.value === "number" ? expression.value : undefined;
  if (expression.op !== "binary" || (expression.operator !== "+" && expression.operator !== "-")) return undefined;
  const { left, right, operator } = expression;
  const isChannel = (part: typeof left): boolean => part.op === "channel" && part.channel === channel;
  if (isChannel(left) && right.op === "const" && typeof right.value === "number") {
    return operator === "+" ? right.value : -right.value;
  }
  if (operator === "+" && isChannel(right) && left.op === "const" && typeof left.value === "number") return left.value;
  return undefined;
}

/** No run counts to this number: it would take too long. */
const MOST_COUNTED = 2 ** 52;
/** The largest number that one write adds to a counter. */
const FARTHEST_STEP = 2 ** 40;

/**
 * Widening: replaces the numbers beyond the window by all numbers beyond it, so a counter has finitely many abstract
 * values. A counted number stays within `MOST_COUNTED`. A number beyond it has another source and can be any number.
 */
function clamp(known: Known, window: Window | undefined): Known {
  const { numbers } = known.set;
  const low = numbers.intervals[0]?.low;
  const high = numbers.intervals.at(-1)?.high;
  if (window === undefined || low === undefined || high === undefined) return known;
  let inside = numbers;
  const beyond: NumberSet[] = [];
  const replace = (outside: NumberSet, farthest: NumberSet, isCounted: boolean): void => {
    if (intersectNumbers(outside, numbers).intervals.length === 0) return;
    inside = intersectNumbers(inside, complementNumbers(outside));
    const all = isCounted ? intersectNumbers(outside, farthest) : outside;
    beyond.push(numbers.integer ? intersectNumbers(all, ALL_INTEGERS) : all);
  };
  const farthest = MOST_COUNTED + FARTHEST_STEP;
  if (high > window.above)
    replace(numbersCompared(">", window.above), numbersCompared("<=", MOST_COUNTED), high <= farthest);
  if (low < window.below)
    replace(numbersCompared("<", window.below), numbersCompared(">=", -MOST_COUNTED), low >= -farthest);
  if (beyond.length === 0) return known;
  const set = { ...known.set, numbers: beyond.reduce(uniteNumbers, inside) };
  return sameValues(set, known.set) ? known : { set, exact: false };
}
