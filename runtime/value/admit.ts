/**
 * Values from outside (node results, inputs, answers) become state only as frozen plain JSON. `admit…` checks and copies in
 * one pass: what JSON cannot hold is refused with its place, and nobody keeps a reference through which state could change.
 */
import type { Json } from "./json.ts";
import { Mismatch } from "./mismatch.ts";

/** Nesting of one value. */
export const MAX_VALUE_DEPTH = 200;
/** Values inside one value, counted in all: a structure that shares its parts may be far larger than it looks. */
export const MAX_VALUE_COUNT = 10_000_000;

/** What one admission may still look at. */
export interface Walk {
  left: number;
}

/** A value of a type, frozen, or why it is none. `depth` is the number of lists and records around it. */
export type Admit = (value: unknown, walk: Walk, depth: number) => Json | Mismatch;

/** Any JSON value. */
export function admitJson(value: unknown): Json | Mismatch {
  if (typeof value !== "object") return admitAny(value, NO_WALK, 0);
  return guardReads(() => admitAny(value, newWalk(), 0));
}

export const NO_WALK: Walk = { left: 0 };
export function newWalk(): Walk {
  return { left: MAX_VALUE_COUNT };
}

/** Getters and proxies are user code: when one throws, that is a value which cannot be read, not an exception. */
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

/** No declared fields: all are plain JSON. */
const noFields = (): undefined => undefined;

export function admitList(list: readonly unknown[], item: Admit, walk: Walk, depth: number): Json | Mismatch {
  if (depth >= MAX_VALUE_DEPTH) return tooDeep(list);
  const { length } = list;
  if ((walk.left -= length + 1) < 0) return tooLarge();
  const copy: Json[] = [];
  for (let i = 0; i < length; i++) {
    const admitted = item(list[i], walk, depth + 1);
    if (admitted instanceof Mismatch) return admitted.under(i);
    copy.push(admitted);
  }
  return Object.freeze(copy);
}

/**
 * Own enumerable string fields, in their order. A field that is `undefined` counts as absent, as it does in TypeScript's
 * optional fields and in `JSON.stringify`. `fieldOf` gives the type of a field; `undefined`: any JSON.
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
  const copy: Record<string, Json> = {};
  for (const name of names) {
    const field = (value as Record<string, unknown>)[name];
    if (field === undefined) continue;
    const admitted = (fieldOf(name) ?? admitAny)(field, walk, depth + 1);
    if (admitted instanceof Mismatch) return admitted.under(name);
    if (name === "__proto__") {
      // Assigning would set the prototype instead of a field.
      Object.defineProperty(copy, name, { value: admitted, enumerable: true, writable: true, configurable: true });
    } else copy[name] = admitted;
  }
  return Object.freeze(copy);
}

/** An object literal, or what `JSON.parse` makes, also of another realm: its prototype is the end of the chain. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What is known to go wrong, and what to do about it, by the constructor's name. */
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

/** A mismatch that says what stands there. */
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

/** Whether a walk from `value` comes back to it. For the message alone, so it looks at a bounded part. */
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
