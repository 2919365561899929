/** `merge` of a list of records: by their `id`. */
import type { Json, JsonObject } from "../value/json.ts";
import { isRecord, setField } from "../expression/operations.ts";
import { sha256 } from "../table/sha256.ts";
import { LongMap } from "../value/long-map.ts";
import { endsPart, toEnd, type Work } from "../value/work.ts";

/**
 * An item with a known id replaces that item in place, any other is appended. `{ id, removed: true }` removes an item. An
 * item without an id has one derived from its content. The result depends on the arguments only, so that it is equal
 * when a step runs again and in forks.
 */
export function mergeItems(current: Json, update: Json): Json {
  return mergeAllItems(current, [update]);
}

/** `mergeItems` for several updates, in linear time. */
export function mergeAllItems(current: Json, updates: readonly Json[]): Json {
  return toEnd(mergingItems(current, updates));
}

/** `mergeAllItems` in parts. */
export function* mergingItems(current: Json, updates: readonly Json[]): Work<Json> {
  const given = updates.filter((update): update is readonly Json[] => Array.isArray(update) && update.length > 0);
  if (given.length === 0) return current ?? updates.find((update) => update !== null) ?? null;
  const few = yield* mergingFew(current, given);
  if (few !== undefined) return few;
  const items = new LongMap<JsonObject>();
  const copies = new Map<string, number>();
  const known = Array.isArray(current) ? (current as readonly Json[]) : [];
  for (let at = 0; at < known.length; at++) {
    put(items, copies, known[at]!);
    if (endsPart(at)) yield;
  }
  let count = 0;
  // Not `flatMap`: the copy of a long list would take a good part of a turn.
  for (const list of given) {
    for (const item of list) {
      if (isRecord(item) && item["removed"] === true) {
        items.delete(String(item["id"]));
        // The removal makes an id available again. Without this reset, generated ids would depend on the grouping of updates.
        copies.clear();
      } else put(items, copies, item);
      if (endsPart(count++)) yield;
    }
  }
  return remember(items.values());
}

/** Lists in which every item is a record with an id of its own. */
const merged = new WeakSet<readonly Json[]>();

function remember(items: Json[]): Json {
  merged.add(items);
  return Object.freeze(items);
}

/** Items that an update of a long list has at most, to be merged without an index of the list. */
const FEW = 8;

/**
 * Merges a few items with ids of their own into a list that a merge has made: one look at each id of the list costs a tenth of
 * an index of all, so that a turn of a long chat costs what it says. `undefined` if the items or the list are others.
 */
function* mergingFew(current: Json, [update, more]: readonly (readonly Json[])[]): Work<Json | undefined> {
  if (more !== undefined || update!.length > FEW) return undefined;
  if (!Array.isArray(current) || !merged.has(current)) return undefined;
  const known = current as readonly JsonObject[];
  const wanted = new Map<string, Json>();
  for (const item of update!) {
    if (!isRecord(item) || typeof item["id"] !== "string" || item["removed"] === true) return undefined;
    wanted.set(item["id"], item);
  }
  // Not `slice`, which copies a frozen list item by item.
  const items: Json[] = [...known];
  for (let at = 0; at < known.length; at++) {
    const id = known[at]!["id"] as string;
    const item = wanted.get(id);
    if (item !== undefined) {
      items[at] = item;
      wanted.delete(id);
    }
    if (endsPart(at)) yield;
  }
  for (const item of wanted.values()) items.push(item);
  return remember(items);
}

function put(items: LongMap<JsonObject>, copies: Map<string, number>, item: Json): void {
  if (!isRecord(item)) return;
  const { id } = item;
  if (typeof id === "string") items.set(id, item);
  else {
    const derived = deriveId(items, copies, item);
    items.set(derived, withId(item, derived));
  }
}

const ID_LENGTH = 12;

/** The beginning of a digest of the content; equal items get the first free number. `copies`: all below it are taken. */
function deriveId(items: Pick<LongMap<JsonObject>, "has">, copies: Map<string, number>, item: JsonObject): string {
  const content = sha256(JSON.stringify(item)).slice(0, ID_LENGTH);
  for (let copy = copies.get(content) ?? 1; ; copy++) {
    const id = copy === 1 ? content : `${content}-${copy}`;
    if (items.has(id)) continue;
    copies.set(content, copy + 1);
    return id;
  }
}

function withId(item: JsonObject, id: string): JsonObject {
  const result: Record<string, Json> = { id };
  for (const [name, value] of Object.entries(item)) if (name !== "id") setField(result, name, value);
  return Object.freeze(result);
}
