/** Types of updates and results that need more than `append` and `union` do: merged ones, and those of the items of a `for` node. */
import type { ChannelSpec, Table } from "../table/table.ts";
import type { ValueType } from "../table/value-type.ts";
import { alternatives, elementType, oneOrMany, plainResultType } from "./update-types.ts";

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
export function resultType(spec: ChannelSpec, isItem: boolean, types: Table["types"]): ValueType {
  const { type, reducer } = spec;
  const element = elementType(type, types);
  if (element !== undefined && reducer?.kind === "merge" && mergesItems(type, types)) {
    const item = itemUpdateType(element, types);
    return oneOrMany(item, { kind: "list", item }, types);
  }
  const isItsOwn = (reducer?.kind === "append" || reducer?.kind === "union") && element !== undefined;
  const inList = isItem && !isItsOwn && !["sum", "min", "max", "merge"].includes(reducer?.kind ?? "");
  return inList ? (element ?? { kind: "json" }) : plainResultType(spec, types);
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
