import type { ValueType } from "../../runtime/table/value-type.ts";
import { baseOf } from "./construct.ts";
import { alternatives, resolveType, type TypeTable } from "./type-table.ts";

/**
 * Whether a value may belong to both types, so that `==` between them can hold. Does not compare the parts of lists and
 * records: two lists always overlap.
 */
export function canOverlap(a: ValueType, b: ValueType, types: TypeTable): boolean {
  const right = alternatives(b, types).map((member) => resolveType(member, types));
  return alternatives(a, types).some((member) => {
    const left = resolveType(member, types);
    return right.some((other) => plainOverlap(left, other));
  });
}

function plainOverlap(a: ValueType, b: ValueType): boolean {
  if (a.kind === "json" || b.kind === "json" || a.kind === "opaque" || b.kind === "opaque") return true;
  if (a.kind === "literal" && b.kind === "literal") return a.value === b.value;
  return shape(a) === shape(b);
}

/** The kind of a type's values: int and float are one kind, records and maps too. */
function shape(type: ValueType): string {
  const kind = type.kind === "literal" ? baseOf(type.value).kind : type.kind;
  if (kind === "int" || kind === "float") return "number";
  return kind === "map" ? "record" : kind;
}
