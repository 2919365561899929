import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cube, cubesOf, formulaOf, isUnsatisfiable } from "../../compiler/explore/formula.ts";
import { createTermTable, type TermTable } from "../../compiler/explore/terms.ts";
import {
  intersectValues,
  isNothing,
  type ValueSet,
  valueSetOf,
  valueSetOfType,
} from "../../compiler/explore/value-set.ts";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import type { BinaryOperator, Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { numRuns } from "../support/depth.ts";

type Scalar = string | number | boolean | null;

const literal = (value: string): ValueType => ({ kind: "literal", value });

/** Channels of the test, with values at and around every number that conditions compare with. */
const CHANNELS: readonly { readonly name: string; readonly type: ValueType; readonly values: readonly Scalar[] }[] = [
  { name: "count", type: { kind: "int" }, values: [-1, 0, 1, 2, 3, 4] },
  { name: "score", type: { kind: "float" }, values: [-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5] },
  { name: "kind", type: { kind: "union", members: ["a", "b", "c"].map(literal) }, values: ["a", "b", "c"] },
  { name: "ready", type: { kind: "bool" }, values: [true, false] },
  {
    name: "maybe",
    type: { kind: "union", members: [literal("a"), literal("b"), { kind: "null" }] },
    values: ["a", "b", null],
  },
];

function tableOf(): TermTable {
  const domainOf = (type: ValueType): ValueSet => valueSetOfType(type, () => undefined);
  return createTermTable(CHANNELS.map(({ name, type }) => ({ name, type, domain: domainOf(type) })));
}

const channel = (index: number): Expression => ({ op: "channel", channel: index });
const constant = (value: Scalar): Expression => ({ op: "const", value });
const binary = (operator: BinaryOperator, left: Expression, right: Expression): Expression => ({
  op: "binary",
  operator,
  left,
  right,
});

const comparison = fc.constantFrom<BinaryOperator>("<", "<=", ">", ">=", "==", "!=");
const equality = fc.constantFrom<BinaryOperator>("==", "!=");
const numeric = fc
  .tuple(comparison, fc.constantFrom(0, 1), fc.integer({ min: 0, max: 3 }), fc.boolean())
  .map(([operator, index, value, swapped]) =>
    swapped ? binary(operator, constant(value), channel(index)) : binary(operator, channel(index), constant(value)),
  );
const shifted = fc
  .tuple(comparison, fc.constantFrom<BinaryOperator>("+", "-"), fc.integer({ min: 0, max: 3 }))
  .map(([operator, sign, value]): Expression => ({
    op: "binary",
    operator,
    left: { op: "binary", operator: sign, left: channel(0), right: constant(1), int: true },
    right: constant(value),
  }));
const textual = fc
  .tuple(equality, fc.constantFrom(2, 4), fc.constantFrom<Scalar>("a", "b", "z", null))
  .map(([operator, index, value]) => binary(operator, channel(index), constant(value)));
const member = fc
  .tuple(fc.constantFrom(2, 4), fc.subarray<Scalar>(["a", "b", "c"]))
  .map(([index, values]) => binary("in", channel(index), { op: "const", value: values }));
const fallback = fc
  .tuple(equality, fc.constantFrom("a", "b"), fc.constantFrom("a", "b"))
  .map(([operator, otherwise, value]) =>
    binary(operator, binary("??", channel(4), constant(otherwise)), constant(value)),
  );
const atom = fc.oneof(
  numeric,
  shifted,
  textual,
  member,
  fallback,
  fc.constant(channel(3)),
  fc.boolean().map((value) => constant(value)),
);
const { condition } = fc.letrec<{ condition: Expression }>((tie) => ({
  condition: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    atom,
    tie("condition").map((of): Expression => ({ op: "not", of })),
    fc
      .tuple(fc.constantFrom<BinaryOperator>("&&", "||"), tie("condition"), tie("condition"))
      .map(([operator, left, right]) => binary(operator, left, right)),
    fc
      .tuple(tie("condition"), tie("condition"), tie("condition"))
      .map(([test, then, otherwise]): Expression => ({ op: "if", condition: test, then, else: otherwise })),
  ),
}));
const state = fc.tuple(...CHANNELS.map(({ values }) => fc.constantFrom(...values)));

function holdsIn(cubes: readonly Cube[], table: TermTable, values: readonly Scalar[]): boolean {
  return cubes.some((cube) =>
    [...cube].every(([id, set]) => {
      const index = table.terms[id]?.channel;
      return index !== undefined && !isNothing(intersectValues(set, valueSetOf([values[index]!])));
    }),
  );
}

describe("conditions as formulas", () => {
  it("hold exactly where the evaluator says so", () => {
    fc.assert(
      fc.property(condition, state, (expression, values) => {
        const table = tableOf();
        const formula = formulaOf(table, expression);
        const wanted = compileExpression(expression)({ state: [...values] });
        const positive = cubesOf(formula);
        const negative = cubesOf(formula, false);
        fc.pre(positive.exact && negative.exact);
        expect(holdsIn(positive.cubes, table, values)).toBe(wanted);
        expect(holdsIn(negative.cubes, table, values)).toBe(!wanted);
      }),
      { seed: 20, numRuns: numRuns(3000) },
    );
  });

  it("are unsatisfiable only where no value makes them true", () => {
    fc.assert(
      fc.property(condition, state, (expression, values) => {
        const formula = formulaOf(tableOf(), expression);
        const value = compileExpression(expression)({ state: [...values] });
        if (isUnsatisfiable(formula)) expect(value).toBe(false);
        if (isUnsatisfiable(formula, false)) expect(value).toBe(true);
      }),
      { seed: 21, numRuns: numRuns(2000) },
    );
  });
});
