import type { ValueType } from "../../runtime/table/value-type.ts";
import { NULL, opaquePart, unionOf } from "./construct.ts";

/**
 * The types that `ref`s point to, over all files of a project. A body is never itself a `ref`: aliases are resolved
 * when types are declared.
 */
export type TypeTable = ReadonlyMap<string, ValueType>;

/** The type behind a `ref`; every other type is returned as it is. An unknown name is `json`. */
export function resolveType(type: ValueType, types: TypeTable): ValueType {
  return type.kind === "ref" ? (types.get(type.name) ?? { kind: "json" }) : type;
}

/** Cached properties of a union: enums may have thousands of values. */
interface UnionIndex {
  readonly kinds: ReadonlySet<ValueType["kind"]>;
  readonly literals: ReadonlySet<string | number | boolean>;
}
const unionIndexes = new WeakMap<ValueType, UnionIndex>();
const unionsWithoutNull = new WeakMap<ValueType, ValueType>();

function indexUnion(type: ValueType & { kind: "union" }): UnionIndex {
  const known = unionIndexes.get(type);
  if (known !== undefined) return known;
  const literals = new Set<string | number | boolean>();
  const kinds = new Set<ValueType["kind"]>();
  for (const member of type.members) {
    kinds.add(member.kind);
    if (member.kind === "literal") literals.add(member.value);
  }
  const index = { kinds, literals };
  unionIndexes.set(type, index);
  return index;
}

/** Whether a literal is a member of a union. */
export function hasLiteral(type: ValueType & { kind: "union" }, value: string | number | boolean): boolean {
  return indexUnion(type).literals.has(value);
}

/**
 * The alternatives of a type, with named unions expanded: no result is a union, and a `ref` among them is a named type
 * that is not a union.
 */
export function alternatives(type: ValueType, types: TypeTable): readonly ValueType[] {
  if (type.kind === "ref") {
    const body = resolveType(type, types);
    return body.kind === "union" ? alternatives(body, types) : [type];
  }
  if (type.kind !== "union") return [type];
  const { kinds } = indexUnion(type);
  if (!kinds.has("ref") && !kinds.has("union")) return type.members;
  const found: ValueType[] = [];
  const seen = new Set<string>();
  const open: ValueType[] = [...type.members].reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === "ref") {
      if (seen.has(next.name)) continue;
      seen.add(next.name);
      const body = resolveType(next, types);
      if (body.kind !== "union") found.push(next);
      else for (let i = body.members.length - 1; i >= 0; i--) open.push(body.members[i] as ValueType);
    } else if (next.kind === "union") {
      for (let i = next.members.length - 1; i >= 0; i--) open.push(next.members[i] as ValueType);
    } else found.push(next);
  }
  return found;
}

/** Whether an alternative has a kind. Avoids the list of alternatives where it can. */
function hasKind(type: ValueType, kind: ValueType["kind"], types: TypeTable): boolean {
  if (type.kind === "union") {
    const { kinds } = indexUnion(type);
    if (!kinds.has("ref") && !kinds.has("union")) return kinds.has(kind);
  }
  return alternatives(type, types).some((member) => member.kind === kind);
}

/** Whether `null` is a possible value. `json` includes it; an opaque type does not count. */
export function acceptsNull(type: ValueType, types: TypeTable): boolean {
  return hasKind(type, "null", types) || hasKind(type, "json", types);
}

/** Whether `null` is an explicit alternative, which code has to handle. False for `json`. */
export function mayBeNull(type: ValueType, types: TypeTable): boolean {
  return hasKind(type, "null", types);
}

/** The type without `null`. Returns the same type if it has none. */
export function withoutNull(type: ValueType, types: TypeTable): ValueType {
  if (!mayBeNull(type, types)) return type;
  const known = unionsWithoutNull.get(type);
  if (known !== undefined) return known;
  const rest = unionOf(alternatives(type, types).filter((member) => member.kind !== "null"));
  // The meaning of a name depends on the table, so only unions are cached.
  if (type.kind === "union") unionsWithoutNull.set(type, rest);
  return rest;
}

/**
 * The type without `null`, after a test for it. Marks opaque alternatives, so that generated code excludes `null` as
 * well.
 */
export function knownNotNull(type: ValueType, types: TypeTable): ValueType {
  const rest = withoutNull(type, types);
  const members = alternatives(rest, types);
  if (!members.some((member) => member.kind === "opaque" && member.module !== "")) return rest;
  return unionOf(members.map((member) => (member.kind === "opaque" ? opaquePart(member, "!") : member)));
}

export function isNullType(type: ValueType): boolean {
  return type === NULL || type.kind === "null";
}
