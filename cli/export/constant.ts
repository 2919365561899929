import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";

/** The value of an expression that reads nothing; `undefined` for any other one. */
export function constantOf(expression: Expression): Json | undefined {
  switch (expression.op) {
    case "const":
      return expression.value;
    case "negate": {
      const value = constantOf(expression.of);
      return typeof value === "number" ? -value : undefined;
    }
    case "list": {
      const items: Json[] = [];
      for (const item of expression.items) {
        const value = "spread" in item ? undefined : constantOf(item);
        if (value === undefined) return undefined;
        items.push(value);
      }
      return items;
    }
    case "record": {
      const fields: [string, Json][] = [];
      for (const field of expression.fields) {
        const value = "spread" in field ? undefined : constantOf(field.value);
        if ("spread" in field || value === undefined) return undefined;
        fields.push([field.name, value]);
      }
      return Object.fromEntries(fields);
    }
    default:
      return undefined;
  }
}
