import type { Span } from "../../diagnostics/source.ts";
import type { Expr } from "../../grammar/ast.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import { FLOAT, listOf, literal, NULL, recordOf, unionOf } from "../types/construct.ts";

/** The value of a constant expression, with its type. */
export type Constant =
  | { readonly kind: "constant"; readonly value: Json; readonly type: ValueType }
  /** A part of it must be computed at run time. */
  | { readonly kind: "computed"; readonly span: Span }
  /** It could not be parsed; an error has been reported. */
  | { readonly kind: "broken" };

/** Evaluates literals, and lists and records of them: the expressions that a default may be. */
export function evaluateConstant(expression: Expr): Constant {
  switch (expression.kind) {
    case "String":
    case "Bool":
      return constant(expression.value, literal(expression.value));
    case "Number":
      return number(expression.value, expression.isFloat);
    case "DurationLiteral":
      return constant(expression.milliseconds, literal(expression.milliseconds));
    case "Null":
      return constant(null, NULL);
    case "Unary":
      if (expression.operator === "-" && expression.operand.kind === "Number") {
        return number(-expression.operand.value + 0, expression.operand.isFloat);
      }
      return { kind: "computed", span: expression.span };
    case "Template": {
      let text = "";
      for (const part of expression.parts) {
        if (part.kind !== "TemplateText") return { kind: "computed", span: part.span };
        text += part.value;
      }
      return constant(text, literal(text));
    }
    case "List":
      return list(expression.items);
    case "Record":
      return record(expression.fields);
    case "BrokenExpr":
      return { kind: "broken" };
    default:
      return { kind: "computed", span: expression.span };
  }
}

function constant(value: Json, type: ValueType): Constant {
  return { kind: "constant", value, type };
}

function number(value: number, isFloat: boolean): Constant {
  return constant(value, isFloat && Number.isInteger(value) ? FLOAT : literal(value));
}

function list(items: readonly Expr[]): Constant {
  const values: Json[] = [];
  const types: ValueType[] = [];
  for (const item of items) {
    const found = evaluateConstant(item);
    if (found.kind !== "constant") return found;
    values.push(found.value);
    types.push(found.type);
  }
  return constant(values, listOf(unionOf(types)));
}

function record(fields: Extract<Expr, { kind: "Record" }>["fields"]): Constant {
  const value: Record<string, Json> = {};
  const types: FieldType[] = [];
  for (const field of fields) {
    const found = evaluateConstant(field.value);
    if (found.kind !== "constant") return found;
    const { name } = field.name;
    if (Object.hasOwn(value, name)) return { kind: "computed", span: field.span };
    Object.defineProperty(value, name, { value: found.value, enumerable: true, writable: true, configurable: true });
    types.push({ name, type: found.type });
  }
  return constant(value, recordOf(types));
}
