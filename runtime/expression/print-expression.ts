import type { BinaryOperator, Expression } from "./expression.ts";

/** Names of the channels and functions that expressions refer to by index. */
export interface ExpressionNames {
  readonly channels: readonly string[];
  readonly functions: readonly string[];
}

/** An expression as source text: for error messages, pictures and doc comments. */
export function printExpression(expression: Expression, names?: ExpressionNames): string {
  return print(expression, 0, names);
}

/** Operator precedence, as in the grammar; an operand with lower precedence than its place is printed in parentheses. */
const CONDITIONAL = 1;
const STRENGTH: Readonly<Record<BinaryOperator, number>> = {
  "??": 2,
  "||": 3,
  "&&": 4,
  "==": 5,
  "!=": 5,
  "<": 6,
  "<=": 6,
  ">": 6,
  ">=": 6,
  in: 6,
  "+": 7,
  "-": 7,
  "*": 8,
  "/": 8,
  "%": 8,
};
const UNARY = 9;
const POSTFIX = 10;

function print(expression: Expression, place: number, names: ExpressionNames | undefined): string {
  const inner = (part: Expression, strength = 0): string => print(part, strength, names);
  const weak = (text: string, strength: number): string => (strength < place ? `(${text})` : text);
  switch (expression.op) {
    case "const":
      return printConstant(expression.value, place);
    case "channel":
      return names?.channels[expression.channel] ?? `channel ${expression.channel}`;
    case "local":
    case "secret":
      return expression.name;
    case "error":
    case "outcome":
      return expression.op;
    case "member":
      return `${inner(expression.of, POSTFIX)}${expression.optional ? "?." : "."}${expression.name}`;
    case "index":
      return `${inner(expression.of, POSTFIX)}[${inner(expression.at)}]`;
    case "not":
      return weak(`!${inner(expression.of, UNARY)}`, UNARY);
    case "negate":
      return weak(`-${inner(expression.of, UNARY)}`, UNARY);
    case "binary": {
      const strength = STRENGTH[expression.operator];
      const { left, operator, right } = expression;
      return weak(`${inner(left, strength)} ${operator} ${inner(right, strength + 1)}`, strength);
    }
    case "if":
      return weak(
        `${inner(expression.condition, 2)} ? ${inner(expression.then)} : ${inner(expression.else)}`,
        CONDITIONAL,
      );
    case "list":
      return `[${expression.items.map((item) => ("spread" in item ? `...${inner(item.spread, POSTFIX)}` : inner(item))).join(", ")}]`;
    case "record":
      return `{ ${expression.fields.map((field) => ("spread" in field ? `...${inner(field.spread, POSTFIX)}` : `${printName(field.name)}: ${inner(field.value)}`)).join(", ")} }`;
    case "template":
      return `\`${expression.parts.map((part) => (typeof part === "string" ? printTemplateText(part) : `\${${inner(written(part))}}`)).join("")}\``;
    case "notNull":
      return `${inner(expression.of, POSTFIX)}!`;
    case "fail":
      return `fail(${inner(expression.message)})`;
    case "comprehension":
      return printComprehension(expression, inner);
    case "library":
      return `${expression.name}(${expression.args.map((arg) => inner(arg)).join(", ")})`;
    case "call":
      return `${names?.functions[expression.function] ?? `function ${expression.function}`}(${expression.args.map((arg) => inner(arg)).join(", ")})`;
  }
}

/** A value of a command as its author wrote it: the compiler quotes it. */
function written(part: Expression): Expression {
  if (part.op !== "library" || part.name !== "quote" || part.args.length !== 2) return part;
  return part.args[0] ?? part;
}

/** Nested comprehensions of one literal as one: `[y for x in xs for y in x]`. */
function printComprehension(
  expression: Extract<Expression, { op: "comprehension" }>,
  inner: (part: Expression) => string,
): string {
  const clauses: string[] = [];
  let at = expression;
  for (;;) {
    const names = at.index === undefined ? at.item : `${at.item}, ${at.index}`;
    const filter = at.condition === undefined ? "" : ` if ${inner(at.condition)}`;
    clauses.push(` for ${names} in ${inner(at.list)}${filter}`);
    if (at.flat !== true) return `[${inner(at.value)}${clauses.join("")}]`;
    if (at.value.op !== "comprehension") return `flat([${inner(at.value)}${clauses.join("")}])`;
    at = at.value;
  }
}

function printConstant(value: unknown, place: number): string {
  const text = JSON.stringify(value);
  return typeof value === "number" && value < 0 && place > UNARY ? `(${text})` : text;
}

function printName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function printTemplateText(value: string): string {
  return value.replace(/[`\\]|\$\{/g, (match) => `\\${match}`).replace(/\n/g, "\\n");
}
