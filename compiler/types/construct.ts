/** Constructors of types in a normal form, in which equal types have equal keys. */
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";

/** The kinds of types that have no parts and no values of their own: two types of such a kind are equal. */
export const SCALARS: ReadonlySet<ValueType["kind"]> = new Set(["string", "int", "float", "bool", "null"]);

export const STRING: ValueType = { kind: "string" };
export const INT: ValueType = { kind: "int" };
export const FLOAT: ValueType = { kind: "float" };
/** A `number` of TypeScript: a float that may be stored as an int, which is checked at run time. */
export const NUMBER: ValueType = Object.freeze({ kind: "float" });
export const BOOL: ValueType = { kind: "bool" };
export const NULL: ValueType = { kind: "null" };
export const JSON_TYPE: ValueType = { kind: "json" };
/** The type without values: the item type of `[]`. */
export const NEVER: ValueType = { kind: "union", members: [] };
/** The type of an expression with a reported error. It is assignable to every type, so that no further findings follow. */
export const BROKEN_TYPE: ValueType = Object.freeze({ kind: "opaque", name: "unknown", module: "" });

export function literal(value: string | number | boolean): ValueType {
  return { kind: "literal", value };
}

export function listOf(item: ValueType): ValueType {
  return { kind: "list", item };
}

export function mapOf(value: ValueType): ValueType {
  return { kind: "map", value };
}

export function recordOf(fields: readonly FieldType[]): ValueType {
  return { kind: "record", fields };
}

/** An opaque type: only TypeScript knows its values. */
export function opaque(name: string, module: string): ValueType {
  return { kind: "opaque", name, module };
}

/**
 * The type of a part of an opaque value. `key` is a field's name in quotes, `number` for the items of a list, or `!`
 * for all values but `null`.
 */
export function opaquePart(type: ValueType & { kind: "opaque" }, key: string): ValueType {
  if (key === "!" && type.name.endsWith("[!]")) return type;
  return type.module === "" ? type : opaque(`${type.name}[${key}]`, type.module);
}

export function isBroken(type: ValueType): boolean {
  return type === BROKEN_TYPE;
}

export function isNever(type: ValueType): boolean {
  return type.kind === "union" && type.members.length === 0;
}

/** The members of a union; any other type is its only member. Does not resolve `ref`s. */
function membersOf(type: ValueType): readonly ValueType[] {
  return type.kind === "union" ? type.members : [type];
}

/**
 * A union in normal form: flat, each member once, literals absorbed by their base type, int by float, everything by
 * `json`; `true | false` is `bool`, and `null` comes last. A union of one member is that member. Opaque members are
 * kept; a broken member makes the union broken.
 */
export function unionOf(types: Iterable<ValueType>): ValueType {
  const kinds = new Set<string>();
  const byKey = new Map<string, ValueType>();
  for (const type of types) {
    for (const member of membersOf(type)) {
      if (isBroken(member)) return BROKEN_TYPE;
      kinds.add(member.kind);
      const key = typeKey(member);
      if (!byKey.has(key)) byKey.set(key, member);
    }
  }
  if (kinds.has("json")) return JSON_TYPE;
  if (byKey.size === 1) for (const only of byKey.values()) return only;
  const hasBool = kinds.has("bool") || (byKey.has("=true") && byKey.has("=false"));
  const members: ValueType[] = [];
  let boolPlaced = false;
  for (const member of byKey.values()) {
    if (member.kind === "null") continue;
    if (member.kind === "int" && kinds.has("float")) continue;
    if (member.kind === "literal") {
      const base = baseOf(member.value);
      if (kinds.has(base.kind) || (base.kind === "int" && kinds.has("float"))) continue;
    }
    if (hasBool && (member.kind === "bool" || (member.kind === "literal" && typeof member.value === "boolean"))) {
      if (!boolPlaced) members.push(BOOL);
      boolPlaced = true;
      continue;
    }
    members.push(member);
  }
  if (kinds.has("null")) members.push(NULL);
  return members.length === 1 ? (members[0] ?? NEVER) : { kind: "union", members };
}

export function nullable(type: ValueType): ValueType {
  if (type.kind === "null") return type;
  if (type.kind !== "union") return unionOf([type, NULL]);
  const known = nullableUnions.get(type) ?? unionOf([type, NULL]);
  nullableUnions.set(type, known);
  return known;
}
const nullableUnions = new WeakMap<ValueType, ValueType>();

/** The type of a literal's kind: `string` for `"a"`, `int` for `3`, `float` for `0.5`. */
export function baseOf(value: string | number | boolean): ValueType {
  if (typeof value === "string") return STRING;
  if (typeof value === "boolean") return BOOL;
  return Number.isInteger(value) ? INT : FLOAT;
}

/** Replaces literals by their base types, at the top and in unions: for arithmetic and `sum`. */
export function widen(type: ValueType): ValueType {
  if (type.kind === "literal") return baseOf(type.value);
  if (type.kind !== "union") return type;
  return type.members.some((member) => member.kind === "literal") ? unionOf(type.members.map(widen)) : type;
}

/** A key that is equal for equal types. The order of fields matters. */
export function typeKey(type: ValueType): string {
  switch (type.kind) {
    case "literal":
      return `=${JSON.stringify(type.value)}`;
    case "list":
      return `[${typeKey(type.item)}]`;
    case "map":
      return `<${typeKey(type.value)}>`;
    case "record":
      return `{${type.fields
        .map((field) => `${JSON.stringify(field.name)}${field.optional === true ? "?" : ""}:${typeKey(field.type)}`)
        .join(",")}}`;
    case "union":
      return `(${type.members.map(typeKey).join("|")})`;
    case "ref":
      return `@${type.name}`;
    case "opaque":
      return `#${JSON.stringify(type.name)}${JSON.stringify(type.module)}`;
    default:
      return type.kind;
  }
}
