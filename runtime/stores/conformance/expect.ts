/** Assertions without a test runner: a case fails by throwing. */
import { NgraphError } from "../../errors.ts";
import type { MaybePromise } from "../../json.ts";

/** Deep equality of plain JSON. The order of keys and the prototypes of records do not count. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const difference = firstDifference(actual, expected, "");
  if (difference !== undefined) throw new Error(`${what}${difference}`);
}

export function expectTrue(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** The call must fail with this code. Gives the error. */
export async function expectCode(code: string, call: () => MaybePromise<unknown>, what: string): Promise<NgraphError> {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    if (error instanceof NgraphError && error.code === code) return error;
    const found = error instanceof NgraphError ? `${error.code} (${error.message})` : String(error);
    throw new Error(`${what}: expected ${code}, got ${found}`, { cause: error });
  }
  throw new Error(`${what}: expected ${code}, but it returned ${show(result)}`);
}

function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) {
      return `${path}: expected ${expected.length} items, got ${actual.length}: ${show(actual)}`;
    }
    return first(actual.keys(), (index) => firstDifference(actual[index], expected[index], `${path}[${index}]`));
  }
  if (isRecord(actual) && isRecord(expected)) {
    const keys = new Set([...Object.keys(actual), ...Object.keys(expected)]);
    return first(keys, (key) => {
      const inner = `${path}.${key}`;
      if (!Object.hasOwn(actual, key)) return `${inner}: missing`;
      if (!Object.hasOwn(expected, key)) return `${inner}: not expected, got ${show(actual[key])}`;
      return firstDifference(actual[key], expected[key], inner);
    });
  }
  return `${path}: expected ${show(expected)}, got ${show(actual)}`;
}

function first<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
