/** Assertions without a test runner: a case fails by throwing. */
import { NgraphError, StoreError } from "../../interface/errors.ts";
import { ThreadError } from "../../interface/thread-error.ts";
import type { MaybePromise } from "../../value/json.ts";

/** The failure of a conformance case. Test runners show `expected` and `actual` side by side. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(message: string, { expected, actual, cause }: Partial<Found> = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.expected = expected;
    this.actual = actual;
  }
}

interface Found {
  readonly expected: unknown;
  readonly actual: unknown;
  readonly cause: unknown;
}

/** Deep equality of plain JSON, ignoring the order of keys and the prototypes of records. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const difference = firstDifference(actual, expected, "");
  if (difference === undefined) return;
  throw new ConformanceError(`${what}${difference.text}`, difference);
}

/** @param what the message: what is wrong, and what was found */
export function expectTrue(condition: boolean, what: string): void {
  if (!condition) throw new ConformanceError(what);
}

/** The call must fail with an error of this package that has this code. Returns the error. */
export async function expectCode(code: string, call: () => MaybePromise<unknown>, what: string): Promise<NgraphError> {
  let result: unknown;
  try {
    result = await call();
  } catch (cause) {
    const type = OF_THREADS.has(code) ? ThreadError : StoreError;
    if (cause instanceof type && cause.code === code) return cause;
    throw new ConformanceError(`${what}: expected ${code}, got ${describeError(cause, code, type.name)}`, { cause });
  }
  throw new ConformanceError(`${what}: expected ${code}, but the call returned ${show(result)}`);
}

/** The codes that a `ThreadError` carries; a `StoreError` carries the others. */
const OF_THREADS: ReadonlySet<string> = new Set(["NG_THREAD_CONFLICT", "NG_UNKNOWN_CHECKPOINT", "NG_UNKNOWN_THREAD"]);

function describeError(error: unknown, code: string, type: string): string {
  const found = error instanceof NgraphError ? `${error.code} (${error.message})` : String(error);
  const hasCode = typeof error === "object" && error !== null && "code" in error && error.code === code;
  if (!hasCode) return found;
  return error instanceof NgraphError
    ? `${found}, which is not a ${type}`
    : `${found}, which is not a ${type} of this package: import ${type} from "ngraph/runtime" of the same installation as this suite`;
}

interface Difference extends Pick<Found, "expected" | "actual"> {
  readonly text: string;
}

function firstDifference(actual: unknown, expected: unknown, path: string): Difference | undefined {
  if (Object.is(actual, expected)) return undefined;
  const differ = (text: string): Difference => ({ text: `${path}: ${text}`, expected, actual });
  if (Array.isArray(actual) && Array.isArray(expected)) {
    if (actual.length !== expected.length) {
      return differ(`expected ${expected.length} items, got ${actual.length}: ${show(actual)}`);
    }
    return first(actual.keys(), (index) => firstDifference(actual[index], expected[index], `${path}[${index}]`));
  }
  if (isRecord(actual) && isRecord(expected)) {
    const keys = new Set([...Object.keys(actual), ...Object.keys(expected)]);
    return first(keys, (key) => {
      const inner = `${path}.${key}`;
      const pair = { expected: expected[key], actual: actual[key] };
      if (!Object.hasOwn(actual, key)) return { text: `${inner}: missing, expected ${show(expected[key])}`, ...pair };
      if (!Object.hasOwn(expected, key)) return { text: `${inner}: not expected, got ${show(actual[key])}`, ...pair };
      return firstDifference(actual[key], expected[key], inner);
    });
  }
  return differ(`expected ${show(expected)}, got ${show(actual)}`);
}

function first<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
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
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch {
    // The store under test may return values that are not JSON.
  }
  if (text === undefined) return String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
