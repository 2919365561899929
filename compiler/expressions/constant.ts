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
    case "Derived":
      return evaluateConstant(expression.value);
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

function list(items: Extract<Expr, { kind: "List" }>["items"]): Constant {
  const values: Json[] = [];
  const types: ValueType[] = [];
  for (const item of items) {
    const found = evaluateConstant(item.kind === "Spread" ? item.value : item);
    if (found.kind !== "constant") return found;
    if (item.kind !== "Spread") {
      values.push(found.value);
      types.push(found.type);
    } else if (Array.isArray(found.value) && found.type.kind === "list") {
      for (const value of found.value as readonly Json[]) values.push(value);
      types.push(found.type.item);
    } else return { kind: "computed", span: item.span };
  }
  return constant(values, listOf(unionOf(types)));
}

function record(fields: Extract<Expr, { kind: "Record" }>["fields"]): Constant {
  const value: Record<string, Json> = {};
  const types = new Map<string, ValueType>();
  const written = new Set<string>();
  const set = (name: string, part: Json, type: ValueType): void => {
    Object.defineProperty(value, name, { value: part, enumerable: true, writable: true, configurable: true });
    types.set(name, type);
  };
  for (const field of fields) {
    const found = evaluateConstant(field.value);
    if (found.kind !== "constant") return found;
    if (field.kind === "Spread") {
      if (found.type.kind !== "record") return { kind: "computed", span: field.span };
      const parts = found.value as Readonly<Record<string, Json>>;
      for (const { name, type } of found.type.fields) set(name, parts[name] ?? null, type);
      continue;
    }
    const { name } = field.name;
    if (written.has(name)) return { kind: "computed", span: field.span };
    written.add(name);
    set(name, found.value, found.type);
  }
  return constant(value, recordOf([...types].map(([name, type]): FieldType => ({ name, type }))));
}
