/**
 * What conditions speak about: a channel, or an expression that this domain does not look into
 * (`len(notes)`, `isGood(draft)`). Terms are taken as independent of each other; equal expressions are one term.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { type ExpressionNames, printExpression } from "../../runtime/expression/print-expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import {
  addNumbers,
  ALL_INTEGERS,
  ALL_NUMBERS,
  intersectNumbers,
  negateNumbers,
  numbersCompared,
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
  /** How people write it. */
  readonly text: string;
  /** Index of the channel that it is. */
  readonly channel: number | undefined;
  /** Channels that its value depends on. */
  readonly channels: readonly number[];
  /** Every value it can have. */
  readonly domain: ValueSet;
  /** Nothing but channels decides its value: asked again in the same state it has the same one. */
  readonly isSteady: boolean;
  /** An imported function is asked, of which nothing is known. */
  readonly isCall: boolean;
  /** Of a channel or a field of a record: where it is. */
  readonly path: string | undefined;
  /** How two values compare (`<`, `=` or `>`): the two, as people write them. */
  readonly compares: readonly [string, string] | undefined;
  /** What is evaluated; of a comparison, a call of `<=>` with both sides. */
  readonly expression: Expression;
}

/** A channel as far as conditions are concerned. */
export interface TermChannel {
  readonly name: string;
  readonly type: ValueType;
  /** Values that it can have at any time of a run: those of its type, and the one it starts with. */
  readonly domain: ValueSet;
}

export interface TermTable {
  readonly terms: Term[];
  readonly byKey: Map<string, Term>;
  readonly channels: readonly TermChannel[];
  readonly names: ExpressionNames;
  readonly resolve: TypeNames;
}

/** The type behind a name of the file. */
export type TypeNames = (name: string) => ValueType | undefined;

export function createTermTable(
  channels: readonly TermChannel[],
  functions: readonly string[] = [],
  resolve: TypeNames = () => undefined,
): TermTable {
  const names = { channels: channels.map((channel) => channel.name), functions };
  return { terms: [], byKey: new Map(), channels, names, resolve };
}

/**
 * The term for an expression. Its domain holds at every place that reads it; what only one place knows (a `match` behind a
 * write, say) belongs to the formula there.
 */
export function termOf(table: TermTable, expression: Expression): Term {
  const key = JSON.stringify(expression);
  return table.byKey.get(key) ?? addTerm(table, key, expression, undefined, undefined);
}

/** The term for how two values compare; its values are the strings "<", "=" and ">". */
export function comparisonTerm(table: TermTable, left: Expression, right: Expression): Term {
  // No function of the library has this name, so no expression has this key.
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
  key: string,
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
  table.byKey.set(key, term);
  return term;
}

/** Channels that an expression reads, each once. */
export function channelsOf(expression: Expression): number[] {
  const found = new Set<number>();
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "channel") found.add(part.channel);
    else for (const each of expressionParts(part)) pending.push(each);
  }
  return [...found].sort((a, b) => a - b);
}

function pathOf(expression: Expression): string | undefined {
  let path = "";
  let at = expression;
  for (; at.op === "member"; at = at.of) path = `.${at.name}${path}`;
  return at.op === "channel" ? `${at.channel}${path}` : undefined;
}

/** Whether a value depends on nothing but channels: the failure that led here is not read. Imported functions are pure here. */
function readsOnlyChannels(expression: Expression): boolean {
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "error") return false;
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

/** The longest string or list that fits into memory, and more. */
const LONGEST = 2 ** 32;
const TEXTS = new Set(["lower", "upper", "trim", "join"]);
const CONDITIONS = new Set(["contains", "startsWith", "endsWith", "matches"]);
const LISTS = new Set(["split", "keys", "values", "range", "unique", "sort"]);

/** Every value that an expression of this form can have. */
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
    case "+": {
      if (int === true) return numbersAsValues(ALL_INTEGERS);
      const [a, b] = [domainOf(table, left), domainOf(table, right)];
      const sums = numbersAsValues(addNumbers(a.numbers, b.numbers));
      const isText = (set: ValueSet): boolean => set.strings.negated || set.strings.values.length > 0;
      return isText(a) && isText(b) ? uniteValues(sums, ALL_TEXTS) : sums;
    }
    case "-":
      if (int === true) return numbersAsValues(ALL_INTEGERS);
      return numbersAsValues(addNumbers(domainOf(table, left).numbers, negateNumbers(domainOf(table, right).numbers)));
    case "*":
    case "/":
    case "%":
      return numbersAsValues(int === true ? ALL_INTEGERS : ALL_NUMBERS);
    case "??": {
      const first = domainOf(table, left);
      return first.null ? uniteValues({ ...first, null: false }, domainOf(table, right)) : first;
    }
    default:
      return BOTH_BOOLEANS;
  }
}

function domainOfLibrary(table: TermTable, { name, args }: Expression & { readonly op: "library" }): ValueSet {
  if (TEXTS.has(name)) return ALL_TEXTS;
  if (CONDITIONS.has(name)) return BOTH_BOOLEANS;
  if (LISTS.has(name)) return { ...NOTHING, other: true };
  switch (name) {
    case "len":
      return numbersAsValues(
        intersectNumbers(intersectNumbers(ALL_INTEGERS, numbersCompared(">=", 0)), numbersCompared("<=", LONGEST)),
      );
    case "round":
      return numbersAsValues(ALL_INTEGERS);
    case "abs":
      return numbersAsValues(intersectNumbers(ALL_NUMBERS, numbersCompared(">=", 0)));
    case "sum":
      return numbersAsValues(ALL_NUMBERS);
    case "min":
    case "max":
      return args.length === 1 ? uniteValues(numbersAsValues(ALL_NUMBERS), NULL_ONLY) : numbersAsValues(ALL_NUMBERS);
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

/** Whether an expression is a path through declared types: what it reads is there. */
export function hasKnownType(table: TermTable, expression: Expression): boolean {
  return typeOf(table, expression) !== undefined;
}

/** The declared type of a path through records and lists. */
function typeOf(table: TermTable, expression: Expression): { type: ValueType; orNull: boolean } | undefined {
  if (expression.op === "channel") {
    const channel = table.channels[expression.channel];
    return channel === undefined ? undefined : { type: channel.type, orNull: false };
  }
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
