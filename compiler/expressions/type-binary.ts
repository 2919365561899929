import { wrongType } from "../../diagnostics/catalog/types.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";
import { BOOL, BROKEN_TYPE, FLOAT, INT, isBroken, STRING, unionOf } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, knownNotNull, resolveType } from "../types/type-table.ts";
import { checkComparable, checkEquality } from "./equality.ts";
import { expectNotNull, expectType, JSON_HELP, leaveToTypeScript, placeOf, reportType } from "./expect-type.ts";
import type { ExpressionScope, Typed, TypePart } from "./scope.ts";
import { typeOrFail } from "./type-fail.ts";
import { broken, conditionHelp, listItem, numberKind, within } from "./typed.ts";

/**
 * Types binary operators: `a + b`, `a && b`, `a in b`. Chains (`a + b + c + …`) nest to the left as deep as they are
 * long, so a loop in place of recursion types the left side.
 */
export function typeBinary(syntax: Ast.BinaryExpr, scope: ExpressionScope, typePart: TypePart): Typed {
  const chain: Ast.BinaryExpr[] = [syntax];
  let first = syntax.left;
  for (; first.kind === "Binary"; first = first.left) chain.push(first);
  let result = typePart(first, scope);
  for (let link = chain.pop(); link !== undefined; link = chain.pop())
    result = typeOperation(link, result, scope, typePart);
  return result;
}

function typeOperation(syntax: Ast.BinaryExpr, left: Typed, scope: ExpressionScope, typePart: TypePart): Typed {
  const { operator } = syntax;
  const isLogical = operator === "&&" || operator === "||";
  const right =
    operator === "??"
      ? typeOrFail(syntax.right, scope, typePart)
      : typePart(syntax.right, isLogical ? within(scope, syntax.left, operator === "&&") : scope);
  const expression: Expression = { op: "binary", operator, left: left.expression, right: right.expression };
  switch (operator) {
    case "&&":
    case "||":
      for (const side of [left, right]) {
        expectType(side, BOOL, { what: `\`${operator}\` needs bools`, help: conditionHelp(side, scope) }, scope);
      }
      return { expression, type: BOOL, syntax };
    case "??":
      return { expression, type: unionOf([knownNotNull(left.type, scope.types), right.type]), syntax };
    case "==":
    case "!=":
      // A comparison with a mistyped value has been reported: it must not count as constant as well.
      if (!checkEquality(left, right, operator, syntax.operatorSpan, scope)) return broken(syntax);
      return { expression, type: BOOL, syntax };
    case "in":
      if (!checkMembership(left, right, scope, typePart)) return broken(syntax);
      return { expression, type: BOOL, syntax };
    case "<":
    case "<=":
    case ">":
    case ">=":
      checkOrder(syntax, left, right, scope);
      return { expression, type: BOOL, syntax };
    default:
      return typeArithmetic(syntax, expression, left, right, scope);
  }
}

function typeArithmetic(
  syntax: Ast.BinaryExpr,
  expression: Expression & { op: "binary" },
  left: Typed,
  right: Typed,
  scope: ExpressionScope,
): Typed {
  const { operator } = syntax;
  const use = `\`${operator}\` needs ${operator === "+" ? "two numbers or two strings" : "numbers"}`;
  const leftType = expectNotNull(left, use, scope);
  const rightType = expectNotNull(right, use, scope);
  if (isBroken(leftType) || isBroken(rightType)) return { expression, type: BROKEN_TYPE, syntax };
  const leftSort = sortOf(leftType, scope);
  const rightSort = sortOf(rightType, scope);
  if (leftSort === "unknown" || rightSort === "unknown") {
    const known = leftSort === "unknown" ? rightSort : leftSort;
    const expected = operator === "+" ? operandOf(known) : FLOAT;
    for (const side of [left, right]) leaveToTypeScript(side, expected, scope);
    if (operator === "+" && known === "string") return { expression, type: STRING, syntax };
    if (known === "unknown" || known === "number") {
      return { expression, type: operator === "+" && known === "unknown" ? BROKEN_TYPE : FLOAT, syntax };
    }
  }
  if (leftSort === "number" && rightSort === "number") {
    const isInt = operator !== "/" && numberKind(leftType, scope) === "int" && numberKind(rightType, scope) === "int";
    if (!isInt) return { expression, type: FLOAT, syntax };
    // Written without a spread: V8 gives each copy by a spread a hidden class of its own, of 250 bytes.
    const { left: first, right: second } = expression;
    return { expression: { op: "binary", operator, left: first, right: second, int: true }, type: INT, syntax };
  }
  if (operator === "+" && leftSort === "string" && rightSort === "string") return { expression, type: STRING, syntax };
  const atFault = leftSort === "number" || (operator === "+" && leftSort === "string") ? right : left;
  const mixed = operator === "+" && (leftSort === "string" || rightSort === "string");
  scope.report(
    wrongType(placeOf(syntax.operatorSpan, scope), {
      message: use,
      label: `\`${typeToText(leftType)}\` ${operator} \`${typeToText(rightType)}\``,
      help: mixed
        ? "put values into a template: `` `… ${value}` ``"
        : resolveType(atFault.type, scope.types).kind === "json"
          ? JSON_HELP
          : undefined,
    }),
  );
  return { expression, type: BROKEN_TYPE, syntax };
}

/** Both operands must be numbers, or both strings. */
function checkOrder(syntax: Ast.BinaryExpr, left: Typed, right: Typed, scope: ExpressionScope): void {
  const use = `\`${syntax.operator}\` compares two numbers or two strings`;
  const leftType = expectNotNull(left, use, scope);
  const rightType = expectNotNull(right, use, scope);
  const leftSort = sortOf(leftType, scope);
  const rightSort = sortOf(rightType, scope);
  if (leftSort === "unknown" || rightSort === "unknown") {
    const expected = operandOf(leftSort === "unknown" ? rightSort : leftSort);
    for (const side of [left, right]) leaveToTypeScript(side, expected, scope);
    return;
  }
  if (leftSort === rightSort && leftSort !== "other") return;
  scope.report(
    wrongType(placeOf(syntax.operatorSpan, scope), {
      message: use,
      label: `\`${typeToText(leftType)}\` ${syntax.operator} \`${typeToText(rightType)}\``,
      help: [leftType, rightType].some((type) => resolveType(type, scope.types).kind === "json")
        ? JSON_HELP
        : undefined,
    }),
  );
}

/** Checks `x in list` and `key in map`. Returns `false` after an error. */
function checkMembership(left: Typed, right: Typed, scope: ExpressionScope, typePart: TypePart): boolean {
  const what = "`in` looks into a list or a map";
  const type = expectNotNull(right, what, scope, "write `… in (list ?? [])` for that case");
  if (isBroken(type)) return true;
  const item = listItem(type, scope);
  if (item !== undefined) {
    // `x in ["a", "b"]` means two comparisons, so each literal must be a possible value of `x`.
    if (right.syntax.kind !== "List") return checkComparable(left, item, left.syntax.span, scope);
    const silent: ExpressionScope = { ...scope, report: () => {}, reads: new Set() };
    let isPossible = true;
    for (const syntax of right.syntax.items) {
      if (syntax.kind === "Spread") continue;
      const value = typePart(syntax, silent);
      if (!checkComparable(value, left.declared ?? left.type, syntax.span, scope)) isPossible = false;
    }
    return isPossible;
  }
  const members = alternatives(type, scope.types).map((member) => resolveType(member, scope.types).kind);
  if (members.every((kind) => kind === "map" || kind === "record" || kind === "opaque")) {
    return expectType(left, STRING, { what: "the keys of a map are strings" }, scope);
  }
  const isText = sortOf(type, scope) === "string";
  const help = isText ? "for a part of a string write `contains(text, part)`" : undefined;
  reportType(right, type, { what, help }, scope);
  return false;
}

/** The kind of operand that fits beside one of the given kind. */
function operandOf(sort: ReturnType<typeof sortOf>): ValueType {
  return sort === "number" ? FLOAT : sort === "string" ? STRING : unionOf([FLOAT, STRING]);
}

/** The kinds of operands that arithmetic and comparison distinguish; `unknown` for opaque values. */
function sortOf(type: ValueType, scope: ExpressionScope): "number" | "string" | "unknown" | "other" {
  if (type.kind === "int" || type.kind === "float") return "number";
  if (type.kind === "string") return "string";
  if (alternatives(type, scope.types).some((member) => member.kind === "opaque")) return "unknown";
  if (isAssignable(type, FLOAT, scope.types) === undefined) return "number";
  if (isAssignable(type, STRING, scope.types) === undefined) return "string";
  return "other";
}
