/**
 * Expressions and functions of one table, each once, numbered in the order in which the table refers to them. The
 * numbers depend on the meaning of the graph, not on the order of its statements.
 */
import type { Position } from "../../diagnostics/source.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ExpressionIndex, FunctionIndex, FunctionSpec } from "../../runtime/table/table.ts";
import type { BoundGraph, TypedExpression } from "../bind/bound-graph.ts";
import { canonicalJson } from "../table/canonical-json.ts";

export interface ExpressionPool {
  readonly expressions: readonly Expression[];
  /** The first place of each expression; `shared` if the expression occurs in several places. */
  readonly positions: readonly (Position & { readonly shared?: true })[];
  readonly functions: readonly FunctionSpec[];
  expression(typed: TypedExpression): ExpressionIndex;
  function(spec: FunctionSpec): FunctionIndex;
}

/** `channelIndex`: position in the table by position in the bound graph or plan. */
export function createExpressionPool(
  bound: Pick<BoundGraph, "functions" | "signatureOf" | "file">,
  channelIndex: readonly number[],
): ExpressionPool {
  const expressions: Expression[] = [];
  const positions: (Position & { readonly shared?: true })[] = [];
  const functions: FunctionSpec[] = [];
  const byText = new Map<string, ExpressionIndex>();
  const byName = new Map<string, FunctionIndex>();
  const internFunction = (spec: FunctionSpec): FunctionIndex => {
    const known = byName.get(spec.name);
    if (known !== undefined) return known;
    byName.set(spec.name, functions.length);
    const signature = bound.signatureOf?.(spec.name);
    const own = signature === undefined ? {} : { signature };
    return functions.push({ name: spec.name, module: spec.module, export: spec.export, ...own }) - 1;
  };
  const renumber: Renumber = {
    channel: (index) => channelIndex[index] ?? index,
    function: (index) => internFunction(bound.functions[index] as FunctionSpec),
  };
  return {
    expressions,
    positions,
    functions,
    function: internFunction,
    expression(typed) {
      const expression = renumberExpression(typed.expression, renumber);
      const text = canonicalJson(expression);
      const known = byText.get(text);
      if (known !== undefined) {
        const first = positions[known] as (typeof positions)[number];
        if (first.shared !== true) positions[known] = { line: first.line, column: first.column, shared: true };
        return known;
      }
      byText.set(text, expressions.length);
      positions.push(bound.file.position(typed.span.start));
      return expressions.push(expression) - 1;
    },
  };
}

interface Renumber {
  channel(index: number): number;
  function(index: number): number;
}

/** Replaces the indexes of channels and functions. Visits sub-expressions in order of evaluation. */
function renumberExpression(expression: Expression, to: Renumber): Expression {
  const visit = (part: Expression): Expression => renumberExpression(part, to);
  switch (expression.op) {
    case "channel":
      return { op: "channel", channel: to.channel(expression.channel) };
    case "member":
    case "not":
    case "negate":
    case "notNull":
      return { ...expression, of: visit(expression.of) };
    case "fail":
      return { ...expression, message: visit(expression.message) };
    case "index":
      return { ...expression, of: visit(expression.of), at: visit(expression.at) };
    case "binary":
      return { ...expression, left: visit(expression.left), right: visit(expression.right) };
    case "if":
      return {
        ...expression,
        condition: visit(expression.condition),
        then: visit(expression.then),
        else: visit(expression.else),
      };
    case "list":
      return {
        ...expression,
        items: expression.items.map((item) => ("spread" in item ? { spread: visit(item.spread) } : visit(item))),
      };
    case "record":
      return {
        ...expression,
        fields: expression.fields.map((field) =>
          "spread" in field ? { spread: visit(field.spread) } : { name: field.name, value: visit(field.value) },
        ),
      };
    case "template":
      return { ...expression, parts: expression.parts.map((part) => (typeof part === "string" ? part : visit(part))) };
    case "comprehension":
      return {
        ...expression,
        list: visit(expression.list),
        ...(expression.condition === undefined ? {} : { condition: visit(expression.condition) }),
        value: visit(expression.value),
      };
    case "library":
      return { ...expression, args: expression.args.map(visit) };
    case "call":
      return { ...expression, function: to.function(expression.function), args: expression.args.map(visit) };
    default:
      return expression;
  }
}
