import type { Expr } from "../ast.ts";
import { yamlList, yamlMap, type YamlValue } from "./emit-yaml.ts";

/** The longest key in the simple form; longer keys need the `?` form of YAML. */
const LONGEST_KEY = 500;

/** Literal data as plain YAML; `undefined` if only an expression can represent it. Reading it creates an equal tree. */
export function dataValue(expr: Expr): YamlValue | undefined {
  switch (expr.kind) {
    case "String":
      return expr.value;
    case "Bool":
      return expr.value;
    case "Null":
      return null;
    case "Number":
      return { kind: "raw", text: expr.raw };
    case "Unary":
      return expr.operator === "-" && expr.operand.kind === "Number"
        ? { kind: "raw", text: `-${expr.operand.raw}` }
        : undefined;
    case "List": {
      const items = allOf(expr.items.map((item) => (item.kind === "Spread" ? undefined : dataValue(item))));
      return items === undefined ? undefined : yamlList(items);
    }
    case "Record": {
      const fields = allOf(expr.fields.map((field) => (field.kind === "Spread" ? undefined : field)));
      if (fields === undefined) return undefined;
      const names = new Set(fields.map(({ name }) => name.name));
      if (names.size < fields.length) return undefined;
      if (fields.some(({ name }) => name.name.length > LONGEST_KEY)) return undefined;
      const values = allOf(fields.map(({ value }) => dataValue(value)));
      return values?.length === fields.length
        ? yamlMap(fields.map(({ name }, index) => [name.name, values[index] ?? null] as const))
        : undefined;
    }
    default:
      return undefined;
  }
}

/** The values if all are defined; otherwise `undefined`. */
export function allOf<T>(values: readonly (T | undefined)[]): T[] | undefined {
  const found = values.filter((value) => value !== undefined);
  return found.length === values.length ? found : undefined;
}
