import type { ValueType } from "../../runtime/table/value-type.ts";

/** The names of types in a generated module. */
export interface TypeNames {
  readonly json: string;
  /** A type of a graph file. */
  readonly named: (name: string) => string;
  /** A type of a TypeScript module. */
  readonly opaque: (name: string, module: string) => string;
}

const PLAIN_NAMES: TypeNames = {
  json: "Json",
  named: (name) => name,
  opaque: (name, module) => (module === "" ? "unknown" : name),
};

/**
 * The text of a type in TypeScript. Lists are `readonly`, because state is frozen. The generated module declares or
 * imports named and opaque types.
 */
export function typeToTypeScript(type: ValueType, names: TypeNames = PLAIN_NAMES): string {
  const write = (part: ValueType): string => typeToTypeScript(part, names);
  switch (type.kind) {
    case "int":
    case "float":
      return "number";
    case "bool":
      return "boolean";
    case "json":
      return names.json;
    case "literal":
      return quote(type.value);
    case "list":
      return needsParentheses(type.item) ? `readonly (${write(type.item)})[]` : `readonly ${write(type.item)}[]`;
    case "map":
      return `{ readonly [key: string]: ${write(type.value)} }`;
    case "record":
      if (type.fields.length === 0) return "object";
      return `{ ${type.fields
        .map(
          (field) => `readonly ${propertyName(field.name)}${field.optional === true ? "?" : ""}: ${write(field.type)}`,
        )
        .join("; ")} }`;
    case "union":
      if (type.members.length === 0) return "never";
      return type.members.map((member) => (member.kind === "list" ? `(${write(member)})` : write(member))).join(" | ");
    case "ref":
      return names.named(type.name);
    case "opaque":
      return names.opaque(type.name, type.module);
    default:
      return type.kind;
  }
}

/** Lists of lists and of unions: `readonly` binds to the outermost list only. */
function needsParentheses(type: ValueType): boolean {
  return type.kind === "union" || type.kind === "list";
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** JSON with the line separators U+2028 and U+2029 escaped. */
function quote(value: string | number | boolean): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
