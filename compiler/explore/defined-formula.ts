import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { ALWAYS, both, either, type Formula, formulaOf, isCondition, negation } from "./formula.ts";
import { complementNumbers, intersectNumbers, numberPoint, numbersCompared } from "./number-set.ts";
import { domainOf, hasKnownType, termOf, type TermTable } from "./terms.ts";
import { ANYTHING, numbersAsValues, type ValueSet } from "./value-set.ts";

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
      return true;
    case "member":
    case "index":
      return hasKnownType(table, expression) && areTotal();
    case "library":
      return TOTAL_FUNCTIONS.has(expression.name) && areTotal();
    case "binary":
      // Floats may overflow.
      if (["+", "-", "*", "/", "%"].includes(expression.operator) && expression.int !== true) return false;
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

const ZERO = numberPoint(0);
const SAFE = intersectNumbers(
  numbersCompared(">=", Number.MIN_SAFE_INTEGER),
  numbersCompared("<=", Number.MAX_SAFE_INTEGER),
);

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
    return within(table, expression, numbersAsValues(SAFE));
  }
  const by = operator === "+" ? right.value : -right.value;
  const limit =
    by > 0 ? numbersCompared("<=", Number.MAX_SAFE_INTEGER - by) : numbersCompared(">=", Number.MIN_SAFE_INTEGER - by);
  return by === 0 || isCondition(left) ? ALWAYS : within(table, left, numbersAsValues(limit));
}

function isBounded({ numbers }: ValueSet): boolean {
  return numbers.intervals.every(({ low, high }) => low >= -COUNTABLE && high <= COUNTABLE);
}

function within(table: TermTable, expression: Expression, set: ValueSet): Formula {
  return { kind: "in", term: termOf(table, expression), set };
}
