/** The library of the expression language, by name. The prototype is null, so that a name from a table finds only these. */
import { contains, first, keys, last, len, range, sort, unique, values } from "./library/lists.ts";
import type { LibraryFunction } from "./library/library-function.ts";
import { abs, max, min, round, sum } from "./library/numbers.ts";
import { endsWith, join, lower, matches, split, startsWith, trim, upper } from "./library/strings.ts";

export type { LibraryFunction } from "./library/library-function.ts";

const FUNCTIONS = {
  abs,
  contains,
  endsWith,
  first,
  join,
  keys,
  last,
  len,
  lower,
  matches,
  max,
  min,
  range,
  round,
  sort,
  split,
  startsWith,
  sum,
  trim,
  unique,
  upper,
  values,
};

export type LibraryName = keyof typeof FUNCTIONS;
export const library: Readonly<Record<LibraryName, LibraryFunction>> = Object.freeze(
  Object.assign(Object.create(null) as typeof FUNCTIONS, FUNCTIONS),
);

export function isLibraryName(name: string): name is LibraryName {
  return name in library;
}
