import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculate, calculateCall } from "../../compiler/explore/arithmetic.ts";
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

describe("interval arithmetic", () => {
  const operators = {
    "+": (x: number, y: number) => x + y,
    "-": (x: number, y: number) => x - y,
    "*": (x: number, y: number) => x * y,
    "/": (x: number, y: number) => x / y,
    "%": (x: number, y: number) => x % y,
  };
  const magnitudes = fc.constantFrom(0, 1, 3, 0.1, 1e-20, 5e-324, 2 ** 40, Number.MAX_SAFE_INTEGER, 1e300, 1.7e308);
  const signed = fc.tuple(magnitudes, fc.boolean()).map(([size, isNegative]) => (isNegative ? -size : size));
  const set = fc
    .tuple(fc.constantFrom("<" as const, "<=" as const, ">" as const, ">=" as const), signed, signed, fc.boolean())
    .map(([operator, a, b, isPart]) => {
      const half = numbersCompared(operator, a);
      return isPart ? intersectNumbers(half, numbersCompared(operator.startsWith("<") ? ">=" : "<=", b)) : half;
    });
  const member = fc.oneof(signed, fc.double({ noNaN: true, noDefaultInfinity: true }));

  it("contains each result that the engine computes", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(["+", "-", "*", "/", "%"] as const)),
        set,
        set,
        member,
        member,
        (operator, a, b, x, y) => {
          const result = operators[operator](x, y);
          if (!has(a, x) || !has(b, y) || !Number.isFinite(result)) return;
          expect(has(calculate(operator, a, b), result)).toBe(true);
        },
      ),
      { seed: 1, numRuns: 20_000 },
    );
  });

  it("contains each result of a function", () => {
    fc.assert(
      fc.property(set, set, member, member, (a, b, x, y) => {
        if (!has(a, x)) return;
        expect(has(calculateCall("abs", [a])!, Math.abs(x))).toBe(true);
        if (Number.isSafeInteger(Math.round(x))) expect(has(calculateCall("round", [a])!, Math.round(x))).toBe(true);
        if (!has(b, y)) return;
        expect(has(calculateCall("min", [a, b])!, Math.min(x, y))).toBe(true);
        expect(has(calculateCall("max", [a, b])!, Math.max(x, y))).toBe(true);
      }),
      { seed: 1, numRuns: 5000 },
    );
  });

  it("knows bounds of the length of a list", () => {
    const length = intersectNumbers(ALL_INTEGERS, numbersCompared(">=", 0));
    const half = calculateCall("round", [calculate("/", length, numberPoint(2))])!;
    expect(has(half, -1)).toBe(false);
    expect(has(half, 0.5)).toBe(false);
    expect(has(half, 2)).toBe(true);
    expect(has(calculate("/", numberPoint(1), length), 2)).toBe(false);
  });
});

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
