import * as fc from "fast-check";
import { SourceFile } from "../../diagnostics/source.ts";
import type { Argument, BinaryOperator, Expr, ForClause, Key, NumberLiteral } from "../../grammar/ast.ts";
import { parseFragment } from "../../grammar/parse.ts";
import { anyName, identifier } from "./name-arbitrary.ts";

export const SPAN = { start: 0, end: 0 };
const span = SPAN;

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const durationParts: fc.Arbitrary<{ raw: string; milliseconds: number }> = fc
  .tuple(fc.nat(500), fc.constantFrom("ms", "s", "m", "h", "d"))
  .map(([amount, unit]) => ({ raw: `${amount}${unit}`, milliseconds: amount * UNITS[unit] }));

const numberLiteral: fc.Arbitrary<NumberLiteral> = fc
  .oneof(
    fc.nat().map(String),
    fc.tuple(fc.nat(999), fc.nat(999)).map(([whole, part]) => `${whole}.${part}`),
    fc.constantFrom("1e3", "2.5E-7", "0.0", "70", "9007199254740991"),
  )
  .map((raw) => ({ kind: "Number", span, value: Number(raw), isFloat: /[.eE]/.test(raw), raw }));

const text = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.constantFrom("", 'say "hi"', "a\nb", "\\", "true", "1", "- x", "a: b", "tab\t", "\u202e", "🦊", "yes"),
);

/** Names in expressions, without the keywords that may follow one. */
const name = anyName.filter((each) => !["into", "after", "on", "reduce"].includes(each));

/** Templates are parsed from text: their value follows from the text. */
const template: fc.Arbitrary<Expr> = fc
  .array(
    fc.constantFrom(
      "text",
      " ",
      "\n",
      "\n    deep",
      "\n  less",
      "\n\n",
      "\\n",
      "\\`",
      "\\$",
      "$",
      "{",
      "}",
      '"',
      "// x",
      "# y",
      "ä",
      "${a}",
      "${a.b + 1}",
      '${ { "}": [1] } }',
      "${`${b}`}",
      '${f("`")}',
    ),
    { maxLength: 6 },
  )
  .filter((pieces) => !pieces.some((piece, at) => piece === "$" && pieces[at + 1]?.startsWith("{")))
  .map((pieces) => {
    const written = `\`${pieces.join("")}\``;
    const source = new SourceFile("template", written);
    const { node, diagnostics } = parseFragment("expression", { text: written, source, toSource: (offset) => offset });
    if (node === undefined || diagnostics.length > 0) throw new Error(`${written}: ${diagnostics[0]?.message ?? ""}`);
    return node;
  });

const leaf: fc.Arbitrary<Expr> = fc.oneof(
  { weight: 4, arbitrary: name.map((each): Expr => ({ kind: "Name", span, name: each })) },
  { weight: 2, arbitrary: text.map((value): Expr => ({ kind: "String", span, value })) },
  { weight: 2, arbitrary: numberLiteral },
  { weight: 1, arbitrary: fc.boolean().map((value): Expr => ({ kind: "Bool", span, value })) },
  { weight: 1, arbitrary: fc.constant<Expr>({ kind: "Null", span }) },
  { weight: 1, arbitrary: durationParts.map((parts): Expr => ({ kind: "DurationLiteral", span, ...parts })) },
  { weight: 1, arbitrary: template },
);

const key: fc.Arbitrary<Key> = fc.oneof(
  fc
    .oneof(anyName, fc.constantFrom("in", "else", "null"))
    .map((each): Key => ({ kind: "Key", span, name: each, quoted: false })),
  text.map((each): Key => ({ kind: "Key", span, name: each, quoted: true })),
);

const OPERATORS: readonly BinaryOperator[] = [
  "+",
  "-",
  "*",
  "/",
  "%",
  "<",
  "<=",
  ">",
  ">=",
  "==",
  "!=",
  "&&",
  "||",
  "??",
  "in",
];

/** `for x, i in xs if c`, with expressions of one depth. */
export function forClauseOf(inner: fc.Arbitrary<Expr>): fc.Arbitrary<ForClause> {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  return fc.tuple(identifier, maybe(identifier), inner, maybe(inner)).map(([item, index, list, condition]) => ({
    kind: "ForClause",
    span,
    item,
    ...(index === undefined ? {} : { index }),
    list,
    ...(condition === undefined ? {} : { condition }),
  }));
}

function expressionOf(depth: number): fc.Arbitrary<Expr> {
  if (depth === 0) return leaf;
  const inner = expressionOf(depth - 1);
  const argument = fc
    .tuple(
      fc.option(fc.oneof(identifier, fc.constant({ kind: "Identifier" as const, span, name: "when" })), {
        nil: undefined,
      }),
      inner,
    )
    .map(([label, value]): Argument =>
      label === undefined ? { kind: "Argument", span, value } : { kind: "Argument", span, name: label, value },
    );
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), inner), { maxLength: 3 }).map((items): Expr => ({
        kind: "List",
        span,
        items: items.map(([kind, value]) => (kind === 0 ? { kind: "Spread", span, value } : value)),
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(fc.integer({ min: 0, max: 4 }), key, inner), { maxLength: 3 })
        .map((fields): Expr => ({
          kind: "Record",
          span,
          fields: fields.map(([kind, each, value]) =>
            kind === 0 ? { kind: "Spread", span, value } : { kind: "RecordField", span, name: each, value },
          ),
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(inner, fc.array(forClauseOf(inner), { minLength: 1, maxLength: 2 }))
        .map(([value, clauses]): Expr => ({ kind: "Comprehension", span, value, clauses })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          inner,
          fc.oneof(identifier, fc.constant({ kind: "Identifier" as const, span, name: "in" })),
          fc.boolean(),
        )
        .map(([object, property, optional]): Expr => ({ kind: "Member", span, object, property, optional })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, inner).map(([object, index]): Expr => ({ kind: "Index", span, object, index })),
    },
    { weight: 1, arbitrary: inner.map((object): Expr => ({ kind: "NonNull", span, object })) },
    {
      weight: 2,
      arbitrary: fc.tuple(identifier, fc.array(argument, { maxLength: 3 })).map(([callee, args]): Expr => ({
        kind: "Call",
        span,
        callee,
        args,
      })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom("!", "-"), inner).map(([operator, each]): Expr => ({
        kind: "Unary",
        span,
        operator,
        operand: each,
      })),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom(...OPERATORS), inner, inner).map(([operator, left, right]): Expr => ({
        kind: "Binary",
        span,
        operator,
        operatorSpan: span,
        left,
        right,
      })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, inner, inner).map(([condition, then, otherwise]): Expr => ({
        kind: "Conditional",
        span,
        condition,
        then,
        otherwise,
      })),
    },
  );
}

export const anyExpression: fc.Arbitrary<Expr> = fc.oneof(
  { weight: 3, arbitrary: expressionOf(1) },
  { weight: 1, arbitrary: expressionOf(3) },
);
