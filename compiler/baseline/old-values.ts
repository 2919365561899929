import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";

/** A type with the types that its `ref`s point to. */
export interface TypeInTable {
  readonly type: ValueType;
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
}

/**
 * The path of the first part at which a value of the old type may not fit the new type, such as `.author.name`; empty
 * for the whole value, `undefined` if all values fit. `null` fits every channel, because a channel may be unwritten.
 * Opaque types accept any JSON when a run resumes.
 */
export function misfit(before: TypeInTable, now: TypeInTable): string | undefined {
  const types = new Map<string, ValueType>();
  // A name may mean different types before and after the edit.
  for (const { name, type } of before.types) types.set(`before ${name}`, rename(type, "before "));
  for (const { name, type } of now.types) types.set(name, rename(type, ""));
  return isAssignable(withoutNull(rename(before.type, "before ")), rename(now.type, ""), types)?.path;
}

function rename(type: ValueType, prefix: string): ValueType {
  switch (type.kind) {
    case "opaque":
      return { kind: "json" };
    case "ref":
      return { kind: "ref", name: prefix + type.name };
    case "list":
      return { kind: "list", item: rename(type.item, prefix) };
    case "map":
      return { kind: "map", value: rename(type.value, prefix) };
    case "record":
      return { kind: "record", fields: type.fields.map((field) => ({ ...field, type: rename(field.type, prefix) })) };
    case "union":
      return { kind: "union", members: type.members.map((member) => rename(member, prefix)) };
    default:
      return type;
  }
}

function withoutNull(type: ValueType): ValueType {
  if (type.kind !== "union") return type;
  const members = type.members.filter((member) => member.kind !== "null");
  const [first] = members;
  return members.length === 1 && first !== undefined ? first : { kind: "union", members };
}
