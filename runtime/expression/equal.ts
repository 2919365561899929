import { spend } from "./work-meter.ts";
import type { Json, JsonObject } from "../value/json.ts";

/**
 * `==`: equality of JSON values. The order of a record's fields does not matter. Values are bounded in depth (`admit`,
 * `MAX_EXPRESSION_DEPTH`), so recursion is safe.
 */
export function equal(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right);
  return !Array.isArray(right) && equalRecords(left as JsonObject, right as JsonObject);
}

function equalLists(left: readonly Json[], right: readonly Json[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    spend(8);
    if (!equal(left[i] as Json, right[i] as Json)) return false;
  }
  return true;
}

function equalRecords(left: JsonObject, right: JsonObject): boolean {
  const names = Object.keys(left);
  spend(64 * (names.length + 1));
  if (names.length !== Object.keys(right).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(right, name) || !equal(left[name] as Json, right[name] as Json)) return false;
  }
  return true;
}
