import { StoreError } from "../errors.ts";
import type { Json } from "../json.ts";

/**
 * A deep copy that nobody can alter. Also the check that what is stored is plain JSON: a store in memory must refuse
 * what a durable store could not give back.
 *
 * @param what names the value in the error, such as `channel "notes"`.
 */
export function frozenJson<T>(value: T, what: string): T {
  try {
    return copy(value, what) as T;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new StoreError("NG_STORE_FAILED", `${what} cannot be stored: it is nested too deeply, or contains itself`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** Freezes a value that was parsed just now and that nobody else holds. However deep: parsed text may be. */
export function freezeDeep(value: Json): Json {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    Object.freeze(next);
    for (const inner of Array.isArray(next) ? next : Object.values(next)) {
      if (typeof inner === "object" && inner !== null) open.push(inner);
    }
  }
  return value;
}

function copy(value: unknown, what: string): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw notJson(what, String(value));
      // JSON has no negative zero.
      return value === 0 ? 0 : value;
    case "object":
      break;
    default:
      throw notJson(what, `a value of type ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) return copyList(value, what);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw notJson(what, "an instance of a class");
  }
  return copyRecord(value as Readonly<Record<string, unknown>>, what);
}

function copyList(list: readonly unknown[], what: string): Json {
  const result: Json[] = [];
  for (const item of list) result.push(copy(item, what));
  return Object.freeze(result);
}

function copyRecord(record: Readonly<Record<string, unknown>>, what: string): Json {
  const result: Record<string, Json> = {};
  for (const key of Object.keys(record)) {
    const value = record[key];
    // As JSON.stringify does: optional fields may be written out as `undefined`.
    if (value === undefined) continue;
    const copied = copy(value, what);
    if (key === "__proto__") {
      Object.defineProperty(result, key, { value: copied, enumerable: true, configurable: true, writable: true });
    } else {
      result[key] = copied;
    }
  }
  return Object.freeze(result);
}

function notJson(what: string, found: string): StoreError {
  return new StoreError("NG_STORE_FAILED", `${what} cannot be stored: it holds ${found}, which is not plain JSON`);
}
