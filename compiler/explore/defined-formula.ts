import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { ALWAYS, both, either, type Formula, formulaOf, isCondition, negation } from "./formula.ts";
import { complementNumbers, intersectNumbers, numberPoint, numbersCompared } from "./number-set.ts";
import { domainOf, hasKnownType, termOf, type TermTable } from "./terms.ts";
import { numbersAsValues, type ValueSet } from "./value-set.ts";

/**
 * Where an expression has a value, as far as arithmetic goes: a divisor is not 0, and a sum of ints stays within the safe
 * integers. An expression without a value fails what evaluates it: a node, or (in a condition) the run.
 *
 * What types rule out is left out (a field of `null`), and so are failures of imported functions, which may fail like any
 * node, and sizes beyond the runtime's limits.
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
    // Variables of its own: what its parts ask has no single answer.
    case "comprehension":
      return inner(expression.list);
    default:
      return both(expressionParts(expression).map(inner));
  }
}

/** `left && right`: the right side is only evaluated where the left one does not decide. */
function guarded(table: TermTable, left: Expression, decided: Formula, right: Expression): Formula {
  const after = definedFormula(table, right);
  const before = definedFormula(table, left);
  return after === ALWAYS ? before : both([before, either([decided, after])]);
}

/** Functions of the library that have a value for every argument of the right type. */
const TOTAL_FUNCTIONS = new Set([
  ...["len", "first", "last", "contains", "startsWith", "endsWith", "lower", "upper", "trim", "keys", "values"],
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

/** Of ints within what a list or a text can count nobody needs to ask. */
const COUNTABLE = 2 ** 40;

/** An int sum of bounded parts is safe; a sum with a constant is where the other part is far enough from the limits. */
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
