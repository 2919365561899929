/**
 * Bounds of evaluation. An expression is total: for all operands it ends, in bounded time and space, with a value
 * or an `ExpressionError` `too_large`.
 */

/** Maximum number of items of a list that one operation makes (`range`, `split`). */
export const MAX_ITEMS = 1_000_000;
/** Maximum length of a string that one operation makes, in UTF-16 code units (16 Mi). */
export const MAX_TEXT = 16 * 1024 * 1024;
/** Maximum rounds of all comprehensions in one evaluation, including nested ones; long strings count as more rounds. */
export const MAX_ROUNDS = 10_000_000;
/**
 * Maximum units of work in one evaluation, about a nanosecond each. Counts the items that an operator or a library
 * function visits, weighted by their cost. Bounds work inside a round, such as `x in list` in a comprehension.
 */
export const MAX_WORK = 500_000_000;
/** Maximum nesting of an expression in a table. The parser limits source text to far less. */
export const MAX_EXPRESSION_DEPTH = 1000;
