/** `quote(value)`: the value as text of a POSIX shell command. */
import type { Json } from "../../value/json.ts";
import { fail, failType } from "../expression-error.ts";
import type { Expression } from "../expression.ts";
import { MAX_TEXT } from "../limits.ts";
import { failText } from "../operations.ts";
import { spend } from "../work-meter.ts";
import { argument, type LibraryFunction } from "./library-function.ts";

/**
 * Where the text is used: `words` and `word` outside of quotes, `double` and `single` inside of quotes that the command
 * already has. Only `words` accepts a list.
 */
export type QuotePlace = "words" | "word" | "double" | "single";

/**
 * `quote(value)`: a text or another value as one quoted word of a POSIX shell, a list as one word for each item. Records
 * become JSON. Fails for `null`, for a list in a list, and for a NUL character, which no argument can contain.
 *
 * The compiler inserts calls with a second argument, a `QuotePlace`, into the templates of commands.
 */
export const quote: LibraryFunction = (args, at) => {
  const value = argument(args, 0, at);
  const place = (args[1] ?? "words") as QuotePlace;
  if (!Array.isArray(value)) return quoted(wordOf(value, at), place, at);
  if (place !== "words") return failType(value, "one value, because a list becomes several words,", at);
  const words: string[] = [];
  let length = 0;
  for (const item of value as readonly Json[]) {
    if (Array.isArray(item)) return failType(item, "a list of single values", at);
    const word = quoted(wordOf(item, at), place, at);
    length += word.length + 1;
    if (length > MAX_TEXT) return failText(length, at);
    words.push(word);
  }
  return words.join(" ");
};

function wordOf(value: Json, at: Expression | undefined): string {
  if (value === null) return failType(value, "a value for the command", at);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  spend(64 + text.length * 4, at);
  if (text.includes("\0")) return fail("wrong_type", "a command cannot contain a NUL character", at);
  return text;
}

/**
 * Quotes as in POSIX 2.2 (Quoting). Between single quotes every character is literal, so a `'` is written outside of them.
 * Between double quotes a backslash makes `$`, a backtick, `"` and `\` literal.
 */
function quoted(text: string, place: QuotePlace, at: Expression | undefined): string {
  const result =
    place === "double"
      ? text.replace(/[$`"\\]/g, "\\$&")
      : place === "single"
        ? text.replaceAll("'", "'\\''")
        : `'${text.replaceAll("'", "'\\''")}'`;
  return result.length > MAX_TEXT ? failText(result.length, at) : result;
}
