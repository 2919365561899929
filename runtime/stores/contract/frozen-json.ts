import { StoreError } from "../../interface/errors.ts";
import type { Json } from "../../value/json.ts";

/**
 * A deep, frozen copy of a JSON value. A store in memory keeps such copies, so that later changes of the caller's objects do
 * not reach it, and so that it refuses the values that a durable store would refuse.
 *
 * @param what names the value in the error, such as `channel "notes"`; a function builds the name only for an error
 * @throws StoreError NG_STORE_FAILED for a value that is not plain JSON
 */
export function frozenJson<T>(value: T, what: Name): T {
  if (typeof value !== "object" || value === null) return copy(value, what) as T;
  return atAnyDepth(() => copy(value, what) as T, what);
}

/** The name of a value in an error. */
type Name = string | (() => string);

/**
 * Checks that a value is plain JSON, for a store that writes text. `JSON.stringify` alone drops functions and writes `NaN`
 * as `null`: a different value would be read than was saved.
 *
 * @throws StoreError NG_STORE_FAILED for a value that is not plain JSON
 */
export function checkJson(value: unknown, what: Name): void {
  atAnyDepth(() => check(value, what), what);
}

function atAnyDepth<T>(body: () => T, what: Name): T {
  try {
    return body();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const problem = `${nameOf(what)} cannot be stored: it is nested too deeply, or contains itself`;
    throw new StoreError("NG_STORE_FAILED", problem, { cause });
  }
}

/** Freezes a freshly parsed value in place. Iterative: parsed JSON may be nested deeper than the call stack. */
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

function copy(value: unknown, what: Name): Json {
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
  if (!isPlain(value)) throw notJson(what, "an instance of a class");
  return copyRecord(value as Readonly<Record<string, unknown>>, what);
}

function check(value: unknown, what: Name): void {
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) throw notJson(what, String(value));
      return;
    case "object":
      break;
    default:
      throw notJson(what, `a value of type ${typeof value}`);
  }
  if (value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) check(item, what);
    return;
  }
  if (!isPlain(value)) throw notJson(what, "an instance of a class");
  for (const key of Object.keys(value)) {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    if (field !== undefined) check(field, what);
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copyList(list: readonly unknown[], what: Name): Json {
  const result: Json[] = [];
  for (const item of list) result.push(copy(item, what));
  return Object.freeze(result);
}

function copyRecord(record: Readonly<Record<string, unknown>>, what: Name): Json {
  const result: Record<string, Json> = {};
  for (const key of Object.keys(record)) {
    const value = record[key];
    // Like `JSON.stringify`: an optional field may be `undefined`.
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

function nameOf(what: Name): string {
  return typeof what === "string" ? what : what();
}

function notJson(what: Name, found: string): StoreError {
  return new StoreError(
    "NG_STORE_FAILED",
    `${nameOf(what)} cannot be stored: it holds ${found}, which is not plain JSON`,
  );
}
