/** Random expressions and states for property tests. Mostly well typed, so that most of them have a value. */
import fc from "fast-check";
import type { BinaryOperator, Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";

/** Channels by type: the state's first values are of these types in well-typed states. */
export const CHANNELS = [
  "bool",
  "int",
  "float",
  "string",
  "strings",
  "ints",
  "record",
  "map",
  "nullable",
  "any",
] as const;
type Sort = "bool" | "number" | "string" | "list" | "record" | "any";

const text = fc.oneof(
  fc.constantFrom("", "a", "b", "ab", "__proto__", "constructor", "é😀", "a,b", "10"),
  fc.string({ maxLength: 6 }),
);
const int = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, -1_000_003));
const float = fc.oneof(
  fc.constantFrom(0, 0.5, -1.5, 1e308, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const key = fc.constantFrom("a", "b", "name", "__proto__", "constructor");
const anyJson: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }).map((value) => normalise(value as Json));

/** A state whose values have the declared types, or one in which one value is any JSON. */
export const arbitraryState: fc.Arbitrary<readonly Json[]> = fc
  .tuple(
    fc.tuple(
      fc.boolean(),
      int,
      float.map((value) => value + 0),
      text,
      fc.array(text, { maxLength: 4 }),
      fc.array(int, { maxLength: 4 }),
      fc.record({ a: int, name: text }, { requiredKeys: ["a"] }),
      fc.dictionary(key, int, { maxKeys: 3 }),
      fc.option(text),
      anyJson,
    ),
    fc.option(fc.tuple(fc.nat(CHANNELS.length - 1), anyJson), { freq: 3 }),
  )
  .map(([state, spoiled]) => {
    const values: Json[] = state.map((value) => normalise(value as Json));
    if (spoiled !== null) values[spoiled[0]] = spoiled[1];
    return values;
  });

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { op: "binary", operator, left, right };
}

const constant = (value: fc.Arbitrary<Json>): fc.Arbitrary<Expression> =>
  value.map((json) => ({ op: "const", value: json }));
const channel = (name: (typeof CHANNELS)[number]): fc.Arbitrary<Expression> =>
  fc.constant({ op: "channel", channel: CHANNELS.indexOf(name) });
const library = (name: string, ...args: fc.Arbitrary<Expression>[]): fc.Arbitrary<Expression> =>
  fc.tuple(...args).map((list) => ({ op: "library", name, args: list }));

/** An expression of a sort, to a depth. `item` is the variable of the comprehension around. */
function ofSort(sort: Sort, depth: number, item?: string): fc.Arbitrary<Expression> {
  const key = `${sort} ${depth} ${item ?? ""}`;
  const made = known.get(key) ?? makeSort(sort, depth, item);
  known.set(key, made);
  return made;
}

/** Cache of the generators. There are a few dozen of them, and each uses all generators of the next lower depth. */
const known = new Map<string, fc.Arbitrary<Expression>>();

function makeSort(sort: Sort, depth: number, item: string | undefined): fc.Arbitrary<Expression> {
  const sub = (inner: Sort): fc.Arbitrary<Expression> => ofSort(inner, depth - 1, item);
  const leaves: fc.Arbitrary<Expression>[] = leavesOf(sort);
  if (item !== undefined && (sort === "any" || sort === "string" || sort === "number")) {
    leaves.push(fc.constant({ op: "local", name: item }));
  }
  if (depth <= 0) return fc.oneof(...leaves);
  const inner: fc.Arbitrary<Expression>[] = [
    fc
      .tuple(sub("bool"), sub(sort), sub(sort))
      .map(([condition, then, otherwise]) => ({ op: "if", condition, then, else: otherwise })),
    fc.tuple(sub(sort), sub(sort)).map(([left, right]) => binary("??", left, right)),
    sub(sort).map((of) => ({ op: "notNull", of })),
    fc.tuple(sub(sort), sub("string")).map(([left, message]) => binary("??", left, { op: "fail", message })),
    ...partsOf(sort, sub, depth, item),
  ];
  return fc.oneof({ weight: 2, arbitrary: fc.oneof(...leaves) }, { weight: 5, arbitrary: fc.oneof(...inner) });
}

function leavesOf(sort: Sort): fc.Arbitrary<Expression>[] {
  switch (sort) {
    case "bool":
      return [constant(fc.boolean()), channel("bool")];
    case "number":
      return [constant(int), constant(float.map((value) => value + 0)), channel("int"), channel("float")];
    case "string":
      return [constant(text), channel("string"), channel("nullable"), fc.constant({ op: "secret", name: "KEY" })];
    case "list":
      return [channel("strings"), channel("ints"), constant(fc.array(int, { maxLength: 3 }))];
    case "record":
      return [
        channel("record"),
        channel("map"),
        constant(fc.dictionary(key, int, { maxKeys: 2, noNullPrototype: true }) as fc.Arbitrary<Json>),
      ];
    case "any":
      return [channel("any"), constant(fc.constant(null)), fc.constant({ op: "error" }), constant(anyJson)];
  }
}

function partsOf(
  sort: Sort,
  sub: (inner: Sort) => fc.Arbitrary<Expression>,
  depth: number,
  item: string | undefined,
): fc.Arbitrary<Expression>[] {
  switch (sort) {
    case "bool":
      return [
        sub("bool").map((of) => ({ op: "not", of })),
        pair(["<", "<=", ">", ">="], sub("number")),
        pair(["<", ">="], sub("string")),
        pair(["&&", "||"], sub("bool")),
        pair(["==", "!="], sub("any")),
        pair(["=="], sub("record")),
        fc.tuple(sub("any"), sub("list")).map(([left, right]) => binary("in", left, right)),
        fc.tuple(sub("string"), sub("record")).map(([left, right]) => binary("in", left, right)),
        library("contains", sub("string"), sub("string")),
        library("startsWith", sub("string"), sub("string")),
        library("endsWith", sub("string"), sub("string")),
        library("contains", sub("list"), sub("any")),
        library("some", bools(sub("bool"))),
        library("every", bools(sub("bool"))),
        library("matches", sub("string"), constant(fc.constantFrom("^a+$", "(a|b)*", "[^a]", "\\d{1,3}"))),
      ];
    case "number":
      return [
        pair(["+", "-", "*", "/", "%"], sub("number")),
        fc
          .tuple(fc.constantFrom("+" as const, "*" as const), sub("number"), sub("number"))
          .map(([operator, left, right]) => ({
            op: "binary",
            operator,
            left,
            right,
            int: true,
          })),
        sub("number").map((of) => ({ op: "negate", of })),
        library("len", sub("list")),
        library("len", sub("string")),
        library("sum", sub("list")),
        library("max", sub("number"), sub("number")),
        library("max", sub("list")),
        library("min", sub("list")),
        library("min", sub("number"), sub("number"), sub("number")),
        library("round", sub("number")),
        library("abs", sub("number")),
        library("parseInt", sub("string")),
        library("parseFloat", sub("string")),
        library("parseFloat", constant(fc.constantFrom("1.5", " 2 ", "1e400", "-0", "0x10", "9007199254740993"))),
        sub("record").map((of) => ({ op: "member", of, name: "a", absent: true })),
        sub("list").map((of) => ({ op: "index", of, at: { op: "const", value: -1 } })),
      ];
    case "string":
      return [
        pair(["+"], sub("string")),
        fc
          .tuple(text, sub("any"), sub("number"))
          .map(([start, first, second]) => ({ op: "template", parts: [start, first, second] })),
        library("upper", sub("string")),
        library("lower", sub("string")),
        library("trim", sub("string")),
        library("quote", sub("any")),
        library("quote", sub("string"), constant(fc.constantFrom("words", "word", "double", "single"))),
        library("join", sub("list"), sub("string")),
        library("replace", sub("string"), sub("string"), sub("string")),
        library("padStart", sub("string"), constant(fc.integer({ min: -1, max: 9 })), sub("string")),
        library("padStart", sub("string"), sub("number")),
        library("slice", sub("string"), constant(fc.integer({ min: -4, max: 4 }))),
        library("toJson", sub("any")),
        sub("record").map((of) => ({ op: "member", of, name: "name" })),
        sub("any").map((of) => ({ op: "member", of, name: "name", optional: true, absent: true })),
        fc.tuple(sub("list"), sub("number")).map(([of, at]) => ({ op: "index", of, at })),
      ];
    case "list":
      return [
        fc.array(sub("any"), { maxLength: 3 }).map((items) => ({ op: "list", items })),
        fc.array(sub("number"), { maxLength: 3 }).map((items) => ({ op: "list", items })),
        fc
          .tuple(sub("list"), sub("any"), sub("list"))
          .map(([first, between, second]) => ({ op: "list", items: [{ spread: first }, between, { spread: second }] })),
        comprehension(depth, item),
        loops(depth, item),
        library("slice", sub("list"), sub("number")),
        library(
          "slice",
          sub("list"),
          constant(fc.integer({ min: -4, max: 4 })),
          constant(fc.integer({ min: -4, max: 4 })),
        ),
        library("take", sub("list"), constant(fc.integer({ min: -1, max: 4 }))),
        library("drop", sub("list"), constant(fc.integer({ min: -1, max: 4 }))),
        library("reverse", sub("list")),
        fc
          .array(sub("list"), { maxLength: 3 })
          .map((items) => ({ op: "library", name: "flat", args: [{ op: "list", items }] })),
        library("entries", sub("record")),
        library("split", sub("string"), sub("string")),
        library("keys", sub("record")),
        library("values", sub("record")),
        library("unique", sub("list")),
        library("sort", sub("list")),
        library("range", constant(fc.integer({ min: -2, max: 6 }))),
        library("range", sub("number")),
      ];
    case "record":
      return [
        fc.tuple(key, sub("any"), key, sub("number")).map(([first, one, second, two]) => ({
          op: "record",
          fields: [
            { name: first, value: one },
            { name: second, value: two },
          ],
        })),
        fc.tuple(sub("record"), key, sub("any"), sub("record")).map(([first, name, value, second]) => ({
          op: "record",
          fields: [{ spread: first }, { name, value }, { spread: second }],
        })),
        library("fromEntries", ofEntries(sub("string"), sub("any"))),
        library("fromEntries", library("entries", sub("record"))),
      ];
    case "any":
      return [
        sub("list"),
        sub("record"),
        sub("number"),
        fc.tuple(sub("any"), fc.nat(3)).map(([arg, callee]) => ({ op: "call", function: callee, args: [arg] })),
        library("first", sub("list")),
        library("last", sub("list")),
        library("fromJson", sub("string")),
        library("fromJson", library("toJson", sub("any"))),
        fc.tuple(sub("record"), sub("string")).map(([of, at]) => ({ op: "index", of, at })),
      ];
  }
}

const bools = (item: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc.array(item, { maxLength: 3 }).map((items) => ({ op: "list", items }));

const ofEntries = (name: fc.Arbitrary<Expression>, value: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((pairs) => ({
    op: "list",
    items: pairs.map(([key, each]) => ({
      op: "record",
      fields: [
        { name: "key", value: key },
        { name: "value", value: each },
      ],
    })),
  }));

function pair(operators: readonly BinaryOperator[], side: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc
    .tuple(fc.constantFrom(...operators), side, side)
    .map(([operator, left, right]) => binary(operator, left, right));
}

function comprehension(depth: number, around: string | undefined): fc.Arbitrary<Expression> {
  // `class` is a word of TypeScript; a name used again hides the one outside.
  const names = around === undefined ? ["item", "class"] : [around, "inner"];
  return fc.constantFrom(...names).chain((item) =>
    fc
      .tuple(
        ofSort("list", depth - 1, around),
        fc.oneof(ofSort("any", depth - 1, item), ofSort("number", depth - 1, item)),
        fc.option(ofSort("bool", depth - 1, item)),
      )
      .map(([list, value, condition]) => ({
        op: "comprehension" as const,
        list,
        item,
        value,
        ...(condition === null ? {} : { condition }),
      })),
  );
}

/** `[[inner, i] for item, i in list for inner in list]` */
function loops(depth: number, around: string | undefined): fc.Arbitrary<Expression> {
  return fc
    .tuple(ofSort("list", depth - 1, around), ofSort("list", depth - 1, "item"), ofSort("bool", depth - 1, "inner"))
    .map(([outer, inner, condition]) => ({
      op: "comprehension" as const,
      list: outer,
      item: "item",
      index: "i",
      flat: true as const,
      value: {
        op: "comprehension" as const,
        list: inner,
        item: "inner",
        condition,
        value: { op: "list" as const, items: [local("inner"), local("i"), local("item")] },
      },
    }));
}

function local(name: string): Expression {
  return { op: "local", name };
}

export const arbitraryExpression: fc.Arbitrary<Expression> = fc
  .constantFrom<Sort>("bool", "number", "string", "list", "record", "any")
  .chain((sort) => ofSort(sort, 3));

/** -0 becomes 0, as everywhere in state. */
function normalise(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
