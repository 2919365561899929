import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addNumbers,
  ALL_INTEGERS,
  complementNumbers,
  intersectNumbers,
  negateNumbers,
  numberPoint,
  numbersCompared,
  type NumberSet,
  shiftNumbers,
  someNumber,
  uniteNumbers,
} from "../../compiler/explore/number-set.ts";
import {
  complementValues,
  intersectValues,
  isNothing,
  sameValues,
  uniteValues,
  type ValueSet,
  valueSetOf,
} from "../../compiler/explore/value-set.ts";

const bound = fc.integer({ min: -3, max: 3 });
const leaf: fc.Arbitrary<NumberSet> = fc.oneof(
  bound.map(numberPoint),
  fc
    .tuple(fc.constantFrom("<" as const, "<=" as const, ">" as const, ">=" as const), bound)
    .map(([operator, value]) => numbersCompared(operator, value)),
);
const { numbers } = fc.letrec<{ numbers: NumberSet }>((tie) => ({
  numbers: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.tuple(tie("numbers"), tie("numbers")).map(([a, b]) => uniteNumbers(a, b)),
    fc.tuple(tie("numbers"), tie("numbers")).map(([a, b]) => intersectNumbers(a, b)),
    tie("numbers").map(complementNumbers),
  ),
}));
/** Whole numbers, the halves between them, and numbers outside of the range. */
const sample = fc.integer({ min: -9, max: 9 }).map((value) => value / 2);

function has(set: NumberSet, value: number): boolean {
  return intersectNumbers(set, numberPoint(value)).intervals.length > 0;
}

describe("sets of numbers", () => {
  it("unite, intersect and complement as their members do", () => {
    fc.assert(
      fc.property(numbers, numbers, sample, (a, b, value) => {
        expect(has(uniteNumbers(a, b), value)).toBe(has(a, value) || has(b, value));
        expect(has(intersectNumbers(a, b), value)).toBe(has(a, value) && has(b, value));
        expect(has(complementNumbers(a), value)).toBe(!has(a, value));
      }),
      { seed: 1 },
    );
  });

  it("move as their members do", () => {
    fc.assert(
      fc.property(numbers, sample, bound, (set, value, by) => {
        expect(has(shiftNumbers(set, by), value + by)).toBe(has(set, value));
        expect(has(negateNumbers(set), -value)).toBe(has(set, value));
        if (has(set, value)) expect(has(addNumbers(set, numberPoint(by)), value + by)).toBe(true);
      }),
      { seed: 2 },
    );
  });

  it("have every sum that rounding makes", () => {
    const positive = numbersCompared(">", 0);
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: 1e300 }), fc.double({ min: -1e9, max: 1e9 }), (x, y) => {
        expect(has(addNumbers(positive, numberPoint(y)), x + y)).toBe(true);
      }),
      { seed: 6 },
    );
  });

  it("over the integers keep what is whole", () => {
    fc.assert(
      fc.property(numbers, sample, (set, value) => {
        expect(has(intersectNumbers(set, ALL_INTEGERS), value)).toBe(Number.isInteger(value) && has(set, value));
      }),
      { seed: 3 },
    );
  });

  it("give a number that is in them", () => {
    fc.assert(
      fc.property(numbers, (set) => {
        const value = someNumber(set);
        expect(value === undefined).toBe(set.intervals.length === 0);
        if (value !== undefined) expect(has(set, value)).toBe(true);
      }),
      { seed: 4 },
    );
  });
});

describe("sets of values", () => {
  const scalar = fc.oneof(fc.constantFrom("a", "b", "c"), fc.boolean(), fc.constant(null), bound);
  const { values } = fc.letrec<{ values: ValueSet }>((tie) => ({
    values: fc.oneof(
      { depthSize: "small" },
      fc.array(scalar, { maxLength: 3 }).map(valueSetOf),
      fc.tuple(tie("values"), tie("values")).map(([a, b]) => uniteValues(a, b)),
      fc.tuple(tie("values"), tie("values")).map(([a, b]) => intersectValues(a, b)),
      tie("values").map(complementValues),
    ),
  }));
  const contains = (set: ValueSet, value: string | number | boolean | null): boolean =>
    !isNothing(intersectValues(set, valueSetOf([value])));

  it("unite, intersect and complement as their members do", () => {
    fc.assert(
      fc.property(values, values, fc.oneof(scalar, fc.constant("other")), (a, b, value) => {
        expect(contains(uniteValues(a, b), value)).toBe(contains(a, value) || contains(b, value));
        expect(contains(intersectValues(a, b), value)).toBe(contains(a, value) && contains(b, value));
        expect(contains(complementValues(a), value)).toBe(!contains(a, value));
      }),
      { seed: 5 },
    );
  });

  it("are the same after two complements", () => {
    fc.assert(
      fc.property(values, (set) => {
        expect(sameValues(complementValues(complementValues(set)), set)).toBe(true);
      }),
      { seed: 6 },
    );
  });
});
