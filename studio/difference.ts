/** What two states of a thread have different. */
import type { Json, JsonObject } from "../runtime/value/json.ts";

export interface Difference {
  readonly channel: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The channels whose values differ, by name. */
export function differenceOf(before: JsonObject, after: JsonObject): readonly Difference[] {
  const channels = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return channels
    .map((channel) => ({ channel, before: own(before, channel), after: own(after, channel) }))
    .filter((pair) => !isEqual(pair.before, pair.after));
}

function own(values: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as JsonObject, b as JsonObject];
  const names = Object.keys(x);
  return (
    names.length === Object.keys(y).length && names.every((name) => Object.hasOwn(y, name) && isEqual(x[name], y[name]))
  );
}
