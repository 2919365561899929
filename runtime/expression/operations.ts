/**
 * The operations of the expression language, total: each returns plain JSON or throws `ExpressionError`. The interpreter and
 * the generated TypeScript call these same functions, so the two cannot disagree.
 *
 * Operands come from state and imported functions, so operations check their types although the compiler has done so.
 * New lists and records are frozen, so a value of an expression can be stored and shared without a copy. `at` is the
 * part of the expression to name in an error; generated code leaves it out.
 */
import { fail, failType } from "./expression-error.ts";
import type { Expression } from "./expression.ts";
import { MAX_ITEMS, MAX_ROUNDS, MAX_TEXT } from "./limits.ts";
import { equal } from "./equal.ts";
import { spend } from "./work-meter.ts";
import type { Json, JsonObject } from "../value/json.ts";

export { equal } from "./equal.ts";

type Site = Expression | undefined;

/** `a + b`: two numbers or two strings. */
export function add(left: Json, right: Json, at?: Site): number | string {
  if (typeof left === "number" && typeof right === "number") return finite(left + right, at);
  if (typeof left === "string" && typeof right === "string") {
    if (left.length + right.length > MAX_TEXT) return failText(left.length + right.length, at);
    return left + right;
  }
  if (typeof left === "string") return failType(right, "a string", at);
  if (typeof left === "number") return failType(right, "a number", at);
  return failType(left, "a number or a string", at);
}

export function subtract(left: Json, right: Json, at?: Site): number {
  return finite(number(left, at) - number(right, at), at);
}

export function multiply(left: Json, right: Json, at?: Site): number {
  return finite(number(left, at) * number(right, at), at);
}

export function divide(left: Json, right: Json, at?: Site): number {
  const dividend = number(left, at);
  const divisor = number(right, at);
  if (divisor === 0) return fail("division_by_zero", "division by zero", at);
  return finite(dividend / divisor, at);
}

/** The remainder has the sign of the dividend, as in TypeScript. */
export function remainder(left: Json, right: Json, at?: Site): number {
  const dividend = number(left, at);
  const divisor = number(right, at);
  if (divisor === 0) return fail("division_by_zero", "division by zero", at);
  return finite(dividend % divisor, at);
}

export function negate(value: Json, at?: Site): number {
  return finite(-number(value, at), at);
}

/** The check on arithmetic of ints: the result is a safe integer. */
export function int(value: Json, at?: Site): number {
  const result = number(value, at);
  if (Number.isSafeInteger(result)) return result;
  if (Number.isInteger(result)) return fail("overflow", `the int ${result} is outside the safe integers`, at);
  return fail("wrong_type", `expected an int, found ${result}`, at);
}

/** `a < b`: two numbers, or two strings by UTF-16 code units. */
export function less(left: Json, right: Json, at?: Site): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  if (typeof left === "string" && typeof right === "string") return left < right;
  return failCompare(left, right, at);
}

export function lessOrEqual(left: Json, right: Json, at?: Site): boolean {
  if (typeof left === "number" && typeof right === "number") return left <= right;
  if (typeof left === "string" && typeof right === "string") return left <= right;
  return failCompare(left, right, at);
}

/** `a > b` is `b < a`, and fails for the same operands. */
export function greater(left: Json, right: Json, at?: Site): boolean {
  return typeof left === "number" && typeof right === "number" ? left > right : less(right, left, at);
}

export function greaterOrEqual(left: Json, right: Json, at?: Site): boolean {
  return typeof left === "number" && typeof right === "number" ? left >= right : lessOrEqual(right, left, at);
}

export function notEqual(left: Json, right: Json): boolean {
  return !equal(left, right);
}

/** Checks a condition, which must be a bool: other values are not converted. */
export function truth(value: Json, at?: Site): boolean {
  return typeof value === "boolean" ? value : failType(value, "a bool", at);
}

/** `x in list` (a value) or `key in map`. */
export function has(value: Json, container: Json, at?: Site): boolean {
  if (Array.isArray(container)) {
    spend(container.length, at);
    // Primitives, the usual case, need no deep comparison.
    if (typeof value !== "object" || value === null) return container.includes(value);
    return container.some((item: Json) => equal(value, item));
  }
  if (isRecord(container)) {
    return typeof value === "string" ? Object.hasOwn(container, value) : failType(value, "a string as key", at);
  }
  return failType(container, "a list or a map", at);
}

/** `of.name`, or `of?.name` with `optional`; with `absent`, a missing field is `null`. */
export function member(of: Json, name: string, optional: boolean, absent: boolean, at?: Site): Json {
  if (of === null) return optional ? null : fail("null_value", `\`.${name}\` of null`, at);
  if (!isRecord(of)) return failType(of, `a record with a field \`${name}\``, at);
  // Own properties only: inherited ones such as `constructor` are not fields.
  if (Object.hasOwn(of, name)) return of[name] ?? null;
  return absent ? null : fail("missing_field", `no field \`${name}\``, at);
}

/** The item of a `for`. */
export function local(locals: ReadonlyMap<string, Json> | undefined, name: string, at?: Site): Json {
  const value = locals?.get(name);
  return value === undefined ? fail("unknown_operation", `no variable \`${name}\``, at) : value;
}

export function secret(secrets: ReadonlyMap<string, string> | undefined, name: string, at?: Site): string {
  return secrets?.get(name) ?? fail("missing_secret", `the secret \`${name}\` is not set`, at);
}

/** `list[i]`, negative from the end, or `map[key]`; `null` when there is none. */
export function index(of: Json, position: Json, at?: Site): Json {
  if (Array.isArray(of)) {
    if (typeof position !== "number") return failType(position, "an int as index", at);
    if (!Number.isInteger(position)) return fail("bad_index", `${position} is not an index of a list`, at);
    return (of as readonly Json[]).at(position) ?? null;
  }
  if (isRecord(of)) {
    if (typeof position !== "string") return failType(position, "a string as key", at);
    return Object.hasOwn(of, position) ? (of[position] ?? null) : null;
  }
  return failType(of, "a list or a map", at);
}

/** Converts a value to text for a template: strings are unchanged, other values become JSON. */
export function text(value: Json): string {
  if (typeof value === "string") return value;
  const json = JSON.stringify(value);
  spend(64 + json.length * 4);
  return json;
}

/** Joins the parts of a template, which are already text. */
export function concat(parts: readonly string[], at?: Site): string {
  let length = 0;
  for (const part of parts) length += part.length;
  spend(length, at);
  return length > MAX_TEXT ? failText(length, at) : parts.join("");
}

export function list(items: readonly Json[]): readonly Json[] {
  spend(items.length);
  return Object.freeze(items);
}

/** Joins the parts of a list with spreads: `[...a, x]` has the parts `a` and `[x]`. */
export function joinLists(parts: readonly (readonly Json[])[], at?: Site): readonly Json[] {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > MAX_ITEMS) return fail("too_large", `a list of ${length} items is beyond the bound of ${MAX_ITEMS}`, at);
  spend(8 * length, at);
  return Object.freeze(parts.flat());
}

/**
 * Makes a record from pairs of name and value; a value alone is a record whose fields are copied. The last value of a
 * repeated name is kept.
 */
export function record(fields: readonly (readonly [string, Json] | readonly [Json])[], at?: Site): JsonObject {
  const result: Record<string, Json> = {};
  for (const field of fields) {
    if (field.length === 1) setFields(result, field[0], at);
    else setField(result, field[0], field[1]);
  }
  return Object.freeze(result);
}

/** Copies the fields of a record: `{ ...of }`. */
export function setFields(target: Record<string, Json>, of: Json, at?: Site): void {
  if (!isRecord(of)) return failType(of, "a record", at);
  const names = Object.keys(of);
  spend(256 * names.length, at);
  for (const name of names) setField(target, name, of[name] as Json);
}

/** `value!` */
export function notNull(value: Json, at?: Site): Json {
  return value === null ? fail("not_null", "the value is null", at) : value;
}

/** `fail(message)` */
export function failWith(message: Json, at?: Site): never {
  return fail("failed", string(message, at), at);
}

/** Sets an own field of any name: `__proto__` must not change the prototype. */
export function setField(target: Record<string, Json>, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
  } else target[name] = value;
}

/** Remaining rounds of comprehensions in one evaluation. */
export interface Fuel {
  left: number;
}

export function fuel(): Fuel {
  return { left: MAX_ROUNDS };
}

/** `[value for item in list if condition]` */
export function comprehension(
  of: Json,
  remaining: Fuel,
  condition: ((item: Json, index: number) => Json) | undefined,
  value: (item: Json, index: number) => Json,
  isFlat: boolean,
  at?: Site,
): readonly Json[] {
  const result: Json[] = [];
  for (const [index, item] of listOf(of, at).entries()) {
    if (--remaining.left < 0) return fail("too_large", `more than ${MAX_ROUNDS} rounds of comprehensions`, at);
    if (condition !== undefined && !truth(condition(item, index), at)) continue;
    const next = value(item, index);
    // Long strings count as more rounds: 100,000 copies of 16 Mi characters would take too long.
    if (typeof next === "string") remaining.left -= next.length >> 6;
    if (!isFlat) result.push(next);
    else {
      const inner = listOf(next, at);
      spend(8 * inner.length, at);
      for (const each of inner) result.push(each);
    }
  }
  return Object.freeze(result);
}

/** Returns the value if it is a list; otherwise throws `wrong_type` or `null_value`. */
export function listOf(value: Json, at?: Site): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : failType(value, "a list", at);
}

/** Returns the value if it is a number; otherwise throws `wrong_type` or `null_value`. */
export function number(value: Json, at?: Site): number {
  return typeof value === "number" ? value : failType(value, "a number", at);
}

export function string(value: Json, at?: Site): string {
  return typeof value === "string" ? value : failType(value, "a string", at);
}

export function isRecord(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks that JSON can hold a number. -0 becomes 0, because a resume from JSON text would change it to 0. */
export function finite(value: number, at?: Site): number {
  if (Number.isFinite(value)) return value + 0;
  return fail("not_finite", `the result is ${Number.isNaN(value) ? "not a number" : "infinite"}`, at);
}

/** Reports an operator that this version does not know; a table may come from a later compiler. */
export function unknownOperation(name: string, at?: Site): never {
  return fail("unknown_operation", `no library function \`${name}\``, at);
}

function failCompare(left: Json, right: Json, at: Site): never {
  if (typeof left === "number") return failType(right, "a number", at);
  if (typeof left === "string") return failType(right, "a string", at);
  return failType(left, "a number or a string", at);
}

export function failText(length: number, at: Site): never {
  return fail("too_large", `a string of ${length} characters is beyond the bound of ${MAX_TEXT}`, at);
}
