import { equal } from "./equal.ts";
import { spend } from "./work-meter.ts";
import type { Json, JsonObject } from "../value/json.ts";

/**
 * The total order of `sort`: null, then false and true, numbers, strings by UTF-16 code units, lists item by item (the
 * shorter first), records by their sorted names and then values. 0 exactly where `equal` holds.
 */
export function compare(left: Json, right: Json): number {
  spend(32);
  const kind = rank(left) - rank(right);
  if (kind !== 0) return kind;
  if (Array.isArray(left)) return compareLists(left as readonly Json[], right as readonly Json[]);
  if (typeof left === "object" && left !== null) return compareRecords(left as JsonObject, right as JsonObject);
  return order(left as string, right as string);
}

function rank(value: Json): number {
  if (value === null) return 0;
  if (Array.isArray(value)) return 4;
  if (typeof value === "boolean") return 1;
  if (typeof value === "number") return 2;
  return typeof value === "string" ? 3 : 5;
}

/** Operands of one kind: `<` orders bools and numbers as it does strings. */
function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareLists(left: readonly Json[], right: readonly Json[]): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const result = compare(left[i] as Json, right[i] as Json);
    if (result !== 0) return result;
  }
  return left.length - right.length;
}

function compareRecords(left: JsonObject, right: JsonObject): number {
  if (equal(left, right)) return 0;
  const leftNames = Object.keys(left).sort();
  spend(256 * leftNames.length);
  const rightNames = Object.keys(right).sort();
  return (
    compareLists(leftNames, rightNames) ||
    compareLists(
      leftNames.map((name) => left[name] as Json),
      rightNames.map((name) => right[name] as Json),
    )
  );
}
