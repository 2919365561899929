import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { ALWAYS, both, either, type Formula, formulaOf, isCondition, negation } from "./formula.ts";
import { isArithmetic, magnitude, SAFE_NUMBERS } from "./arithmetic.ts";
import { complementNumbers, type Interval, numberPoint, numbersCompared, type NumberSet } from "./number-set.ts";
import { domainOf, hasKnownType, hasTexts, termOf, type TermTable } from "./terms.ts";
import { ANYTHING, numbersAsValues, type ValueSet, valueSetKey } from "./value-set.ts";

/**
 * The formula under which an expression has a value, as far as arithmetic is concerned: a divisor is not 0, and a sum
 * of ints is a safe integer. An expression without a value fails the node that evaluates it or, in a condition, the
 * run.
 *
 * The formula does not cover errors that types exclude (a field of `null`), failures of imported functions, and values
 * that exceed the runtime's limits.
 */
export function definedFormula(table: TermTable, expression: Expression): Formula {
  const inner = (part: Expression): Formula => definedFormula(table, part);
  switch (expression.op) {
    case "channel":
    case "const":
      return ALWAYS;
    case "if": {
      const condition = formulaOf(table, expression.condition);
      return both([
        inner(expression.condition),
        either([negation(condition), inner(expression.then)]),
        either([condition, inner(expression.else)]),
      ]);
    }
    case "binary":
      switch (expression.operator) {
        case "&&":
          return guarded(table, expression.left, negation(formulaOf(table, expression.left)), expression.right);
        case "||":
          return guarded(table, expression.left, formulaOf(table, expression.left), expression.right);
        case "??": {
          const right = inner(expression.right);
          const left = inner(expression.left);
          return right === ALWAYS ? left : both([left, either([isNotNull(table, expression.left), right])]);
        }
        case "/":
        case "%":
          return both([inner(expression.left), inner(expression.right), isNotZero(table, expression.right)]);
        case "+":
        case "-":
        case "*":
          return both([inner(expression.left), inner(expression.right), isSafe(table, expression)]);
        default:
          return both([inner(expression.left), inner(expression.right)]);
      }
    case "notNull":
      return both([inner(expression.of), isNotNull(table, expression.of)]);
    case "fail":
      return negation(ALWAYS);
    // Its parts are evaluated once for each item, so no single formula describes them.
    case "comprehension":
      return inner(expression.list);
    default:
      return both(expressionParts(expression).map(inner));
  }
}

/** `left && right`, `left || right`: the right side is evaluated only if the left side does not decide the result. */
function guarded(table: TermTable, left: Expression, decided: Formula, right: Expression): Formula {
  const after = definedFormula(table, right);
  const before = definedFormula(table, left);
  return after === ALWAYS ? before : both([before, either([decided, after])]);
}

/** Library functions that return a value for every argument of the declared type. */
const TOTAL_FUNCTIONS = new Set([
  ...["len", "first", "last", "contains", "startsWith", "endsWith", "lower", "upper", "trim", "keys", "values"],
  ...["slice", "take", "drop", "some", "every", "reverse", "entries", "parseInt", "parseFloat"],
]);

/** Whether an expression has a value wherever its `definedFormula` holds. */
export function isTotal(table: TermTable, expression: Expression): boolean {
  const areTotal = (): boolean => expressionParts(expression).every((part) => isTotal(table, part));
  switch (expression.op) {
    case "const":
    case "channel":
    case "error":
    case "outcome":
      return true;
    case "member":
    case "index":
      return hasKnownType(table, expression) && areTotal();
    case "library":
      return isTotalCall(table, expression) && areTotal();
    case "binary":
      if (isArithmetic(expression.operator) && expression.int !== true && mayOverflow(table, expression)) return false;
      return areTotal();
    case "call":
    case "secret":
    case "local":
    case "comprehension":
      return false;
    default:
      return areTotal();
  }
}

function isTotalCall(table: TermTable, { name, args }: Expression & { readonly op: "library" }): boolean {
  switch (name) {
    case "round":
      return args.every((part) => magnitude(numbersIn(table, part)) <= COUNTABLE);
    case "abs":
      return true;
    case "min":
    case "max":
      return args.length > 1;
    default:
      return TOTAL_FUNCTIONS.has(name);
  }
}

/** Whether a result can be beyond the range of floats, or a text that is too long. */
function mayOverflow(table: TermTable, { operator, left, right }: Expression & { readonly op: "binary" }): boolean {
  if (hasTexts(domainOf(table, left)) || hasTexts(domainOf(table, right))) return true;
  const divisor = numbersIn(table, right);
  // A small divisor has a large quotient. An int that is not 0 is at least 1.
  const isSmall = ({ low, high }: Interval): boolean => low < 1 && high > -1 && !divisor.integer;
  if (operator === "/" && divisor.intervals.some(isSmall)) return true;
  return magnitude(numbersIn(table, left)) > LARGE || magnitude(divisor) > LARGE;
}

function numbersIn(table: TermTable, expression: Expression): NumberSet {
  return domainOf(table, expression).numbers;
}

/** The product of two numbers up to this bound is a float. It exceeds all ints. */
const LARGE = 2 ** 500;

const ZERO = numberPoint(0);

function isNotZero(table: TermTable, divisor: Expression): Formula {
  if (divisor.op === "const") return divisor.value === 0 ? negation(ALWAYS) : ALWAYS;
  return within(table, divisor, numbersAsValues(complementNumbers(ZERO)));
}

function isNotNull(table: TermTable, expression: Expression): Formula {
  if (expression.op === "const") return expression.value === null ? negation(ALWAYS) : ALWAYS;
  return domainOf(table, expression).null ? within(table, expression, { ...ANYTHING, null: false }) : ALWAYS;
}

/** Sums of ints up to this bound are always safe integers. It exceeds the length of every list and text. */
const COUNTABLE = 2 ** 40;

/**
 * The formula under which an int operation returns a safe integer. A sum with a constant restricts the other operand.
 */
function isSafe(table: TermTable, expression: Expression & { readonly op: "binary" }): Formula {
  const { left, right, operator } = expression;
  if (expression.int !== true) return ALWAYS;
  if (isBounded(domainOf(table, left)) && isBounded(domainOf(table, right))) return ALWAYS;
  if (operator === "*" || right.op !== "const" || typeof right.value !== "number") {
    return within(table, expression, numbersAsValues(SAFE_NUMBERS));
  }
  const by = operator === "+" ? right.value : -right.value;
  if (by === 0 || isCondition(left)) return ALWAYS;
  // The key of a set of numbers costs more than the sum that it is for.
  const key = `${termOf(table, left).id} + ${by}`;
  let formula = table.definedConditions.get(key);
  if (formula === undefined) {
    const limit =
      by > 0
        ? numbersCompared("<=", Number.MAX_SAFE_INTEGER - by)
        : numbersCompared(">=", Number.MIN_SAFE_INTEGER - by);
    table.definedConditions.set(key, (formula = within(table, left, numbersAsValues(limit))));
  }
  return formula;
}

function isBounded({ numbers }: ValueSet): boolean {
  return numbers.intervals.every(({ low, high }) => low >= -COUNTABLE && high <= COUNTABLE);
}

function within(table: TermTable, expression: Expression, set: ValueSet): Formula {
  const term = termOf(table, expression);
  const key = `${term.id} ${valueSetKey(set)}`;
  let formula = table.definedConditions.get(key);
  if (formula === undefined) table.definedConditions.set(key, (formula = { kind: "in", term, set }));
  return formula;
}
