/** Expressions of the language as JSONata, the query language of state machines. */
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Json } from "../../runtime/value/json.ts";
import { constantOf } from "./constant.ts";

/** What an expression reads. */
export interface JsonataScope {
  /** The text for a channel, by its index in the bound graph. */
  readonly channel: (index: number) => string;
  readonly typeOf: (index: number) => ValueType | undefined;
  /** The texts of the variables of `for`. */
  readonly locals: ReadonlyMap<string, string>;
}

/** JSONata has no form for a part of an expression. */
export class NoJsonata extends Error {}

const OPERATORS: Readonly<Record<string, string>> = { "&&": "and", "||": "or", "==": "=" };

/** Functions with the same meaning and the same arguments. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["upper", "$uppercase"],
  ["lower", "$lowercase"],
  ["sum", "$sum"],
  ["unique", "$distinct"],
  ["reverse", "$reverse"],
  ["split", "$split"],
  ["join", "$join"],
  ["replace", "$replace"],
  ["abs", "$abs"],
]);

/** A value of a state: JSON for a constant, else `{% … %}`. @throws NoJsonata */
export function jsonataValue(expression: Expression, scope: JsonataScope): Json {
  const value = constantOf(expression);
  if (value !== undefined && !JSON.stringify(value).includes("{%")) return value;
  return inPercent(jsonataText(expression, scope));
}

export function inPercent(text: string): string {
  return `{% ${text} %}`;
}

/** The longest expression: alternatives repeat a part of their text. */
const MOST_TEXT = 20_000;

/** @throws NoJsonata */
export function jsonataText(expression: Expression, scope: JsonataScope): string {
  const text = unboundedText(expression, scope);
  if (text.length > MOST_TEXT) throw new NoJsonata(`the expression has more than ${MOST_TEXT} characters in JSONata`);
  return text;
}

function unboundedText(expression: Expression, scope: JsonataScope): string {
  const say = (inner: Expression): string => jsonataText(inner, scope);
  switch (expression.op) {
    case "const":
      return JSON.stringify(expression.value);
    case "channel":
      return scope.channel(expression.channel);
    case "local": {
      const text = scope.locals.get(expression.name);
      if (text === undefined) throw new NoJsonata(`the variable \`${expression.name}\` is not known here`);
      return text;
    }
    case "member":
    case "index": {
      const path = accessText(expression, scope);
      // JSONata has no value for a missing field, and an assignment of no value fails.
      return mayMiss(expression) ? `($exists(${path}) ? ${path} : null)` : path;
    }
    case "not":
      return `$not(${say(expression.of)})`;
    case "negate":
      return `(-${say(expression.of)})`;
    case "binary":
      return binaryText(expression, scope);
    case "if":
      return `(${say(expression.condition)} ? ${say(expression.then)} : ${say(expression.else)})`;
    case "list":
      return `[${expression.items
        .map((item) => {
          if ("spread" in item) throw new NoJsonata("`...` in a list has no form in JSONata");
          return say(item);
        })
        .join(", ")}]`;
    case "record":
      return `{${expression.fields
        .map((field) => {
          if ("spread" in field) throw new NoJsonata("`...` in a record has no form in JSONata");
          return `${JSON.stringify(field.name)}: ${say(field.value)}`;
        })
        .join(", ")}}`;
    case "template":
      return `(${expression.parts.map((part) => (typeof part === "string" ? JSON.stringify(part) : say(part))).join(" & ") || '""'})`;
    case "comprehension":
      return comprehensionText(expression, scope);
    case "library":
      return callText(expression, scope);
    case "call":
      throw new NoJsonata("a state machine cannot call an imported function in an expression");
    case "secret":
      throw new NoJsonata("a state machine has no secrets");
    case "error":
    case "outcome":
      throw new NoJsonata(`\`${expression.op}\` has no form in a state machine`);
    default:
      throw new NoJsonata("the expression fails for some values, and JSONata has no such failure");
  }
}

type Access = Extract<Expression, { readonly op: "member" | "index" }>;

/** A path of fields and positions. JSONata goes on from a missing value without an error. */
function accessText(expression: Access, scope: JsonataScope): string {
  const { of } = expression;
  const inner = of.op === "member" || of.op === "index" ? accessText(of, scope) : jsonataText(of, scope);
  if (inner.length > MOST_TEXT) throw new NoJsonata("the path is too long for JSONata");
  if (expression.op === "member") return `${inner}.${fieldText(expression.name)}`;
  const at = constantOf(expression.at);
  if (typeof at === "number") return `${inner}[${at}]`;
  if (typeof at === "string") return `${inner}.${fieldText(at)}`;
  throw new NoJsonata("a position that is computed has no form in JSONata");
}

function mayMiss(expression: Expression): boolean {
  if (expression.op === "index") return true;
  if (expression.op !== "member") return false;
  return expression.optional === true || expression.absent === true || mayMiss(expression.of);
}

/** The values of a chain of `??`, from left to right. */
function alternatives(expression: Expression): readonly Expression[] {
  const found: Expression[] = [];
  let rest = expression;
  while (rest.op === "binary" && rest.operator === "??") {
    found.unshift(rest.right);
    rest = rest.left;
  }
  return [rest, ...found];
}

function binaryText(expression: Extract<Expression, { readonly op: "binary" }>, scope: JsonataScope): string {
  const { operator, left, right, int } = expression;
  if (operator === "??") {
    const texts = alternatives(expression).map((each) => jsonataText(each, scope));
    return texts.reduceRight((otherwise, text) => `(${text} != null ? ${text} : ${otherwise})`);
  }
  const [a, b] = [jsonataText(left, scope), jsonataText(right, scope)];
  if (operator === "+" && [left, right].some((side) => kindOf(side, scope) === "string")) return `(${a} & ${b})`;
  if (operator === "/" && int === true) throw new NoJsonata("a division of integers has no form in JSONata");
  return `(${a} ${OPERATORS[operator] ?? operator} ${b})`;
}

function comprehensionText(
  { list, item, index, flat, value, condition }: Extract<Expression, { readonly op: "comprehension" }>,
  scope: JsonataScope,
): string {
  if (index !== undefined || flat === true)
    throw new NoJsonata("a list of several loops, or with positions, has no form in JSONata");
  const inner: JsonataScope = { ...scope, locals: new Map([...scope.locals, [item, `$${item}`]]) };
  const kept = jsonataText(list, scope);
  return `[$map(${condition === undefined ? kept : filterText(kept, item, condition, inner)}, function($${item}) { ${jsonataText(value, inner)} })]`;
}

/** The items for which a condition holds. @throws NoJsonata */
export function filterText(list: string, item: string, condition: Expression, scope: JsonataScope): string {
  const inner: JsonataScope = { ...scope, locals: new Map([...scope.locals, [item, `$${item}`]]) };
  return `[$filter(${list}, function($${item}) { ${jsonataText(condition, inner)} })]`;
}

function callText({ name, args }: Extract<Expression, { readonly op: "library" }>, scope: JsonataScope): string {
  const said = args.map((arg) => jsonataText(arg, scope));
  if (name === "len" && args[0] !== undefined) {
    const kind = kindOf(args[0], scope);
    if (kind === "other")
      throw new NoJsonata("the length of a value that may be a text or a list has no form in JSONata");
    return `${kind === "string" ? "$length" : "$count"}(${said.join(", ")})`;
  }
  if (name === "contains" && args[0] !== undefined) {
    if (kindOf(args[0], scope) !== "string")
      throw new NoJsonata("`contains` of a value that may be a list has no form in JSONata");
    return `$contains(${said.join(", ")})`;
  }
  if ((name === "max" || name === "min") && args.length > 1) return `$${name}([${said.join(", ")}])`;
  const known = FUNCTIONS.get(name);
  if (known === undefined) throw new NoJsonata(`\`${name}\` has no form in JSONata`);
  return `${known}(${said.join(", ")})`;
}

function kindOf(expression: Expression, scope: JsonataScope): "string" | "list" | "other" {
  switch (expression.op) {
    case "const":
      return typeof expression.value === "string" ? "string" : Array.isArray(expression.value) ? "list" : "other";
    case "template":
      return "string";
    case "list":
    case "comprehension":
      return "list";
    case "channel": {
      const type = scope.typeOf(expression.channel);
      const kinds = new Set(
        (type?.kind === "union" ? type.members : [type]).map((each) =>
          each?.kind === "literal" && typeof each.value === "string" ? "string" : each?.kind,
        ),
      );
      return kinds.size !== 1 ? "other" : kinds.has("string") ? "string" : kinds.has("list") ? "list" : "other";
    }
    default:
      return "other";
  }
}

/** A field behind a dot. */
export function fieldText(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name) && !["and", "or", "in"].includes(name)) return name;
  if (name.includes("`")) throw new NoJsonata(`the name ${JSON.stringify(name)} has no form in JSONata`);
  return `\`${name}\``;
}
