/** Types that may be `undefined`. */
import type { ValueType } from "../../runtime/table/value-type.ts";
import { NULL, opaque, unionOf } from "../types/construct.ts";

/** Marks `undefined`, which JSON cannot hold: it makes a field optional, and any other value nullable. */
export const UNDEFINED: ValueType = opaque("undefined", "");

/** A type without `undefined`, and whether `undefined` is among its values. */
export interface PossibleType {
  readonly type: ValueType;
  readonly mayBeMissing: boolean;
}

/** Takes the mark of `undefined` from a type. */
export function possible(type: ValueType): PossibleType {
  if (type === UNDEFINED) return { type: NULL, mayBeMissing: true };
  if (type.kind !== "union" || !type.members.includes(UNDEFINED)) return { type, mayBeMissing: false };
  return { type: unionOf(type.members.filter((member) => member !== UNDEFINED)), mayBeMissing: true };
}

/** The inverse of `possible`. */
export function marked({ type, mayBeMissing }: PossibleType): ValueType {
  if (!mayBeMissing) return type;
  return { kind: "union", members: [...(type.kind === "union" ? type.members : [type]), UNDEFINED] };
}

/** `NonNullable<T>`. */
export function withoutNullish(type: ValueType): ValueType {
  const members = type.kind === "union" ? type.members : [type];
  return unionOf(members.filter((member) => member !== UNDEFINED && member.kind !== "null"));
}
