import type { Expression } from "../../runtime/expression/expression.ts";
import type { Known } from "./environment.ts";
import { cubesOf, formulaOf, isCondition, termsOf } from "./formula.ts";
import type { ControlModel } from "./model.ts";
import { calculate, calculateCall, isArithmetic } from "./arithmetic.ts";
import { addNumbers, negateNumbers, type NumberSet, onlyNumber } from "./number-set.ts";
import { domainOf } from "./terms.ts";
import {
  ANYTHING,
  BOTH_BOOLEANS,
  FALSE_ONLY,
  intersectValues,
  isNothing,
  NULL_ONLY,
  numbersAsValues,
  onlyValue,
  sameValues,
  TRUE_ONLY,
  uniteValues,
  type ValueSet,
  valueSetOfJson,
} from "./value-set.ts";

export interface Evaluation {
  readonly model: ControlModel;
  /** Term id -> position in environments, and channel -> position. */
  readonly positions: ReadonlyMap<number, number>;
  readonly ofChannel: ReadonlyMap<number, number>;
  readonly entangled: ReadonlySet<number>;
  /** The value at a position. */
  valueOf(position: number): Known;
  /** The channel to which the value is written, which overwrites its old value. */
  readonly writes: number;
}

/** Abstract interpretation of an expression: all values that it can have in an environment. */
export function evaluateAbstractly(context: Evaluation, expression: Expression): Known {
  const inner = (part: Expression): Known => evaluateAbstractly(context, part);
  switch (expression.op) {
    case "const":
      return { set: valueSetOfJson(expression.value), exact: true };
    case "channel": {
      const position = context.ofChannel.get(expression.channel);
      const known = position === undefined ? undefined : context.valueOf(position);
      if (known === undefined) return { set: domainOf(context.model.terms, expression), exact: false };
      // A copy depends on its original, so their sets are not independent, unless the write replaces the original.
      if (expression.channel === context.writes || onlyValue(known.set) !== undefined) return known;
      return { set: known.set, exact: false };
    }
    case "negate": {
      const value = inner(expression.of);
      return { set: numbersAsValues(negateNumbers(value.set.numbers)), exact: value.exact };
    }
    case "if": {
      const condition = truth(context, expression.condition);
      if (!condition.set.false) return inner(expression.then);
      // Mutation point: conditional-value
      if (!condition.set.true) return inner(expression.else);
      const then = inner(expression.then);
      const otherwise = inner(expression.else);
      return {
        set: uniteValues(then.set, otherwise.set),
        exact: then.exact && otherwise.exact && condition.exact,
      };
    }
    case "binary":
      if (expression.operator === "+" || expression.operator === "-") {
        const left = inner(expression.left);
        const right = inner(expression.right);
        if (!isNumeric(left.set) || !isNumeric(right.set)) return UNKNOWN;
        // Mutation point: subtraction
        const moved =
          expression.operator === "+" ? right : { ...right, set: numbersAsValues(negateNumbers(right.set.numbers)) };
        return addKnown(left, moved, expression.int === true);
      }
      if (isArithmetic(expression.operator)) {
        const left = inner(expression.left);
        const right = inner(expression.right);
        if (!isNumeric(left.set) || !isNumeric(right.set)) return ownDomain();
        return calculated(calculate(expression.operator, left.set.numbers, right.set.numbers), [left, right]);
      }
      if (expression.operator === "??") {
        const left = inner(expression.left);
        if (!left.set.null) return left;
        const right = inner(expression.right);
        if (sameValues(left.set, NULL_ONLY)) return right;
        return { set: uniteValues({ ...left.set, null: false }, right.set), exact: left.exact && right.exact };
      }
      return isCondition(expression) ? truth(context, expression) : ownDomain();
    case "notNull": {
      const value = inner(expression.of);
      return { set: { ...value.set, null: false }, exact: value.exact };
    }
    case "not":
      return truth(context, expression);
    case "library": {
      if (!NUMBER_FUNCTIONS.has(expression.name)) return ownDomain();
      const args = expression.args.map(inner);
      const numbers = args.every(({ set }) => isNumeric(set))
        ? calculateCall(
            expression.name,
            args.map(({ set }) => set.numbers),
          )
        : undefined;
      return numbers === undefined ? ownDomain() : calculated(numbers, args);
    }
    default:
      return ownDomain();
  }

  function ownDomain(): Known {
    return { set: domainOf(context.model.terms, expression), exact: false };
  }
}

const NUMBER_FUNCTIONS = new Set(["round", "abs", "min", "max"]);

/** The result of an operation. It is exact if all operands are single values. */
function calculated(numbers: NumberSet, operands: readonly Known[]): Known {
  const exact = operands.every((known) => known.exact && onlyNumber(known.set.numbers) !== undefined);
  return { set: numbersAsValues(numbers), exact };
}

const UNKNOWN: Known = { set: ANYTHING, exact: false };

function isNumeric(set: ValueSet): boolean {
  return set.numbers.intervals.length > 0 && sameValues(set, numbersAsValues(set.numbers));
}

/** Whether a condition can be true, false, or both. It is exact if both values are known to be possible. */
function truth(context: Evaluation, expression: Expression): Known {
  const { model, positions } = context;
  const formula = formulaOf(model.terms, expression);
  const isTrue = isPossible(true);
  const isFalse = isPossible(false);
  if (isTrue && isFalse) {
    const isFree = [...termsOf(formula)].every(
      (term) => term.isSteady && term.path !== undefined && !positions.has(term.id) && !context.entangled.has(term.id),
    );
    return { set: BOTH_BOOLEANS, exact: isFree };
  }
  return { set: isTrue ? TRUE_ONLY : FALSE_ONLY, exact: true };

  function isPossible(holds: boolean): boolean {
    return cubesOf(formula, holds).cubes.some((cube) => {
      for (const [id, set] of cube) {
        const position = positions.get(id);
        const known = position === undefined ? undefined : context.valueOf(position);
        if (known !== undefined && isNothing(intersectValues(known.set, set))) return false;
      }
      return true;
    });
  }
}

const ZERO = valueSetOfJson(0);

/**
 * The sum of two values. It is exact only if every number of the result is a sum, which is not so for float intervals.
 */
export function addKnown(a: Known, b: Known, areInts: boolean): Known {
  const single = (known: Known): boolean => onlyNumber(known.set.numbers) !== undefined;
  const set = numbersAsValues(addNumbers(a.set.numbers, b.set.numbers));
  // If one operand can be 0, the sum can be each number of the other one.
  const keeps = (zero: Known, other: Known): boolean =>
    !isNothing(intersectValues(zero.set, ZERO)) && sameValues(set, other.set);
  const isEach = keeps(a, b) || keeps(b, a) || (areInts ? single(a) || single(b) : single(a) && single(b));
  return { set, exact: a.exact && b.exact && isEach };
}
