/**
 * Interval arithmetic in floating point. Rounding is monotone, so a result stays between the rounded results of the
 * bounds. Rounding can also reach a bound that an operand excludes, so finite bounds of results are closed. A result
 * that is not finite fails the node and is in no set.
 */
import {
  addNumbers,
  ALL_NUMBERS,
  complementNumbers,
  type Interval,
  intersectNumbers,
  negateNumbers,
  NO_NUMBERS,
  numberPoint,
  numbersCompared,
  type NumberSet,
  numbersOf,
  onlyNumber,
  uniteNumbers,
} from "./number-set.ts";

/** All ints that the engine accepts. */
export const SAFE_NUMBERS = intersectNumbers(
  numbersCompared(">=", Number.MIN_SAFE_INTEGER),
  numbersCompared("<=", Number.MAX_SAFE_INTEGER),
);

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";

export function isArithmetic(operator: string): operator is ArithmeticOperator {
  return operator === "+" || operator === "-" || operator === "*" || operator === "/" || operator === "%";
}

/** All results of an operator. The result of ints can be an unsafe integer, which fails the node. */
export function calculate(operator: ArithmeticOperator, left: NumberSet, right: NumberSet): NumberSet {
  const [a, b] = [safe(left), safe(right)];
  switch (operator) {
    case "+":
      return addNumbers(a, b);
    case "-":
      return addNumbers(a, negateNumbers(b));
    case "*":
      return combine(a, b, a.integer && b.integer, (x, y) => (x === 0 || y === 0 ? 0 : x * y));
    case "/":
      return divide(a, b);
    case "%":
      return remainder(a, b);
  }
}

/** All results of a library function of numbers; `undefined` for other functions. */
export function calculateCall(name: string, args: readonly NumberSet[]): NumberSet | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  switch (name) {
    case "round":
      return intersectNumbers(numbersOf(true, safe(first).intervals.map(rounded)), SAFE_NUMBERS);
    case "abs":
      return intersectNumbers(uniteNumbers(safe(first), negateNumbers(safe(first))), numbersCompared(">=", 0));
    case "min":
    case "max": {
      if (second === undefined) return undefined;
      const pick = name === "min" ? Math.min : Math.max;
      return args.reduce((a, b) => combine(safe(a), safe(b), a.integer && b.integer, pick));
    }
    default:
      return undefined;
  }
}

/** The largest absolute value in a set. */
export function magnitude(set: NumberSet): number {
  return safe(set).intervals.reduce((most, { low, high }) => Math.max(most, Math.abs(low), Math.abs(high)), 0);
}

function safe(set: NumberSet): NumberSet {
  return set.integer ? intersectNumbers(set, SAFE_NUMBERS) : set;
}

function rounded({ low, high }: Interval): Interval {
  return closed(Math.round(low), Math.round(high));
}

function closed(low: number, high: number): Interval {
  return { low, lowOpen: low === -Infinity, high, highOpen: high === Infinity };
}

/** The results of an operation that is monotone in each operand, from the results of the bounds. */
function combine(a: NumberSet, b: NumberSet, integer: boolean, apply: (x: number, y: number) => number): NumberSet {
  const found: Interval[] = [];
  for (const x of a.intervals) {
    for (const y of b.intervals) {
      const corners = [apply(x.low, y.low), apply(x.low, y.high), apply(x.high, y.low), apply(x.high, y.high)];
      // `Infinity / Infinity`: between large operands, every result is possible.
      if (corners.some(Number.isNaN)) return integer ? { ...ALL_NUMBERS, integer } : ALL_NUMBERS;
      const [low, high] = [Math.min(...corners), Math.max(...corners)];
      if (low !== Infinity && high !== -Infinity) found.push(closed(low, high));
    }
  }
  return numbersOf(integer, found);
}

function divide(a: NumberSet, b: NumberSet): NumberSet {
  const divisors = intersectNumbers(b, complementNumbers(numberPoint(0)));
  // Quotients have no bound near 0.
  if (divisors.intervals.some(({ low, high }) => low === 0 || high === 0)) return ALL_NUMBERS;
  return combine(a, divisors, false, (x, y) => x / y);
}

/** A remainder has the sign of the dividend. Neither operand is nearer to 0. */
function remainder(a: NumberSet, b: NumberSet): NumberSet {
  if (a.intervals.length === 0 || b.intervals.length === 0) return NO_NUMBERS;
  const [dividend, divisor] = [onlyNumber(a), onlyNumber(b)];
  if (dividend !== undefined && divisor !== undefined && divisor !== 0)
    return { ...numberPoint((dividend % divisor) + 0), integer: a.integer && b.integer };
  const most = Math.min(magnitude(a), magnitude(b));
  const low = a.intervals[0]!.low < 0 ? -most : 0;
  const high = a.intervals.at(-1)!.high > 0 ? most : 0;
  return numbersOf(a.integer && b.integer, [closed(low, high)]);
}
