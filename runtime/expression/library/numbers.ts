import type { Expression } from "../expression.ts";
import { finite, int, listOf, number, string } from "../operations.ts";
import { argument, type LibraryFunction } from "./library-function.ts";
import type { Json } from "../../value/json.ts";

/** The sum of a list of numbers, added from left to right; 0 for an empty list. */
export const sum: LibraryFunction = (args, at) => {
  let total = 0;
  for (const item of listOf(argument(args, 0, at), at)) total += number(item, at);
  return finite(total, at);
};

/** `min(list)`, which is `null` for an empty list, or `min(a, b, …)`. */
export const min: LibraryFunction = (args, at) => extreme(args, (a, b) => a < b, at);
export const max: LibraryFunction = (args, at) => extreme(args, (a, b) => a > b, at);

/** Rounds to the nearest int; halves are rounded up, as by `Math.round`. */
export const round: LibraryFunction = (args, at) => int(Math.round(number(argument(args, 0, at), at)) + 0, at);

export const abs: LibraryFunction = (args, at) => Math.abs(number(argument(args, 0, at), at));

const INTEGER = /^\s*[+-]?\d+\s*$/;
const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** The int that a whole text spells in decimal digits; `null` for any other text, and beyond the safe integers. */
export const parseInt: LibraryFunction = (args, at) => {
  const text = string(argument(args, 0, at), at);
  const value = INTEGER.test(text) ? Number(text) + 0 : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
};

/** The number that a whole text spells in decimal digits; `null` for any other text, and beyond the range of a float. */
export const parseFloat: LibraryFunction = (args, at) => {
  const text = string(argument(args, 0, at), at);
  const value = DECIMAL.test(text) ? Number(text) + 0 : Number.NaN;
  return Number.isFinite(value) ? value : null;
};

function extreme(args: readonly Json[], better: (a: number, b: number) => boolean, at: Expression | undefined): Json {
  const items = args.length === 1 ? listOf(argument(args, 0, at), at) : args;
  let best: number | null = null;
  for (const item of items) {
    const value = number(item, at);
    if (best === null || better(value, best)) best = value;
  }
  return best;
}
