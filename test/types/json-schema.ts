import { baseOf } from "../../compiler/types/construct.ts";
import type { TypeTable } from "../../compiler/types/type-table.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";

/**
 * Converts a type to a JSON Schema (2020-12). The schema is an independent definition of the values of a type, with
 * which the tests compare the runtime's validators. Named types are in `$defs`, so recursive types are finite.
 * Additional fields of records are allowed.
 */
export function typeToJsonSchema(type: ValueType, types: TypeTable): JsonObject {
  const open: string[] = [];
  const known = new Set<string>();
  const use = (name: string): JsonObject => {
    if (!known.has(name)) {
      known.add(name);
      open.push(name);
    }
    return { $ref: `#/$defs/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` };
  };
  const schema = schemaOf(type, use);
  const definitions = new Map<string, Json>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const body = types.get(name);
    definitions.set(name, body === undefined ? {} : schemaOf(body, use));
  }
  if (definitions.size === 0) return schema;
  return { ...schema, $defs: toObject([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function schemaOf(type: ValueType, use: (name: string) => JsonObject): JsonObject {
  switch (type.kind) {
    case "int":
      return { type: "integer" };
    case "float":
      return { type: "number" };
    case "bool":
      return { type: "boolean" };
    case "json":
    case "opaque":
      return {};
    case "literal":
      return { const: type.value };
    case "list":
      return { type: "array", items: schemaOf(type.item, use) };
    case "map":
      return { type: "object", additionalProperties: schemaOf(type.value, use) };
    case "record":
      return {
        type: "object",
        properties: toObject(type.fields.map((field) => [field.name, schemaOf(field.type, use)])),
        required: type.fields.filter((field) => field.optional !== true).map((field) => field.name),
      };
    case "union":
      return unionSchema(type.members, use);
    case "ref":
      return use(type.name);
    default:
      return { type: type.kind };
  }
}

/** Unions of literals become an `enum`. */
function unionSchema(members: readonly ValueType[], use: (name: string) => JsonObject): JsonObject {
  if (members.length === 0) return { not: {} };
  const values: (string | number | boolean | null)[] = [];
  for (const member of members) {
    if (member.kind === "literal") values.push(member.value);
    else if (member.kind === "null") values.push(null);
  }
  if (values.length === members.length) {
    const kinds = new Set(
      values.map((value) => (value === null ? "null" : (schemaOf(baseOf(value), use)["type"] ?? ""))),
    );
    return { type: kinds.size === 1 ? ([...kinds][0] ?? "string") : [...kinds], enum: values };
  }
  return { anyOf: members.map((member) => schemaOf(member, use)) };
}

/** An object with only own properties: a field can have the name `__proto__`. */
function toObject(entries: readonly (readonly [string, Json])[]): JsonObject {
  const object: Record<string, Json> = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}
