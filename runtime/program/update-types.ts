import type { ChannelSpec, Table } from "../table/table.ts";
import type { ValueType } from "../table/value-type.ts";

/** Maximum number of names to resolve: a type that only refers to itself has no end. */
const MAX_REFERENCES = 64;

/** The item type of a list; `json` for `json`; `undefined` if no alternative of the type is a list. */
export function elementType(type: ValueType, types: Table["types"]): ValueType | undefined {
  const elements = alternatives(type, types).flatMap((member): ValueType[] =>
    member.kind === "list" ? [member.item] : isUnknown(member) ? [{ kind: "json" }] : [],
  );
  if (elements.length <= 1) return elements[0];
  return { kind: "union", members: elements.flatMap((element) => alternatives(element, types)) };
}

/** The type of an update that is appended to a list: an item or a list of items. */
export function oneOrMany(element: ValueType, list: ValueType, types: Table["types"]): ValueType {
  return { kind: "union", members: [...alternatives(element, types), ...alternatives(list, types)] };
}

/** The type of a node's result that a channel stores, if `merge` does not combine a list. */
export function plainResultType({ type, reducer }: ChannelSpec, types: Table["types"]): ValueType {
  const element = elementType(type, types);
  const isList = reducer?.kind === "append" || reducer?.kind === "union";
  return element !== undefined && isList ? oneOrMany(element, type, types) : type;
}

function isUnknown(type: ValueType): boolean {
  return type.kind === "json" || type.kind === "opaque";
}

/** The members of a union, with names resolved. Any other type is its own only member. */
export function alternatives(type: ValueType, types: Table["types"], left = MAX_REFERENCES): readonly ValueType[] {
  if (left === 0) return [];
  if (type.kind === "union") return type.members.flatMap((member) => alternatives(member, types, left - 1));
  if (type.kind !== "ref") return [type];
  const named = types.find(({ name }) => name === type.name);
  return named === undefined ? [] : alternatives(named.type, types, left - 1);
}
