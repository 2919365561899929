/**
 * Types an expression and produces its form for the table, in one pass. Never throws. After an error the type is
 * `BROKEN_TYPE`, which fits everywhere, so that no further errors follow.
 *
 * To add a form: add it to `grammar/ast.ts` and `runtime/expression/expression.ts`, type it in `typeByKind` (in a file
 * of its own when it is more than a few lines), and add its facts to `facts.ts` if it is a condition.
 */
import { duplicateField, duplicateName } from "../../diagnostics/catalog/names.ts";
import { tooDeep } from "../../diagnostics/catalog/syntax.ts";
import { needlessNotNull } from "../../diagnostics/catalog/types.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression, SpreadPart } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { BOOL, BROKEN_TYPE, FLOAT, INT, isNever, listOf, literal, NULL, STRING, unionOf } from "../types/construct.ts";
import { acceptsNull, alternatives, knownNotNull } from "../types/type-table.ts";
import { typeToText } from "../types/type-text.ts";
import { bothFacts, hideFacts, indexFact, narrow, NO_FACTS, notNullFact, pathOf } from "./facts.ts";
import { describe, expectNotNull, expectType, leaveContainerToTypeScript, placeOf, reportType } from "./expect-type.ts";
import type { ExpressionScope, Typed } from "./scope.ts";
import { broken, conditionHelp, listItem, mapHelp, numberKind, reportUnwritten, within } from "./typed.ts";
import { typeBinary } from "./type-binary.ts";
import { typeCall } from "./type-call.ts";
import { type RecordPart, typeListSpread, typeOfParts, typeRecordSpread } from "./type-spread.ts";
import { typeOrFail } from "./type-fail.ts";
import { typeIndex, typeMember } from "./type-access.ts";

/** The deepest nesting of an expression: a little more than the parser accepts. */
const MAX_DEPTH = 1100;

export function typeExpression(syntax: Ast.Expr, scope: ExpressionScope): Typed {
  if (scope.depth > MAX_DEPTH) {
    scope.report(tooDeep(placeOf(syntax.span, scope), "nesting", MAX_DEPTH));
    return broken(syntax);
  }
  // A name and a number have no parts, so they need no scope of their own.
  if (syntax.kind === "Name" || syntax.kind === "Number") return typeByKind(syntax, scope);
  return typeByKind(syntax, { ...scope, depth: scope.depth + 1 });
}

/** Types a condition: it must be a bool. */
export function typeCondition(syntax: Ast.Expr, scope: ExpressionScope): Typed {
  const typed = typeExpression(syntax, scope);
  expectType(typed, BOOL, { what: "a condition is a bool", help: conditionHelp(typed, scope) }, scope);
  return typed;
}

function typeByKind(syntax: Ast.Expr, scope: ExpressionScope): Typed {
  switch (syntax.kind) {
    case "String":
    case "Bool":
      return constant(syntax, syntax.value, literal(syntax.value));
    case "Number":
      return constant(
        syntax,
        syntax.value,
        syntax.isFloat && Number.isInteger(syntax.value) ? FLOAT : literal(syntax.value),
      );
    case "DurationLiteral":
      return constant(syntax, syntax.milliseconds, literal(syntax.milliseconds));
    case "Null":
      return constant(syntax, null, NULL);
    case "Template":
      return typeTemplate(syntax, scope);
    case "List":
      return typeList(syntax, scope);
    case "Record":
      return typeRecord(syntax, scope);
    case "Comprehension":
      return typeComprehension(syntax, scope);
    case "Name":
      return narrowed(typeName(syntax, scope), scope);
    case "Member":
      return narrowed(typeMember(syntax, typeExpression(syntax.object, scope), scope), scope);
    case "Index":
      return narrowed(
        typeIndex(syntax, typeExpression(syntax.object, scope), typeExpression(syntax.index, scope), scope),
        scope,
      );
    case "NonNull":
      return typeNotNull(syntax, scope);
    case "Derived":
      return narrowed(typeDerived(syntax, scope), scope);
    case "Call":
      return narrowed(typeCall(syntax, scope, typeExpression), scope);
    case "Unary":
      return typeUnary(syntax, scope);
    case "Binary":
      return typeBinary(syntax, scope, typeExpression);
    case "Conditional":
      return typeConditional(syntax, scope);
    case "BrokenExpr":
      return broken(syntax);
  }
}

function constant(syntax: Ast.Expr, value: string | number | boolean | null, type: ValueType): Typed {
  return { expression: { op: "const", value }, type, syntax };
}

function typeName(syntax: Ast.NameExpr, scope: ExpressionScope): Typed {
  const { name, span } = syntax;
  const local = scope.locals.get(name);
  if (local !== undefined) return { expression: { op: "local", name }, type: local, syntax };
  const binding = scope.names.value(name, span);
  switch (binding?.kind) {
    case undefined:
      scope.names.unknownValue(name, span);
      return broken(syntax);
    case "poisoned":
      return broken(syntax);
    case "secret":
      return { expression: { op: "secret", name }, type: STRING, syntax };
    case "error":
    case "outcome":
      return { expression: { op: binding.kind }, type: binding.type, syntax };
    case "local":
      return { expression: { op: "local", name }, type: binding.type, syntax };
    case "channel": {
      scope.reads.add(name);
      const typed: Typed = { expression: { op: "channel", channel: binding.index }, type: binding.type, syntax };
      return binding.unwritten === true ? { ...typed, unwritten: name } : typed;
    }
  }
}

/** Narrows the type of a path by the facts that hold here. */
function narrowed(typed: Typed, scope: ExpressionScope): Typed {
  if (scope.facts.size === 0) return typed;
  const path = pathOf(typed.syntax);
  const facts = path === undefined ? undefined : scope.facts.get(path);
  if (facts === undefined) return typed;
  const type = narrow(typed.type, facts, scope.types);
  if (type === typed.type) return typed;
  const { unwritten: _gone, ...rest } = typed;
  return { ...rest, type, declared: typed.declared ?? typed.type };
}

/** A template accepts values of any type. */
function typeTemplate(syntax: Ast.TemplateExpr, scope: ExpressionScope): Typed {
  const parts: (string | Expression)[] = [];
  for (const part of syntax.parts) {
    if (part.kind === "TemplateText") {
      if (part.value !== "") parts.push(part.value);
      continue;
    }
    const typed = typeExpression(part, scope);
    reportUnwritten(typed, scope);
    parts.push(typed.expression);
  }
  if (parts.every((part) => typeof part === "string")) return constant(syntax, parts.join(""), literal(parts.join("")));
  return { expression: { op: "template", parts }, type: STRING, syntax };
}

function typeList(syntax: Ast.ListExpr, scope: ExpressionScope): Typed {
  const items: (Expression | SpreadPart)[] = [];
  const types: ValueType[] = [];
  for (const item of syntax.items) {
    if (item.kind === "Spread") {
      const typed = typeExpression(item.value, scope);
      items.push({ spread: typed.expression });
      types.push(typeListSpread(typed, scope));
    } else {
      const typed = typeExpression(item, scope);
      items.push(typed.expression);
      types.push(typed.type);
    }
  }
  return { expression: foldConstant({ op: "list", items }), type: listOf(unionOf(types)), syntax };
}

function typeRecord(syntax: Ast.RecordExpr, scope: ExpressionScope): Typed {
  const fields: ({ name: string; value: Expression } | SpreadPart)[] = [];
  const parts: RecordPart[] = [];
  const seen = new Map<string, Span>();
  for (const field of syntax.fields) {
    const typed = typeExpression(field.value, scope);
    if (field.kind === "Spread") {
      fields.push({ spread: typed.expression });
      parts.push({ spread: typeRecordSpread(typed, scope), syntax: field.value });
      continue;
    }
    const earlier = seen.get(field.name.name);
    if (earlier !== undefined) {
      scope.report(
        duplicateField(placeOf(field.name.span, scope), {
          name: field.name.name,
          first: placeOf(earlier, scope),
        }),
      );
      continue;
    }
    seen.set(field.name.name, field.name.span);
    fields.push({ name: field.name.name, value: typed.expression });
    parts.push({ name: field.name.name, type: typed.type });
  }
  return { expression: { op: "record", fields }, type: typeOfParts(parts, scope), syntax };
}

function typeComprehension(syntax: Ast.ComprehensionExpr, scope: ExpressionScope): Typed {
  const { expression, item } = typeLoops(syntax, syntax.clauses, scope);
  return { expression, type: listOf(item), syntax };
}

/** A comprehension with the loops from the first of `clauses` on, and the type of its items. */
function typeLoops(
  syntax: Ast.ComprehensionExpr,
  [clause, ...others]: readonly Ast.ForClause[],
  scope: ExpressionScope,
): { readonly expression: Expression; readonly item: ValueType } {
  if (clause === undefined) return { expression: broken(syntax).expression, item: BROKEN_TYPE };
  const loop = typeFor(clause, "a comprehension goes over a list", scope);
  const inner =
    others.length === 0
      ? typeExpression(syntax.value, loop.inner)
      : typeLoops(syntax, others, { ...loop.inner, depth: loop.inner.depth + 1 });
  const expression: Expression = {
    op: "comprehension",
    list: loop.list.expression,
    item: clause.item.name,
    ...(clause.index === undefined ? {} : { index: clause.index.name }),
    ...(others.length === 0 ? {} : { flat: true }),
    value: inner.expression,
    ...(loop.condition === undefined ? {} : { condition: loop.condition.expression }),
  };
  return { expression, item: "item" in inner ? inner.item : inner.type };
}

/** A typed `for`: the list, the condition, and the scope of what is evaluated for each item. */
export interface TypedFor {
  readonly list: Typed;
  readonly item: ValueType;
  readonly condition?: Typed;
  readonly inner: ExpressionScope;
}

/** @param what a message for a value that is no list: "a comprehension goes over a list" */
export function typeFor(clause: Ast.ForClause, what: string, scope: ExpressionScope): TypedFor {
  const list = typeExpression(clause.list, scope);
  const type = expectNotNull(list, what, scope, "write `… ?? []` for that case");
  const item = listItem(type, scope);
  if (item === undefined) reportType(list, type, { what, help: mapHelp(type, scope) }, scope);
  else leaveContainerToTypeScript({ type, syntax: list.syntax }, listOf(BROKEN_TYPE), scope);
  const locals = new Map(scope.locals).set(clause.item.name, item ?? BROKEN_TYPE);
  let facts = hideFacts(scope.facts, clause.item.name);
  const { index } = clause;
  if (index !== undefined) {
    if (index.name === clause.item.name) {
      const first = placeOf(clause.item.span, scope);
      scope.report(duplicateName(placeOf(index.span, scope), { name: index.name, what: "the item", first }));
    } else locals.set(index.name, INT);
    facts = hideFacts(facts, index.name);
    // The list has an item at each index.
    const path = pathOf(clause.list);
    const isSame = path !== undefined && path !== clause.item.name && path !== index.name;
    if (isSame && item !== undefined && !acceptsNull(item, scope.types)) {
      facts = bothFacts(facts, notNullFact(`${path}[@${index.name}]`));
    }
    facts = bothFacts(facts, indexFact(index.name));
  }
  const inner: ExpressionScope = { ...scope, locals, facts };
  if (clause.condition === undefined) return { list, item: item ?? BROKEN_TYPE, inner };
  const condition = typeCondition(clause.condition, inner);
  return { list, item: item ?? BROKEN_TYPE, condition, inner: within(inner, clause.condition, true) };
}

/** `value!` */
function typeNotNull(syntax: Ast.NonNullExpr, scope: ExpressionScope): Typed {
  const typed = typeExpression(syntax.object, scope);
  const type = knownNotNull(typed.type, scope.types);
  if (scope.isDerived !== true && !acceptsNull(typed.type, scope.types) && !isOpaqueOrBroken(typed.type, scope)) {
    const place = placeOf({ start: syntax.object.span.end, end: syntax.span.end }, scope);
    scope.report(needlessNotNull(place, { what: describe(typed, scope), type: typeToText(typed.type) }));
    return { ...typed, syntax };
  }
  const { unwritten: _checked, ...rest } = typed;
  const expression: Expression = { op: "notNull", of: typed.expression };
  return { ...rest, expression, type: isNever(type) ? BROKEN_TYPE : type, syntax };
}

function isOpaqueOrBroken(type: ValueType, scope: ExpressionScope): boolean {
  return alternatives(type, scope.types).some((member) => member.kind === "opaque");
}

/** Types the expression of a derived name. It cannot read the variables of the place that reads the name. */
function typeDerived(syntax: Ast.DerivedExpr, scope: ExpressionScope): Typed {
  const facts = syntax.isHidden ? NO_FACTS : scope.facts;
  const typed = typeExpression(syntax.value, { ...scope, locals: NO_LOCALS, facts, isDerived: true });
  scope.names.derived?.(typed.expression);
  return { ...typed, syntax };
}

const NO_LOCALS: ReadonlyMap<string, ValueType> = new Map();

function typeUnary(syntax: Ast.UnaryExpr, scope: ExpressionScope): Typed {
  if (syntax.operator === "-" && syntax.operand.kind === "Number") {
    const value = -syntax.operand.value + 0;
    const isFloat = syntax.operand.isFloat && Number.isInteger(value);
    return constant(syntax, value, isFloat ? FLOAT : literal(value));
  }
  const operand = typeExpression(syntax.operand, scope);
  if (syntax.operator === "!") {
    expectType(operand, BOOL, { what: "`!` needs a bool", help: conditionHelp(operand, scope) }, scope);
    return { expression: { op: "not", of: operand.expression }, type: BOOL, syntax };
  }
  const expression: Expression = { op: "negate", of: operand.expression };
  if (!expectType(operand, FLOAT, { what: "`-` needs a number" }, scope))
    return { expression, type: BROKEN_TYPE, syntax };
  const isInt = numberKind(operand.type, scope) === "int";
  return { expression, type: isInt ? INT : FLOAT, syntax };
}

function typeConditional(syntax: Ast.ConditionalExpr, scope: ExpressionScope): Typed {
  const condition = typeCondition(syntax.condition, scope);
  const then = typeOrFail(syntax.then, within(scope, syntax.condition, true), typeExpression);
  const otherwise = typeOrFail(syntax.otherwise, within(scope, syntax.condition, false), typeExpression);
  return {
    expression: {
      op: "if",
      condition: condition.expression,
      then: then.expression,
      else: otherwise.expression,
    },
    type: unionOf([then.type, otherwise.type]),
    syntax,
  };
}

/** Folds a list of constants into one constant, which makes tables shorter and evaluation faster. */
function foldConstant(expression: Expression & { op: "list" }): Expression {
  const values: (string | number | boolean | null)[] = [];
  for (const item of expression.items) {
    if ("spread" in item || item.op !== "const" || (typeof item.value === "object" && item.value !== null))
      return expression;
    values.push(item.value);
  }
  return { op: "const", value: values };
}
