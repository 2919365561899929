/**
 * The abstract domain of one JSON value: the product of a string set, an interval set, the booleans and null. All
 * lists, records and maps are one element, `other`. Every operation is exact on these sets.
 */
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import {
  ALL_INTEGERS,
  ALL_NUMBERS,
  areNumbersDisjoint,
  complementNumbers,
  intersectNumbers,
  NO_NUMBERS,
  numberPoint,
  numberSetKey,
  type NumberSet,
  onlyNumber,
  sameNumbers,
  someNumber,
  uniteNumbers,
} from "./number-set.ts";

/** These strings, or (`negated`) all but these. Sorted. */
export interface StringSet {
  readonly negated: boolean;
  readonly values: readonly string[];
}

export interface ValueSet {
  readonly null: boolean;
  readonly true: boolean;
  readonly false: boolean;
  readonly strings: StringSet;
  readonly numbers: NumberSet;
  readonly other: boolean;
}

const NO_STRINGS: StringSet = { negated: false, values: [] };
const ALL_STRINGS: StringSet = { negated: true, values: [] };

export const NOTHING: ValueSet = {
  null: false,
  true: false,
  false: false,
  strings: NO_STRINGS,
  numbers: NO_NUMBERS,
  other: false,
};
export const ANYTHING: ValueSet = {
  null: true,
  true: true,
  false: true,
  strings: ALL_STRINGS,
  numbers: ALL_NUMBERS,
  other: true,
};
export const NULL_ONLY: ValueSet = { ...NOTHING, null: true };
export const TRUE_ONLY: ValueSet = { ...NOTHING, true: true };
export const FALSE_ONLY: ValueSet = { ...NOTHING, false: true };
export const BOTH_BOOLEANS: ValueSet = { ...NOTHING, true: true, false: true };

export function valueSetOf(values: readonly (string | number | boolean | null)[]): ValueSet {
  const numbers = reducePairs(values.filter((value) => typeof value === "number").map(numberPoint), uniteNumbers);
  const strings = values.filter((value) => typeof value === "string");
  return {
    null: values.includes(null),
    true: values.includes(true),
    false: values.includes(false),
    strings: { negated: false, values: [...new Set(strings)].sort() },
    numbers: numbers === undefined ? NO_NUMBERS : { ...numbers, integer: false },
    other: false,
  };
}

/** A balanced reduction: a union of thousands of sets costs O(n log n) instead of O(n^2). */
export function reducePairs<T>(items: readonly T[], unite: (a: T, b: T) => T): T | undefined {
  let level = items;
  while (level.length > 1) {
    const pairs: T[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [a, b] = [level[index]!, level[index + 1]];
      pairs.push(b === undefined ? a : unite(a, b));
    }
    level = pairs;
  }
  return level[0];
}

/** The union of pairwise disjoint sets; `undefined` if two of them have a common value. */
export function uniteDisjoint(sets: readonly ValueSet[]): ValueSet | undefined {
  const union = reducePairs(sets, uniteValues) ?? NOTHING;
  const count = (size: (set: ValueSet) => number): boolean =>
    sets.reduce((sum, set) => sum + size(set), 0) === size(union);
  const areDisjoint =
    sets.every((set) => !set.strings.negated) &&
    count((set) => Number(set.null)) &&
    count((set) => Number(set.true)) &&
    count((set) => Number(set.false)) &&
    count((set) => Number(set.other)) &&
    count((set) => set.strings.values.length) &&
    count((set) => set.numbers.intervals.length);
  return areDisjoint ? union : undefined;
}

export function numbersAsValues(numbers: NumberSet): ValueSet {
  return { ...NOTHING, numbers };
}

/** The smallest set that contains a JSON value; a list or a record is `other`. */
export function valueSetOfJson(value: Json): ValueSet {
  return typeof value === "object" && value !== null ? { ...NOTHING, other: true } : valueSetOf([value]);
}

/** All values of a type. `resolve` returns the type with a name. */
export function valueSetOfType(type: ValueType, resolve: (name: string) => ValueType | undefined): ValueSet {
  // A named union may mention itself only inside a list or record, so this depth is never reached by a valid type.
  return ofType(type, resolve, 32);
}

export function intersectValues(a: ValueSet, b: ValueSet): ValueSet {
  return {
    null: a.null && b.null,
    true: a.true && b.true,
    false: a.false && b.false,
    strings: intersectStrings(a.strings, b.strings),
    numbers: intersectNumbers(a.numbers, b.numbers),
    other: a.other && b.other,
  };
}

export function uniteValues(a: ValueSet, b: ValueSet): ValueSet {
  return {
    null: a.null || b.null,
    true: a.true || b.true,
    false: a.false || b.false,
    strings: complementStrings(intersectStrings(complementStrings(a.strings), complementStrings(b.strings))),
    numbers: uniteNumbers(a.numbers, b.numbers),
    other: a.other || b.other,
  };
}

/** The complement, with numbers over the reals. Use it for sets that are built from conditions. */
export function complementValues(set: ValueSet): ValueSet {
  return {
    null: !set.null,
    true: !set.true,
    false: !set.false,
    strings: complementStrings(set.strings),
    numbers: complementNumbers(set.numbers),
    other: !set.other,
  };
}

/** Whether the sets have no common value, without allocating their intersection. */
export function areDisjoint(a: ValueSet, b: ValueSet): boolean {
  if ((a.null && b.null) || (a.true && b.true) || (a.false && b.false) || (a.other && b.other)) return false;
  if (!areNumbersDisjoint(a.numbers, b.numbers)) return false;
  const [few, many] =
    a.strings.negated || (!b.strings.negated && b.strings.values.length < a.strings.values.length)
      ? [b.strings, a.strings]
      : [a.strings, b.strings];
  return !few.negated && !few.values.some((value) => isAmong(value, many.values) !== many.negated);
}

function isAmong(value: string, sorted: readonly string[]): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}

export function isNothing(set: ValueSet): boolean {
  return (
    !set.null &&
    !set.true &&
    !set.false &&
    !set.other &&
    !set.strings.negated &&
    set.strings.values.length === 0 &&
    set.numbers.intervals.length === 0
  );
}

/** Equal keys for equal sets. */
export function valueSetKey(set: ValueSet): string {
  const flags = (set.null ? "n" : "") + (set.true ? "t" : "") + (set.false ? "f" : "") + (set.other ? "o" : "");
  const strings =
    set.strings.negated || set.strings.values.length > 0
      ? (set.strings.negated ? "!" : "s") + JSON.stringify(set.strings.values)
      : "";
  return `${flags}${strings}${numberSetKey(set.numbers)}`;
}

export function sameValues(a: ValueSet, b: ValueSet): boolean {
  if (a === b) return true;
  return (
    a.null === b.null &&
    a.true === b.true &&
    a.false === b.false &&
    a.other === b.other &&
    a.strings.negated === b.strings.negated &&
    a.strings.values.length === b.strings.values.length &&
    (a.strings.values === b.strings.values || a.strings.values.every((value, i) => value === b.strings.values[i])) &&
    sameNumbers(a.numbers, b.numbers)
  );
}

/** The value of a set that has exactly one. A list or a record is never returned. */
export function onlyValue(set: ValueSet): { readonly value: string | number | boolean | null } | undefined {
  if (set.other || set.strings.negated) return undefined;
  const found: (string | number | boolean | null)[] = [];
  if (set.null) found.push(null);
  if (set.true) found.push(true);
  if (set.false) found.push(false);
  if (set.strings.values.length > 1) return undefined;
  for (const each of set.strings.values) found.push(each);
  if (set.numbers.intervals.length > 0) {
    const number = onlyNumber(set.numbers);
    if (number === undefined) return undefined;
    found.push(number);
  }
  return found.length === 1 ? { value: found[0]! } : undefined;
}

/** At most `limit` examples of values of the set, in source form. */
export function sampleValues(set: ValueSet, limit: number): string[] {
  const found: string[] = [];
  if (set.null) found.push("null");
  if (set.true) found.push("true");
  if (set.false) found.push("false");
  if (!set.strings.negated)
    for (const each of set.strings.values.map((value) => JSON.stringify(value))) found.push(each);
  const number = someNumber(set.numbers);
  if (number !== undefined) found.push(String(number));
  if (set.strings.negated) found.push("any other string");
  return found.slice(0, limit);
}

function ofType(type: ValueType, resolve: (name: string) => ValueType | undefined, depth: number): ValueSet {
  switch (type.kind) {
    case "string":
      return { ...NOTHING, strings: ALL_STRINGS };
    case "int":
      return { ...NOTHING, numbers: ALL_INTEGERS };
    case "float":
      return { ...NOTHING, numbers: ALL_NUMBERS };
    case "bool":
      return BOTH_BOOLEANS;
    case "null":
      return NULL_ONLY;
    case "literal": {
      const set = valueSetOf([type.value]);
      return Number.isInteger(type.value) ? { ...set, numbers: { ...set.numbers, integer: true } } : set;
    }
    case "union":
      return (
        reducePairs(
          type.members.map((member) => ofType(member, resolve, depth)),
          uniteValues,
        ) ?? NOTHING
      );
    case "list":
    case "map":
    case "record":
      return { ...NOTHING, other: true };
    case "ref": {
      const target = depth > 0 ? resolve(type.name) : undefined;
      return target === undefined ? ANYTHING : ofType(target, resolve, depth - 1);
    }
    case "json":
    case "opaque":
      return ANYTHING;
  }
}

function intersectStrings(a: StringSet, b: StringSet): StringSet {
  if (a.negated && b.negated) return { negated: true, values: [...new Set([...a.values, ...b.values])].sort() };
  if (a.negated) return intersectStrings(b, a);
  if (a.values.length === 0) return NO_STRINGS;
  if (b.negated) {
    if (b.values.length === 0) return a;
    return { negated: false, values: a.values.filter((value) => !hasString(b.values, value)) };
  }
  const [few, many] = a.values.length <= b.values.length ? [a, b] : [b, a];
  const values = few.values.filter((value) => hasString(many.values, value));
  return values.length === few.values.length ? few : { negated: false, values };
}

/** Binary search: a `match` can have thousands of values. */
function hasString(sorted: readonly string[], wanted: string): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

function complementStrings(set: StringSet): StringSet {
  return { negated: !set.negated, values: set.values };
}
