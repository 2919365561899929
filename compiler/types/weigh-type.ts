import type { ValueType } from "../../runtime/table/value-type.ts";

/** The number of parts of a type: lists, maps, records and `ref`s. */
export function weigh(type: ValueType): number {
  switch (type.kind) {
    case "list":
      return 1 + weigh(type.item);
    case "map":
      return 1 + weigh(type.value);
    case "record":
      return type.fields.reduce((sum, field) => sum + weigh(field.type), 1);
    case "union":
      return type.members.reduce((sum, member) => sum + weigh(member), 0);
    case "ref":
      return 1;
    default:
      return 0;
  }
}
