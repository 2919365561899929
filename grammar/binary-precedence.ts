import type { BinaryOperator } from "./ast.ts";

/** How tightly binary operators bind, loosest first; all are left-associative. Read by the parser and the formatter. */
export const BINARY_PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  "??": 1,
  "||": 2,
  "&&": 3,
  "==": 4,
  "!=": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  in: 5,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
  "%": 7,
};
