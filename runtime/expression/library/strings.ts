/** Strings are sequences of UTF-16 code units, as in TypeScript; case is mapped without a locale. */
import { fail } from "../expression-error.ts";
import { MAX_ITEMS, MAX_TEXT } from "../limits.ts";
import { failText, listOf, string, text } from "../operations.ts";
import { matchesPattern } from "../pattern/matches-pattern.ts";
import { argument, type LibraryFunction } from "./library-function.ts";

/** `startsWith(text, prefix)` */
export const startsWith: LibraryFunction = (args, at) =>
  string(argument(args, 0, at), at).startsWith(string(argument(args, 1, at), at));

/** `endsWith(text, suffix)` */
export const endsWith: LibraryFunction = (args, at) =>
  string(argument(args, 0, at), at).endsWith(string(argument(args, 1, at), at));

export const lower: LibraryFunction = (args, at) => bounded(string(argument(args, 0, at), at).toLowerCase(), at);
/** Upper case. The result can be longer than the text (`ß` becomes `SS`). */
export const upper: LibraryFunction = (args, at) => bounded(string(argument(args, 0, at), at).toUpperCase(), at);
export const trim: LibraryFunction = (args, at) => string(argument(args, 0, at), at).trim();

/** `split(text, separator)`; an empty separator splits into code units. */
export const split: LibraryFunction = (args, at) => {
  const value = string(argument(args, 0, at), at);
  const parts = value.split(string(argument(args, 1, at), at), MAX_ITEMS + 1);
  if (parts.length > MAX_ITEMS) return fail("too_large", `more than ${MAX_ITEMS} parts`, at);
  return Object.freeze(parts);
};

/** `join(list, separator)`; items that are not strings are converted as in a template. */
export const join: LibraryFunction = (args, at) => {
  const items = listOf(argument(args, 0, at), at);
  const separator = string(argument(args, 1, at), at);
  const parts: string[] = [];
  let length = separator.length * Math.max(0, items.length - 1);
  for (const item of items) {
    const part = text(item);
    length += part.length;
    if (length > MAX_TEXT) return failText(length, at);
    parts.push(part);
  }
  return length > MAX_TEXT ? failText(length, at) : parts.join(separator);
};

/** `matches(text, pattern)`: the pattern occurs somewhere in the text, unless it is anchored with `^` and `$`. */
export const matches: LibraryFunction = (args, at) =>
  matchesPattern(string(argument(args, 0, at), at), string(argument(args, 1, at), at), at);

function bounded(value: string, at: Parameters<LibraryFunction>[1]): string {
  return value.length > MAX_TEXT ? failText(value.length, at) : value;
}
