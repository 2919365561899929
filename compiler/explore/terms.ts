/**
 * What conditions speak about: a channel, or an expression that this domain does not look into
 * (`len(notes)`, `isGood(draft)`). Terms are taken as independent of each other; equal expressions are one term.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { type ExpressionNames, printExpression } from "../../runtime/expression/print-expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { ALL_INTEGERS, intersectNumbers, numbersCompared } from "./number-set.ts";
import {
  ANYTHING,
  NOTHING,
  NULL_ONLY,
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

/** The term for an expression; `domain` where the caller knows better than the expression's own shape says. */
export function termOf(table: TermTable, expression: Expression, domain?: ValueSet): Term {
  const key = JSON.stringify(expression);
  return table.byKey.get(key) ?? addTerm(table, key, expression, domain, undefined);
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

function domainOf(table: TermTable, expression: Expression): ValueSet {
  if (expression.op === "const") return valueSetOfJson(expression.value);
  if (expression.op === "library") {
    if (expression.name === "len") {
      return { ...NOTHING, numbers: intersectNumbers(ALL_INTEGERS, numbersCompared(">=", 0)) };
    }
    return ANYTHING;
  }
  if (expression.op === "channel") return table.channels[expression.channel]?.domain ?? ANYTHING;
  const type = typeOf(table, expression);
  if (type === undefined) return ANYTHING;
  const values = valueSetOfType(type.type, table.resolve);
  return type.orNull ? uniteValues(values, NULL_ONLY) : values;
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
