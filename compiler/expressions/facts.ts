/**
 * Type narrowing: the facts that follow from a condition, read from its syntax. If `x != null && kind == "a"` holds,
 * then `x` is not null and `kind` is `"a"`. Expressions are pure, so a fact about a path (`x`, `x.author`, `xs[0]`)
 * holds wherever the same state is read.
 */
import type { CallExpr, Expr } from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isNever, literal, NULL, unionOf } from "../types/construct.ts";
import { isAssignable } from "../types/assignable.ts";
import { alternatives, hasLiteral, resolveType, knownNotNull, type TypeTable } from "../types/type-table.ts";

export type Scalar = string | number | boolean | null;

export type Fact =
  | { readonly kind: "is" | "isNot"; readonly values: readonly Scalar[] }
  /** A fact about a field of a record: excludes the alternatives of a union whose field contradicts it. */
  | { readonly kind: "field"; readonly field: string; readonly fact: Fact }
  /** A list has at least this number of items. `by`: a call of this library function shows it. */
  | { readonly kind: "items"; readonly atLeast: number; readonly by?: ListFunction }
  /** A number is at least this number. */
  | { readonly kind: "atLeast"; readonly value: number }
  /** About the path `xs[@i]`: `i` is smaller than `len(xs)`. */
  | { readonly kind: "belowLength" }
  /** One of several lists of facts holds: where branches join. */
  | { readonly kind: "either"; readonly options: readonly (readonly Fact[])[] };

/** Library functions whose calls are facts about a list. An import can have the same name, which the reader of a fact checks. */
export type ListFunction = "len" | "first" | "last";

/** Facts by path. All facts about a path hold. */
export type Facts = ReadonlyMap<string, readonly Fact[]>;

export const NO_FACTS: Facts = new Map();

const MAX_DEPTH = 64;
const MAX_MEMBERS = 500;
const NOT_NULL: Fact = { kind: "isNot", values: [null] };

/** The facts that follow if `condition` is true, or (with `holds` false) if it is false. */
export function factsOf(condition: Expr, holds: boolean, depth = 0): Facts {
  if (depth > MAX_DEPTH) return NO_FACTS;
  switch (condition.kind) {
    case "Name":
    case "Member":
    case "Index": {
      const path = pathOf(condition);
      return path === undefined ? NO_FACTS : pathFacts(condition, { kind: "is", values: [holds] });
    }
    case "Derived":
      return condition.isHidden ? NO_FACTS : factsOf(condition.value, holds, depth + 1);
    case "Unary":
      return condition.operator === "!" ? factsOf(condition.operand, !holds, depth + 1) : NO_FACTS;
    case "Binary":
      switch (condition.operator) {
        case "&&":
        case "||": {
          const left = factsOf(condition.left, holds, depth + 1);
          const right = factsOf(condition.right, holds, depth + 1);
          return (condition.operator === "&&") === holds ? bothFacts(left, right) : eitherFacts(left, right);
        }
        case "==":
        case "!=":
          return equalityFacts(condition.left, condition.right, (condition.operator === "==") === holds);
        case "in":
          return membershipFacts(condition.left, condition.right, holds);
        case "<":
          return orderFacts(condition.left, condition.right, holds ? "<" : ">=");
        case "<=":
          return orderFacts(condition.left, condition.right, holds ? "<=" : ">");
        case ">":
          return orderFacts(condition.left, condition.right, holds ? ">" : "<=");
        case ">=":
          return orderFacts(condition.left, condition.right, holds ? ">=" : "<");
        default:
          return NO_FACTS;
      }
    default:
      return NO_FACTS;
  }
}

/** The value of a literal, which facts compare with. */
export function scalarOf(expression: Expr): Scalar | undefined {
  switch (expression.kind) {
    case "String":
    case "Number":
    case "Bool":
      return expression.value;
    case "Null":
      return null;
    case "Derived":
      return scalarOf(expression.value);
    case "Unary": {
      if (expression.operator !== "-" || expression.operand.kind !== "Number") return undefined;
      return -expression.operand.value + 0;
    }
    default:
      return undefined;
  }
}

/** The path that an expression reads; `undefined` for a computed value. */
export function pathOf(expression: Expr): string | undefined {
  let steps = "";
  for (let at = expression, depth = 0; depth <= MAX_DEPTH; depth++) {
    if (at.kind === "Name") return at.name + steps;
    if (at.kind === "Member") {
      steps = `.${at.property.name}${steps}`;
      at = at.object;
    } else if (at.kind === "Index") {
      const key = scalarOf(at.index);
      const variable = key === undefined ? pathOf(at.index) : undefined;
      if (key === undefined && variable === undefined) return undefined;
      steps = `[${variable === undefined ? JSON.stringify(key) : `@${variable}`}]${steps}`;
      at = at.object;
    } else if (at.kind === "NonNull") at = at.object;
    else if (at.kind === "Call") {
      const list = listOfCall(at, "first", "last");
      if (list === undefined) return undefined;
      steps = `[#${at.callee.name}]${steps}`;
      at = list;
    } else if (at.kind === "Derived" && !at.isHidden) {
      // A name for a computed value is a path of its own.
      const path = pathOf(at.value) ?? at.name;
      return path + steps;
    } else return undefined;
  }
  return undefined;
}

/** The conjunction of two sets of facts. */
export function bothFacts(a: Facts, b: Facts): Facts {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const result = new Map(a);
  for (const [path, facts] of b) result.set(path, [...(result.get(path) ?? []), ...facts]);
  return result;
}

/** The facts that hold where branches join: for each path, one of the branches' facts. */
export function meetFacts(ways: readonly Facts[]): Facts {
  const [first, ...others] = ways;
  if (first === undefined || others.length === 0) return first ?? NO_FACTS;
  const result = new Map<string, readonly Fact[]>();
  for (const [path, facts] of first) {
    const options = [facts];
    for (const other of others) {
      const more = other.get(path);
      if (more !== undefined) options.push(more);
    }
    if (options.length === ways.length) result.set(path, [{ kind: "either", options }]);
  }
  return result;
}

/** The facts without those about a name that a variable now hides. */
export function hideFacts(facts: Facts, name: string): Facts {
  const hidden = [...facts.keys()].filter(
    (path) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`) || readsIndex(path, name),
  );
  if (hidden.length === 0) return facts;
  const rest = new Map(facts);
  for (const path of hidden) rest.delete(path);
  return rest;
}

/** Whether the index of a path reads a name: `xs[@i]`, `xs[@i.at]`. */
function readsIndex(path: string, name: string): boolean {
  const at = path.indexOf(`@${name}`);
  return at !== -1 && !/\w/.test(path.charAt(at + name.length + 1));
}

/** The fact that a path is not null. */
export function notNullFact(path: string): Facts {
  return new Map([[path, [NOT_NULL]]]);
}

/** The fact that the list at a path has items. */
export function hasItemsFact(path: string): Facts {
  return new Map([[path, [{ kind: "items", atLeast: 1 }]]]);
}

/** The fact that a variable is an index of a `for`, so it is not negative. */
export function indexFact(name: string): Facts {
  return new Map([[name, [{ kind: "atLeast", value: 0 }]]]);
}

/** The facts that an arm of a `match` implies about its subject. */
export function matchFacts(subject: Expr, values: readonly Scalar[], holds: boolean): Facts {
  return pathFacts(subject, { kind: holds ? "is" : "isNot", values });
}

/** Paths that cannot be null when the facts hold. */
export function nonNullPaths(facts: Facts): string[] {
  const paths: string[] = [];
  for (const [path, list] of facts) if (list.some(excludesNull)) paths.push(path);
  return paths;
}

function excludesNull(fact: Fact): boolean {
  switch (fact.kind) {
    case "is":
      return !fact.values.includes(null);
    case "isNot":
      return fact.values.includes(null);
    case "either":
      return fact.options.every((option) => option.some(excludesNull));
    default:
      return false;
  }
}

/**
 * The number of items that the list at a path has at least.
 *
 * @param isLibrary whether a name is that of the library function, and not of an import
 */
export function fewestItems(facts: Facts, path: string, isLibrary: (name: ListFunction) => boolean): number {
  return greatest(facts.get(path) ?? [], (fact) =>
    fact.kind === "items" && (fact.by === undefined || isLibrary(fact.by)) ? fact.atLeast : undefined,
  );
}

/** Whether a list has an item at an index, where both are paths. */
export function hasItemAt(
  facts: Facts,
  list: string,
  index: string,
  isLibrary: (name: ListFunction) => boolean,
): boolean {
  const isBelow = greatest(facts.get(`${list}[@${index}]`) ?? [], (fact) =>
    fact.kind === "belowLength" ? 1 : undefined,
  );
  if (isBelow !== 1 || !isLibrary("len")) return false;
  return greatest(facts.get(index) ?? [], (fact) => (fact.kind === "atLeast" ? fact.value : undefined), -Infinity) >= 0;
}

/** The largest number that one of the facts states. Where branches join, each of them states it. */
function greatest(facts: readonly Fact[], read: (fact: Fact) => number | undefined, none = 0): number {
  return facts.reduce((most, fact) => {
    const value =
      fact.kind === "either"
        ? Math.min(...fact.options.map((option) => greatest(option, read, none)))
        : (read(fact) ?? none);
    return Math.max(most, value);
  }, none);
}

/**
 * The part of a type that is compatible with facts. Contradictions leave the type unchanged: other checks report them.
 */
export function narrow(type: ValueType, facts: readonly Fact[], types: TypeTable): ValueType {
  let result = type;
  for (const fact of mergeExclusions(facts)) {
    const next = narrowOnce(result, fact, types);
    if (!isNever(next)) result = next;
  }
  return result;
}

/**
 * Combines `!= "a"`, `!= "b"`, … into one fact: the last arm of a long `match` excludes the values of all earlier ones.
 */
function mergeExclusions(facts: readonly Fact[]): readonly Fact[] {
  const values: Scalar[] = [];
  let count = 0;
  for (const fact of facts) {
    if (fact.kind !== "isNot") continue;
    count++;
    for (const value of fact.values) values.push(value);
  }
  if (count < 2) return facts;
  return [{ kind: "isNot", values: [...new Set(values)] }, ...facts.filter((fact) => fact.kind !== "isNot")];
}

function narrowOnce(type: ValueType, fact: Fact, types: TypeTable): ValueType {
  if (fact.kind === "items" || fact.kind === "atLeast" || fact.kind === "belowLength") return type;
  if (fact.kind === "either") return unionOf(fact.options.map((option) => narrow(type, option, types)));
  if (
    fact.kind === "is" &&
    type.kind === "union" &&
    fact.values.every((value) => value !== null && hasLiteral(type, value))
  ) {
    return unionOf(fact.values.map(typeOfScalar));
  }
  if (fact.kind === "isNot" && fact.values.length === 1 && fact.values[0] === null) return knownNotNull(type, types);
  const members = alternatives(type, types);
  // The remainder of a very long enum is not cached: each arm would keep another long list.
  if (fact.kind === "isNot" && members.length > MAX_MEMBERS) return type;
  const kept: ValueType[] = [];
  let changed = false;
  const excluded = fact.kind === "isNot" ? new Set(fact.values) : undefined;
  for (const member of members) {
    if (excluded !== undefined && member.kind === "literal") {
      if (excluded.has(member.value)) changed = true;
      else kept.push(member);
      continue;
    }
    const parts = narrowMember(member, fact, types);
    if (parts.length !== 1 || parts[0] !== member) changed = true;
    for (const each of parts) kept.push(each);
  }
  return changed ? unionOf(kept) : type;
}

function narrowMember(
  member: ValueType,
  fact: Extract<Fact, { kind: "is" | "isNot" | "field" }>,
  types: TypeTable,
): readonly ValueType[] {
  const plain = resolveType(member, types);
  if (plain.kind === "opaque") return [member];
  if (fact.kind === "field") {
    if (plain.kind !== "record") return plain.kind === "null" ? [] : [member];
    const field = plain.fields.find((candidate) => candidate.name === fact.field);
    if (field === undefined) return [member];
    const fieldType = field.optional === true ? unionOf([field.type, NULL]) : field.type;
    return isNever(narrowOnce(fieldType, fact.fact, types)) ? [] : [member];
  }
  if (fact.kind === "is") {
    return fact.values.map(typeOfScalar).filter((value) => isAssignable(value, plain, types) === undefined);
  }
  if (plain.kind === "null") return fact.values.includes(null) ? [] : [member];
  if (plain.kind === "literal") return fact.values.includes(plain.value) ? [] : [member];
  if (plain.kind === "bool") {
    const left = [true, false].filter((value) => !fact.values.includes(value));
    return left.length === 2 ? [member] : left.map((value) => literal(value));
  }
  return [member];
}

function typeOfScalar(value: Scalar): ValueType {
  return value === null ? NULL : literal(value);
}

function equalityFacts(left: Expr, right: Expr, holds: boolean): Facts {
  const leftValue = scalarOf(left);
  const rightValue = scalarOf(right);
  const list = lengthOf(left) ?? lengthOf(right);
  const length = leftValue ?? rightValue;
  if (list !== undefined && typeof length === "number") {
    if (holds) return itemsFacts(list, Math.ceil(length), "len");
    return length === 0 ? itemsFacts(list, 1, "len") : NO_FACTS;
  }
  if (rightValue !== undefined) return pathFacts(left, { kind: holds ? "is" : "isNot", values: [rightValue] });
  if (leftValue !== undefined) return pathFacts(right, { kind: holds ? "is" : "isNot", values: [leftValue] });
  return NO_FACTS;
}

type Order = "<" | "<=" | ">" | ">=";
const TURNED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** The facts of a comparison of numbers: about the length of a list, and about an index. */
function orderFacts(left: Expr, right: Expr, order: Order): Facts {
  return bothFacts(lowerBound(left, right, order), lowerBound(right, left, TURNED[order]));
}

/** The facts about `greater` that follow from `greater > lesser`, or from another order of the two. */
function lowerBound(greater: Expr, lesser: Expr, order: Order): Facts {
  if (order === "<" || order === "<=") return NO_FACTS;
  const list = lengthOf(greater);
  const number = scalarOf(lesser);
  if (typeof number === "number") {
    if (list !== undefined) return itemsFacts(list, order === ">" ? Math.floor(number) + 1 : Math.ceil(number), "len");
    const path = pathOf(greater);
    // `i > -1` of a float can hold below 0, but a list has no such index.
    const value = order === ">" && number === -1 ? 0 : number;
    return path === undefined ? NO_FACTS : new Map([[path, [{ kind: "atLeast", value }]]]);
  }
  const index = pathOf(lesser);
  const path = list === undefined ? undefined : pathOf(list);
  if (order !== ">" || index === undefined || path === undefined) return NO_FACTS;
  return new Map([[`${path}[@${index}]`, [{ kind: "belowLength" }]]]);
}

function itemsFacts(list: Expr, atLeast: number, by: ListFunction): Facts {
  const path = pathOf(list);
  return path === undefined || atLeast < 1 ? NO_FACTS : new Map([[path, [{ kind: "items", atLeast, by }]]]);
}

/** The list of `len(list)`. */
function lengthOf(expression: Expr): Expr | undefined {
  const plain = withoutMarks(expression);
  return plain.kind === "Call" ? listOfCall(plain, "len") : undefined;
}

/** The argument of a call of one of these functions of a list. */
function listOfCall({ callee, args }: CallExpr, ...names: readonly ListFunction[]): Expr | undefined {
  const [argument, second] = args;
  const isOne = argument !== undefined && second === undefined && argument.name === undefined;
  return isOne && names.some((name) => name === callee.name) ? argument.value : undefined;
}

function membershipFacts(left: Expr, right: Expr, holds: boolean): Facts {
  if (right.kind !== "List") return NO_FACTS;
  const values: Scalar[] = [];
  for (const item of right.items) {
    const value = item.kind === "Spread" ? undefined : scalarOf(item);
    if (value !== undefined) values.push(value);
    else if (holds) return NO_FACTS;
  }
  return pathFacts(left, { kind: holds ? "is" : "isNot", values });
}

/** A fact about a path, and the facts that follow for the records on the way to it. */
function pathFacts(expression: Expr, fact: Fact): Facts {
  const path = pathOf(expression);
  if (path === undefined) return NO_FACTS;
  const result = new Map<string, readonly Fact[]>([[path, [fact]]]);
  let inner = fact;
  let at = expression;
  // If the value is not null, no `?.` on the path was applied to null, and the record's field has the fact.
  const leadsThrough = excludesNull(fact);
  for (;;) {
    at = withoutMarks(at);
    if (at.kind === "Call" && leadsThrough) {
      const list = listOfCall(at, "first", "last");
      if (list === undefined) break;
      return bothFacts(result, itemsFacts(list, 1, at.callee.name === "first" ? "first" : "last"));
    }
    if (at.kind !== "Member" && at.kind !== "Index") break;
    const outer = pathOf(at.object);
    if (outer === undefined) break;
    const facts: Fact[] = leadsThrough ? [NOT_NULL] : [];
    if (at.kind === "Member" && !(at.optional && !leadsThrough)) {
      inner = { kind: "field", field: at.property.name, fact: inner };
      facts.push(inner);
    } else if (!leadsThrough) break;
    result.set(outer, facts);
    at = at.object;
    if (at.kind === "Index") break;
  }
  return result;
}

/** The expression behind `!` and behind a derived name, which have the same path. */
function withoutMarks(expression: Expr): Expr {
  let at = expression;
  while (at.kind === "NonNull" || (at.kind === "Derived" && !at.isHidden)) {
    at = at.kind === "NonNull" ? at.object : at.value;
  }
  return at;
}

/** The disjunction of two sets of facts: for each path in both, one of their facts. */
function eitherFacts(a: Facts, b: Facts): Facts {
  const result = new Map<string, readonly Fact[]>();
  for (const [path, facts] of a) {
    const others = b.get(path);
    if (others === undefined) continue;
    const left = single(facts);
    const right = single(others);
    if (left === undefined || right === undefined) {
      if (facts.some(excludesNull) && others.some(excludesNull)) result.set(path, [NOT_NULL]);
    } else if (left.kind === "is" && right.kind === "is") {
      result.set(path, [{ kind: "is", values: [...new Set([...left.values, ...right.values])] }]);
    } else if (left.kind === "isNot" && right.kind === "isNot") {
      const common = left.values.filter((value) => right.values.includes(value));
      if (common.length > 0) result.set(path, [{ kind: "isNot", values: common }]);
    } else if (facts.some(excludesNull) && others.some(excludesNull)) result.set(path, [NOT_NULL]);
  }
  return result;
}

function single(facts: readonly Fact[]): Extract<Fact, { kind: "is" | "isNot" }> | undefined {
  const about = facts.filter(({ kind }) => kind !== "items" && kind !== "atLeast" && kind !== "belowLength");
  const only = about.length === 1 ? about[0] : undefined;
  return only?.kind === "is" || only?.kind === "isNot" ? only : undefined;
}
