/** Types spreads: `[...xs, x]` and `{ ...r, done: true }`. */
import { wrongType } from "../../diagnostics/catalog/types.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import { BROKEN_TYPE, isBroken, listOf, mapOf, recordOf, unionOf } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, resolveType } from "../types/type-table.ts";
import { expectNotNull, leaveContainerToTypeScript, placeOf, reportType } from "./expect-type.ts";
import type { ExpressionScope, Typed } from "./scope.ts";
import { listItem } from "./typed.ts";

/** A part of a record literal: a field, or a record that is spread. */
export type RecordPart =
  | { readonly name: string; readonly type: ValueType }
  /** The alternatives of the spread value, each a record, a map or opaque; empty after an error. */
  | { readonly spread: readonly ValueType[]; readonly syntax: Ast.Expr };

/** The most alternatives of a record literal whose spreads are unions. */
const MOST_ALTERNATIVES = 64;

/** The item type of a list that is spread into another list. */
export function typeListSpread(typed: Typed, scope: ExpressionScope): ValueType {
  const what = "a list spreads a list";
  const type = expectNotNull(typed, what, scope, "write `...(… ?? [])` for that case");
  const item = listItem(type, scope);
  if (item === undefined) {
    const isRecord = alternatives(type, scope.types).some((member) =>
      ["map", "record"].includes(resolveType(member, scope.types).kind),
    );
    const help = isRecord
      ? "spread its values or keys: `...values(…)`, `...keys(…)`; a record is spread into a record: `{ ...r, x: 1 }`"
      : "write a single item without `...`: `[...xs, x]`";
    reportType(typed, type, { what, help }, scope);
    return BROKEN_TYPE;
  }
  leaveContainerToTypeScript({ type, syntax: typed.syntax }, listOf(BROKEN_TYPE), scope);
  return item;
}

/** The alternatives of a value that is spread into a record. */
export function typeRecordSpread(typed: Typed, scope: ExpressionScope): readonly ValueType[] {
  const what = "a record spreads a record or a map";
  const type = expectNotNull(typed, what, scope, "write `...(… ?? { … })` for that case, or test it first");
  if (isBroken(type)) return [];
  const members = alternatives(type, scope.types).map((member) => resolveType(member, scope.types));
  if (members.every(({ kind }) => kind === "record" || kind === "map" || kind === "opaque")) return members;
  const isList = members.some(({ kind }) => kind === "list");
  reportType(typed, type, { what, help: isList ? "a list is spread into a list: `[...xs, x]`" : undefined }, scope);
  return [];
}

/**
 * The type of a record literal: of several fields of one name the last one counts. An optional field of a spread record
 * may leave the field before it. With a map, the result is a map of all values.
 */
export function typeOfParts(parts: readonly RecordPart[], scope: ExpressionScope): ValueType {
  if (parts.some((part) => "spread" in part && part.spread.length === 0)) return BROKEN_TYPE;
  const spread = parts.flatMap((part) => ("spread" in part ? part.spread : []));
  if (spread.some(({ kind }) => kind === "opaque")) return BROKEN_TYPE;
  if (spread.some(({ kind }) => kind === "map")) return mapOf(unionOf(parts.flatMap(valuesOf)));
  let results: readonly Map<string, FieldType>[] = [new Map()];
  for (const part of parts) {
    const options = "spread" in part ? part.spread.map(fieldsOf) : [[part]];
    if (results.length * options.length > MOST_ALTERNATIVES && "spread" in part) {
      scope.report(
        wrongType(placeOf(part.syntax.span, scope), {
          message: "this record has too many alternatives to be spread",
          label: `one of ${part.spread.length} types: \`${typeToText(unionOf(part.spread))}\``,
          help: "test which one it is first, or name the fields",
        }),
      );
      return BROKEN_TYPE;
    }
    const [only] = options;
    // Copies only where the alternatives multiply, so that a literal with many fields costs linear time.
    if (only !== undefined && options.length === 1) for (const fields of results) override(fields, only);
    else results = results.flatMap((fields) => options.map((more) => override(new Map(fields), more)));
  }
  return unionOf(results.map((fields) => recordOf([...fields.values()])));
}

function fieldsOf(type: ValueType): readonly FieldType[] {
  return type.kind === "record" ? type.fields : [];
}

function valuesOf(part: RecordPart): readonly ValueType[] {
  if (!("spread" in part)) return [part.type];
  return part.spread.flatMap((type) =>
    type.kind === "map" ? [type.value] : fieldsOf(type).map((field) => field.type),
  );
}

/** Adds fields to those of a record, in place. */
function override(fields: Map<string, FieldType>, more: readonly FieldType[]): Map<string, FieldType> {
  for (const field of more) {
    const before = fields.get(field.name);
    if (field.optional !== true || before === undefined) fields.set(field.name, field);
    else fields.set(field.name, { ...before, type: unionOf([before.type, field.type]) });
  }
  return fields;
}
