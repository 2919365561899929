import type { Expression } from "../../runtime/expression/expression.ts";

/**
 * Replaces parts of an expression, from the outermost part inwards. `replace` returns `undefined` for a part to keep.
 */
export function replaceParts(
  expression: Expression,
  replace: (part: Expression) => Expression | undefined,
): Expression {
  const found = replace(expression);
  if (found !== undefined) return found;
  const inner = (part: Expression): Expression => replaceParts(part, replace);
  switch (expression.op) {
    case "member":
    case "not":
    case "negate":
    case "notNull":
      return { ...expression, of: inner(expression.of) };
    case "fail":
      return { ...expression, message: inner(expression.message) };
    case "index":
      return { ...expression, of: inner(expression.of), at: inner(expression.at) };
    case "binary":
      return { ...expression, left: inner(expression.left), right: inner(expression.right) };
    case "if":
      return {
        ...expression,
        condition: inner(expression.condition),
        then: inner(expression.then),
        else: inner(expression.else),
      };
    case "list":
      return {
        ...expression,
        items: expression.items.map((item) => ("spread" in item ? { spread: inner(item.spread) } : inner(item))),
      };
    case "record":
      return {
        ...expression,
        fields: expression.fields.map((field) =>
          "spread" in field ? { spread: inner(field.spread) } : { name: field.name, value: inner(field.value) },
        ),
      };
    case "template":
      return { ...expression, parts: expression.parts.map((part) => (typeof part === "string" ? part : inner(part))) };
    case "comprehension":
      return {
        ...expression,
        list: inner(expression.list),
        value: inner(expression.value),
        ...(expression.condition === undefined ? {} : { condition: inner(expression.condition) }),
      };
    case "library":
    case "call":
      return { ...expression, args: expression.args.map(inner) };
    case "const":
    case "channel":
    case "local":
    case "error":
    case "outcome":
    case "secret":
      return expression;
  }
}
