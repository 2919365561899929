import { failType } from "../expression-error.ts";
import type { Expression } from "../expression.ts";
import { isRecord, listOf, member, record, setField, string } from "../operations.ts";
import { spend } from "../work-meter.ts";
import type { Json, JsonObject } from "../../value/json.ts";
import { argument, type LibraryFunction } from "./library-function.ts";

/** The keys of a map in JavaScript's order: integer keys first, then the others in insertion order. */
export const keys: LibraryFunction = (args, at) => Object.freeze(Object.keys(mapOf(argument(args, 0, at), at)));
export const values: LibraryFunction = (args, at) => Object.freeze(Object.values(mapOf(argument(args, 0, at), at)));

/** The entries of a map as records `{ key, value }`, in the order of `keys`. */
export const entries: LibraryFunction = (args, at) => {
  const map = mapOf(argument(args, 0, at), at);
  return Object.freeze(
    Object.keys(map).map((key) =>
      record([
        ["key", key],
        ["value", map[key] as Json],
      ]),
    ),
  );
};

/** The map of a list of records `{ key, value }`. The last value of a repeated key is kept. */
export const fromEntries: LibraryFunction = (args, at) => {
  const items = listOf(argument(args, 0, at), at);
  spend(256 * items.length, at);
  const result: Record<string, Json> = {};
  for (const item of items) {
    setField(result, string(member(item, "key", false, false, at), at), member(item, "value", false, false, at));
  }
  return Object.freeze(result);
};

function mapOf(value: Json, at: Expression | undefined): JsonObject {
  if (!isRecord(value)) return failType(value, "a map", at);
  spend(256 * Object.keys(value).length, at);
  return value;
}
