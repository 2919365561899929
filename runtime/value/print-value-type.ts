import type { ValueType } from "../table/value-type.ts";

/** A type as the language writes it: `"a" | "b"`, `{ id: int, at?: string }[]`, `map<float> | null`. */
export function printValueType(type: ValueType): string {
  switch (type.kind) {
    case "literal":
      return JSON.stringify(type.value);
    case "list":
      return type.item.kind === "union" ? `(${printValueType(type.item)})[]` : `${printValueType(type.item)}[]`;
    case "map":
      return `map<${printValueType(type.value)}>`;
    case "record":
      return type.fields.length === 0 ? "{}" : `{ ${type.fields.map(printField).join(", ")} }`;
    case "union":
      return type.members.map(printValueType).join(" | ");
    case "ref":
    case "opaque":
      return type.name;
    default:
      return type.kind;
  }
}

function printField(field: { readonly name: string; readonly type: ValueType; readonly optional?: true }): string {
  const name = /^[A-Za-z_]\w*$/.test(field.name) ? field.name : JSON.stringify(field.name);
  return `${name}${field.optional === true ? "?" : ""}: ${printValueType(field.type)}`;
}
