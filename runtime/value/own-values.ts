/**
 * The long lists and records that the engine has made: frozen copies of plain JSON, whose parts are frozen, too. Such a value goes from
 * an input to a node, from there to a channel or a called graph, and is admitted at each of these places. A copy of 100,000 records
 * takes longer than all runs together may work without a turn of the event loop, so these values are checked without a copy.
 */
import type { Json, JsonObject } from "./json.ts";

/** A value with fewer items or fields is copied as fast as it is found here. */
const LONG = 256;

const own = new WeakSet<object>();

/** Freezes a list whose items are frozen plain JSON. */
export function keepOwnList(list: Json[]): readonly Json[] {
  if (list.length >= LONG) own.add(list);
  return Object.freeze(list);
}

/** Freezes a record whose fields are frozen plain JSON. `fields`: how many it has. */
export function keepOwnRecord(record: Record<string, Json>, fields: number): JsonObject {
  if (fields >= LONG) own.add(record);
  return Object.freeze(record);
}

/** Whether the engine has made a value that has many items or fields. `parts`: how many it has, if that is known. */
export function isOwnLong(value: object, parts = LONG): boolean {
  return parts >= LONG && own.has(value);
}
