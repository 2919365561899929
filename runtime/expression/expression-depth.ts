import type { Expression } from "./expression.ts";

/** The nesting depth of an expression. Iterative, so that a hostile table cannot exhaust the call stack. */
export function expressionDepth(expression: Expression): number {
  let depth = 0;
  let level: readonly Expression[] = [expression];
  while (level.length > 0) {
    depth++;
    const next: Expression[] = [];
    for (const part of level) for (const child of expressionParts(part)) next.push(child);
    level = next;
  }
  return depth;
}

/** The direct subexpressions of an expression, in order of evaluation. */
export function expressionParts(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case "member":
    case "not":
    case "negate":
    case "notNull":
      return [expression.of];
    case "fail":
      return [expression.message];
    case "index":
      return [expression.of, expression.at];
    case "binary":
      return [expression.left, expression.right];
    case "if":
      return [expression.condition, expression.then, expression.else];
    case "list":
      return expression.items.map((item) => ("spread" in item ? item.spread : item));
    case "record":
      return expression.fields.map((field) => ("spread" in field ? field.spread : field.value));
    case "template":
      return expression.parts.filter((part) => typeof part !== "string");
    case "comprehension":
      return [expression.list, ...(expression.condition === undefined ? [] : [expression.condition]), expression.value];
    case "library":
    case "call":
      return expression.args;
    default:
      return [];
  }
}
