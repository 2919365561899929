import { compare } from "../compare.ts";
import { equal } from "../equal.ts";
import { fail, failType } from "../expression-error.ts";
import { MAX_ITEMS } from "../limits.ts";
import { int, isRecord, joinLists, listOf, string, truth } from "../operations.ts";
import { spend } from "../work-meter.ts";
import { argument, type LibraryFunction } from "./library-function.ts";
import type { Json, JsonObject } from "../../value/json.ts";

/** Length of a string (UTF-16 code units) or list; number of keys of a map or record. */
export const len: LibraryFunction = (args, at) => {
  const value = argument(args, 0, at);
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  if (isRecord(value)) {
    const count = Object.keys(value).length;
    spend(128 * count, at);
    return count;
  }
  return failType(value, "a string, a list or a map", at);
};

/** The first item; `null` for an empty list. */
export const first: LibraryFunction = (args, at) => listOf(argument(args, 0, at), at)[0] ?? null;
export const last: LibraryFunction = (args, at) => listOf(argument(args, 0, at), at).at(-1) ?? null;

/** `contains(text, part)`, or `contains(list, value)` by deep equality. */
export const contains: LibraryFunction = (args, at) => {
  const whole = argument(args, 0, at);
  const part = argument(args, 1, at);
  if (typeof whole === "string") return whole.includes(string(part, at));
  if (Array.isArray(whole)) return whole.some((item: Json) => equal(item, part));
  return failType(whole, "a string or a list", at);
};

/**
 * `slice(list, from, to)`: the part from one position to another, without the end; negative positions count from the
 * end. Of a string, the part in UTF-16 code units.
 */
export const slice: LibraryFunction = (args, at) => {
  const whole = argument(args, 0, at);
  const from = int(argument(args, 1, at), at);
  const to = args.length > 2 ? int(argument(args, 2, at), at) : undefined;
  if (typeof whole === "string") return whole.slice(from, to);
  if (Array.isArray(whole)) return Object.freeze((whole as readonly Json[]).slice(from, to));
  return failType(whole, "a list or a string", at);
};

/** `take(list, n)`: the first n items; all if the list has fewer. */
export const take: LibraryFunction = (args, at) =>
  Object.freeze(listOf(argument(args, 0, at), at).slice(0, Math.max(0, int(argument(args, 1, at), at))));

/** `drop(list, n)`: all but the first n items. */
export const drop: LibraryFunction = (args, at) =>
  Object.freeze(listOf(argument(args, 0, at), at).slice(Math.max(0, int(argument(args, 1, at), at))));

/** Whether one item of a list of bools is true; false for an empty list. */
export const some: LibraryFunction = (args, at) => {
  let isFound = false;
  for (const item of listOf(argument(args, 0, at), at)) if (truth(item, at)) isFound = true;
  return isFound;
};

/** Whether all items of a list of bools are true; true for an empty list. */
export const every: LibraryFunction = (args, at) => {
  let isAll = true;
  for (const item of listOf(argument(args, 0, at), at)) if (!truth(item, at)) isAll = false;
  return isAll;
};

/** `flat(lists)`: the items of all lists of a list, in order; one level. */
export const flat: LibraryFunction = (args, at) =>
  joinLists(
    listOf(argument(args, 0, at), at).map((item) => listOf(item, at)),
    at,
  );

export const reverse: LibraryFunction = (args, at) => Object.freeze(listOf(argument(args, 0, at), at).toReversed());

/** `range(end)`, `range(start, end)`, `range(start, end, step)`: a list of ints without the end. */
export const range: LibraryFunction = (args, at) => {
  const numbers = args.map((value) => int(value, at));
  const [start, end] = numbers.length > 1 ? [numbers[0] ?? 0, numbers[1] ?? 0] : [0, int(argument(args, 0, at), at)];
  const step = numbers[2] ?? 1;
  if (step === 0) return fail("wrong_type", "the step of a range is 0", at);
  const length = Math.max(0, Math.ceil((end - start) / step));
  if (length > MAX_ITEMS)
    return fail("too_large", `a range of ${length} items is beyond the bound of ${MAX_ITEMS}`, at);
  spend(64 * length, at);
  return Object.freeze(Array.from({ length }, (_, i) => start + i * step));
};

/** Removes repeated values (by deep equality) and keeps the first of each. */
export const unique: LibraryFunction = (args, at) => {
  const seen = new Set<Json>();
  spend(64 * listOf(argument(args, 0, at), at).length, at);
  return Object.freeze(
    listOf(argument(args, 0, at), at).filter((item) => {
      // The key of a list or record is its canonical text; the prefix makes it different from string items.
      const key = typeof item === "object" && item !== null ? `\u0000${canonical(item)}` : item;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    }),
  );
};

/** Sorts a list in ascending order, by the total order of `compare`. The sort is stable. */
export const sort: LibraryFunction = (args, at) => Object.freeze([...listOf(argument(args, 0, at), at)].sort(compare));

/** Equal values have equal texts, unequal ones different texts. */
function canonical(value: Json): string {
  spend(128);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const fields = value as JsonObject;
  return `{${Object.keys(fields)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(fields[name] as Json)}`)
    .join()}}`;
}
