/** Parts that the rules of typing share: results of errors, types of items and numbers, narrowed scopes, help texts. */
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { BROKEN_TYPE, opaquePart, unionOf } from "../types/construct.ts";
import { alternatives, resolveType } from "../types/type-table.ts";
import { bothFacts, factsOf } from "./facts.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

/** The result for an expression that could not be typed: a call of an invalid function, with the broken type. */
export function broken(syntax: Ast.Expr): Typed {
  return { expression: { op: "call", function: -1, args: [] }, type: BROKEN_TYPE, syntax };
}

/** Reports a value of a channel that may be unwritten, if it is passed to a place that accepts `null`. */
export function reportUnwritten(typed: Typed, scope: ExpressionScope): void {
  if (typed.unwritten !== undefined) scope.names.unwrittenPassedOn(typed.unwritten, typed.syntax.span);
}

/** The item type of a list; `undefined` if the type is not a list. */
export function listItem(type: ValueType, scope: Pick<ExpressionScope, "types">): ValueType | undefined {
  const items: ValueType[] = [];
  for (const member of alternatives(type, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "opaque") items.push(opaquePart(plain, "number"));
    else if (plain.kind === "list") items.push(plain.item);
    else return undefined;
  }
  return unionOf(items);
}

/** Help for a map or a record that is used as a list. */
export function mapHelp(type: ValueType, scope: Pick<ExpressionScope, "types">): string | undefined {
  const isMap = alternatives(type, scope.types).some((member) => {
    const { kind } = resolveType(member, scope.types);
    return kind === "map" || kind === "record";
  });
  return isMap ? "go over `keys(…)` or `values(…)`" : undefined;
}

/** Whether a numeric type holds whole numbers only. */
export function numberKind(type: ValueType, scope: Pick<ExpressionScope, "types">): "int" | "float" {
  const isInt = alternatives(type, scope.types).every((member) => {
    const plain = resolveType(member, scope.types);
    return plain.kind === "int" || (plain.kind === "literal" && Number.isInteger(plain.value));
  });
  return isInt ? "int" : "float";
}

/** The scope of what is evaluated only when a condition holds (or does not). */
export function within(scope: ExpressionScope, condition: Ast.Expr, holds: boolean): ExpressionScope {
  const facts = factsOf(condition, holds);
  return facts.size === 0 ? scope : { ...scope, facts: bothFacts(scope.facts, facts) };
}

/** Help for a value of another type that is used as a condition. */
export function conditionHelp(typed: Typed, scope: ExpressionScope): string | undefined {
  const kinds = new Set(alternatives(typed.type, scope.types).map((member) => resolveType(member, scope.types).kind));
  if (kinds.has("null")) return 'nothing is "truthy" here: write `… != null`';
  if (kinds.has("list") || kinds.has("map")) return 'nothing is "truthy" here: write `len(…) > 0`';
  if (kinds.has("string") || kinds.has("literal"))
    return 'nothing is "truthy" here: compare it with a value: `… == "…"`';
  if (kinds.has("int") || kinds.has("float")) return 'nothing is "truthy" here: write `… != 0`';
  return undefined;
}
