import type { Expression } from "./expression.ts";

/** Why an expression has no value. Stable; interpreted and generated code report the same code for the same case. */
export type ExpressionProblem =
  | "division_by_zero"
  /** NaN or infinity. */
  | "not_finite"
  /** An int outside the safe integers. */
  | "overflow"
  | "null_value"
  /** `value!` where the value is null. */
  | "not_null"
  /** `fail("…")` */
  | "failed"
  | "wrong_type"
  | "missing_field"
  | "bad_index"
  /** A list, a string or the work of the evaluation exceeds its limit. */
  | "too_large"
  | "bad_pattern"
  | "missing_function"
  | "missing_secret"
  /** An imported function threw. */
  | "call_failed"
  /** An imported function returned a value that is not plain JSON, or the text of `fromJson` is not JSON. */
  | "not_json"
  | "unknown_operation";

/**
 * Thrown when an expression has no value; evaluation throws no other exception. `message` is `reason` with the source
 * text of the part at fault.
 */
export class ExpressionError extends Error {
  readonly problem: ExpressionProblem;
  readonly reason: string;
  /** The subexpression at fault; absent when thrown by generated code, which knows only the whole expression. */
  readonly at: Expression | undefined;
  /** Position of the whole expression: `file:line:column`; absent when the table has no positions. */
  readonly place: string | undefined;

  constructor(
    problem: ExpressionProblem,
    reason: string,
    details: {
      readonly at?: Expression | undefined;
      readonly text?: string;
      readonly place?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(
      details.text === undefined ? reason : `${reason} in \`${details.text}\``,
      "cause" in details ? { cause: details.cause } : undefined,
    );
    this.name = "ExpressionError";
    this.problem = problem;
    this.reason = reason;
    this.at = details.at;
    this.place = details.place;
  }
}

/** Throws an `ExpressionError` without source text, which `compileExpression` adds. */
export function fail(problem: ExpressionProblem, reason: string, at: Expression | undefined): never {
  throw new ExpressionError(problem, reason, { at });
}

/** Reports a value of a wrong type. `null` has its own code, because it is the most common case. */
export function failType(value: unknown, expected: string, at: Expression | undefined): never {
  if (value === null || value === undefined) return fail("null_value", `expected ${expected}, found null`, at);
  return fail("wrong_type", `expected ${expected}, found ${describeKind(value)}`, at);
}

/** Describes the kind of a value for messages: "a string", "a list", …. */
export function describeKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "boolean":
      return "a bool";
    case "object":
      return "a record";
    case "undefined":
      return "nothing (undefined)";
    default:
      return `a ${typeof value}`;
  }
}
