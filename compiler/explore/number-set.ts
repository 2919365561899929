/**
 * The interval domain: sets of finite numbers as sorted, disjoint intervals. Sets that are built from conditions are
 * over the reals. A set over the integers has closed bounds that are integers, so `x > 2` and `x >= 3` are the same
 * set.
 */
export interface Interval {
  readonly low: number;
  readonly lowOpen: boolean;
  readonly high: number;
  readonly highOpen: boolean;
}

export interface NumberSet {
  readonly integer: boolean;
  readonly intervals: readonly Interval[];
}

export const NO_NUMBERS: NumberSet = { integer: false, intervals: [] };
export const ALL_NUMBERS: NumberSet = {
  integer: false,
  intervals: [{ low: -Infinity, lowOpen: true, high: Infinity, highOpen: true }],
};
export const ALL_INTEGERS: NumberSet = { integer: true, intervals: ALL_NUMBERS.intervals };

export function numberPoint(value: number): NumberSet {
  return { integer: false, intervals: [{ low: value, lowOpen: false, high: value, highOpen: false }] };
}

/** The numbers `x` with `x OPERATOR value`. */
export function numbersCompared(operator: "<" | "<=" | ">" | ">=", value: number): NumberSet {
  const open = operator === "<" || operator === ">";
  const interval: Interval =
    operator === "<" || operator === "<="
      ? { low: -Infinity, lowOpen: true, high: value, highOpen: open }
      : { low: value, lowOpen: open, high: Infinity, highOpen: true };
  return normalize(false, [interval]);
}

/** The union of intervals in any order. */
export function numbersOf(integer: boolean, intervals: readonly Interval[]): NumberSet {
  return normalize(integer, intervals.toSorted(compareLows));
}

export function intersectNumbers(a: NumberSet, b: NumberSet): NumberSet {
  if (a.intervals === ALL_NUMBERS.intervals && (b.integer || !a.integer)) return b;
  if (b.intervals === ALL_NUMBERS.intervals && (a.integer || !b.integer)) return a;
  const result: Interval[] = [];
  let i = 0;
  let j = 0;
  while (i < a.intervals.length && j < b.intervals.length) {
    const x = a.intervals[i]!;
    const y = b.intervals[j]!;
    const low = compareLows(x, y) >= 0 ? x : y;
    const high = compareHighs(x, y) <= 0 ? x : y;
    result.push({ low: low.low, lowOpen: low.lowOpen, high: high.high, highOpen: high.highOpen });
    if (high === x) i++;
    else j++;
  }
  return normalize(a.integer || b.integer, result);
}

/** Whether the sets have no common number, without allocating their intersection. */
export function areNumbersDisjoint(a: NumberSet, b: NumberSet): boolean {
  let i = 0;
  let j = 0;
  while (i < a.intervals.length && j < b.intervals.length) {
    const x = a.intervals[i]!;
    const y = b.intervals[j]!;
    if (x.high < y.low) i++;
    else if (y.high < x.low) j++;
    // Near overlaps are rare, and rounding to integers can make them empty.
    else if (intersectNumbers({ ...a, intervals: [x] }, { ...b, intervals: [y] }).intervals.length > 0) return false;
    else if (compareHighs(x, y) <= 0) i++;
    else j++;
  }
  return true;
}

export function uniteNumbers(a: NumberSet, b: NumberSet): NumberSet {
  const integer = (a.integer || a.intervals.length === 0) && (b.integer || b.intervals.length === 0);
  return normalize(integer, [...a.intervals, ...b.intervals].sort(compareLows));
}

/** The complement over the reals. Use it for sets that are built from conditions. */
export function complementNumbers(set: NumberSet): NumberSet {
  const result: Interval[] = [];
  let low = -Infinity;
  let lowOpen = true;
  for (const interval of set.intervals) {
    result.push({ low, lowOpen, high: interval.low, highOpen: !interval.lowOpen });
    low = interval.high;
    lowOpen = !interval.highOpen;
  }
  if (low !== Infinity) result.push({ low, lowOpen, high: Infinity, highOpen: true });
  return normalize(false, result);
}

/** The set of `x + by` for every x of the set. */
export function shiftNumbers(set: NumberSet, by: number): NumberSet {
  const intervals = set.intervals.map((item) => ({ ...item, low: item.low + by, high: item.high + by }));
  return normalize(set.integer && Number.isInteger(by), intervals);
}

/** The set of `-x` for every x of the set. */
export function negateNumbers(set: NumberSet): NumberSet {
  const intervals = set.intervals.map((item) => ({
    low: 0 - item.high,
    lowOpen: item.highOpen,
    high: 0 - item.low,
    highOpen: item.lowOpen,
  }));
  return normalize(set.integer, intervals.reverse());
}

/**
 * The set of `x + y` in floating point, for every x of `a` and every y of `b`. Rounding is monotone, so a sum stays
 * between the rounded sums of the bounds. It can be equal to such a bound even if the operands exclude theirs (`1e-20 +
 * 1.0` is `1.0`), so finite bounds of the result are closed. A sum that is not finite fails the node and is not part of
 * the result.
 */
export function addNumbers(a: NumberSet, b: NumberSet): NumberSet {
  const result: Interval[] = [];
  for (const x of a.intervals) {
    for (const y of b.intervals) {
      const low = x.low + y.low;
      const high = x.high + y.high;
      if (low === Infinity || high === -Infinity) continue;
      // Mutation point: rounded-sum
      result.push({ low, lowOpen: low === -Infinity, high, highOpen: high === Infinity });
    }
  }
  return normalize(a.integer && b.integer, result.sort(compareLows));
}

/** The number of a set that has exactly one. */
export function onlyNumber(set: NumberSet): number | undefined {
  const [first, second] = set.intervals;
  return first !== undefined && second === undefined && first.low === first.high ? first.low : undefined;
}

/** An example for messages: a number of the set that is, if possible, an integer near zero. */
export function someNumber(set: NumberSet): number | undefined {
  let best: number | undefined;
  for (const interval of set.intervals) {
    const candidate = someNumberOf(interval);
    if (best === undefined || Math.abs(candidate) < Math.abs(best)) best = candidate;
  }
  return best;
}

export function sameNumbers(a: NumberSet, b: NumberSet): boolean {
  if (a.intervals.length !== b.intervals.length) return false;
  if (a.intervals.length === 0) return true;
  if (a.integer !== b.integer) return false;
  return (
    a.intervals === b.intervals ||
    a.intervals.every((item, index) => {
      const other = b.intervals[index]!;
      return (
        item.low === other.low &&
        item.high === other.high &&
        item.lowOpen === other.lowOpen &&
        item.highOpen === other.highOpen
      );
    })
  );
}

/** Equal keys for equal sets. */
export function numberSetKey(set: NumberSet): string {
  if (set.intervals.length === 0) return "";
  const parts = set.intervals.map(
    (item) => `${item.lowOpen ? "(" : "["}${item.low},${item.high}${item.highOpen ? ")" : "]"}`,
  );
  return (set.integer ? "i" : "f") + parts.join("");
}

function someNumberOf(interval: Interval): number {
  const contains = (value: number): boolean =>
    (interval.lowOpen ? value > interval.low : value >= interval.low) &&
    (interval.highOpen ? value < interval.high : value <= interval.high);
  if (contains(0)) return 0;
  if (!interval.lowOpen && interval.low > 0) return interval.low;
  if (!interval.highOpen && interval.high < 0) return interval.high;
  const whole = interval.low >= 0 ? Math.floor(interval.low) + 1 : Math.ceil(interval.high) - 1;
  if (contains(whole)) return whole;
  return (interval.low + interval.high) / 2;
}

/** Rounds the bounds of an integer set, drops empty intervals and joins touching ones. The input is sorted by `low`. */
function normalize(integer: boolean, intervals: readonly Interval[]): NumberSet {
  const result: Interval[] = [];
  for (const given of intervals) {
    const interval = integer ? toWholeBounds(given) : given;
    if (interval.low > interval.high) continue;
    if (interval.low === interval.high && (interval.lowOpen || interval.highOpen)) continue;
    const last = result.at(-1);
    if (last !== undefined && touches(last, interval, integer)) {
      if (compareHighs(last, interval) < 0)
        result[result.length - 1] = { ...last, high: interval.high, highOpen: interval.highOpen };
    } else result.push(interval);
  }
  return { integer, intervals: result };
}

function touches(a: Interval, b: Interval, integer: boolean): boolean {
  if (a.high > b.low) return true;
  if (a.high === b.low) return !(a.highOpen && b.lowOpen);
  return integer && a.high + 1 >= b.low;
}

function toWholeBounds(interval: Interval): Interval {
  const low =
    interval.low === -Infinity
      ? interval.low
      : interval.lowOpen && Number.isInteger(interval.low)
        ? interval.low + 1
        : Math.ceil(interval.low);
  const high =
    interval.high === Infinity
      ? interval.high
      : interval.highOpen && Number.isInteger(interval.high)
        ? interval.high - 1
        : Math.floor(interval.high);
  return { low, lowOpen: low === -Infinity, high, highOpen: high === Infinity };
}

function compareLows(a: Interval, b: Interval): number {
  if (a.low !== b.low) return a.low < b.low ? -1 : 1;
  return Number(a.lowOpen) - Number(b.lowOpen);
}

function compareHighs(a: Interval, b: Interval): number {
  if (a.high !== b.high) return a.high < b.high ? -1 : 1;
  return Number(b.highOpen) - Number(a.highOpen);
}
