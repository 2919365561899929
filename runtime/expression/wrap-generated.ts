import type { Evaluate, ExpressionEnvironment, GeneratedExpression } from "./compile-expression.ts";
import type { Expression } from "./expression.ts";
import { locateError } from "./locate-error.ts";
import { endWork, startWork } from "./work-meter.ts";

/**
 * Wraps generated code like `compileExpression` wraps its closures: an exception becomes an `ExpressionError` that names the
 * expression.
 */
export function wrapGenerated(
  generated: GeneratedExpression,
  expression: Expression,
  environment: ExpressionEnvironment = {},
): Evaluate {
  const functions = environment.functions ?? [];
  return (scope) => {
    const outer = startWork();
    try {
      return generated(scope, functions);
    } catch (error) {
      throw locateError(error, expression, environment);
    } finally {
      endWork(outer);
    }
  };
}
