/**
 * Terms: the variables of the abstract state. A term is a channel, or an opaque expression that the abstract domain
 * does not model further (`len(notes)`, `isGood(draft)`). Equal expressions are the same term. Different terms are
 * treated as independent.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { type ExpressionNames, printExpression } from "../../runtime/expression/print-expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { ERROR_TYPE, OUTCOME_TYPE } from "../types/failure-types.ts";
import type { Formula } from "./formula.ts";
import { calculate, calculateCall, SAFE_NUMBERS } from "./arithmetic.ts";
import {
  ALL_INTEGERS,
  ALL_NUMBERS,
  intersectNumbers,
  negateNumbers,
  numbersCompared,
  type NumberSet,
} from "./number-set.ts";
import {
  ANYTHING,
  BOTH_BOOLEANS,
  NOTHING,
  NULL_ONLY,
  numbersAsValues,
  uniteValues,
  type ValueSet,
  valueSetOf,
  valueSetOfJson,
  valueSetOfType,
} from "./value-set.ts";

export interface Term {
  readonly id: number;
  /** The source form, for messages. */
  readonly text: string;
  /** The index of the channel; `undefined` for an opaque expression. */
  readonly channel: number | undefined;
  /** Channels that its value depends on. */
  readonly channels: readonly number[];
  /** Every value it can have. */
  readonly domain: ValueSet;
  /** Its value depends on channels only: two evaluations in the same state have the same result. */
  readonly isSteady: boolean;
  /** It calls an imported function, whose result is unknown. */
  readonly isCall: boolean;
  /** The path of a channel or of a field of a record, such as `2.name`; `undefined` for other expressions. */
  readonly path: string | undefined;
  /** The source forms of both sides, if the term is the order of two values (`<`, `=` or `>`). */
  readonly compares: readonly [string, string] | undefined;
  /** The evaluated expression. For the order of two values, a call of `<=>` with both sides. */
  readonly expression: Expression;
}

/** A channel, as far as terms need it. */
export interface TermChannel {
  readonly name: string;
  readonly type: ValueType;
  /** All values that it can have during a run: the values of its type and its initial value. */
  readonly domain: ValueSet;
  /** Its value in every state, if no node writes it. */
  readonly fixed?: { readonly value: string | number | boolean | null } | undefined;
}

export interface TermTable {
  readonly terms: Term[];
  /** By JSON of the expression, without the terms of channels. */
  readonly byKey: Map<string, Term>;
  /** By channel. Most conditions are about a channel, so its term is found without a text. */
  readonly ofChannels: (Term | undefined)[];
  /** Equal conditions under which expressions have a value are one object: many nodes compute the same. */
  readonly definedConditions: Map<string, Formula>;
  readonly channels: readonly TermChannel[];
  readonly names: ExpressionNames;
  readonly resolve: TypeNames;
}

/** Returns the declared type with a name. */
export type TypeNames = (name: string) => ValueType | undefined;

export function createTermTable(
  channels: readonly TermChannel[],
  functions: readonly string[] = [],
  resolve: TypeNames = () => undefined,
): TermTable {
  const names = { channels: channels.map((channel) => channel.name), functions };
  return { terms: [], byKey: new Map(), ofChannels: [], definedConditions: new Map(), channels, names, resolve };
}

/**
 * The term of an expression. Its domain holds wherever it is read. Knowledge that holds at one condition only, such as
 * a narrower type, is stored in the `domain` of the formula there.
 */
export function termOf(table: TermTable, expression: Expression): Term {
  if (expression.op === "channel") {
    return (table.ofChannels[expression.channel] ??= addTerm(table, undefined, expression, undefined, undefined));
  }
  const key = JSON.stringify(expression);
  return table.byKey.get(key) ?? addTerm(table, key, expression, undefined, undefined);
}

/** The term of the order of two values. Its values are the strings "<", "=" and ">". */
export function comparisonTerm(table: TermTable, left: Expression, right: Expression): Term {
  // The library has no function with this name, so the key is unique.
  const expression: Expression = { op: "library", name: "<=>", args: [left, right] };
  const key = JSON.stringify(expression);
  const sides = [textOf(table, left), textOf(table, right)] as const;
  return table.byKey.get(key) ?? addTerm(table, key, expression, valueSetOf(["<", "=", ">"]), sides);
}

function textOf(table: TermTable, expression: Expression): string {
  return printExpression(expression, table.names);
}

function addTerm(
  table: TermTable,
  key: string | undefined,
  expression: Expression,
  domain: ValueSet | undefined,
  compares: readonly [string, string] | undefined,
): Term {
  const term: Term = {
    id: table.terms.length,
    text: compares === undefined ? textOf(table, expression) : compares.join(" ? "),
    channel: expression.op === "channel" ? expression.channel : undefined,
    channels: channelsOf(expression),
    domain: domain ?? domainOf(table, expression),
    isSteady: readsOnlyChannels(expression),
    isCall: someCall(expression),
    path: pathOf(expression),
    compares,
    expression,
  };
  table.terms.push(term);
  if (key !== undefined) table.byKey.set(key, term);
  return term;
}

/** Channels that an expression reads, each once. */
export function channelsOf(expression: Expression): readonly number[] {
  if (expression.op === "channel") return [expression.channel];
  const found: number[] = [];
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "channel") found.push(part.channel);
    else for (const each of expressionParts(part)) pending.push(each);
  }
  // Most expressions read one channel.
  return found.length < 2 ? found : [...new Set(found)].sort((a, b) => a - b);
}

/** Whether an expression reads nothing of a list but its last item. */
export function readsOnlyLast(expression: Expression, channel: number): boolean {
  const pending = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "channel" && part.channel === channel) return false;
    const [list] = part.op === "library" && part.name === "last" ? part.args : [];
    if (list?.op === "channel" && list.channel === channel) continue;
    for (const each of expressionParts(part)) pending.push(each);
  }
  return true;
}

function pathOf(expression: Expression): string | undefined {
  let path = "";
  let at = expression;
  for (; at.op === "member"; at = at.of) path = `.${at.name}${path}`;
  return at.op === "channel" ? `${at.channel}${path}` : undefined;
}

/** Whether a value depends on channels only, and not on `error`. Imported functions in conditions are pure. */
function readsOnlyChannels(expression: Expression): boolean {
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "error" || part.op === "outcome") return false;
    for (const each of expressionParts(part)) pending.push(each);
  }
  return true;
}

function someCall(expression: Expression): boolean {
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "call") return true;
    for (const each of expressionParts(part)) pending.push(each);
  }
  return false;
}

/** An upper bound for the length of a string or list that fits into memory. */
const LONGEST = 2 ** 32;
const TEXTS = new Set(["lower", "upper", "trim", "join", "replace", "padStart", "toJson"]);
const CONDITIONS = new Set(["contains", "startsWith", "endsWith", "matches", "some", "every"]);
const CONTAINERS = new Set([
  ...["split", "keys", "values", "range", "unique", "sort", "take", "drop", "flat", "reverse"],
  ...["entries", "fromEntries"],
]);

/** All values that an expression of this form can have. */
export function domainOf(table: TermTable, expression: Expression): ValueSet {
  switch (expression.op) {
    case "const":
      return valueSetOfJson(expression.value);
    case "channel":
      return table.channels[expression.channel]?.domain ?? ANYTHING;
    case "not":
      return BOTH_BOOLEANS;
    case "negate":
      return numbersAsValues(negateNumbers(domainOf(table, expression.of).numbers));
    case "notNull":
      return { ...domainOf(table, expression.of), null: false };
    case "fail":
      return NOTHING;
    case "template":
      return ALL_TEXTS;
    case "list":
    case "record":
    case "comprehension":
      return { ...NOTHING, other: true };
    case "if":
      return uniteValues(domainOf(table, expression.then), domainOf(table, expression.else));
    case "binary":
      return domainOfBinary(table, expression);
    case "library":
      return domainOfLibrary(table, expression);
    case "member":
    case "index": {
      const type = typeOf(table, expression);
      if (type === undefined) return ANYTHING;
      const values = valueSetOfType(type.type, table.resolve);
      return type.orNull ? uniteValues(values, NULL_ONLY) : values;
    }
    default:
      return ANYTHING;
  }
}

const ALL_TEXTS = valueSetOfType({ kind: "string" }, () => undefined);

function domainOfBinary(table: TermTable, expression: Expression & { readonly op: "binary" }): ValueSet {
  const { operator, left, right, int } = expression;
  switch (operator) {
    case "+":
    case "-":
    case "*":
    case "/":
    case "%": {
      const [a, b] = [domainOf(table, left), domainOf(table, right)];
      const numbers = calculate(operator, a.numbers, b.numbers);
      if (int === true) return numbersAsValues(intersectNumbers(numbers, ALL_INTEGERS));
      const results = numbersAsValues(numbers);
      return operator === "+" && hasTexts(a) && hasTexts(b) ? uniteValues(results, ALL_TEXTS) : results;
    }
    case "??": {
      const first = domainOf(table, left);
      return first.null ? uniteValues({ ...first, null: false }, domainOf(table, right)) : first;
    }
    default:
      return BOTH_BOOLEANS;
  }
}

export function hasTexts({ strings }: ValueSet): boolean {
  return strings.negated || strings.values.length > 0;
}

function domainOfLibrary(table: TermTable, { name, args }: Expression & { readonly op: "library" }): ValueSet {
  if (TEXTS.has(name)) return ALL_TEXTS;
  if (CONDITIONS.has(name)) return BOTH_BOOLEANS;
  if (CONTAINERS.has(name)) return { ...NOTHING, other: true };
  switch (name) {
    case "len":
      return numbersAsValues(
        intersectNumbers(intersectNumbers(ALL_INTEGERS, numbersCompared(">=", 0)), numbersCompared("<=", LONGEST)),
      );
    case "round":
    case "abs":
      return numbersAsValues(resultsOfCall(table, name, args) ?? ALL_NUMBERS);
    case "sum":
      return numbersAsValues(ALL_NUMBERS);
    case "parseInt":
      return uniteValues(numbersAsValues(intersectNumbers(ALL_INTEGERS, SAFE_NUMBERS)), NULL_ONLY);
    case "parseFloat":
      return uniteValues(numbersAsValues(ALL_NUMBERS), NULL_ONLY);
    case "min":
    case "max":
      return args.length === 1
        ? uniteValues(numbersAsValues(ALL_NUMBERS), NULL_ONLY)
        : numbersAsValues(resultsOfCall(table, name, args) ?? ALL_NUMBERS);
    case "first":
    case "last": {
      const list = args[0] === undefined ? undefined : typeOf(table, args[0]);
      const type = list?.type.kind === "ref" ? table.resolve(list.type.name) : list?.type;
      return type?.kind === "list" ? uniteValues(valueSetOfType(type.item, table.resolve), NULL_ONLY) : ANYTHING;
    }
    default:
      return ANYTHING;
  }
}

function resultsOfCall(table: TermTable, name: string, args: readonly Expression[]): NumberSet | undefined {
  return calculateCall(
    name,
    args.map((part) => domainOf(table, part).numbers),
  );
}

/** Whether an expression is a path through declared types. Such a path always has a value. */
export function hasKnownType(table: TermTable, expression: Expression): boolean {
  return typeOf(table, expression) !== undefined;
}

/** The declared type of a path through records and lists, which begins at a channel, `outcome` or `error`. */
function typeOf(table: TermTable, expression: Expression): { type: ValueType; orNull: boolean } | undefined {
  if (expression.op === "channel") {
    const channel = table.channels[expression.channel];
    return channel === undefined ? undefined : { type: channel.type, orNull: false };
  }
  // A field of `outcome` or `error` is read only where it is not null, or with `?.`.
  if (expression.op === "outcome") return { type: OUTCOME_TYPE, orNull: false };
  if (expression.op === "error") return { type: ERROR_TYPE, orNull: false };
  if (expression.op !== "member" && expression.op !== "index") return undefined;
  const outer = typeOf(table, expression.of);
  if (outer === undefined) return undefined;
  let { type } = outer;
  if (type.kind === "ref") {
    const target = table.resolve(type.name);
    if (target === undefined) return undefined;
    type = target;
  }
  if (expression.op === "member" && type.kind === "record") {
    const field = type.fields.find((candidate) => candidate.name === expression.name);
    if (field === undefined) return undefined;
    return { type: field.type, orNull: field.optional === true || expression.optional === true || outer.orNull };
  }
  if (expression.op === "index" && type.kind === "list") return { type: type.item, orNull: true };
  if (expression.op === "index" && type.kind === "map") return { type: type.value, orNull: true };
  return undefined;
}
