/**
 * Expressions as TypeScript: calls of the operations that the interpreter calls, in the same order, so both return the
 * same value or fail for the same reason. `$` is the module of the operations, `$s` the scope, `$f` the table's
 * functions by index, and `$fuel` the remaining rounds of comprehensions. Names from graphs end with `$`, so they
 * collide neither with these nor with keywords.
 */
import type { BinaryOperator, Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import { isLibraryName } from "../../runtime/expression/library.ts";
import type { Json } from "../../runtime/value/json.ts";
import { literal, quote } from "./quote.ts";

export interface ExpressionNames {
  /** Name of a function in messages, by index. */
  readonly functions: readonly string[];
  /** The suffix of a channel's value: `!` in TypeScript, because `tsc` does not know that every index is in range. */
  readonly nonNull: "!" | "";
  /**
   * Writes a list or record as a constant of the module, so that it is created once, and returns the constant's name.
   */
  readonly constant: (value: Json) => string;
}

/** An expression as an arrow function `($s, $f) => …`. */
export function expressionToTypeScript(expression: Expression, names: ExpressionNames): string {
  const writer: Writer = { names, locals: [], used: new Set(), depth: 0, parts: [] };
  const body = write(expression, writer);
  const parameters = parametersOf(["$s", "$f"], writer);
  const fuel = writer.used.has("$fuel") ? ["const $fuel = $.fuel();"] : [];
  return `${parameters} => ${bodyOf([...fuel, ...writer.parts], body)}`;
}

function bodyOf(statements: readonly string[], value: string): string {
  return statements.length === 0 ? value : `{ ${statements.join(" ")} return ${value}; }`;
}

/** TypeScript 5.9 and 6 exhaust their stack with some hundred levels of calls and parentheses. */
const MOST_NESTED = 100;

interface Writer {
  readonly names: ExpressionNames;
  /** The variables of the enclosing comprehensions. */
  readonly locals: readonly string[];
  /** The variables that the text reads. */
  readonly used: Set<string>;
  /** The number of levels around the text, within its function. */
  readonly depth: number;
  /** Functions for the parts that nest deeper than `MOST_NESTED`. */
  readonly parts: string[];
}

const EAGER: Readonly<Record<Exclude<BinaryOperator, "&&" | "||" | "??">, string>> = {
  "+": "add",
  "-": "subtract",
  "*": "multiply",
  "/": "divide",
  "%": "remainder",
  "<": "less",
  "<=": "lessOrEqual",
  ">": "greater",
  ">=": "greaterOrEqual",
  "==": "equal",
  "!=": "notEqual",
  in: "has",
};

function write(expression: Expression, outer: Writer): string {
  if (outer.depth >= MOST_NESTED) return writePart(expression, outer);
  const writer = { ...outer, depth: outer.depth + 1 };
  const part = (inner: Expression): string => write(inner, writer);
  const parts = (inner: readonly Expression[]): string => inner.map(part).join(", ");
  switch (expression.op) {
    case "const":
      return writeConstant(expression.value, writer);
    case "channel":
      return `${use("$s", writer)}.state[${expression.channel}]${writer.names.nonNull}`;
    case "local":
      return writer.locals.includes(expression.name)
        ? use(`${expression.name}$`, writer)
        : `$.local(${use("$s", writer)}.locals, ${quote(expression.name)})`;
    case "error":
      return `(${use("$s", writer)}.error ?? null)`;
    case "outcome":
      return `(${use("$s", writer)}.outcome ?? null)`;
    case "secret":
      return `$.secret(${use("$s", writer)}.secrets, ${quote(expression.name)})`;
    case "member":
      return `$.member(${part(expression.of)}, ${quote(expression.name)}, ${expression.optional === true}, ${expression.absent === true})`;
    case "index":
      return `$.index(${part(expression.of)}, ${part(expression.at)})`;
    case "not":
      return `!$.truth(${part(expression.of)})`;
    case "negate":
      return `$.negate(${part(expression.of)})`;
    case "notNull":
      return `$.notNull(${part(expression.of)})`;
    case "fail":
      return `$.failWith(${part(expression.message)})`;
    case "binary":
      return writeBinary(expression, writer);
    case "if":
      return `($.truth(${part(expression.condition)}) ? ${part(expression.then)} : ${part(expression.else)})`;
    case "list":
      return writeList(expression, writer);
    case "record":
      return `$.record([${expression.fields
        .map((field) =>
          "spread" in field ? `[${part(field.spread)}]` : `[${quote(field.name)}, ${part(field.value)}]`,
        )
        .join(", ")}])`;
    case "template":
      return `$.concat([${expression.parts
        .map((item) => (typeof item === "string" ? quote(item) : `$.text(${part(item)})`))
        .join(", ")}])`;
    case "comprehension":
      return writeComprehension(expression, writer);
    case "library":
      return isLibraryName(expression.name)
        ? `$.library.${expression.name}([${parts(expression.args)}])`
        : `$.unknownOperation(${quote(expression.name)})`;
    case "call": {
      const name = writer.names.functions[expression.function] ?? `function ${expression.function}`;
      return `$.callFunction(${use("$f", writer)}[${expression.function}], [${parts(expression.args)}], ${quote(name)})`;
    }
  }
}

/** A call of a function for a part, so that the part is evaluated where it stands. */
function writePart(expression: Expression, writer: Writer): string {
  const text = write(expression, { ...writer, depth: 0 });
  const name = `$part${writer.parts.length}`;
  // The annotation saves `tsc` from checking the parts within each other.
  writer.parts.push(`const ${name} = ()${writer.names.nonNull === "!" ? ": $.Json" : ""} => ${text};`);
  return `${name}()`;
}

function use(name: string, { used }: Writer): string {
  used.add(name);
  return name;
}

/** Parameters without those at the end that are not read. The name of another such parameter is `_`, because a project may refuse it otherwise. */
function parametersOf(names: readonly string[], { used }: Writer): string {
  const last = names.findLastIndex((name) => used.has(name));
  return `(${names
    .slice(0, last + 1)
    .map((name) => (used.has(name) ? name : "_"))
    .join(", ")})`;
}

/** An arrow function with variables of a comprehension. */
function writeArrow(body: Expression, variables: readonly string[], writer: Writer): string {
  const inner: Writer = { ...writer, locals: [...writer.locals, ...variables], used: new Set(), parts: [] };
  const text = write(body, inner);
  const parameters = variables.map((name) => `${name}$`);
  for (const name of inner.used) if (!parameters.includes(name)) writer.used.add(name);
  return `${parametersOf(parameters, inner)} => ${bodyOf(inner.parts, text)}`;
}

function writeConstant(value: Json, writer: Writer): string {
  if (typeof value === "object" && value !== null) return writer.names.constant(value);
  return typeof value === "number" && value < 0 ? `(${literal(value)})` : literal(value);
}

function writeList(expression: Extract<Expression, { op: "list" }>, writer: Writer): string {
  if (!expression.items.some((item) => "spread" in item)) {
    return `$.list([${expressionParts(expression)
      .map((item) => write(item, writer))
      .join(", ")}])`;
  }
  const parts = expression.items.map((item) =>
    "spread" in item ? `$.listOf(${write(item.spread, writer)})` : `[${write(item, writer)}]`,
  );
  return `$.joinLists([${parts.join(", ")}])`;
}

function writeBinary(expression: Extract<Expression, { op: "binary" }>, writer: Writer): string {
  const left = write(expression.left, writer);
  const right = write(expression.right, writer);
  switch (expression.operator) {
    case "&&":
    case "||":
      return `($.truth(${left}) ${expression.operator} $.truth(${right}))`;
    case "??":
      return `(${left} ?? ${right})`;
    default: {
      const call = `$.${EAGER[expression.operator]}(${left}, ${right})`;
      return expression.int === true ? `$.int(${call})` : call;
    }
  }
}

function writeComprehension(expression: Extract<Expression, { op: "comprehension" }>, writer: Writer): string {
  const list = write(expression.list, writer);
  const variables = expression.index === undefined ? [expression.item] : [expression.item, expression.index];
  const { condition, value } = expression;
  const filter = condition === undefined ? "undefined" : writeArrow(condition, variables, writer);
  const result = writeArrow(value, variables, writer);
  return `$.comprehension(${list}, ${use("$fuel", writer)}, ${filter}, ${result}, ${expression.flat === true})`;
}
