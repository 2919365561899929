/** The updates that a channel takes: its whole type, or what its reducer accepts. */
import type { ValueType } from "../../runtime/table/value-type.ts";
import { listItem } from "../expressions/typed.ts";
import { JSON_TYPE, listOf, literal, recordOf, STRING, unionOf } from "../types/construct.ts";
import { alternatives, resolveType, withoutNull } from "../types/type-table.ts";
import type { ChannelEntry, GraphContext } from "./graph-context.ts";
import type { Write } from "./resolve-writes.ts";

/** The type of the update that one task writes: of an item, for a `for` node. */
export function writtenType({ channel, isSet }: Write, isEach: boolean, context: GraphContext): ValueType {
  const { type, reducer } = channel;
  const isWhole = isSet === true || reducer === undefined || reducer.kind === "last";
  if (!isWhole) return acceptedUpdates(channel, false, context)[0] ?? JSON_TYPE;
  return isEach ? (listItem(withoutNull(type, context.types), context) ?? JSON_TYPE) : type;
}

/** The types of updates that a channel's reducer accepts. Messages name the first. */
export function acceptedUpdates(channel: ChannelEntry, isEach: boolean, context: GraphContext): readonly ValueType[] {
  const { type, reducer } = channel;
  const plain = withoutNull(type, context.types);
  switch (reducer?.kind) {
    case "append": {
      const item = listItem(plain, context);
      if (item === undefined) return [plain];
      // Each result of a `for` is an update of its own: an item, or a list of items.
      return isEach ? [plain, listOf(unionOf([item, plain]))] : [plain, item];
    }
    case "union": {
      const item = isEach ? listItem(plain, context) : undefined;
      return item === undefined ? [plain] : [plain, listOf(unionOf([item, plain]))];
    }
    case "sum":
    case "min":
    case "max":
      return [isEach ? listOf(plain) : plain];
    case "merge": {
      const item = listItem(plain, context);
      if (item !== undefined) {
        const one = itemUpdate(item, context);
        return isEach ? [listOf(unionOf([one, listOf(one)]))] : [listOf(one), one];
      }
      const update = unionOf(
        alternatives(plain, context.types).map((member) => partial(resolveType(member, context.types))),
      );
      return [isEach ? listOf(update) : update];
    }
    case "function":
      return [JSON_TYPE];
    default:
      return [type];
  }
}

/** What `merge` by ids takes for an item: the item, which may lack its id, or `{ id, removed: true }`. */
function itemUpdate(item: ValueType, context: GraphContext): ValueType {
  const removal = recordOf([
    { name: "id", type: STRING },
    { name: "removed", type: literal(true) },
  ]);
  const items = alternatives(item, context.types).map((member) => {
    const plain = resolveType(member, context.types);
    if (plain.kind !== "record") return member;
    return recordOf(plain.fields.map((field) => (field.name === "id" ? { ...field, optional: true } : field)));
  });
  return unionOf([...items, removal]);
}

/** A record type with all its fields optional. */
function partial(type: ValueType): ValueType {
  return type.kind === "record" ? recordOf(type.fields.map((field) => ({ ...field, optional: true as const }))) : type;
}
