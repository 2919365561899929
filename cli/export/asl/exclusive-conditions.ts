/** Whether conditions exclude each other by their form, so that at most one of them holds. */
import { isDeepStrictEqual } from "node:util";
import type { Expression } from "../../../runtime/expression/expression.ts";

/** `true` only if it is certain. The forms are those that `ngc import` writes: `a` and `b && !a`, and comparisons with constants. */
export function areExclusive(conditions: readonly Expression[]): boolean {
  return conditions.every((one, index) =>
    conditions.slice(index + 1).every((other) => exclude(parts(one), parts(other))),
  );
}

function exclude(one: readonly Expression[], other: readonly Expression[]): boolean {
  return one.some((a) => other.some((b) => negates(a, b) || negates(b, a) || differ(a, b)));
}

/** The parts that all hold if the expression does. */
function parts(expression: Expression): readonly Expression[] {
  if (expression.op === "binary" && expression.operator === "&&")
    return [...parts(expression.left), ...parts(expression.right)];
  return [expression];
}

function negates(a: Expression, b: Expression): boolean {
  return a.op === "not" && isDeepStrictEqual(a.of, b);
}

/** Comparisons of one value with constants that differ. */
function differ(a: Expression, b: Expression): boolean {
  const [one, other] = [comparison(a), comparison(b)];
  return one !== undefined && other !== undefined && isDeepStrictEqual(one.of, other.of) && one.value !== other.value;
}

function comparison(
  expression: Expression,
): { readonly of: Expression; readonly value: string | number | boolean | null } | undefined {
  if (expression.op !== "binary" || expression.operator !== "==") return undefined;
  const { left, right } = expression;
  if (right.op !== "const" || typeof right.value === "object") return undefined;
  return { of: left, value: right.value };
}
