import type { ValueType } from "../../runtime/value-type.ts";
import { membersOf, NULL, unionOf } from "./construct.ts";

/**
 * What `ref`s point to, over all files of a project. A body is never itself a `ref`: chains of names are followed when
 * they are declared.
 */
export type TypeTable = ReadonlyMap<string, ValueType>;

/** The type behind a `ref`; every other type is returned as it is. An unknown name is `json`. */
export function resolveType(type: ValueType, types: TypeTable): ValueType {
  return type.kind === "ref" ? (types.get(type.name) ?? { kind: "json" }) : type;
}

/**
 * The alternatives of a type with names of unions followed: none of the results is a union, and a `ref` among them is a
 * named type that is no union.
 */
export function alternatives(type: ValueType, types: TypeTable): readonly ValueType[] {
  if (type.kind !== "union" && type.kind !== "ref") return [type];
  const found: ValueType[] = [];
  const seen = new Set<string>();
  const open: ValueType[] = [...membersOf(type)].reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === "ref") {
      if (seen.has(next.name)) continue;
      seen.add(next.name);
      const body = resolveType(next, types);
      if (body.kind !== "union") {
        found.push(next);
        continue;
      }
      open.push(...[...body.members].reverse());
    } else if (next.kind === "union") open.push(...[...next.members].reverse());
    else found.push(next);
  }
  return found;
}

/** Whether `null` is among the values. `json` includes it; an opaque type is not known to. */
export function acceptsNull(type: ValueType, types: TypeTable): boolean {
  return alternatives(type, types).some((member) => member.kind === "null" || member.kind === "json");
}

/** `null` stated as one of the alternatives, so that it must be dealt with: not for `json`. */
export function mayBeNull(type: ValueType, types: TypeTable): boolean {
  return alternatives(type, types).some((member) => member.kind === "null");
}

/** The type without `null`. Names stay where nothing had to be taken out. */
export function withoutNull(type: ValueType, types: TypeTable): ValueType {
  const members = alternatives(type, types);
  if (!members.some((member) => member.kind === "null")) return type;
  return unionOf(members.filter((member) => member.kind !== "null"));
}

export function isNullType(type: ValueType): boolean {
  return type === NULL || type.kind === "null";
}
