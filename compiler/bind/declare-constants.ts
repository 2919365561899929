/** The constants of a file: their values, computed when they are first read. */
import { notConstantValue, unknownInConstant } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NO_FACTS } from "../expressions/facts.ts";
import type { ExpressionScope } from "../expressions/scope.ts";
import { typeExpression } from "../expressions/type-expression.ts";
import { isBroken } from "../types/construct.ts";
import { alternatives } from "../types/type-table.ts";
import { countParts, createExpansion, cycleOf, MOST_PARTS } from "./expand-names.ts";
import { isPoisoned, namesOf, type FileScope } from "./file-scope.ts";

/** The literal of a constant, as if it were written at a place; `undefined` after an error. */
export type ConstantLiteral = (span: Span) => Ast.Expr | undefined;

/** Constants whose values are being computed, outermost first. */
const open: Ast.ConstDecl[] = [];

/** Declares a constant. Errors are reported once, when its value is first needed. */
export function declareConstant(
  declaration: Ast.ConstDecl,
  scope: FileScope,
  report: (diagnostic: Diagnostic) => void,
): ConstantLiteral {
  let known: { readonly literal: ((span: Span) => Ast.Expr) | undefined } | undefined;
  return (span) => {
    if (known !== undefined) return known.literal?.(span);
    if (open.includes(declaration)) {
      const cycle = open.slice(open.indexOf(declaration));
      report(
        cycleOf(
          cycle.map(({ name }) => name),
          scope.file.source,
        ),
      );
      return undefined;
    }
    open.push(declaration);
    try {
      known = {
        literal: evaluateStatic(declaration.value, `the constant \`${declaration.name.name}\``, scope, report),
      };
    } finally {
      open.pop();
    }
    return known.literal?.(span);
  };
}

/**
 * The literal of an expression of constants alone, as if it were written at a place; `undefined` after an error.
 *
 * @param what the expression, for messages: "the constant `limits`"
 */
export function evaluateStatic(
  expression: Ast.Expr,
  what: string,
  scope: FileScope,
  report: (diagnostic: Diagnostic) => void,
): ((span: Span) => Ast.Expr) | undefined {
  let hasErrors = false;
  const watched = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error") hasErrors = true;
    report(diagnostic);
  };
  const poisoned = new Set<string>();
  const input = { scope, derived: [], isOwnName: () => false, report: watched, poisoned };
  const syntax = createExpansion(input).expand(expression);
  const typed = typeExpression(syntax, scopeOf(scope, poisoned, watched));
  const place = { file: scope.file.source, span: expression.span };
  if (hasErrors || poisoned.size > 0 || isBroken(typed.type)) return undefined;
  let value: Json;
  try {
    value = compileExpression(typed.expression)({ state: [] });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    report(notConstantValue(place, { what, reason: error.message }));
    return undefined;
  }
  const literal = (span: Span): Ast.Expr => literalOf(value, typed.type, span);
  if (countParts(literal(expression.span), MOST_PARTS) > MOST_PARTS) {
    const reason = `it has more than ${MOST_PARTS} parts`;
    report(notConstantValue(place, { what, reason }));
    return undefined;
  }
  return literal;
}

function scopeOf(
  scope: FileScope,
  poisoned: ReadonlySet<string>,
  report: (diagnostic: Diagnostic) => void,
): ExpressionScope {
  const file = scope.file.source;
  const unknown = (name: string, span: Span): void => {
    const { similar } = suggest(name, () => [...namesOf("const", scope)], scope.suggestions);
    report(unknownInConstant({ file, span }, { name, isFunction: false, similar }));
  };
  return {
    file,
    types: new Map(),
    names: {
      value: (name) => (poisoned.has(name) || isPoisoned(name, scope) ? { kind: "poisoned" } : undefined),
      callee: (name) => (scope.names.has(name) ? { kind: "node" } : undefined),
      unknownValue: unknown,
      unknownCallee: ({ name, span }) => report(unknownInConstant({ file, span }, { name, isFunction: true })),
      unwrittenPassedOn: () => {},
      leaveToTypeScript: () => {},
    },
    report,
    suggestions: scope.suggestions,
    where: "argument",
    locals: new Map(),
    facts: NO_FACTS,
    reads: new Set(),
    depth: 0,
  };
}

/** A value as a literal. An integer of type float is written as one: `1.0`. */
function literalOf(value: Json, type: ValueType, span: Span): Ast.Expr {
  const members = alternatives(type, new Map());
  if (value === null) return { kind: "Null", span };
  switch (typeof value) {
    case "string":
      return { kind: "String", span, value };
    case "boolean":
      return { kind: "Bool", span, value };
    case "number": {
      const isFloat = !Number.isInteger(value) || members.some(({ kind }) => kind === "float");
      const number: Ast.Expr = { kind: "Number", span, value: Math.abs(value), isFloat, raw: String(Math.abs(value)) };
      return value < 0 ? { kind: "Unary", span, operator: "-", operand: number } : number;
    }
    default:
      break;
  }
  if (Array.isArray(value)) {
    const items = members.find((member) => member.kind === "list");
    const item: ValueType = items === undefined ? { kind: "json" } : items.item;
    return { kind: "List", span, items: (value as readonly Json[]).map((each) => literalOf(each, item, span)) };
  }
  const fields = new Map(
    members.flatMap((member) =>
      member.kind === "record" ? member.fields.map((field) => [field.name, field.type]) : [],
    ),
  );
  const map = members.find((member) => member.kind === "map");
  return {
    kind: "Record",
    span,
    fields: Object.entries(value).map(([name, each]): Ast.RecordField => ({
      kind: "RecordField",
      span,
      name: { kind: "Key", span, name, quoted: true },
      value: literalOf(each as Json, fields.get(name) ?? map?.value ?? { kind: "json" }, span),
    })),
  };
}
