/**
 * Witnesses: sample values which show that a condition can be true. The runtime's evaluator computes opaque terms,
 * which the abstract domain does not model (`len(notes) * 2`), for samples of the channels that they read. A sample
 * proves that a value is possible. The absence of a sample proves nothing.
 */
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { equal, less } from "../../runtime/expression/operations.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { replaceParts } from "./replace-parts.ts";
import type { Term, TermTable, TypeNames } from "./terms.ts";
import { areDisjoint, NOTHING, type ValueSet, valueSetKey, valueSetOfJson } from "./value-set.ts";

/** Whether the term has a value of the set for some sample. */
export type Witnesses = (term: Term, set: ValueSet) => boolean;

/** Evaluations for one term and set. */
const MAX_SAMPLES = 600;
const MAX_PER_CHANNEL = 200;
const LONGEST_SAMPLE = 40;

export function createWitnesses(table: TermTable): Witnesses {
  const known = new Map<string, boolean>();
  return (term, set) => {
    const key = `${term.id}/${valueSetKey(set)}`;
    let found = known.get(key);
    if (found === undefined) {
      found = isWitnessed(table, term, set);
      known.set(key, found);
    }
    return found;
  };
}

function isWitnessed(table: TermTable, { expression }: Term, set: ValueSet): boolean {
  // An imported function can return any value, so each call becomes an additional channel of type `json`.
  const calls = new Map<string, number>();
  const free = replaceParts(expression, (part) => {
    if (part.op !== "call") return undefined;
    const key = JSON.stringify(part);
    const channel = calls.get(key) ?? table.channels.length + calls.size;
    calls.set(key, channel);
    return { op: "channel", channel };
  });
  const constants = constantsOf(free, set);
  const variables = channelsIn(free).map((channel) => {
    const type = table.channels[channel]?.type ?? { kind: "json" as const };
    return { channel, values: unique(samplesOf(type, constants, table.resolve, 3)).slice(0, MAX_PER_CHANNEL) };
  });
  const evaluate = evaluatorOf(free);
  const total = variables.reduce((product, { values }) => product * values.length, 1);
  const count = Math.min(total, MAX_SAMPLES);
  const state: Json[] = [];
  for (let sample = 0; sample < count; sample++) {
    // If there are too many combinations, the samples are spread over all of them.
    let at = total <= MAX_SAMPLES ? sample : Math.floor((sample * total) / count) + (sample % 7);
    for (const { channel, values } of variables) {
      state[channel] = values[at % values.length]!;
      at = Math.floor(at / values.length);
    }
    let value: Json;
    try {
      value = evaluate(state);
    } catch {
      // The expression has no value for this sample.
      continue;
    }
    if (!areDisjoint(valueSetOfJson(value), set)) return true;
  }
  return false;
}

function evaluatorOf(expression: Expression): (state: readonly Json[]) => Json {
  if (expression.op !== "library" || (expression.name as string) !== "<=>") {
    const evaluate = compileExpression(expression);
    return (state) => evaluate({ state });
  }
  const [left, right] = expression.args.map((side) => compileExpression(side));
  return (state) => {
    const [a, b] = [left!({ state }), right!({ state })];
    if (equal(a, b)) return "=";
    // Values without an order are unequal, which both `<` and `>` represent.
    return (typeof a !== "number" && typeof a !== "string") || less(a, b) ? "<" : ">";
  };
}

function channelsIn(expression: Expression): number[] {
  const found = new Set<number>();
  const pending = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "channel") found.add(part.channel);
    else for (const child of expressionParts(part)) pending.push(child);
  }
  return [...found];
}

export interface Constants {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

/** The constants of a condition. Values near them decide it. */
function constantsOf(expression: Expression, set: ValueSet): Constants {
  const texts = new Set<string>(set.strings.values.slice(0, 8));
  const numbers = new Set<number>();
  for (const { low, high } of set.numbers.intervals.slice(0, 4)) {
    for (const bound of [low, high]) if (Number.isFinite(bound)) numbers.add(bound);
  }
  const note = (value: Json): void => {
    if (typeof value === "string" && texts.size < 12) texts.add(value);
    else if (typeof value === "number" && numbers.size < 12) numbers.add(value);
    else if (Array.isArray(value)) for (const item of (value as readonly Json[]).slice(0, 8)) note(item);
  };
  const pending = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "const") note(part.value);
    for (const child of expressionParts(part)) pending.push(child);
  }
  return { texts: [...texts], numbers: withCombined([...numbers]) };
}

/** The constants of several expressions, and some combinations of their numbers. */
export function constantsOfAll(expressions: readonly Expression[], more: readonly Json[]): Constants {
  const found = [...expressions, ...more.map((value): Expression => ({ op: "const", value }))].map((expression) =>
    constantsOf(expression, NOTHING),
  );
  const numbers = new Set(found.flatMap((constants) => constants.numbers));
  return {
    texts: [...new Set(found.flatMap(({ texts }) => texts))],
    numbers: withCombined([...numbers].slice(0, 40)),
  };
}

/** Adds differences, sums and quotients of two constants: `len(x) * 2 == 8` is decided at 8 / 2. */
function withCombined(numbers: readonly number[]): number[] {
  const few = numbers.slice(0, 5);
  const combined = few.flatMap((a) => few.flatMap((b) => [a - b, a + b, a / b]));
  return [...new Set([...numbers, ...combined.filter(Number.isFinite)])].slice(0, 40);
}

/** Some values of a type, near the constants. Lists and records are sampled up to a depth. */
export function samplesOf(type: ValueType, constants: Constants, resolve: TypeNames, depth: number): Json[] {
  const inner = (part: ValueType): Json[] => samplesOf(part, constants, resolve, depth - 1);
  switch (type.kind) {
    case "string":
      return textsNear(constants);
    case "int":
      return numbersNear(constants).filter(Number.isSafeInteger);
    case "float":
      return numbersNear(constants);
    case "bool":
      return [true, false];
    case "null":
      return [null];
    case "literal":
      return [type.value];
    case "union":
      return type.members.flatMap((member) => samplesOf(member, constants, resolve, depth));
    case "list": {
      if (depth === 0) return [[]];
      const items = inner(type.item).slice(0, 12);
      const [first = null, second = first] = items;
      const lengths = constants.numbers.flatMap((n) => [n - 1, n, n + 1]).filter(isLength);
      return [
        [],
        ...items.map((item): Json => [item]),
        [first, second],
        ...unique(lengths).map((length): Json => Array.from({ length }, (_, at) => items[at % items.length] ?? first)),
      ];
    }
    case "map": {
      if (depth === 0) return [{}];
      const [value = null] = inner(type.value);
      return [{}, ...["a", ...constants.texts].map((name): Json => ({ [name]: value }))];
    }
    case "record": {
      const fields = type.fields.map(({ name, type: of }) => ({ name, values: depth === 0 ? [null] : inner(of) }));
      const base = Object.fromEntries(fields.map(({ name, values }) => [name, values[0] ?? null]));
      return [
        base,
        ...fields.flatMap(({ name, values }) => values.slice(1, 12).map((value) => ({ ...base, [name]: value }))),
      ];
    }
    case "ref": {
      const target = depth > 0 ? resolve(type.name) : undefined;
      return target === undefined ? [null] : samplesOf(target, constants, resolve, depth - 1);
    }
    case "json":
    case "opaque":
      return [...constants.texts, ...constants.numbers, true, false, null, 0, 1, "a", [], {}];
  }
}

function textsNear({ texts, numbers }: Constants): string[] {
  const lengths = numbers.flatMap((n) => [n - 1, n, n + 1]).filter(isLength);
  return [
    ...texts,
    "",
    "a",
    ...texts.flatMap((text) => [`${text}a`, `a${text}`, text.toUpperCase(), text.toLowerCase(), ` ${text} `]),
    ...unique(lengths).map((length) => "a".repeat(length)),
  ];
}

function numbersNear({ numbers }: Constants): number[] {
  const near = numbers.flatMap((n) => [n, n - 1, n + 1, n / 2, n * 2, -n, n + 0.5]);
  return [0, 1, 2, -1, 10, ...near].filter(Number.isFinite);
}

function isLength(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= LONGEST_SAMPLE;
}

function unique<T extends Json>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
