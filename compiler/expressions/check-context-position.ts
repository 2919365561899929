/**
 * The engine passes the context of a node after the arguments of the call. A function that takes no context receives it
 * as an optional parameter that the call leaves out, or as one more value of `...rest`.
 */
import { contextAsArgument } from "../../diagnostics/catalog/names.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { findNotJson } from "../modules/not-json.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";
import { resolveType, type TypeTable } from "../types/type-table.ts";
import { placeOf } from "./expect-type.ts";
import type { ExpressionScope } from "./scope.ts";

/** Reports (NG114) that a node's function would receive the context where it expects a value. */
export function checkContextPosition(
  syntax: Ast.CallExpr,
  given: number,
  { parameters, rest, takesContext, place }: FunctionSignature,
  scope: ExpressionScope,
): void {
  if (takesContext) return;
  const receiver = parameters[given];
  const type = receiver === undefined ? rest : receiver.type;
  if (type === undefined || mayHoldContext(type, scope.types)) return;
  const missing = parameters.slice(given).map(({ name }) => name);
  const facts = { callee: syntax.callee.name, missing, declared: receiver?.place ?? place };
  scope.report(contextAsArgument(placeOf(syntax.callee.span, scope), facts));
}

/** Fields of `NodeContext` whose values are JSON. A type with one of the others is recognized by `findNotJson`. */
const CONTEXT_FIELDS: ReadonlySet<string> = new Set(
  "step attempt thread failure idempotencyKey context item expects allowedHosts".split(" "),
);

/** Whether a function may declare its context by this type, such as `{ signal: AbortSignal }`. */
function mayHoldContext(type: ValueType, types: TypeTable): boolean {
  if (findNotJson(type, types) !== undefined) return true;
  const plain = resolveType(type, types);
  const members = plain.kind === "union" ? plain.members.map((member) => resolveType(member, types)) : [plain];
  return members.some(
    (member) =>
      member.kind === "opaque" ||
      member.kind === "json" ||
      (member.kind === "record" && member.fields.some(({ name }) => CONTEXT_FIELDS.has(name))),
  );
}
