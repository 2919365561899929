/**
 * Conditions as propositional formulas. An atom states that the value of a term is in a set. An expression that the
 * abstract domain does not model becomes an opaque term, so a formula is equivalent to its condition. Terms are assumed
 * to be independent.
 */
import { replaceParts } from "./replace-parts.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import { numbersCompared, shiftNumbers } from "./number-set.ts";
import { comparisonTerm, type Term, termOf, type TermTable } from "./terms.ts";
import {
  complementValues,
  intersectValues,
  isNothing,
  NOTHING,
  numbersAsValues,
  reducePairs,
  sameValues,
  TRUE_ONLY,
  uniteValues,
  type ValueSet,
  valueSetKey,
  valueSetOf,
} from "./value-set.ts";

export type Formula =
  | { readonly kind: "const"; readonly value: boolean }
  | (Atom & { readonly kind: "in" })
  | { readonly kind: "and" | "or"; readonly parts: readonly Formula[] }
  | { readonly kind: "not"; readonly of: Formula };

export interface Atom {
  readonly term: Term;
  readonly set: ValueSet;
  /** All values of the term at this condition, if they are fewer than the values in the term's own domain. */
  readonly domain?: ValueSet;
  /** A formula about other terms that is true exactly if the atom is. */
  readonly same?: Formula;
}

/** A conjunction of atoms: term id -> set of values. No set is empty. */
export type Cube = ReadonlyMap<number, ValueSet>;

/** A disjunction of cubes (disjunctive normal form). It is inexact if it was widened because it was too large. */
export interface Cubes {
  readonly cubes: readonly Cube[];
  readonly exact: boolean;
}

export const ALWAYS: Formula = { kind: "const", value: true };
export const NEVER: Formula = { kind: "const", value: false };

/** A disjunction with more cubes is widened to "always true". */
const MAX_CUBES = 256;
const EMPTY_CUBE: Cube = new Map();

/**
 * A boolean expression as a formula. `x!` and `x ?? fail("…")` count as `x`: where `x` is null, `definedFormula` says that
 * the expression has no value.
 */
export function formulaOf(table: TermTable, expression: Expression): Formula {
  return plainFormula(table, withoutNullChecks(expression));
}

/** The expression without `!` and `?? fail("…")`. */
function withoutNullChecks(expression: Expression): Expression {
  if (!hasNullCheck(expression)) return expression;
  return replaceParts(expression, (part) => {
    const checked = checkedPart(part);
    return checked === undefined ? undefined : withoutNullChecks(checked);
  });
}

function checkedPart(part: Expression): Expression | undefined {
  if (part.op === "notNull") return part.of;
  return part.op === "binary" && part.operator === "??" && part.right.op === "fail" ? part.left : undefined;
}

function hasNullCheck(expression: Expression): boolean {
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (checkedPart(part) !== undefined) return true;
    for (const each of expressionParts(part)) pending.push(each);
  }
  return false;
}

function plainFormula(table: TermTable, expression: Expression): Formula {
  switch (expression.op) {
    case "const":
      return expression.value === true ? ALWAYS : NEVER;
    case "not":
      return negation(formulaOf(table, expression.of));
    case "if": {
      const condition = formulaOf(table, expression.condition);
      return either([
        both([condition, formulaOf(table, expression.then)]),
        both([negation(condition), formulaOf(table, expression.else)]),
      ]);
    }
    case "binary":
      if (expression.operator === "&&" || expression.operator === "||") {
        const parts = operands(expression, expression.operator).map((part) => formulaOf(table, part));
        return expression.operator === "&&" ? both(parts) : either(parts);
      }
      return comparison(table, expression) ?? atom(table, expression, TRUE_ONLY);
    default:
      return atom(table, expression, TRUE_ONLY);
  }
}

/** The condition of a `match` arm: the subject is one of these values. */
export function formulaOfArm(
  table: TermTable,
  subject: Expression,
  values: readonly (string | number | boolean | null)[],
  domain?: ValueSet,
): Formula {
  const plain = withoutNullChecks(subject);
  if (plain !== subject) return formulaOfArm(table, plain, values, domain);
  if (isCondition(subject)) {
    const condition = formulaOf(table, subject);
    return either([
      ...(values.includes(true) ? [condition] : []),
      ...(values.includes(false) ? [negation(condition)] : []),
    ]);
  }
  if (subject.op === "const") {
    const { value } = subject;
    return values.some((candidate) => candidate === value) ? ALWAYS : NEVER;
  }
  const formula = membership(termOf(table, subject), possibleResults(subject, valueSetOf(values)));
  return domain === undefined ? formula : { ...formula, domain };
}

/**
 * The formula that the value of an expression is in a set; `undefined` if the abstract domain does not model the
 * expression.
 */
export function membershipFormula(table: TermTable, expression: Expression, set: ValueSet): Formula | undefined {
  const plain = withoutNullChecks(expression);
  const inner = (part: Expression): Formula | undefined => membershipFormula(table, part, set);
  if (isCondition(plain)) {
    const condition = formulaOf(table, plain);
    return either([...(set.true ? [condition] : []), ...(set.false ? [negation(condition)] : [])]);
  }
  if (plain.op === "if") {
    const condition = formulaOf(table, plain.condition);
    const [then, otherwise] = [inner(plain.then), inner(plain.else)];
    if (then === undefined || otherwise === undefined) return undefined;
    return either([both([condition, then]), both([negation(condition), otherwise])]);
  }
  const formula = inSet(table, plain, set);
  // A sum that overflows fails the node, so the shifted set is exact.
  return [...termsOf(formula)].every((term) => term.path !== undefined) ? formula : undefined;
}

/** The formula with `same` for the atoms for which `find` returns a formula. */
export function withEquals(formula: Formula, find: (atom: Atom) => Formula | undefined): Formula {
  switch (formula.kind) {
    case "const":
      return formula;
    case "in": {
      const same = find(formula);
      return same === undefined ? formula : { ...formula, same };
    }
    case "not":
      return negation(withEquals(formula.of, find));
    case "and":
    case "or":
      return { kind: formula.kind, parts: formula.parts.map((part) => withEquals(part, find)) };
  }
}

export function both(parts: readonly Formula[]): Formula {
  const kept: Formula[] = [];
  for (const part of parts) {
    if (part.kind === "const") {
      if (!part.value) return NEVER;
    } else if (part.kind === "and") for (const each of part.parts) kept.push(each);
    else kept.push(part);
  }
  return kept.length === 0 ? ALWAYS : kept.length === 1 ? kept[0]! : { kind: "and", parts: kept };
}

export function either(parts: readonly Formula[]): Formula {
  return negation(both(parts.map(negation)));
}

export function negation(formula: Formula): Formula {
  if (formula.kind === "const") return formula.value ? NEVER : ALWAYS;
  return formula.kind === "not" ? formula.of : { kind: "not", of: formula };
}

/** The disjunctive normal form of a formula or, with `holds` false, of its negation. No cubes: it is unsatisfiable. */
export function cubesOf(formula: Formula, holds = true): Cubes {
  switch (formula.kind) {
    case "const":
      return { cubes: formula.value === holds ? [EMPTY_CUBE] : [], exact: true };
    case "not":
      return cubesOf(formula.of, !holds);
    case "in": {
      const { term, domain, same } = formula;
      if (same !== undefined) {
        const { same: _same, ...plain } = formula;
        return productOf(cubesOf(plain, holds), cubesOf(same, holds));
      }
      const known = domain === undefined ? term.domain : intersectValues(term.domain, domain);
      const set = intersectValues(known, holds ? formula.set : complementValues(formula.set));
      if (isNothing(set)) return { cubes: [], exact: true };
      if (sameValues(set, term.domain)) return { cubes: [EMPTY_CUBE], exact: true };
      return { cubes: [new Map([[formula.term.id, set]])], exact: true };
    }
    case "and":
    case "or": {
      const conjunction = (formula.kind === "and") === holds;
      const { merged, rest } = mergeAtoms(formula.parts, holds, conjunction);
      let result: Cubes = { cubes: conjunction ? [EMPTY_CUBE] : [], exact: true };
      const add = (next: Cubes): void => {
        result = conjunction ? productOf(result, next) : sumOf(result, next);
      };
      for (const atom of merged) add(cubesOf(atom));
      for (const part of rest) add(cubesOf(part, holds));
      return result;
    }
  }
}

/** From this number of parts on, the atoms of a formula are merged by term. */
const MANY_PARTS = 16;

/**
 * Replaces the atoms over each term by one atom. The sets are intersected or united in pairs: thousands of conditions on one channel
 * cost O(n log n) instead of O(n^2).
 */
function mergeAtoms(
  parts: readonly Formula[],
  holds: boolean,
  conjunction: boolean,
): { readonly merged: readonly Formula[]; readonly rest: readonly Formula[] } {
  if (parts.length < MANY_PARTS) return { merged: [], rest: parts };
  const rest: Formula[] = [];
  const sets = new Map<Term, ValueSet[]>();
  for (const part of parts) {
    const [atom, isTrue] = part.kind === "not" ? [part.of, !holds] : [part, holds];
    if (atom.kind !== "in" || atom.same !== undefined || atom.domain !== undefined) {
      rest.push(part);
      continue;
    }
    const known = sets.get(atom.term) ?? [];
    known.push(isTrue ? atom.set : complementValues(atom.set));
    sets.set(atom.term, known);
  }
  const merge = conjunction ? intersectValues : uniteValues;
  return { merged: [...sets].map(([term, all]) => ({ kind: "in", term, set: reducePairs(all, merge)! })), rest };
}

/** The conjunction of two cubes; `undefined` if it is unsatisfiable. */
export function meetCubes(a: Cube, b: Cube): Cube | undefined {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const result = new Map(a);
  for (const [term, set] of b) {
    const known = result.get(term);
    const met = known === undefined ? set : intersectValues(known, set);
    if (isNothing(met)) return undefined;
    result.set(term, met);
  }
  return result;
}

/** Whether a formula (with `holds` false: its negation) is proven to be unsatisfiable. */
export function isUnsatisfiable(formula: Formula, holds = true): boolean {
  return cubesOf(formula, holds).cubes.length === 0;
}

/** The terms of a formula. */
export function termsOf(formula: Formula): Set<Term> {
  const found = new Set<Term>();
  const pending: Formula[] = [formula];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === "in") {
      found.add(part.term);
      if (part.same !== undefined) pending.push(part.same);
    } else if (part.kind === "not") pending.push(part.of);
    else if (part.kind !== "const") for (const each of part.parts) pending.push(each);
  }
  return found;
}

export function cubeKey(cube: Cube): string {
  return [...cube.keys()]
    .sort((a, b) => a - b)
    .map((term) => `${term}:${valueSetKey(cube.get(term)!)}`)
    .join(";");
}

/** The conjunction. */
export function productOf(a: Cubes, b: Cubes): Cubes {
  const found = new Map<string, Cube>();
  for (const left of a.cubes) {
    for (const right of b.cubes) {
      const met = meetCubes(left, right);
      if (met !== undefined) found.set(cubeKey(met), met);
      if (found.size > MAX_CUBES) return { cubes: [EMPTY_CUBE], exact: false };
    }
  }
  return simplified([...found.values()], a.exact && b.exact);
}

/** The disjunction. */
export function sumOf(a: Cubes, b: Cubes): Cubes {
  return simplified([...a.cubes, ...b.cubes], a.exact && b.exact);
}

/** Unites cubes over one and the same term, and removes cubes that another cube contains. */
function simplified(cubes: readonly Cube[], exact: boolean): Cubes {
  const single = new Map<number, ValueSet>();
  const others: Cube[] = [];
  for (const cube of cubes) {
    if (cube.size === 0) return { cubes: [EMPTY_CUBE], exact };
    if (cube.size > 1) {
      others.push(cube);
      continue;
    }
    for (const [term, set] of cube) single.set(term, uniteValues(single.get(term) ?? NOTHING, set));
  }
  const result: Cube[] = [...single].map(([term, set]) => new Map([[term, set]]));
  for (const cube of others) {
    const absorbed = [...cube].some(([term, set]) => {
      const wider = single.get(term);
      return wider !== undefined && sameValues(intersectValues(wider, set), set);
    });
    if (!absorbed) result.push(cube);
  }
  return result.length > MAX_CUBES ? { cubes: [EMPTY_CUBE], exact: false } : { cubes: result, exact };
}

function atom(table: TermTable, expression: Expression, set: ValueSet): Formula {
  return membership(termOf(table, expression), set);
}

function membership(term: Term, set: ValueSet): Formula & { readonly kind: "in" } {
  return { kind: "in", term, set };
}

/** `a && b && c` as a list: long chains nest to the left. */
function operands(expression: Expression, operator: "&&" | "||"): Expression[] {
  const found: Expression[] = [];
  let at = expression;
  while (at.op === "binary" && at.operator === operator) {
    found.push(at.right);
    at = at.left;
  }
  found.push(at);
  return found.reverse();
}

/** Whether the form of an expression shows that its value is a boolean. */
export function isCondition(expression: Expression): boolean {
  if (expression.op === "not") return true;
  return (
    expression.op === "binary" && ["&&", "||", "==", "!=", "<", "<=", ">", ">=", "in"].includes(expression.operator)
  );
}

function comparison(table: TermTable, expression: Expression & { readonly op: "binary" }): Formula | undefined {
  const { operator } = expression;
  const left = fixedValue(table, expression.left, expression.right);
  const right = fixedValue(table, expression.right, left);
  switch (operator) {
    case "==":
    case "!=": {
      const equal = equality(table, left, right);
      return equal === undefined ? undefined : operator === "==" ? equal : negation(equal);
    }
    case "in": {
      const values =
        right.op === "const" ? right.value : right.op === "list" ? constants(expressionParts(right)) : undefined;
      // The items of a spread are not known.
      if (right.op === "list" && right.items.some((item) => "spread" in item)) return undefined;
      if (!Array.isArray(values) || !(values as readonly Json[]).every(isScalar)) return undefined;
      return left.op === "const" ? undefined : inSet(table, left, valueSetOf(values as readonly Scalar[]));
    }
    case "<":
    case "<=":
    case ">":
    case ">=": {
      if (right.op === "const" && typeof right.value === "number") {
        return inSet(table, left, numbersAsValues(numbersCompared(operator, right.value)));
      }
      if (left.op === "const" && typeof left.value === "number") {
        return inSet(table, right, numbersAsValues(numbersCompared(MIRRORED[operator], left.value)));
      }
      return order(table, operator, left, right);
    }
    default:
      return undefined;
  }
}

/** A channel that no node writes, as a constant, unless the other side is a constant: `x < limit`. */
function fixedValue(table: TermTable, side: Expression, other: Expression): Expression {
  if (side.op !== "channel" || other.op === "const") return side;
  const fixed = table.channels[side.channel]?.fixed;
  return fixed === undefined ? side : { op: "const", value: fixed.value };
}

type Scalar = string | number | boolean | null;
const MIRRORED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

function equality(table: TermTable, left: Expression, right: Expression): Formula | undefined {
  if (left.op === "const" && right.op === "const") {
    return isScalar(left.value) && isScalar(right.value)
      ? { kind: "const", value: left.value === right.value }
      : undefined;
  }
  if (right.op === "const") return isScalar(right.value) ? inSet(table, left, valueSetOf([right.value])) : undefined;
  if (left.op === "const") return equality(table, right, left);
  if (JSON.stringify(left) === JSON.stringify(right)) return left.op === "channel" ? ALWAYS : undefined;
  return order(table, "==", left, right);
}

/** A comparison of two unknown values: an atom over their order, a term with the values "<", "=" and ">". */
function order(
  table: TermTable,
  operator: "<" | "<=" | ">" | ">=" | "==",
  left: Expression,
  right: Expression,
): Formula {
  const swapped = JSON.stringify(left) > JSON.stringify(right);
  const term = swapped ? comparisonTerm(table, right, left) : comparisonTerm(table, left, right);
  const effective = swapped && operator !== "==" ? MIRRORED[operator] : operator;
  const wanted = { "<": ["<"], "<=": ["<", "="], ">": [">"], ">=": [">", "="], "==": ["="] } as const;
  return membership(term, valueSetOf(wanted[effective]));
}

/** States that the value of an expression is in a set. Resolves `??` with a constant and sums such as `x + 1`. */
function inSet(table: TermTable, expression: Expression, set: ValueSet): Formula {
  if (expression.op === "const") {
    const inside = intersectValues(isScalar(expression.value) ? valueSetOf([expression.value]) : NOTHING, set);
    return isNothing(inside) ? NEVER : ALWAYS;
  }
  if (expression.op === "binary" && expression.operator === "??" && expression.right.op === "const") {
    const { value } = expression.right;
    if (isScalar(value)) {
      const whenNull = !isNothing(intersectValues(valueSetOf([value]), set));
      return inSet(table, expression.left, { ...set, null: whenNull });
    }
  }
  if (
    expression.op === "binary" &&
    expression.int === true &&
    (expression.operator === "+" || expression.operator === "-") &&
    expression.right.op === "const" &&
    typeof expression.right.value === "number" &&
    sameValues(set, numbersAsValues(set.numbers))
  ) {
    const by = expression.operator === "+" ? -expression.right.value : expression.right.value;
    return inSet(table, expression.left, numbersAsValues(shiftNumbers(set.numbers, by)));
  }
  return membership(termOf(table, expression), possibleResults(expression, set));
}

const IDEMPOTENT: ReadonlyMap<string, (text: string) => string> = new Map([
  ["lower", (text) => text.toLowerCase()],
  ["upper", (text) => text.toUpperCase()],
  ["trim", (text) => text.trim()],
]);

/** Removes strings that the function cannot return: `lower(x)` is never `"Yes"`, because `lower` is idempotent. */
function possibleResults(expression: Expression, set: ValueSet): ValueSet {
  const apply = expression.op === "library" ? IDEMPOTENT.get(expression.name) : undefined;
  if (apply === undefined || set.strings.negated) return set;
  const values = set.strings.values.filter((value) => apply(value) === value);
  return values.length === set.strings.values.length ? set : { ...set, strings: { negated: false, values } };
}

function constants(items: readonly Expression[]): readonly Json[] | undefined {
  const values: Json[] = [];
  for (const item of items) {
    if (item.op !== "const") return undefined;
    values.push(item.value);
  }
  return values;
}

function isScalar(value: Json): value is Scalar {
  return typeof value !== "object" || value === null;
}
