/** The types of literals and of enums, and the names that a type of literals has. */
import type { ValueType } from "../../runtime/table/value-type.ts";
import { literal, opaque, STRING, unionOf } from "../types/construct.ts";
import { notJson } from "./not-json.ts";
import type { StatementOf, TsType } from "./parse-module.ts";
import type { TypeScope } from "./type-scope.ts";

/** The values of an enum; opaque if one of them is computed. */
export function readEnum(declaration: StatementOf<"TSEnumDeclaration">, at: string, scope: TypeScope): ValueType {
  const values: ValueType[] = [];
  let next: number | undefined = 0;
  for (const { initializer } of declaration.members) {
    const value: string | number | undefined =
      initializer === null || initializer === undefined ? next : constantOf(initializer);
    if (value === undefined) return opaque(at, scope.specifier);
    values.push(literal(value));
    next = typeof value === "number" ? value + 1 : undefined;
  }
  return unionOf(values);
}

function constantOf(expression: { readonly type: string }): string | number | undefined {
  const node = expression as { type: string; value?: unknown; operator?: string; argument?: { type: string } };
  if (node.type === "StringLiteral" || node.type === "NumericLiteral") return node.value as string | number;
  if (node.type !== "UnaryExpression" || node.operator !== "-" || node.argument === undefined) return undefined;
  const value = constantOf(node.argument);
  return typeof value === "number" ? -value : undefined;
}

type Literal = Extract<TsType, { type: "TSLiteralType" }>["literal"];

export function readLiteral(value: Literal, at: string, scope: TypeScope): ValueType {
  switch (value.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return literal(value.value);
    case "TemplateLiteral":
      return STRING;
    case "UnaryExpression": {
      const number = constantOf(value);
      return number === undefined ? opaque(at, scope.specifier) : literal(number);
    }
    default:
      return notJson(at, scope.specifier, "a `bigint`");
  }
}

/** The literals of a union of strings; `undefined` for another type. */
export function literalNames(type: ValueType): readonly string[] | undefined {
  const names: string[] = [];
  for (const member of type.kind === "union" ? type.members : [type]) {
    if (member.kind !== "literal" || typeof member.value !== "string") return undefined;
    names.push(member.value);
  }
  return names;
}
