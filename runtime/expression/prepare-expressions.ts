import type { Table } from "../table/table.ts";
import type { ExpressionFunction } from "./call-function.ts";
import type { Evaluate, ExpressionEnvironment, GeneratedExpression } from "./compile-expression.ts";
import type { Expression } from "./expression.ts";
import { wrapGenerated } from "./wrap-generated.ts";

/**
 * All expressions of a table, by expression index, ready to be evaluated: compiled from the table, or taken from a generated
 * module where there is one. Graphs that the table calls are not included: they have expressions of their own.
 *
 * @param functions the imported functions by function index
 * @param interpret compiles the expressions that are not generated
 */
export function prepareExpressions(
  table: Pick<Table, "channels" | "expressions" | "functions" | "debug">,
  functions: readonly (ExpressionFunction | undefined)[],
  interpret: (expression: Expression, environment: ExpressionEnvironment) => Evaluate,
  generated?: readonly (GeneratedExpression | undefined)[],
): readonly Evaluate[] {
  const names = {
    channels: table.channels.map((channel) => channel.name),
    functions: table.functions.map((item) => item.name),
  };
  return table.expressions.map((expression, at) => {
    const code = generated?.[at];
    const position = table.debug?.expressions[at];
    // An expression that occurs in several places has no position: it is not known which one was evaluated.
    const place =
      position === undefined || position.shared === true
        ? undefined
        : `${table.debug?.file ?? ""}:${position.line}:${position.column}`;
    const environment = { functions, names, place };
    return code === undefined ? interpret(expression, environment) : wrapGenerated(code, expression, environment);
  });
}
