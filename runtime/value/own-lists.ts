/**
 * The long lists that the engine has made: frozen copies of plain JSON, whose items are frozen, too. Such a list goes from an input to a
 * node, from there to a channel or a called graph, and is admitted at each of these places. A copy of 100,000 records takes longer than
 * all runs together may work without a turn of the event loop, so these lists are checked without a copy.
 */
import type { Json } from "./json.ts";

/** A shorter list is copied as fast as it is found here. */
const LONG = 256;

const own = new WeakSet<object>();

/** Freezes a list whose items are frozen plain JSON. */
export function keepOwnList(list: Json[]): readonly Json[] {
  if (list.length >= LONG) own.add(list);
  return Object.freeze(list);
}

export function isOwnList(list: readonly unknown[]): boolean {
  return list.length >= LONG && own.has(list);
}
