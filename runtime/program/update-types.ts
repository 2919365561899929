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

/** The type of an update that is merged: any part of a record, or a map. `null` changes nothing. */
export function partialType(type: ValueType, types: Table["types"]): ValueType {
  const members = alternatives(type, types).map((member): ValueType =>
    member.kind === "record"
      ? { kind: "record", fields: member.fields.map((field) => ({ ...field, optional: true })) }
      : member,
  );
  return members.length === 1 ? members[0]! : { kind: "union", members };
}

/** The type of a node's result that a channel stores. `isItem`: of one item of a `for` node. */
export function resultType({ type, reducer }: ChannelSpec, isItem: boolean, types: Table["types"]): ValueType {
  const element = elementType(type, types);
  if (element !== undefined && reducer?.kind === "merge" && mergesItems(type, types)) {
    const item = itemUpdateType(element, types);
    return oneOrMany(item, { kind: "list", item }, types);
  }
  if (element !== undefined && (reducer?.kind === "append" || reducer?.kind === "union"))
    return oneOrMany(element, type, types);
  const inList = isItem && (reducer === undefined || !["sum", "min", "max", "merge"].includes(reducer.kind));
  return inList ? (element ?? { kind: "json" }) : type;
}

/** Whether `merge` combines a list of records by their ids. */
export function mergesItems(type: ValueType, types: Table["types"]): boolean {
  return alternatives(type, types).some(({ kind }) => kind === "list");
}

const REMOVAL: ValueType = {
  kind: "record",
  fields: [
    { name: "id", type: { kind: "string" } },
    { name: "removed", type: { kind: "literal", value: true } },
  ],
};

/** An item that `merge` by ids accepts: an item with or without its id, or a removal. */
export function itemUpdateType(item: ValueType, types: Table["types"]): ValueType {
  const members = alternatives(item, types).map((member): ValueType =>
    member.kind === "record"
      ? {
          kind: "record",
          fields: member.fields.map((field) => (field.name === "id" ? { ...field, optional: true } : field)),
        }
      : member,
  );
  // A record type accepts more fields than it has, so the removal comes first.
  return { kind: "union", members: [REMOVAL, ...members] };
}

function isUnknown(type: ValueType): boolean {
  return type.kind === "json" || type.kind === "opaque";
}

/** The members of a union, with names resolved. Any other type is its own only member. */
function alternatives(type: ValueType, types: Table["types"], left = MAX_REFERENCES): readonly ValueType[] {
  if (left === 0) return [];
  if (type.kind === "union") return type.members.flatMap((member) => alternatives(member, types, left - 1));
  if (type.kind !== "ref") return [type];
  const named = types.find(({ name }) => name === type.name);
  return named === undefined ? [] : alternatives(named.type, types, left - 1);
}
