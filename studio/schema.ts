/** JSON Schemas as forms: the kind of field for a schema, and the value that a field has at first. */
import type { Json } from "../runtime/value/json.ts";

export interface Schema {
  readonly [key: string]: unknown;
}

export type FieldKind =
  | { readonly kind: "choice"; readonly values: readonly Json[] }
  | { readonly kind: "flag" }
  | { readonly kind: "text" }
  | { readonly kind: "number"; readonly isWhole: boolean }
  | { readonly kind: "record"; readonly fields: readonly RecordField[] }
  | { readonly kind: "json" };

interface RecordField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The field of a schema. Types without a field of their own are written as JSON. */
export function fieldOf(schema: Schema | undefined, root: Schema | undefined = schema): FieldKind {
  const found = follow(schema, root);
  if (found === undefined) return { kind: "json" };
  if (Array.isArray(found["enum"])) return { kind: "choice", values: found["enum"] as Json[] };
  switch (found["type"]) {
    case "boolean":
      return { kind: "flag" };
    case "string":
      return { kind: "text" };
    case "integer":
    case "number":
      return { kind: "number", isWhole: found["type"] === "integer" };
    case "object": {
      const properties = found["properties"];
      if (typeof properties !== "object" || properties === null) return { kind: "json" };
      const required = new Set((found["required"] ?? []) as readonly string[]);
      const fields = Object.entries(properties as Record<string, Schema>).map(([name, part]) => ({
        name,
        schema: part,
        isRequired: required.has(name),
      }));
      return { kind: "record", fields };
    }
    default:
      return { kind: "json" };
  }
}

/** The value that a form begins with; `undefined`: the person must enter one. */
export function firstValue(schema: Schema | undefined, root: Schema | undefined = schema, depth = 0): Json | undefined {
  const field = fieldOf(schema, root);
  switch (field.kind) {
    case "choice":
      return field.values.length === 1 ? field.values[0] : undefined;
    case "flag":
      return false;
    case "text":
      return "";
    case "record": {
      // A type may contain itself.
      if (depth > MAX_DEPTH) return undefined;
      const entries = field.fields
        .filter(({ isRequired }) => isRequired)
        .map(({ name, schema: part }) => [name, firstValue(part, root, depth + 1)] as const)
        .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined);
      return Object.fromEntries(entries);
    }
    default:
      return undefined;
  }
}

/** Records below this level are written as JSON. */
export const MAX_DEPTH = 3;

function follow(schema: Schema | undefined, root: Schema | undefined): Schema | undefined {
  let found = schema;
  for (let links = 0; links < 20 && typeof found?.["$ref"] === "string"; links++) {
    const name = found["$ref"].replace("#/$defs/", "");
    const definitions = (root?.["$defs"] ?? {}) as Record<string, Schema>;
    found = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  }
  return found;
}
