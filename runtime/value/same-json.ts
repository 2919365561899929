import { isPlainObject } from "./plain-object.ts";
import type { Json } from "./json.ts";

/**
 * Whether a value is plain JSON that equals another one, the order of fields included, which a store keeps. The depth of
 * `known` bounds the recursion.
 *
 * @throws what a getter or a proxy inside `value` throws
 */
export function isSameJson(value: unknown, known: Json): boolean {
  if (value === known) return true;
  if (typeof value !== "object" || typeof known !== "object" || value === null || known === null) return false;
  if (Array.isArray(value) || Array.isArray(known)) {
    if (!Array.isArray(value) || !Array.isArray(known) || value.length !== known.length) return false;
    return known.every((item: Json, index) => isSameJson(value[index], item));
  }
  if (!isPlainObject(value)) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const knownFields = known as Readonly<Record<string, Json>>;
  const names = Object.keys(fields);
  let index = 0;
  // Not `Object.keys(known)`: a list of the names for each record of a long list costs a third of the comparison.
  for (const name in knownFields) {
    if (names[index++] !== name) return false;
    const field = fields[name];
    const knownField = knownFields[name]!;
    if (field !== knownField && !isSameJson(field, knownField)) return false;
  }
  return index === names.length;
}

/** How many items two lists share at their start. @throws what a getter or a proxy inside `list` throws */
export function sharedItems(list: readonly unknown[], known: readonly Json[]): number {
  const length = Math.min(list.length, known.length);
  let shared = 0;
  while (shared < length) {
    const item = list[shared];
    const knownItem = known[shared]!;
    if (item !== knownItem && !isSameJson(item, knownItem)) break;
    shared++;
  }
  return shared;
}
