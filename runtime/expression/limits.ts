/**
 * Bounds of evaluation. An expression is total: for all operands it ends, in bounded time and space, with a value
 * or an `ExpressionError` `too_large`.
 */

/** Items of a list that one operation makes (`range`, `split`). */
export const MAX_ITEMS = 1_000_000;
/** UTF-16 code units of a string that one operation makes (16 Mi). */
export const MAX_TEXT = 16 * 1024 * 1024;
/** Rounds of all comprehensions in one evaluation, nested ones multiplied; long strings count for more. */
export const MAX_ROUNDS = 10_000_000;
/**
 * Units of work in one evaluation, about a nanosecond each: items that an operator or a library function visits, weighted by their
 * cost. Limits what rounds do not count, such as `x in list` within a comprehension.
 */
export const MAX_WORK = 500_000_000;
/** Nesting of an expression in a table. Source text is held far below by the parser. */
export const MAX_EXPRESSION_DEPTH = 1000;
