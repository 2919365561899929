/**
 * The signatures of the function library of expressions. The functions are implemented in
 * `runtime/expression/library/`; a test compares the two lists.
 *
 * To add a function, implement it there and add its signature here.
 */
import { badPattern, patternNotLiteral } from "../../diagnostics/catalog/types.ts";
import { checkPattern } from "../../runtime/expression/pattern/matches-pattern.ts";
import type { LibraryName } from "../../runtime/expression/library.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";
import {
  BOOL,
  BROKEN_TYPE,
  FLOAT,
  INT,
  isBroken,
  JSON_TYPE,
  listOf,
  mapOf,
  nullable,
  opaquePart,
  recordOf,
  STRING,
  unionOf,
  widen,
} from "../types/construct.ts";
import { alternatives, resolveType } from "../types/type-table.ts";
import { listItem } from "./typed.ts";
import { expectNotNull, expectType, leaveContainerToTypeScript, placeOf, reportType } from "./expect-type.ts";
import { checkComparable } from "./equality.ts";
import { checkQuotable } from "./quotable.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

export interface LibrarySignature {
  /** For messages: `split(text, separator)`. */
  readonly usage: string;
  readonly minimum: number;
  /** `null`: any number. */
  readonly maximum: number | null;
  /** Checks the arguments and returns the type of the result. The number of arguments has been checked before. */
  readonly result: (args: readonly Typed[], scope: ExpressionScope, usage: string) => ValueType;
}

type Result = LibrarySignature["result"];

const texts =
  (result: ValueType): Result =>
  (args, scope, usage) => {
    for (const argument of args) expectType(argument, STRING, { what: `\`${usage}\` takes strings` }, scope);
    return result;
  };

const SIGNATURES: Readonly<Record<LibraryName, LibrarySignature>> = {
  len: signature("len(value)", 1, 1, (args, scope, usage) => {
    container(args[0], scope, `\`${usage}\` takes a string, a list, a map or a record`, [
      "string",
      "list",
      "map",
      "record",
    ]);
    return INT;
  }),
  first: signature("first(list)", 1, 1, (args, scope, usage) => nullable(itemOf(args[0], scope, usage))),
  last: signature("last(list)", 1, 1, (args, scope, usage) => nullable(itemOf(args[0], scope, usage))),
  contains: signature("contains(whole, part)", 2, 2, (args, scope, usage) => {
    const type = container(args[0], scope, `\`${usage}\` takes a string or a list`, ["string", "list"]);
    const part = args[1];
    if (part === undefined) return BOOL;
    const items = alternatives(type, scope.types).map((member) => resolveType(member, scope.types));
    if (items.length > 0 && items.every((member) => textKind(member))) {
      expectType(part, STRING, { what: "a string contains strings only" }, scope);
    } else if (items.length > 0 && items.every((member) => member.kind === "list")) {
      checkComparable(part, itemTypes(items), part.syntax.span, scope);
    }
    return BOOL;
  }),
  startsWith: signature("startsWith(text, prefix)", 2, 2, texts(BOOL)),
  endsWith: signature("endsWith(text, suffix)", 2, 2, texts(BOOL)),
  lower: signature("lower(text)", 1, 1, texts(STRING)),
  upper: signature("upper(text)", 1, 1, texts(STRING)),
  trim: signature("trim(text)", 1, 1, texts(STRING)),
  split: signature("split(text, separator)", 2, 2, texts(listOf(STRING))),
  join: signature("join(list, separator)", 2, 2, (args, scope, usage) => {
    itemOf(args[0], scope, usage);
    if (args[1] !== undefined)
      expectType(args[1], STRING, { what: `the separator of \`${usage}\` is a string` }, scope);
    return STRING;
  }),
  keys: signature("keys(map)", 1, 1, (args, scope, usage) => {
    container(args[0], scope, `\`${usage}\` takes a map or a record`, ["map", "record"]);
    return listOf(STRING);
  }),
  values: signature("values(map)", 1, 1, (args, scope, usage) => listOf(valuesOf(args[0], scope, usage))),
  sum: signature("sum(list)", 1, 1, (args, scope, usage) => numbersOf(args[0], scope, usage)),
  min: signature("min(…)", 1, null, (args, scope, usage) => extreme(args, scope, usage)),
  max: signature("max(…)", 1, null, (args, scope, usage) => extreme(args, scope, usage)),
  abs: signature("abs(number)", 1, 1, (args, scope, usage) => numbers(args, scope, usage)),
  round: signature("round(number)", 1, 1, (args, scope, usage) => {
    numbers(args, scope, usage);
    return INT;
  }),
  quote: signature("quote(value)", 1, 1, ([value], scope) => {
    if (value !== undefined) checkQuotable(value, "words", scope);
    return STRING;
  }),
  range: signature("range(start, end, step)", 1, 3, (args, scope, usage) => {
    for (const argument of args) expectType(argument, INT, { what: `\`${usage}\` takes ints`, help: ROUND }, scope);
    return listOf(INT);
  }),
  unique: signature("unique(list)", 1, 1, (args, scope, usage) => listOf(itemOf(args[0], scope, usage))),
  sort: signature("sort(list)", 1, 1, (args, scope, usage) => listOf(itemOf(args[0], scope, usage))),
  slice: signature("slice(list, from, to)", 2, 3, (args, scope, usage) => {
    const [whole, ...positions] = args;
    const type = container(whole, scope, `\`${usage}\` takes a list or a string`, ["string", "list"]);
    ints(positions, scope, `the positions of \`${usage}\` are ints`);
    const members = alternatives(type, scope.types).map((member) => resolveType(member, scope.types));
    return unionOf(members.map((member) => (textKind(member) ? STRING : listOf(itemTypes([member])))));
  }),
  take: signature("take(list, count)", 2, 2, (args, scope, usage) => part(args, scope, usage)),
  drop: signature("drop(list, count)", 2, 2, (args, scope, usage) => part(args, scope, usage)),
  some: signature("some(conditions)", 1, 1, (args, scope, usage) => bools(args[0], scope, usage)),
  every: signature("every(conditions)", 1, 1, (args, scope, usage) => bools(args[0], scope, usage)),
  flat: signature("flat(lists)", 1, 1, (args, scope, usage) => {
    const [lists] = args;
    const item = itemOf(lists, scope, usage);
    if (lists === undefined || isBroken(item)) return listOf(BROKEN_TYPE);
    const inner = listItem(item, scope);
    if (inner !== undefined) return listOf(inner);
    reportType(lists, lists.type, { what: `\`${usage}\` takes a list of lists` }, scope);
    return listOf(BROKEN_TYPE);
  }),
  reverse: signature("reverse(list)", 1, 1, (args, scope, usage) => listOf(itemOf(args[0], scope, usage))),
  entries: signature("entries(map)", 1, 1, (args, scope, usage) =>
    listOf(
      recordOf([
        { name: "key", type: STRING },
        { name: "value", type: valuesOf(args[0], scope, usage) },
      ]),
    ),
  ),
  fromEntries: signature("fromEntries(list)", 1, 1, (args, scope, usage) => {
    const [list] = args;
    const item = itemOf(list, scope, usage);
    const value = entryValue(item, scope);
    if (list === undefined || value !== undefined) return mapOf(value ?? BROKEN_TYPE);
    const what = `\`${usage}\` takes a list of records \`{ key, value }\` with a string \`key\``;
    reportType(list, list.type, { what, help: "write `fromEntries([{ key: x.id, value: x } for x in xs])`" }, scope);
    return mapOf(BROKEN_TYPE);
  }),
  replace: signature("replace(text, part, by)", 3, 3, texts(STRING)),
  padStart: signature("padStart(text, length, fill)", 2, 3, (args, scope, usage) => {
    const [text, length, fill] = args;
    for (const each of [text, fill]) {
      if (each !== undefined) expectType(each, STRING, { what: `\`${usage}\` takes strings` }, scope);
    }
    ints([length], scope, `the length of \`${usage}\` is an int`);
    return STRING;
  }),
  parseInt: signature("parseInt(text)", 1, 1, texts(nullable(INT))),
  parseFloat: signature("parseFloat(text)", 1, 1, texts(nullable(FLOAT))),
  toJson: signature("toJson(value)", 1, 1, () => STRING),
  fromJson: signature("fromJson(text)", 1, 1, texts(JSON_TYPE)),
  matches: signature("matches(text, pattern)", 2, 2, (args, scope, usage) => {
    const [text, pattern] = args;
    if (text !== undefined) expectType(text, STRING, { what: `\`${usage}\` takes strings` }, scope);
    if (pattern !== undefined) checkMatchPattern(pattern, scope);
    return BOOL;
  }),
};

/** The signatures of the library, by name. */
export const librarySignatures: ReadonlyMap<string, LibrarySignature> = new Map(Object.entries(SIGNATURES));

const ROUND = "make it an int with `round(…)`";

function signature(usage: string, minimum: number, maximum: number | null, result: Result): LibrarySignature {
  return { usage, minimum, maximum, result };
}

/** The type of an argument without `null`. Reports an argument of another kind and returns the broken type. */
function container(
  argument: Typed | undefined,
  scope: ExpressionScope,
  what: string,
  kinds: readonly ValueType["kind"][],
): ValueType {
  if (argument === undefined) return BROKEN_TYPE;
  const type = expectNotNull(argument, what, scope);
  for (const member of alternatives(type, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "opaque" || kinds.includes(plain.kind)) continue;
    if (kinds.includes("string") && textKind(plain)) continue;
    reportType(argument, type, { what }, scope);
    return BROKEN_TYPE;
  }
  leaveContainerToTypeScript({ type, syntax: argument.syntax }, unionOf(kinds.map(containerOf)), scope);
  return type;
}

/** The type of the values of a map or a record. */
function valuesOf(map: Typed | undefined, scope: ExpressionScope, usage: string): ValueType {
  const type = container(map, scope, `\`${usage}\` takes a map or a record`, ["map", "record"]);
  const found: ValueType[] = [];
  for (const member of alternatives(type, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "map") found.push(plain.value);
    else if (plain.kind === "record") for (const each of plain.fields.map((field) => field.type)) found.push(each);
    else return BROKEN_TYPE;
  }
  return unionOf(found);
}

/** The type of `value` in records `{ key, value }`; `undefined` if the items are something else. */
function entryValue(item: ValueType, scope: ExpressionScope): ValueType | undefined {
  const found: ValueType[] = [];
  for (const member of alternatives(item, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "opaque") found.push(BROKEN_TYPE);
    else {
      const fields = plain.kind === "record" ? plain.fields.filter((field) => field.optional !== true) : [];
      const key = fields.find((field) => field.name === "key");
      const value = fields.find((field) => field.name === "value");
      if (key === undefined || value === undefined) return undefined;
      if (isAssignable(key.type, STRING, scope.types) !== undefined) return undefined;
      found.push(value.type);
    }
  }
  return unionOf(found);
}

function ints(args: readonly (Typed | undefined)[], scope: ExpressionScope, what: string): void {
  for (const each of args) if (each !== undefined) expectType(each, INT, { what, help: ROUND }, scope);
}

function part([list, count]: readonly Typed[], scope: ExpressionScope, usage: string): ValueType {
  const item = itemOf(list, scope, usage);
  ints([count], scope, `the count of \`${usage}\` is an int`);
  return listOf(item);
}

/** Checks that an argument is a list of bools. */
function bools(list: Typed | undefined, scope: ExpressionScope, usage: string): ValueType {
  if (list === undefined) return BOOL;
  const what = `\`${usage}\` takes a list of bool`;
  const name = usage.slice(0, usage.indexOf("("));
  const help = `write the condition of each item: \`${name}([x.ok for x in xs])\``;
  if (isAssignable(list.type, listOf(BOOL), scope.types) === undefined) {
    leaveContainerToTypeScript(list, listOf(BOOL), scope);
  } else reportType(list, expectNotNull(list, what, scope), { what, help }, scope);
  return BOOL;
}

function containerOf(kind: ValueType["kind"]): ValueType {
  return kind === "list" ? listOf(BROKEN_TYPE) : kind === "string" ? STRING : recordOf([]);
}

function itemOf(argument: Typed | undefined, scope: ExpressionScope, usage: string): ValueType {
  const type = container(argument, scope, `\`${usage}\` takes a list`, ["list"]);
  return itemTypes(alternatives(type, scope.types).map((member) => resolveType(member, scope.types)));
}

function itemTypes(lists: readonly ValueType[]): ValueType {
  return unionOf(
    lists.map((member) =>
      member.kind === "list" ? member.item : member.kind === "opaque" ? opaquePart(member, "number") : BROKEN_TYPE,
    ),
  );
}

function textKind(type: ValueType): boolean {
  return type.kind === "string" || (type.kind === "literal" && typeof type.value === "string");
}

/** Checks that all arguments are numbers. The result is an int if all are ints. */
function numbers(args: readonly Typed[], scope: ExpressionScope, usage: string): ValueType {
  let result = INT;
  for (const argument of args) {
    if (!expectType(argument, FLOAT, { what: `\`${usage}\` takes numbers` }, scope)) return BROKEN_TYPE;
    if (isAssignable(argument.type, INT, scope.types) !== undefined) result = FLOAT;
  }
  return result;
}

function numbersOf(list: Typed | undefined, scope: ExpressionScope, usage: string): ValueType {
  const what = `\`${usage}\` takes a list of numbers`;
  const type = container(list, scope, what, ["list"]);
  const item = itemTypes(alternatives(type, scope.types).map((member) => resolveType(member, scope.types)));
  if (list !== undefined && isAssignable(item, FLOAT, scope.types) !== undefined) {
    reportType(list, type, { what }, scope);
    return BROKEN_TYPE;
  }
  return isAssignable(item, INT, scope.types) === undefined ? INT : FLOAT;
}

/** `min(list)` is null for an empty list; `min(a, b)` never is. */
function extreme(args: readonly Typed[], scope: ExpressionScope, usage: string): ValueType {
  if (args.length === 1) return nullable(numbersOf(args[0], scope, usage));
  return widen(numbers(args, scope, usage));
}

function checkMatchPattern(pattern: Typed, scope: ExpressionScope): void {
  const place = placeOf(pattern.syntax.span, scope);
  const { expression } = pattern;
  // A constant, or a literal.
  if (expression.op !== "const" || typeof expression.value !== "string") {
    if (!isBroken(pattern.type)) scope.report(patternNotLiteral(place));
    return;
  }
  const problem = checkPattern(expression.value);
  if (problem !== undefined) scope.report(badPattern(place, problem.message));
}
