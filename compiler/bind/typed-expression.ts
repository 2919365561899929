import { tooDeep } from "../../diagnostics/catalog/syntax.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import { MAX_EXPRESSION_DEPTH } from "../../runtime/expression/limits.ts";
import type { TypedExpression } from "./bound-graph.ts";
import type { Typed } from "../expressions/scope.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";
import { channelList } from "./name-list.ts";

/** The form of a typed expression in the bound graph. Reports an expression that nests too deep to be evaluated. */
export function toTypedExpression(typed: Typed, context: GraphContext): TypedExpression {
  const { syntax, type, expression } = typed;
  const { span } = syntax;
  const reads = new Set<string>();
  let level: readonly Expression[] = [expression];
  for (let depth = 1; level.length > 0; depth++) {
    const next: Expression[] = [];
    for (const part of level) {
      if (part.op === "channel") reads.add(context.channelNames[part.channel] ?? "");
      for (const child of expressionParts(part)) next.push(child);
    }
    level = next;
    if (depth === MAX_EXPRESSION_DEPTH && level.length > 0) {
      context.report(tooDeep(placeIn(context, span), "operators", MAX_EXPRESSION_DEPTH));
    }
  }
  return { expression, type, span, syntax, reads: channelList(reads, context) };
}
