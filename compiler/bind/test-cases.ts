/**
 * The cases of a `test`: `with [{ … }, { … }]`. The test runs once for each. A field with the name of an input or a configuration is
 * its value; each other field is a constant of the lines.
 */
import { wrongType } from "../../diagnostics/catalog/types.ts";
import { suggest, type Suggestions } from "../../diagnostics/similar.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Json } from "../../runtime/value/json.ts";
import { evaluateConstant } from "../expressions/constant.ts";
import { evaluateStatic } from "./declare-constants.ts";
import { replaceNames } from "./expand-names.ts";
import type { FileScope } from "./file-scope.ts";

/** More cases than this are refused: each is a run. */
const MOST_CASES = 1_000;

/** One case of a test. */
export interface TestCase {
  /** From 1. */
  readonly number: number;
  /** How many cases the test has. */
  readonly of: number;
  /** The case, or the name of the list that has it. */
  readonly span: Span;
  readonly values: Readonly<Record<string, Json>>;
}

/** A case with the syntax of its fields. */
export interface ReadCase extends TestCase {
  readonly fields: ReadonlyMap<string, CaseField>;
}

interface CaseField {
  /** Of the name of the field, where the case is written out. */
  readonly span: Span;
  readonly value: Ast.Expr;
}

/** Reads the cases of a test; `undefined` after an error. */
export function readCases(
  syntax: Ast.Expr,
  scope: FileScope,
  report: (diagnostic: Diagnostic) => void,
): readonly ReadCase[] | undefined {
  const file = scope.file.source;
  const literal = evaluateStatic(syntax, "`with`", scope, report)?.(syntax.span);
  if (literal === undefined) return undefined;
  const wrong = (span: Span, message: string, label: string): undefined => {
    const help = 'a case is a record: `with [{ ticket: "a" }, { ticket: "b" }]`';
    report(wrongType({ file, span }, { message, label, help }));
    return undefined;
  };
  if (literal.kind !== "List") return wrong(syntax.span, "`with` takes a list of cases", "is no list");
  const items = literal.items as readonly Ast.Expr[];
  if (items.length === 0) return wrong(syntax.span, "the test has no cases, so it never runs", "is empty");
  if (items.length > MOST_CASES) {
    return wrong(syntax.span, `a test has at most ${MOST_CASES} cases`, `has ${items.length}`);
  }
  const isWritten = syntax.kind === "List" && syntax.items.every(({ kind }) => kind !== "Spread");
  const cases: ReadCase[] = [];
  for (const [index, item] of items.entries()) {
    const written = isWritten ? (syntax.items[index] as Ast.Expr | undefined) : undefined;
    const span = written?.span ?? syntax.span;
    if (item.kind !== "Record") return wrong(span, `case ${index + 1} is no record`, "is no record");
    const constant = evaluateConstant(item);
    if (constant.kind !== "constant") return undefined;
    const values = constant.value as Readonly<Record<string, Json>>;
    cases.push({ number: index + 1, of: items.length, span, values, fields: fieldsOf(item, written, span) });
  }
  return cases;
}

/** The fields of a case, at the places where they are written. */
function fieldsOf(item: Ast.RecordExpr, written: Ast.Expr | undefined, span: Span): ReadonlyMap<string, CaseField> {
  const places = new Map<string, { readonly name: Span; readonly value: Span }>();
  for (const field of written?.kind === "Record" ? written.fields : []) {
    if (field.kind === "RecordField") places.set(field.name.name, { name: field.name.span, value: field.value.span });
  }
  const fields = new Map<string, CaseField>();
  for (const field of item.fields) {
    if (field.kind !== "RecordField") continue;
    const place = places.get(field.name.name) ?? { name: span, value: span };
    fields.set(field.name.name, { span: place.name, value: literalAt(field.value, place.value) });
  }
  return fields;
}

/** A literal as if it were written at another place. */
function literalAt(literal: Ast.Expr, span: Span): Ast.Expr {
  switch (literal.kind) {
    case "List":
      return { ...literal, span, items: (literal.items as readonly Ast.Expr[]).map((item) => literalAt(item, span)) };
    case "Record":
      return {
        ...literal,
        span,
        fields: literal.fields.map((field) => ({ ...field, span, value: literalAt(field.value, span) })),
      };
    case "Unary":
      return { ...literal, span, operand: literalAt(literal.operand, span) };
    default:
      return { ...literal, span };
  }
}

/** What the fields of the cases of a test mean in its graph. */
export interface CaseNames {
  readonly file: SourceFile;
  /** Names of inputs and of the configuration. */
  readonly given: ReadonlySet<string>;
  /** Names of all channels. */
  readonly channels: ReadonlySet<string>;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly suggestions: Suggestions;
}

/** Reports fields of the cases that nothing reads. In a condition, the name of a channel is the channel. */
export function checkCaseFields(
  cases: readonly ReadCase[],
  used: ReadonlySet<string>,
  { file, given, channels, report, suggestions }: CaseNames,
): void {
  const seen = new Set<string>();
  for (const { fields } of cases) {
    for (const [name, { span }] of fields) {
      if (given.has(name) || used.has(name) || seen.has(name)) continue;
      seen.add(name);
      const { similar } = suggest(name, () => [...given], suggestions);
      const facts = {
        message: `nothing uses the field \`${name}\` of the cases`,
        label: "is neither an input nor in a value of the test",
        help: channels.has(name)
          ? `in \`expect\`, \`${name}\` is the channel: choose another name, \`expect ${name} == expected${capitalised(name)}\``
          : similar === undefined
            ? `use it in a line, such as \`mock node = ${name}\`, or remove it`
            : `an input with a similar name exists: \`${similar}\``,
      };
      report(wrongType({ file, span }, facts));
    }
  }
}

/** Puts the values of one case in the place of the names of fields. */
export function substituteCase(
  expression: Ast.Expr,
  inCase: ReadCase,
  all: readonly ReadCase[],
  { file, report, used, keeps }: SubstituteInput,
): Ast.Expr {
  return replaceNames(expression, [], ({ name, span }, variables) => {
    if (variables.includes(name) || keeps?.has(name) === true) return undefined;
    const field = inCase.fields.get(name);
    if (field !== undefined) {
      used.add(name);
      return field.value;
    }
    if (!all.some(({ fields }) => fields.has(name))) return undefined;
    used.add(name);
    const facts = {
      message: `case ${inCase.number} has no field \`${name}\``,
      label: "is a field of other cases",
      help: `add \`${name}\` to each case`,
    };
    report(wrongType({ file, span }, facts));
    return { kind: "BrokenExpr", span };
  });
}

export interface SubstituteInput {
  readonly file: SourceFile;
  readonly report: (diagnostic: Diagnostic) => void;
  /** Receives the names of fields that the expression reads. */
  readonly used: Set<string>;
  /** Names that stay: channels, in conditions. */
  readonly keeps?: ReadonlySet<string>;
}

function capitalised(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
