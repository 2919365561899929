import { isPlainObject } from "./admit.ts";
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
  const names = Object.keys(value);
  const others = Object.keys(known);
  if (names.length !== others.length || !isPlainObject(value)) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const knownFields = known as Readonly<Record<string, Json>>;
  return others.every((name, index) => names[index] === name && isSameJson(fields[name], knownFields[name]!));
}
