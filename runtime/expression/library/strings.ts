/** Strings are sequences of UTF-16 code units, as in TypeScript; case is mapped without a locale. */
import { fail } from "../expression-error.ts";
import { MAX_ITEMS, MAX_TEXT } from "../limits.ts";
import { failText, int, listOf, string, text } from "../operations.ts";
import { spend } from "../work-meter.ts";
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

/** `replace(text, part, by)`: all occurrences; an empty part occurs nowhere. */
export const replace: LibraryFunction = (args, at) => {
  const value = string(argument(args, 0, at), at);
  const part = string(argument(args, 1, at), at);
  const by = string(argument(args, 2, at), at);
  if (part === "") return value;
  let length = value.length;
  for (let from = value.indexOf(part); from !== -1; from = value.indexOf(part, from + part.length)) {
    length += by.length - part.length;
  }
  if (length > MAX_TEXT) return failText(length, at);
  spend(length, at);
  // As a function, because `$&` in a text would be a pattern.
  return value.replaceAll(part, () => by);
};

/** `padStart(text, length, fill)`: fills the front up to a length, with blanks or with `fill`. */
export const padStart: LibraryFunction = (args, at) => {
  const value = string(argument(args, 0, at), at);
  const length = int(argument(args, 1, at), at);
  const fill = args.length > 2 ? string(argument(args, 2, at), at) : " ";
  if (length > MAX_TEXT) return failText(length, at);
  spend(Math.max(0, length), at);
  return value.padStart(length, fill);
};

/** `matches(text, pattern)`: the pattern occurs somewhere in the text, unless it is anchored with `^` and `$`. */
export const matches: LibraryFunction = (args, at) =>
  matchesPattern(string(argument(args, 0, at), at), string(argument(args, 1, at), at), at);

function bounded(value: string, at: Parameters<LibraryFunction>[1]): string {
  return value.length > MAX_TEXT ? failText(value.length, at) : value;
}
