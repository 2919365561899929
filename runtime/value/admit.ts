/**
 * Values from outside (node results, inputs, answers) become state only as frozen plain JSON. `admit…` checks and
 * copies in one pass. It refuses what JSON cannot represent, with its place. No reference remains through which user
 * code could change the state.
 */
import type { Json, JsonObject } from "./json.ts";
import { MAX_VALUE_COUNT, MAX_VALUE_DEPTH, MAX_VALUE_TEXT } from "./limits.ts";
import { Mismatch } from "./mismatch.ts";
import { isOwnLong, keepOwnList, keepOwnRecord } from "./own-values.ts";
import { isPlainObject } from "./plain-object.ts";

/** The remaining budget of one admission: values and characters. */
export interface Walk {
  left: number;
  text: number;
  /** The parts come from a value that was admitted before: they are frozen plain JSON, and are checked without a copy. */
  isOwn: boolean;
}

/** A frozen value of a type, or why the value does not fit. `depth` is the number of lists and records around it. */
export type Admit = (value: unknown, walk: Walk, depth: number) => Json | Mismatch;

/** Any JSON value. */
export function admitJson(value: unknown): Json | Mismatch {
  if (typeof value !== "object") return admitAny(value, NO_WALK, 0);
  return guardReads(() => admitAny(value, newWalk(), 0));
}

/** For a value that is neither a list nor a record. */
export const NO_WALK: Walk = Object.freeze({ left: 0, text: 0, isOwn: false });
export function newWalk(): Walk {
  return { left: MAX_VALUE_COUNT, text: MAX_VALUE_TEXT, isOwn: false };
}

/** Getters and proxies are user code. If one throws, the value is unreadable: a mismatch, not an exception. */
export function guardReads(admit: () => Json | Mismatch): Json | Mismatch {
  try {
    return admit();
  } catch (error) {
    return new Mismatch(
      "plain JSON",
      `a value that cannot be read: ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
}

export const admitAny: Admit = (value, walk, depth) => {
  switch (typeof value) {
    case "string":
      return admitText(value, walk);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : refuse(value, "plain JSON");
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? admitList(value, admitAny, walk, depth) : admitRecord(value, noFields, walk, depth);
    default:
      return refuse(value, "plain JSON");
  }
};

export function admitText(text: string, walk: Walk): string | Mismatch {
  const isTooLong = walk === NO_WALK ? text.length > MAX_VALUE_TEXT : (walk.text -= text.length) < 0;
  return isTooLong ? new Mismatch(`at most ${MAX_VALUE_TEXT} characters of text`, "more") : text;
}

/** A record without declared fields: each field is plain JSON. */
const noFields = (): undefined => undefined;

export function admitList(list: readonly unknown[], item: Admit, walk: Walk, depth: number): Json | Mismatch {
  if (depth >= MAX_VALUE_DEPTH) return tooDeep(list);
  const { length } = list;
  if ((walk.left -= length + 1) < 0) return tooLarge();
  if (walk.isOwn) return checkOwnList(list, item, walk, depth);
  if (isOwnLong(list, length)) {
    walk.isOwn = true;
    const checked = checkOwnList(list, item, walk, depth);
    walk.isOwn = false;
    return checked;
  }
  const copy: Json[] = [];
  for (let i = 0; i < length; i++) {
    const admitted = item(list[i], walk, depth + 1);
    if (admitted instanceof Mismatch) return admitted.under(i);
    copy.push(admitted);
  }
  return keepOwnList(copy);
}

function checkOwnList(list: readonly unknown[], item: Admit, walk: Walk, depth: number): Json | Mismatch {
  for (let i = 0; i < list.length; i++) {
    const checked = item(list[i], walk, depth + 1);
    if (checked instanceof Mismatch) return checked.under(i);
  }
  return list as readonly Json[];
}

/**
 * Own enumerable string fields, in their order. A field with the value `undefined` counts as absent, as in TypeScript's
 * optional fields and in `JSON.stringify`. `fieldOf` returns the type of a field; `undefined` accepts any JSON.
 */
export function admitRecord(
  value: object,
  fieldOf: (name: string) => Admit | undefined,
  walk: Walk,
  depth: number,
): { readonly [key: string]: Json } | Mismatch {
  if (!isPlainObject(value)) return refuse(value, "plain JSON");
  if (depth >= MAX_VALUE_DEPTH) return tooDeep(value);
  const names = Object.keys(value);
  if ((walk.left -= names.length + 1) < 0) return tooLarge();
  if (walk.isOwn) return checkOwnRecord(value as JsonObject, names, fieldOf, walk, depth);
  if (isOwnLong(value, names.length)) {
    walk.isOwn = true;
    const checked = checkOwnRecord(value as JsonObject, names, fieldOf, walk, depth);
    walk.isOwn = false;
    return checked;
  }
  const copy: Record<string, Json> = {};
  for (const name of names) {
    const field = (value as Record<string, unknown>)[name];
    if (field === undefined) continue;
    const admitted = (fieldOf(name) ?? admitAny)(field, walk, depth + 1);
    if (admitted instanceof Mismatch) return admitted.under(name);
    if (name === "__proto__") {
      // An assignment would set the prototype instead of a field.
      Object.defineProperty(copy, name, { value: admitted, enumerable: true, writable: true, configurable: true });
    } else copy[name] = admitted;
  }
  return keepOwnRecord(copy, names.length);
}

function checkOwnRecord(
  record: JsonObject,
  names: readonly string[],
  fieldOf: (name: string) => Admit | undefined,
  walk: Walk,
  depth: number,
): JsonObject | Mismatch {
  for (const name of names) {
    const checked = (fieldOf(name) ?? admitAny)(record[name], walk, depth + 1);
    if (checked instanceof Mismatch) return checked.under(name);
  }
  return record;
}

/** Known mistakes and their remedies, by the name of the constructor. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["Date", "use `.toISOString()`"],
  ["Map", "use `Object.fromEntries(map)`"],
  ["Set", "use `[...set]`"],
  ["Promise", "await it"],
  ["Error", "throw it instead"],
  ["RegExp", "use `.source`"],
  ["URL", "use `.href`"],
  ["Uint8Array", "use a base64 string"],
  ["Buffer", 'use `.toString("base64")`'],
  ["ArrayBuffer", "use a base64 string"],
]);

/** A mismatch with a description of the value. */
export function refuse(value: unknown, expected: string): Mismatch {
  switch (typeof value) {
    case "undefined":
      return new Mismatch(expected, "nothing (undefined)", expected === "plain JSON" ? "use null" : undefined);
    case "number":
      return Number.isFinite(value)
        ? new Mismatch(expected, String(value))
        : new Mismatch(expected, String(value), "use null or a string");
    case "bigint":
      return new Mismatch(expected, "a bigint", "use a number or a string");
    case "function":
    case "symbol":
      return new Mismatch(expected, `a ${typeof value}`);
    case "string":
      return new Mismatch(expected, value.length > 40 ? "a string" : JSON.stringify(value));
    case "object":
      return refuseObject(value, expected);
    default:
      return new Mismatch(expected, String(value));
  }
}

function refuseObject(value: object | null, expected: string): Mismatch {
  if (value === null) return new Mismatch(expected, "null");
  if (Array.isArray(value)) return new Mismatch(expected, "a list");
  if (isPlainObject(value)) return new Mismatch(expected, "a record");
  const { constructor } = value as { constructor?: unknown };
  const name = typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class";
  const advice = ADVICE.get(name) ?? (value instanceof Error ? ADVICE.get("Error") : "return a plain object instead");
  return new Mismatch(expected, `an instance of ${name}`, advice);
}

function tooDeep(value: object): Mismatch {
  return new Mismatch(
    `at most ${MAX_VALUE_DEPTH} levels of nesting`,
    refersToItself(value) ? "a value that contains itself" : "more",
  );
}

function tooLarge(): Mismatch {
  return new Mismatch(`at most ${MAX_VALUE_COUNT} values`, "more");
}

/** Whether `value` contains itself. Used for the message only, so it walks a bounded part of the value. */
function refersToItself(value: object): boolean {
  const seen = new Set<object>();
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined && seen.size < 10_000; next = open.pop()) {
    for (const child of Object.values(next) as unknown[]) {
      if (child === value) return true;
      if (typeof child === "object" && child !== null && !seen.has(child)) {
        seen.add(child);
        open.push(child);
      }
    }
  }
  return false;
}
