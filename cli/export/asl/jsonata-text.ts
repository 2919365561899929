/** Expressions of the language as JSONata, the query language of state machines. */
import type { Expression } from "../../../runtime/expression/expression.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { Helper } from "../../../importers/asl/stub-functions.ts";
import { constantOf } from "../constant.ts";
import { keysOf } from "./imported-stubs.ts";

/** What an expression reads. */
export interface JsonataScope {
  /** The text for a channel, by its index in the bound graph. */
  readonly channel: (index: number) => string;
  readonly typeOf: (index: number) => ValueType | undefined;
  /** The texts of the variables of `for`. */
  readonly locals: ReadonlyMap<string, string>;
  /** The helper of imported machines that an imported function is, by its index in the bound graph. */
  readonly helper: (index: number) => Helper | undefined;
  /** The variable with the caught error. */
  readonly error: () => string;
  /** The variable with the result of a function that a state before calls; absent where the call may not be needed, or differs by item. */
  readonly called?: (call: ExpressionCall) => string;
}

/** A call of an imported function in an expression. */
export type ExpressionCall = Extract<Expression, { readonly op: "call" }>;

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
  ["fromJson", "$parse"],
]);

/** A value of a state: JSON for a constant, else `{% … %}`. @throws NoJsonata */
export function jsonataValue(expression: Expression, scope: JsonataScope): Json {
  const value = constantOf(expression);
  return value === undefined ? inPercent(jsonataText(expression, scope)) : constantValue(value);
}

/** A constant of a state. A text that looks like JSONata would be computed. */
export function constantValue(value: Json): Json {
  const text = JSON.stringify(value);
  return text.includes("{%") ? inPercent(text) : value;
}

/** Each field of a record by itself, which is easier to read; `undefined` for other expressions. @throws NoJsonata */
export function jsonataFields(expression: Expression, scope: JsonataScope): Record<string, Json> | undefined {
  if (expression.op !== "record" || expression.fields.some((field) => "spread" in field)) return undefined;
  return Object.fromEntries(
    expression.fields.flatMap((field) => ("spread" in field ? [] : [[field.name, jsonataValue(field.value, scope)]])),
  );
}
export function inPercent(text: string): string {
  return `{% ${text} %}`;
}

/** A part that is computed only if another one has a certain value, or for each item. */
function withoutCalls({ channel, typeOf, locals, helper, error }: JsonataScope): JsonataScope {
  return { channel, typeOf, locals, helper, error };
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
  const sayMaybe = (inner: Expression): string => jsonataText(inner, withoutCalls(scope));
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
    case "error":
      return `{${ERROR_FIELDS.map((name) => `"${name}": ${errorField(name, scope)}`).join(", ")}}`;
    case "member":
    case "index": {
      if (expression.op === "member" && expression.of.op === "error") return errorField(expression.name, scope);
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
      return `(${say(expression.condition)} ? ${sayMaybe(expression.then)} : ${sayMaybe(expression.else)})`;
    case "list":
      // A list in a list of JSONata becomes a part of it.
      return `[${expression.items
        .map((item) => ("spread" in item ? say(item.spread) : itemText(item, say(item), scope)))
        .join(", ")}]`;
    case "record":
      return recordText(expression, scope);
    case "notNull": {
      const of = say(expression.of);
      return `(${of} != null ? ${of} : $error("a value is missing"))`;
    }
    case "template":
      return `(${expression.parts.map((part) => (typeof part === "string" ? JSON.stringify(part) : say(part))).join(" & ") || '""'})`;
    case "comprehension":
      return comprehensionText(expression, scope);
    case "library":
      return callText(expression, scope);
    case "call": {
      const helper = scope.helper(expression.function);
      if (helper === undefined) {
        if (scope.called !== undefined) return scope.called(expression);
        throw new NoJsonata(
          "a state machine cannot call an imported function for each item, or in a part that is not always computed",
        );
      }
      return helperText(helper, expression.args, scope);
    }
    case "secret":
      throw new NoJsonata("a state machine has no secrets");
    case "outcome":
      throw new NoJsonata("`outcome` has no form in a state machine");
    default:
      throw new NoJsonata("the expression fails for some values, and JSONata has no such failure");
  }
}

/** An item of a list. One that is a list, or may be one, needs a list of its own around it. */
function itemText(item: Expression, text: string, scope: JsonataScope): string {
  // A list that is written in place stays one.
  if (PLAIN.has(item.op) || item.op === "list" || item.op === "comprehension" || item.op === "const") return text;
  switch (kindOf(item, scope)) {
    case "string":
      return text;
    case "list":
      return `[${text}]`;
    default:
      return `($type(${text}) = "array" ? [[${text}]] : ${text})`;
  }
}

/** Expressions whose value is never a list. */
const PLAIN: ReadonlySet<Expression["op"]> = new Set(["not", "negate", "template", "record", "error"]);

function recordText({ fields }: Extract<Expression, { readonly op: "record" }>, scope: JsonataScope): string {
  const objects: string[] = [];
  let own: string[] = [];
  const close = (): void => {
    if (own.length > 0) objects.push(`{${own.join(", ")}}`);
    own = [];
  };
  for (const field of fields) {
    if ("spread" in field) {
      close();
      objects.push(jsonataText(field.spread, scope));
    } else own.push(`${JSON.stringify(field.name)}: ${jsonataText(field.value, scope)}`);
  }
  close();
  const [only = "{}"] = objects;
  return objects.length > 1 || fields.some((field) => "spread" in field) ? `$merge([${objects.join(", ")}])` : only;
}

/** The fields of a caught error that a machine knows. */
const ERROR_FIELDS = ["name", "message", "code"] as const;

function errorField(name: string, scope: JsonataScope): string {
  const variable = scope.error();
  switch (name) {
    case "name":
      return `${variable}.Error`;
    case "message":
      return `${variable}.Cause`;
    case "code":
      return `(${variable}.Error = "States.Timeout" ? "NG_NODE_TIMEOUT" : "NG_NODE_FAILED")`;
    default:
      throw new NoJsonata(`\`error.${name}\` has no form: a caught error has a name and a message`);
  }
}

/** A call of a function that `ngc import` has written. @throws NoJsonata */
export function helperText(helper: Helper, args: readonly Expression[], scope: JsonataScope): string {
  const said = args.map((arg) => jsonataText(arg, scope));
  const [value = "null", , result = "null"] = said;
  switch (helper) {
    case "untyped":
      return value;
    case "at": {
      const path = `${value}${constantPath(args[1])
        .map((key) => (typeof key === "number" ? `[${key}]` : `.${fieldText(key)}`))
        .join("")}`;
      return `($exists(${path}) ? ${path} : null)`;
    }
    case "put": {
      const keys = constantPath(args[1]).map((key) => {
        if (typeof key === "number") throw new NoJsonata("an item that `put` replaces has no form in JSONata");
        return key;
      });
      // A value that is no object is replaced by one.
      const objectAt = (depth: number): string => {
        const path = [value, ...keys.slice(0, depth).map(fieldText)].join(".");
        return `($type(${path}) = "object" ? ${path} : {})`;
      };
      return keys.reduceRight(
        (inner, key, depth) => `$merge([${objectAt(depth)}, {${JSON.stringify(key)}: ${inner}}])`,
        result,
      );
    }
    case "kindOf":
      return `$lookup({"null": "null", "boolean": "boolean", "number": "number", "string": "string", "array": "list", "object": "record"}, $type(${value}))`;
    case "time":
      return `$toMillis(${value})`;
    case "millisecondsUntil":
      return `$max([0, $toMillis(${value}) - $millis()])`;
    case "raise":
      throw new NoJsonata("`raise` fails, and has no value");
  }
}

function constantPath(path: Expression | undefined): readonly (string | number)[] {
  const text = path === undefined ? undefined : constantOf(path);
  if (typeof text !== "string") throw new NoJsonata("a path that is computed has no form in JSONata");
  return keysOf(text);
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
    const texts = alternatives(expression).map((each, index) =>
      jsonataText(each, index === 0 ? scope : withoutCalls(scope)),
    );
    return texts.reduceRight((otherwise, text) => `(${text} != null ? ${text} : ${otherwise})`);
  }
  const isMaybe = operator === "&&" || operator === "||";
  const [a, b] = [jsonataText(left, scope), jsonataText(right, isMaybe ? withoutCalls(scope) : scope)];
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
  const inner = withItem(item, scope);
  const kept = jsonataText(list, scope);
  return `[$map(${condition === undefined ? kept : filterText(kept, item, condition, inner)}, function(${itemVariable(item)}) { ${jsonataText(value, inner)} })]`;
}

function withItem(item: string, scope: JsonataScope): JsonataScope {
  return { ...withoutCalls(scope), locals: new Map([...scope.locals, [item, itemVariable(item)]]) };
}

function itemVariable(item: string): string {
  return `$${JSONATA_FUNCTIONS.has(item) ? `${item}_item` : item}`;
}

/** The functions that the texts call. A variable of the same name would hide one. */
export const JSONATA_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "abs append ceil contains count distinct error exists filter floor join keys length lookup lowercase map max merge millis min " +
    "not parse replace reverse split string substring sum toMillis type uppercase"
  ).split(" "),
);

/** The items for which a condition holds. @throws NoJsonata */
export function filterText(list: string, item: string, condition: Expression, scope: JsonataScope): string {
  const inner = withItem(item, scope);
  return `[$filter(${list}, function(${itemVariable(item)}) { ${jsonataText(condition, inner)} })]`;
}

function callText({ name, args }: Extract<Expression, { readonly op: "library" }>, scope: JsonataScope): string {
  const said = args.map((arg) => jsonataText(arg, scope));
  if (name === "len" && args[0] !== undefined) {
    const kind = kindOf(args[0], scope);
    if (kind === "other") {
      const [of] = said;
      return `($type(${of}) = "string" ? $length(${of}) : $type(${of}) = "object" ? $count($keys(${of})) : $count(${of}))`;
    }
    return `${kind === "string" ? "$length" : "$count"}(${said.join(", ")})`;
  }
  if (name === "contains" && args[0] !== undefined) {
    const [of, part] = said;
    const kind = kindOf(args[0], scope);
    if (kind === "list") return `(${part} in ${of})`;
    if (kind === "other") return `($type(${of}) = "string" ? $contains(${of}, ${part}) : ${part} in ${of})`;
    return `$contains(${said.join(", ")})`;
  }
  if ((name === "max" || name === "min") && args.length > 1) return `$${name}([${said.join(", ")}])`;
  if (name === "toJson") {
    // An item of a list, because the text of a text has no quotes. A list in a list becomes a part of it.
    const list = `$string([${said[0]!}])`;
    return `($type(${said[0]!}) = "array" ? ${list} : $substring(${list}, 1, $length(${list}) - 2))`;
  }
  if (name === "round" && args.length === 1) return `$floor(${said[0]!} + 0.5)`;
  const pattern = name === "matches" && args[1] !== undefined ? constantOf(args[1]) : undefined;
  if (typeof pattern === "string") return `$contains(${said[0]!}, ${regexText(pattern)})`;
  const known = FUNCTIONS.get(name);
  if (known === undefined) throw new NoJsonata(`\`${name}\` has no form in JSONata`);
  return `${known}(${said.join(", ")})`;
}

/** A pattern of JavaScript between slashes. */
function regexText(pattern: string): string {
  if (pattern === "" || /[\n\r]/.test(pattern)) throw new NoJsonata("this pattern has no form in JSONata");
  return `/${pattern.replace(/\\[^]|\//g, (part) => (part === "/" ? "\\/" : part))}/`;
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
