import { reasonOf } from "../interface/thrown-reason.ts";
import type { ExpressionEnvironment } from "./compile-expression.ts";
import { ExpressionError } from "./expression-error.ts";
import type { Expression } from "./expression.ts";
import { printExpression } from "./print-expression.ts";

/**
 * Adds the source text of the part at fault to an error. Other exceptions become an `ExpressionError` `call_failed`.
 */
export function locateError(
  error: unknown,
  whole: Expression,
  { names, place }: ExpressionEnvironment,
): ExpressionError {
  if (error instanceof ExpressionError) {
    const at = error.at ?? whole;
    return new ExpressionError(error.problem, error.reason, {
      at,
      text: printExpression(at, names),
      place,
      ...("cause" in error ? { cause: error.cause } : {}),
    });
  }
  const reason = reasonOf(error);
  return new ExpressionError("call_failed", reason, {
    at: whole,
    text: printExpression(whole, names),
    place,
    cause: error,
  });
}
