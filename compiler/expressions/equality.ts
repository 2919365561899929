import { floatEquality, neverEqual, unknownEnumValue } from "../../diagnostics/catalog/types.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken, isNever, literal } from "../types/construct.ts";
import { canOverlap } from "../types/overlap.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, isNullType, resolveType, type TypeTable } from "../types/type-table.ts";
import { scalarOf, type Scalar } from "./facts.ts";
import { placeOf } from "./expect-type.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

/**
 * Checks `a == b`. Reports a comparison that can never hold (NG508, NG513) and one that rounding decides (NG512).
 * Returns whether it can hold.
 */
export function checkEquality(
  left: Typed,
  right: Typed,
  operator: string,
  operatorSpan: Span,
  scope: ExpressionScope,
): boolean {
  const leftValue = scalarOf(left.syntax);
  const rightValue = scalarOf(right.syntax);
  const isPossible =
    rightValue !== undefined && leftValue === undefined
      ? checkScalar(rightValue, right.syntax.span, left, scope)
      : leftValue !== undefined && rightValue === undefined
        ? checkScalar(leftValue, left.syntax.span, right, scope)
        : checkComparable(left, declaredType(right), coverOf(left, right), scope);
  if (isFractional(left, scope.types) && isFractional(right, scope.types)) {
    scope.report(floatEquality(placeOf(operatorSpan, scope), operator));
  }
  return isPossible;
}

/** Checks a literal against the value that `==` or an arm of `match` compares it with. */
export function checkScalar(value: Scalar, span: Span, against: Typed, scope: ExpressionScope): boolean {
  // `x == null` may be constant, but it is not a type error.
  if (value === null) return true;
  const type = declaredType(against);
  if (isBroken(type) || isAssignable(literal(value), type, scope.types) === undefined) return true;
  const place = placeOf(span, scope);
  const members = alternatives(type, scope.types).filter((member) => member.kind !== "null");
  const isEnum = members.every((member) => member.kind === "literal");
  if (isEnum && members.some((member) => member.kind === "literal" && typeof member.value === typeof value)) {
    const text = JSON.stringify(value);
    const all = (): string[] =>
      members.flatMap((member) => (member.kind === "literal" ? [JSON.stringify(member.value)] : []));
    const { similar, known } = suggest(text, all, scope.suggestions);
    scope.report(unknownEnumValue(place, { value: text, similar, values: known }));
    return false;
  }
  if (canOverlap(literal(value), type, scope.types)) return true;
  scope.report(neverEqual(place, { left: typeToText(type), right: typeToText(literal(value)) }));
  return false;
}

/** Checks that two computed values may be equal. */
export function checkComparable(typed: Typed, other: ValueType, span: Span, scope: ExpressionScope): boolean {
  const value = scalarOf(typed.syntax);
  if (value !== undefined) {
    return checkScalar(value, typed.syntax.span, { ...typed, type: other, declared: other }, scope);
  }
  const type = declaredType(typed);
  if (isNever(type) || isNever(other) || isNullType(type) || isNullType(other)) return true;
  if (canOverlap(type, other, scope.types)) return true;
  scope.report(neverEqual(placeOf(span, scope), { left: typeToText(type), right: typeToText(other) }));
  return false;
}

function declaredType(typed: Typed): ValueType {
  return typed.declared ?? typed.type;
}

function coverOf(left: Typed, right: Typed): Span {
  return { start: left.syntax.span.start, end: right.syntax.span.end };
}

/** Whether a value may be a fraction. Fractions are rounded, so a comparison with `==` is unreliable. */
function isFractional(typed: Typed, types: TypeTable): boolean {
  return alternatives(typed.type, types).some((member) => {
    const plain = resolveType(member, types);
    return (
      plain.kind === "float" ||
      (plain.kind === "literal" && typeof plain.value === "number" && !Number.isInteger(plain.value))
    );
  });
}
