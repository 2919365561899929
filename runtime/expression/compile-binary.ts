import type { Run } from "./compile-expression.ts";
import type { BinaryOperator, Expression } from "./expression.ts";
import * as operations from "./operations.ts";
import type { Json } from "../value/json.ts";

type Binary = Extract<Expression, { op: "binary" }>;
type Apply = (left: Json, right: Json, at: Expression) => Json;

/** The operators that always evaluate both sides. */
const EAGER: Readonly<Record<Exclude<BinaryOperator, "&&" | "||" | "??">, Apply>> = {
  "+": operations.add,
  "-": operations.subtract,
  "*": operations.multiply,
  "/": operations.divide,
  "%": operations.remainder,
  "<": operations.less,
  "<=": operations.lessOrEqual,
  ">": operations.greater,
  ">=": operations.greaterOrEqual,
  "==": operations.equal,
  "!=": operations.notEqual,
  in: operations.has,
};

/**
 * The closure of a binary operator. A comparison of a channel with a constant, the usual condition of an edge, has a
 * specialised one.
 *
 * @param left the compiled left operand
 * @param right the compiled right operand
 */
export function buildBinary(expression: Binary, left: Run, right: Run): Run {
  switch (expression.operator) {
    case "&&":
      return (scope, frame) =>
        operations.truth(left(scope, frame), expression.left) &&
        operations.truth(right(scope, frame), expression.right);
    case "||":
      return (scope, frame) =>
        operations.truth(left(scope, frame), expression.left) ||
        operations.truth(right(scope, frame), expression.right);
    case "??":
      return (scope, frame) => left(scope, frame) ?? right(scope, frame);
    default: {
      const apply = EAGER[expression.operator];
      if (expression.int === true) {
        return (scope, frame) => operations.int(apply(left(scope, frame), right(scope, frame), expression), expression);
      }
      return specialise(expression) ?? ((scope, frame) => apply(left(scope, frame), right(scope, frame), expression));
    }
  }
}

function specialise(expression: Binary): Run | undefined {
  if (expression.left.op !== "channel" || expression.right.op !== "const") return undefined;
  const { channel } = expression.left;
  const { value } = expression.right;
  if (typeof value === "object" && value !== null) return undefined;
  switch (expression.operator) {
    case "==":
      return (scope) => scope.state[channel] === value;
    case "!=":
      return (scope) => scope.state[channel] !== value;
    case "<":
      if (typeof value !== "number") return undefined;
      return (scope) => {
        const left = scope.state[channel] as Json;
        return typeof left === "number" ? left < value : operations.less(left, value, expression);
      };
    case ">=":
      if (typeof value !== "number") return undefined;
      return (scope) => {
        const left = scope.state[channel] as Json;
        return typeof left === "number" ? left >= value : operations.greaterOrEqual(left, value, expression);
      };
    default:
      return undefined;
  }
}
