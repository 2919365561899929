import type { ValueType } from "../../runtime/table/value-type.ts";
import { baseOf } from "./construct.ts";
import { upperBoundOf } from "./upper-bound.ts";
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

/** The depth from which types count as compatible: generated types must not overflow the stack. */
const MAX_DEPTH = 100;

/**
 * Whether some type is a subtype of both. Records with different fields have one: it has all the fields. Lists have none if
 * their items have none, although `[]` belongs to both.
 */
export function haveSubtype(a: ValueType, b: ValueType, types: TypeTable): boolean {
  return haveCommon(a, b, types, 0);
}

function haveCommon(a: ValueType, b: ValueType, types: TypeTable, depth: number): boolean {
  if (depth > MAX_DEPTH) return true;
  const right = alternatives(b, types).map((member) => resolveType(member, types));
  return alternatives(a, types).some((member) => {
    const left = resolveType(member, types);
    return right.some((other) => plainCommon(left, other, types, depth));
  });
}

function plainCommon(a: ValueType, b: ValueType, types: TypeTable, depth: number): boolean {
  const [left, right] = [upperBoundOf(a), upperBoundOf(b)];
  if (left !== undefined || right !== undefined) return haveCommon(left ?? a, right ?? b, types, depth + 1);
  if (!plainOverlap(a, b)) return false;
  const common = (one: ValueType, other: ValueType): boolean => haveCommon(one, other, types, depth + 1);
  if (a.kind === "list" && b.kind === "list") return common(a.item, b.item);
  if (a.kind === "map" && b.kind === "map") return common(a.value, b.value);
  if (a.kind === "map" && b.kind === "record") return plainCommon(b, a, types, depth);
  if (a.kind !== "record") return true;
  if (b.kind === "map") return a.fields.every((field) => field.optional === true || common(field.type, b.value));
  if (b.kind !== "record") return true;
  const others = new Map(b.fields.map((field) => [field.name, field]));
  return a.fields.every((field) => {
    const other = others.get(field.name);
    const mayLack = other === undefined || (field.optional === true && other.optional === true);
    return mayLack || common(field.type, other.type);
  });
}
