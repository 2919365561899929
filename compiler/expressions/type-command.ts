/**
 * Types the command of `shell`. Values in its template are quoted for the POSIX shell, each for its place in the command
 * (`shell-reader.ts`); `raw(text)` inserts a text as it is. A list is a program with its arguments, without a shell.
 */
import { commandFromValue, rawArguments, unquotableValue } from "../../diagnostics/catalog/commands.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { QuotePlace } from "../../runtime/expression/library/quote.ts";
import { isAssignable } from "../types/assignable.ts";
import { BOOL, BROKEN_TYPE, FLOAT, isBroken, listOf, STRING, unionOf } from "../types/construct.ts";
import { alternatives, resolveType } from "../types/type-table.ts";
import { expectType, placeOf } from "./expect-type.ts";
import { checkQuotable } from "./quotable.ts";
import type { ExpressionScope, Typed } from "./scope.ts";
import { ShellReader } from "./shell-reader.ts";
import { typeCondition, typeExpression } from "./type-expression.ts";
import { reportUnwritten, within } from "./typed.ts";

/** The function that marks a text as a command. */
export const RAW = "raw";

const ARGUMENTS = listOf(unionOf([STRING, FLOAT, BOOL]));

export function typeCommand(syntax: Ast.Expr, scope: ExpressionScope): Typed {
  if (syntax.kind === "Template") return typeTemplate(syntax, scope);
  if (isRaw(syntax, scope)) return typeRaw(syntax, scope);
  if (syntax.kind === "Conditional") {
    const condition = typeCondition(syntax.condition, scope);
    const then = typeCommand(syntax.then, within(scope, syntax.condition, true));
    const otherwise = typeCommand(syntax.otherwise, within(scope, syntax.condition, false));
    const parts = { condition: condition.expression, then: then.expression, else: otherwise.expression };
    return { expression: { op: "if", ...parts }, type: unionOf([then.type, otherwise.type]), syntax };
  }
  const typed = typeExpression(syntax, scope);
  const { expression, type } = typed;
  const isArguments = syntax.kind === "List" || isAssignable(type, ARGUMENTS, scope.types) === undefined;
  if (isBroken(type) || expression.op === "const" || (isArguments && type.kind !== "opaque")) return typed;
  // Arguments of a wrong type are reported with those of other calls.
  if (!alternatives(type, scope.types).some((member) => mayBeText(resolveType(member, scope.types).kind))) return typed;
  scope.report(commandFromValue(placeOf(syntax.span, scope), { text: textOf(syntax, scope) }));
  return { ...typed, type: BROKEN_TYPE };
}

/** Whether the compiler has quoted a value in a command. */
export function hasQuotedValue(expression: Expression): boolean {
  if (expression.op === "if") return hasQuotedValue(expression.then) || hasQuotedValue(expression.else);
  return expression.op === "template" && expression.parts.some((part) => typeof part !== "string" && isQuoted(part));
}

/** A value that the compiler has quoted. A `quote(…)` of the author has one argument. */
export function isQuoted(expression: Expression): boolean {
  return expression.op === "library" && expression.name === "quote" && expression.args.length === 2;
}

function mayBeText(kind: string): boolean {
  return kind === "string" || kind === "literal" || kind === "opaque";
}

function textOf(syntax: Ast.Expr, scope: ExpressionScope): string {
  return scope.file.text.slice(syntax.span.start, syntax.span.end);
}

function isRaw(syntax: Ast.Expr, scope: ExpressionScope): syntax is Ast.CallExpr {
  return (
    syntax.kind === "Call" &&
    syntax.callee.name === RAW &&
    scope.names.callee(syntax.callee.name, syntax.callee.span) === undefined
  );
}

function typeRaw(syntax: Ast.CallExpr, scope: ExpressionScope): Typed {
  const [argument] = syntax.args;
  if (argument === undefined || syntax.args.length > 1 || argument.name !== undefined) {
    scope.report(rawArguments(placeOf(syntax.span, scope)));
    for (const each of syntax.args) typeExpression(each.value, scope);
    return { expression: { op: "const", value: "" }, type: BROKEN_TYPE, syntax };
  }
  const typed = typeExpression(argument.value, scope);
  const isText = expectType(typed, STRING, { what: "`raw(text)` takes a string" }, scope);
  return { expression: typed.expression, type: isText ? STRING : BROKEN_TYPE, syntax };
}

function typeTemplate(syntax: Ast.TemplateExpr, scope: ExpressionScope): Typed {
  const reader = new ShellReader();
  const parts: (string | Expression)[] = [];
  for (const [index, part] of syntax.parts.entries()) {
    if (part.kind === "TemplateText") {
      reader.read(part.value);
      if (part.value !== "") parts.push(part.value);
    } else if (isRaw(part, scope)) {
      parts.push(typeRaw(part, scope).expression);
      reader.readRaw();
    } else {
      const next = syntax.parts[index + 1];
      const endsWord = next === undefined || (next.kind === "TemplateText" && /^(?:$|[\s;&|)<>])/.test(next.value));
      parts.push(typeValue(part, reader, endsWord && !isFollowedByValue(syntax, index), scope));
      reader.readValue();
    }
  }
  if (parts.every((part) => typeof part === "string")) {
    return { expression: { op: "const", value: parts.join("") }, type: STRING, syntax };
  }
  return { expression: { op: "template", parts }, type: STRING, syntax };
}

/** Whether another value follows directly: texts between two values may be empty. */
function isFollowedByValue(syntax: Ast.TemplateExpr, index: number): boolean {
  const next = syntax.parts[index + 1];
  if (next === undefined) return false;
  if (next.kind !== "TemplateText") return true;
  return next.value === "" && syntax.parts[index + 2] !== undefined;
}

function typeValue(part: Ast.Expr, reader: ShellReader, endsWord: boolean, scope: ExpressionScope): Expression {
  const typed = typeExpression(part, scope);
  reportUnwritten(typed, scope);
  const place = reader.place();
  if (typeof place === "string") {
    scope.report(unquotableValue(placeOf(part.span, scope), { where: place, text: textOf(part, scope) }));
    return { op: "const", value: "" };
  }
  const isAlone = place.quotes === "plain" && place.beginsWord && endsWord;
  checkQuotable(typed, isAlone ? "words" : place.quotes, scope);
  const quotes: QuotePlace = place.quotes === "plain" ? (isAlone ? "words" : "word") : place.quotes;
  return { op: "library", name: "quote", args: [typed.expression, { op: "const", value: quotes }] };
}
