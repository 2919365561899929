import type { ValueType } from "../../runtime/table/value-type.ts";
import { nullable, opaque, opaquePart } from "./construct.ts";
import { resolveType, type TypeTable } from "./type-table.ts";

/** The constraints of opaque types that are type parameters. Tables do not contain them. */
const bounds = new WeakMap<ValueType, ValueType>();

/** The opaque type of a result that the call chooses among the subtypes of `bound`: `T` of `<T extends { id: number }>`. */
export function boundedBy(bound: ValueType, name: string, module: string): ValueType {
  const type = opaque(name, module);
  bounds.set(type, bound);
  return type;
}

/** The type of which all values of an opaque type are; `undefined` if it is unknown. */
export function upperBoundOf(type: ValueType): ValueType | undefined {
  return bounds.get(type);
}

/** The type of a field that the upper bound of an opaque type has; `undefined` if only a subtype may have it. */
export function fieldOfBound(
  type: ValueType & { readonly kind: "opaque" },
  field: string,
  types: TypeTable,
): ValueType | undefined {
  const bound = upperBoundOf(type);
  const record = bound === undefined ? undefined : resolveType(bound, types);
  const has = record?.kind === "record" ? record.fields.find(({ name }) => name === field) : undefined;
  if (has === undefined) return undefined;
  const part = opaquePart(type, JSON.stringify(field)) as typeof type;
  return boundedBy(has.optional === true ? nullable(has.type) : has.type, part.name, part.module);
}
