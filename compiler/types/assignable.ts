/**
 * Structural assignability. An int is assignable to float, and a record to one with fewer fields. Everything is
 * assignable to `json`, and `json` to nothing else. Opaque types are assignable both ways, because only `tsc` knows
 * them; one with an upper bound is assignable to a type if a subtype of the bound is.
 */
import type { ValueType } from "../../runtime/table/value-type.ts";
import { baseOf, NUMBER, typeKey, SCALARS } from "./construct.ts";
import { haveSubtype } from "./overlap.ts";
import { upperBoundOf } from "./upper-bound.ts";
import { alternatives, hasLiteral, resolveType, type TypeTable } from "./type-table.ts";

/** Where and why a value of one type does not fit another. */
export interface Mismatch {
  /** From the value to the part at fault: `.author.name`, `[]`, `[*]`; empty for the whole. */
  readonly path: string;
  readonly reason:
    | "type"
    /** `null` is a possible value, but not an expected one. */
    | "null"
    /** An expected field is missing. */
    | "missing"
    /** A field that is expected may be absent. */
    | "optional";
  readonly expected: ValueType;
  readonly found: ValueType;
}

/** The depth from which types count as assignable: generated types must not overflow the stack. */
const MAX_DEPTH = 100;

/** Compares two types. Returns `undefined` if every value of `from` is a value of `to`, else the first difference. */
export function isAssignable(from: ValueType, to: ValueType, types: TypeTable): Mismatch | undefined {
  if (from === to || (from.kind === to.kind && SCALARS.has(from.kind))) return undefined;
  return assign(from, to, { types, assumed: new Set() }, "", 0);
}

interface Context {
  readonly types: TypeTable;
  /** Pairs of names that are being compared: recursive types count as assignable until a difference is found. */
  readonly assumed: Set<string>;
}

function assign(from: ValueType, to: ValueType, context: Context, path: string, depth: number): Mismatch | undefined {
  if (from === to || to.kind === "json" || to.kind === "opaque") return undefined;
  if (from.kind === "opaque") return assignBound(upperBoundOf(from), to, context.types, path);
  if (depth > MAX_DEPTH) return undefined;
  if (from.kind === "literal" && to.kind === "union" && hasLiteral(to, from.value)) return undefined;
  if (from.kind === "ref" || to.kind === "ref") {
    if (from.kind === "ref" && to.kind === "ref" && from.name === to.name) return undefined;
    const pair = `${typeKey(from)} ${typeKey(to)}`;
    if (context.assumed.has(pair)) return undefined;
    context.assumed.add(pair);
  }
  const found = alternatives(from, context.types);
  if (found.length !== 1 || found[0] !== from) {
    for (const member of found) {
      const mismatch = assign(member, to, context, path, depth + 1);
      if (mismatch === undefined) continue;
      if (member.kind === "null") return { path, reason: "null", expected: to, found: from };
      return mismatch.path === path && mismatch.reason === "type" ? { ...mismatch, found: from } : mismatch;
    }
    return undefined;
  }
  const expected = alternatives(to, context.types);
  if (expected.length !== 1 || expected[0] !== to) return assignToAny(from, to, expected, context, path, depth);
  return assignPlain(resolveType(from, context.types), resolveType(to, context.types), from, to, context, path, depth);
}

function assignBound(
  bound: ValueType | undefined,
  to: ValueType,
  types: TypeTable,
  path: string,
): Mismatch | undefined {
  const mismatch = bound === undefined ? undefined : isAssignable(bound, to, types);
  if (bound === undefined || mismatch === undefined || haveSubtype(bound, to, types)) return undefined;
  return { ...mismatch, path: path + mismatch.path };
}

function assignToAny(
  from: ValueType,
  to: ValueType,
  expected: readonly ValueType[],
  context: Context,
  path: string,
  depth: number,
): Mismatch | undefined {
  let nearest: Mismatch | undefined;
  let candidates = 0;
  const kind = resolveType(from, context.types).kind;
  for (const member of expected) {
    const mismatch = assign(from, member, context, path, depth + 1);
    if (mismatch === undefined) return undefined;
    // With one candidate of the same kind, the difference inside it is more precise. With several candidates, the
    // intended one is unknown.
    if (resolveType(member, context.types).kind === kind && (kind === "record" || kind === "list")) {
      candidates++;
      nearest = mismatch;
    }
  }
  if (candidates === 1 && nearest !== undefined) return nearest;
  return { path, reason: from.kind === "null" ? "null" : "type", expected: to, found: from };
}

/** Compares two types that are neither unions nor names. `shownFrom` and `shownTo` are their forms in messages. */
function assignPlain(
  from: ValueType,
  to: ValueType,
  shownFrom: ValueType,
  shownTo: ValueType,
  context: Context,
  path: string,
  depth: number,
): Mismatch | undefined {
  const differs: Mismatch = {
    path,
    reason: from.kind === "null" ? "null" : "type",
    expected: shownTo,
    found: shownFrom,
  };
  switch (from.kind) {
    case "literal":
      if (to.kind === "literal") return from.value === to.value ? undefined : differs;
      return fitsScalar(baseOf(from.value), to) ? undefined : differs;
    case "list":
      return to.kind === "list" ? assign(from.item, to.item, context, `${path}[]`, depth + 1) : differs;
    case "map":
      if (to.kind === "map") return assign(from.value, to.value, context, `${path}[*]`, depth + 1);
      if (to.kind === "record") {
        for (const field of to.fields) {
          if (field.optional !== true) {
            return { path: `${path}.${field.name}`, reason: "optional", expected: field.type, found: from.value };
          }
          const mismatch = assign(from.value, field.type, context, `${path}.${field.name}`, depth + 1);
          if (mismatch !== undefined) return mismatch;
        }
        return undefined;
      }
      return differs;
    case "record":
      return assignRecord(from, to, differs, context, path, depth);
    default:
      return fitsScalar(from, to) ? undefined : differs;
  }
}

function assignRecord(
  from: ValueType & { kind: "record" },
  to: ValueType,
  differs: Mismatch,
  context: Context,
  path: string,
  depth: number,
): Mismatch | undefined {
  if (to.kind === "map") {
    for (const field of from.fields) {
      const mismatch = assign(field.type, to.value, context, `${path}.${field.name}`, depth + 1);
      if (mismatch !== undefined) return mismatch;
    }
    return undefined;
  }
  if (to.kind !== "record") return differs;
  const given = new Map(from.fields.map((field) => [field.name, field]));
  for (const field of to.fields) {
    const at = `${path}.${field.name}`;
    const has = given.get(field.name);
    if (has === undefined) {
      if (field.optional === true) continue;
      return { path: at, reason: "missing", expected: field.type, found: differs.found };
    }
    if (has.optional === true && field.optional !== true) {
      return { path: at, reason: "optional", expected: field.type, found: has.type };
    }
    const mismatch = assign(has.type, field.type, context, at, depth + 1);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

function fitsScalar(from: ValueType, to: ValueType): boolean {
  if (from === NUMBER && to.kind === "int") return true;
  return from.kind === to.kind || (from.kind === "int" && to.kind === "float");
}
