import { fail } from "../expression-error.ts";
import { MAX_TEXT } from "../limits.ts";
import { failText, string } from "../operations.ts";
import { spend } from "../work-meter.ts";
import { admitJson } from "../../value/admit.ts";
import { Mismatch } from "../../value/mismatch.ts";
import { argument, type LibraryFunction } from "./library-function.ts";

/** A value as JSON text on one line. In contrast to a template, a string gets quotes. */
export const toJson: LibraryFunction = (args, at) => {
  const text = JSON.stringify(argument(args, 0, at));
  spend(64 + text.length * 4, at);
  return text.length > MAX_TEXT ? failText(text.length, at) : text;
};

/** The value of a JSON text. A text that is not JSON, or nests deeper than a channel may hold, is an error `not_json`. */
export const fromJson: LibraryFunction = (args, at) => {
  const text = string(argument(args, 0, at), at);
  spend(64 + text.length * 32, at);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The engine's message differs between versions and quotes the text.
    return fail("not_json", `the text of ${text.length} characters is not JSON`, at);
  }
  const value = admitJson(parsed);
  return value instanceof Mismatch ? fail("not_json", `the text holds ${value.describe()}`, at) : value;
};
