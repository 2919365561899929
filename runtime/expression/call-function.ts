import { admitJson } from "../value/admit.ts";
import { dropPromise } from "../value/promise.ts";
import { Mismatch } from "../value/mismatch.ts";
import type { Json } from "../value/json.ts";
import { ExpressionError, fail } from "./expression-error.ts";
import type { Expression } from "./expression.ts";

/** An imported function as expressions use it: pure and synchronous. `callFunction` checks that the result is JSON. */
export type ExpressionFunction = (...args: readonly never[]) => unknown;

export function callFunction(
  callee: ExpressionFunction | undefined,
  args: readonly Json[],
  name: string,
  at?: Expression,
): Json {
  if (typeof callee !== "function") return fail("missing_function", `the function \`${name}\` was not given`, at);
  let result: unknown;
  try {
    result = (callee as (...values: readonly Json[]) => unknown)(...args);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "it threw a value that is not an Error";
    throw new ExpressionError("call_failed", `\`${name}\` failed: ${reason}`, { at, cause });
  }
  const value = admitJson(result);
  if (value instanceof Mismatch) {
    dropPromise(result);
    return fail("not_json", `\`${name}\` returned a value that is not plain JSON: ${value.describe()}`, at);
  }
  return value;
}
