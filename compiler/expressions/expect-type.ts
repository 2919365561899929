import { maybeNull, wrongType } from "../../diagnostics/catalog/types.ts";
import type { Place } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken, isNever } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, isNullType, mayBeNull, resolveType, withoutNull } from "../types/type-table.ts";
import type { ExpressionScope, Typed } from "./scope.ts";
import { isOpaque } from "./typescript-check.ts";

/** The name of an operand in a message: its source text if it is short. */
export function describe(typed: Typed, scope: ExpressionScope): string {
  const { start, end } = typed.syntax.span;
  const text = scope.file.text.slice(start, end);
  return text.length > 0 && text.length <= 40 && !text.includes("\n") ? `\`${text}\`` : "this value";
}

export function placeOf(span: Span, scope: ExpressionScope): Place {
  return { file: scope.file, span };
}

/**
 * The type of an operand without `null`. Reports NG509 where it may be null. Leaves an operand that is always `null` to
 * the caller, whose message is more precise. For operations that do not accept `null`.
 */
export function expectNotNull(typed: Typed, use: string, scope: ExpressionScope, help?: string): ValueType {
  if (!mayBeNull(typed.type, scope.types)) return typed.type;
  const rest = withoutNull(typed.type, scope.types);
  if (isNever(rest) || isNullType(rest)) return typed.type;
  const what = describe(typed, scope);
  scope.report(maybeNull(placeOf(typed.syntax.span, scope), { what, use, unwritten: typed.unwritten, help }));
  return rest;
}

/**
 * Checks that an operand has the expected type, and reports if it does not. `what` is a message such as "`&&` needs a
 * bool".
 */
export function expectType(
  typed: Typed,
  expected: ValueType,
  facts: { what: string; help?: string | undefined },
  scope: ExpressionScope,
): boolean {
  if (isAssignable(typed.type, expected, scope.types) === undefined) {
    leaveToTypeScript(typed, expected, scope);
    return true;
  }
  const type = expectNotNull(typed, facts.what, scope);
  if (type !== typed.type) {
    if (isAssignable(type, expected, scope.types) === undefined) return false;
  }
  reportType(typed, type, facts, scope);
  return false;
}

/** Leaves a value of opaque type, which is accepted everywhere, for `tsc` to check. */
export function leaveToTypeScript(
  { type, syntax }: Pick<Typed, "type" | "syntax">,
  expected: ValueType,
  scope: ExpressionScope,
): void {
  if (isOpaque(type)) scope.names.leaveToTypeScript({ kind: "fits", type, expected, span: syntax.span });
}

/**
 * Leaves a value for `tsc` to check where a list or record is expected; one that is known to be such needs no check.
 */
export function leaveContainerToTypeScript(
  typed: Pick<Typed, "type" | "syntax">,
  expected: ValueType,
  scope: ExpressionScope,
): void {
  const isOpen = alternatives(typed.type, scope.types).some((member) => member.kind === "opaque");
  if (isOpen) leaveToTypeScript(typed, expected, scope);
}

export function reportType(
  typed: Typed,
  type: ValueType,
  facts: { what: string; help?: string | undefined },
  scope: ExpressionScope,
): void {
  if (isBroken(type)) return;
  const isJson = resolveType(type, scope.types).kind === "json";
  scope.report(
    wrongType(placeOf(typed.syntax.span, scope), {
      message: facts.what,
      label: `this is \`${typeToText(type)}\``,
      help: facts.help ?? (isJson ? JSON_HELP : undefined),
    }),
  );
}

export const JSON_HELP =
  "a `json` value is unknown: give its channel a type, which is checked when the value arrives, or let a function read it";
