import { maybeNull, typeMismatch } from "../../diagnostics/catalog/types.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import { suggest, type Suggestions } from "../../diagnostics/similar.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isOpaque, type TypeScriptCheck } from "./typescript-check.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, isNullType, resolveType, type TypeTable } from "../types/type-table.ts";

export interface FitContext {
  readonly file: SourceFile;
  readonly types: TypeTable;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly suggestions: Suggestions;
  /** Receives the checks that only `tsc` can make. */
  readonly typeScriptChecks?: TypeScriptCheck[];
}

export interface FitTarget {
  /** "channel `reply`", "argument `url` of `http`". */
  readonly target: string;
  /** Where its type is declared, in this or another file. */
  readonly declared?: Place | undefined;
  readonly help?: string | undefined;
}

/** A value to check. It may be `null` because the channel `unwritten` may not have been written. */
export interface Fitted {
  readonly type: ValueType;
  readonly syntax: Ast.Expr;
  readonly unwritten?: string | undefined;
}

/**
 * Checks that a value fits a type. Reports NG509 if only `null` does not fit, else NG408, at the smallest part of a
 * literal that does not fit. A record literal may not have fields that the type lacks. Returns whether the value fits.
 */
export function reportMisfit(value: Fitted, expected: ValueType, target: FitTarget, context: FitContext): boolean {
  const mismatch = isAssignable(value.type, expected, context.types);
  if (mismatch === undefined) {
    if (expected.kind !== "json" && (isOpaque(value.type) || isOpaque(expected))) {
      const { type, syntax } = value;
      context.typeScriptChecks?.push({ kind: "fits", type, expected, span: syntax.span });
    }
    return reportUnknownField(value.syntax, expected, target, context);
  }
  if (isBroken(value.type) || isBroken(expected)) return true;
  const labels =
    target.declared === undefined ? [] : [{ ...target.declared, message: `expects \`${typeToText(expected)}\`` }];
  const part = partAt(value.syntax, mismatch.path);
  const place = { file: context.file, span: part.syntax.span };
  if (mismatch.reason === "null" && mismatch.path === "" && !isNullType(value.type)) {
    const what = textOf(value.syntax, context.file);
    context.report(
      maybeNull(place, {
        what,
        use: `${target.target} takes no \`null\``,
        unwritten: value.unwritten,
        help: target.help,
      }),
    );
    return false;
  }
  context.report(
    typeMismatch(place, {
      target: target.target,
      expected: typeToText(mismatch.expected),
      found: typeToText(mismatch.found),
      // The name of a field that may be absent is the end of its path.
      path: mismatch.reason === "optional" && part.rest === "" ? mismatch.path : part.rest,
      reason: mismatch.reason,
      labels,
      help: target.help ?? helpFor(mismatch.found, mismatch.expected, part.syntax, context),
    }),
  );
  return false;
}

function helpFor(found: ValueType, expected: ValueType, syntax: Ast.Expr, context: FitContext): string | undefined {
  const { types } = context;
  const from = resolveType(found, types).kind;
  const to = resolveType(expected, types).kind;
  if (found.kind === "literal" && typeof found.value === "string") {
    const values = (): string[] =>
      alternatives(expected, types).flatMap((member) =>
        member.kind === "literal" && typeof member.value === "string" ? [member.value] : [],
      );
    const { similar } = suggest(found.value, values, context.suggestions);
    if (similar !== undefined) return `a similar value exists: \`${JSON.stringify(similar)}\``;
  }
  if (from === "float" && to === "int") return "make it an int with `round(…)`, or the type `float`";
  if (to === "string" && (from === "int" || from === "float" || from === "bool"))
    return `write it as a text: \`\` \`\${${syntax.kind === "Name" ? syntax.name : "…"}}\` \`\``;
  if (from === "json") return "a `json` value is unknown: let a function read it, or declare the type where it arrives";
  return undefined;
}

/** The part of a literal that a mismatch is in, and the rest of its path inside that part. */
function partAt(syntax: Ast.Expr, path: string): { syntax: Ast.Expr; rest: string } {
  let at = syntax;
  let rest = path;
  while (at.kind === "Record" && rest.startsWith(".")) {
    const fields = at.fields.filter(
      (candidate): candidate is Ast.RecordField =>
        candidate.kind === "RecordField" &&
        (rest === `.${candidate.name.name}` ||
          (/^[.[]/.test(rest.slice(candidate.name.name.length + 1)) && rest.startsWith(`.${candidate.name.name}`))),
    );
    const [field] = fields;
    if (field === undefined || fields.length > 1) break;
    rest = rest.slice(field.name.name.length + 1);
    at = field.value;
  }
  // The path does not say which item of a list does not fit, so the whole list is marked.
  return { syntax: at, rest };
}

function textOf(syntax: Ast.Expr, file: SourceFile): string {
  const text = file.text.slice(syntax.span.start, syntax.span.end);
  return text.length > 0 && text.length <= 40 && !text.includes("\n") ? `\`${text}\`` : "this value";
}

/**
 * Reports a field of a literal that the type lacks: in a literal it is most likely misspelt. Returns whether there is
 * none.
 */
function reportUnknownField(syntax: Ast.Expr, expected: ValueType, target: FitTarget, context: FitContext): boolean {
  if (syntax.kind === "List") {
    const item = singleOf(expected, "list", context.types);
    if (item === undefined) return true;
    return syntax.items.every((part) => part.kind === "Spread" || reportUnknownField(part, item.item, target, context));
  }
  if (syntax.kind !== "Record") return true;
  const record = singleOf(expected, "record", context.types);
  if (record === undefined) return true;
  const known = new Map(record.fields.map((field) => [field.name, field.type]));
  for (const field of syntax.fields) {
    // A record that is spread may have more fields, as everywhere else.
    if (field.kind === "Spread") continue;
    const type = known.get(field.name.name);
    if (type !== undefined) {
      if (!reportUnknownField(field.value, type, target, context)) return false;
      continue;
    }
    const { similar } = suggest(field.name.name, () => known.keys(), context.suggestions);
    context.report(
      typeMismatch(
        { file: context.file, span: field.name.span },
        {
          target: target.target,
          expected: typeToText(expected),
          found: "",
          path: `.${field.name.name}`,
          reason: "unknown field",
          help:
            similar === undefined
              ? `\`${typeToText(expected)}\` has no such field`
              : `a field with a similar name exists: \`${similar}\``,
        },
      ),
    );
    return false;
  }
  return true;
}

/** The only alternative of a type besides `null`, if it has the given kind. */
function singleOf<Kind extends ValueType["kind"]>(
  type: ValueType,
  kind: Kind,
  types: TypeTable,
): Extract<ValueType, { kind: Kind }> | undefined {
  const members = alternatives(type, types).flatMap((member) =>
    member.kind === "null" ? [] : [resolveType(member, types)],
  );
  const [only] = members;
  return members.length === 1 && only?.kind === kind ? (only as Extract<ValueType, { kind: Kind }>) : undefined;
}
