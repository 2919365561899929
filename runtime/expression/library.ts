/**
 * The library of the expression language, by name. The prototype is null, so that a name from a table finds only
 * library functions.
 */
import {
  contains,
  drop,
  every,
  first,
  flat,
  last,
  len,
  range,
  reverse,
  slice,
  some,
  sort,
  take,
  unique,
} from "./library/lists.ts";
import { entries, fromEntries, keys, values } from "./library/maps.ts";
import { fromJson, toJson } from "./library/json-texts.ts";
import { spend } from "./work-meter.ts";
import type { LibraryFunction } from "./library/library-function.ts";
import { abs, max, min, parseFloat, parseInt, round, sum } from "./library/numbers.ts";
import { quote } from "./library/quote.ts";
import {
  endsWith,
  join,
  lower,
  matches,
  padStart,
  replace,
  split,
  startsWith,
  trim,
  upper,
} from "./library/strings.ts";

export type { LibraryFunction } from "./library/library-function.ts";

const FUNCTIONS = {
  abs,
  contains,
  drop,
  endsWith,
  entries,
  every,
  first,
  flat,
  fromEntries,
  fromJson,
  join,
  keys,
  last,
  len,
  lower,
  matches,
  max,
  min,
  padStart,
  parseFloat,
  parseInt,
  quote,
  range,
  replace,
  reverse,
  round,
  slice,
  some,
  sort,
  split,
  startsWith,
  sum,
  take,
  toJson,
  trim,
  unique,
  upper,
  values,
};

/** Library functions that visit no items, whatever the size of their operands. */
const CONSTANT: ReadonlySet<string> = new Set(["abs", "first", "last", "len", "round"]);

export type LibraryName = keyof typeof FUNCTIONS;
export const library: Readonly<Record<LibraryName, LibraryFunction>> = Object.freeze(
  Object.assign(
    Object.create(null) as Record<LibraryName, LibraryFunction>,
    Object.fromEntries(Object.entries(FUNCTIONS).map(([name, apply]) => [name, metered(name, apply)])),
  ),
);

/** Spends the sizes of the operands before the call: one unit for a character, eight for an item. */
function metered(name: string, apply: LibraryFunction): LibraryFunction {
  if (CONSTANT.has(name)) return apply;
  return (args, at) => {
    let size = 0;
    for (const arg of args) size += Array.isArray(arg) ? 8 * arg.length : typeof arg === "string" ? arg.length : 0;
    spend(size, at);
    return apply(args, at);
  };
}

export function isLibraryName(name: string): name is LibraryName {
  return name in library;
}
