import type { ExpectedType } from "../runtime/interface/context.ts";
import type { ValueType } from "../runtime/table/value-type.ts";

/** A type as JSON Schema without additional properties, which model servers require; named types are in `$defs`. */
export function schemaOf({ type, types }: ExpectedType): { readonly [key: string]: unknown } {
  const used = new Set<string>();
  const schema = convert(type, used);
  const definitions: [string, unknown][] = [];
  // Converting a definition may add names to `used`; the loop visits them, too.
  for (const name of used) {
    const named = types.find((candidate) => candidate.name === name);
    definitions.push([name, named === undefined ? {} : convert(named.type, used)]);
  }
  return definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}

/**
 * Whether the schema fits a server's strict mode: all fields are required, and no part accepts any value or any key.
 */
export function isStrict({ type, types }: ExpectedType): boolean {
  const seen = new Set<string>();
  const strict = (part: ValueType): boolean => {
    switch (part.kind) {
      case "json":
      case "opaque":
      case "map":
        return false;
      case "list":
        return strict(part.item);
      case "record":
        return part.fields.every((field) => field.optional !== true && strict(field.type));
      case "union":
        return part.members.every(strict);
      case "ref": {
        if (seen.has(part.name)) return true;
        seen.add(part.name);
        const named = types.find((candidate) => candidate.name === part.name);
        return named !== undefined && strict(named.type);
      }
      default:
        return true;
    }
  };
  return strict(type);
}

type Schema = { readonly [key: string]: unknown };

function convert(type: ValueType, used: Set<string>): Schema {
  switch (type.kind) {
    case "string":
      return { type: "string" };
    case "int":
      return { type: "integer" };
    case "float":
      return { type: "number" };
    case "bool":
      return { type: "boolean" };
    case "null":
      return { type: "null" };
    case "json":
    case "opaque":
      return {};
    case "literal":
      return { type: typeof type.value, enum: [type.value] };
    case "list":
      return { type: "array", items: convert(type.item, used) };
    case "map":
      return { type: "object", additionalProperties: convert(type.value, used) };
    case "record":
      return {
        type: "object",
        properties: Object.fromEntries(type.fields.map((field) => [field.name, convert(field.type, used)])),
        required: type.fields.filter((field) => field.optional !== true).map((field) => field.name),
        additionalProperties: false,
      };
    case "union":
      return convertUnion(type.members, used);
    case "ref":
      used.add(type.name);
      return { $ref: `#/$defs/${type.name}` };
  }
}

/** A union of literals of one type (`"a" | "b"`) becomes `enum`; other unions become `anyOf`. */
function convertUnion(members: readonly ValueType[], used: Set<string>): Schema {
  const values = members.map((member) => (member.kind === "literal" ? member.value : undefined));
  const [first] = values;
  if (first !== undefined && values.every((value) => typeof value === typeof first)) {
    return { type: typeof first, enum: values };
  }
  return { anyOf: members.map((member) => convert(member, used)) };
}
