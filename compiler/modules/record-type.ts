/** The records among types: those that are merged, and those that utility types select from. */
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import { recordOf } from "../types/construct.ts";
import type { TypeScope } from "./type-scope.ts";

/** A record, or the record that a name means; `undefined` for another type. */
export function asRecord(type: ValueType, { types }: TypeScope): Extract<ValueType, { kind: "record" }> | undefined {
  const plain = type.kind === "ref" ? types.table.get(type.name) : type;
  return plain?.kind === "record" ? plain : undefined;
}

/** Merges records; later fields replace earlier ones of the same name. Returns `undefined` if a part is no record. */
export function mergeRecords(parts: readonly ValueType[], scope: TypeScope): ValueType | undefined {
  if (parts.length === 1) return parts[0];
  const fields = new Map<string, FieldType>();
  for (const part of parts) {
    const record = asRecord(part, scope);
    if (record === undefined) return undefined;
    for (const field of record.fields) fields.set(field.name, field);
  }
  return recordOf([...fields.values()]);
}
