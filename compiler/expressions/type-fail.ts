/** Types `fail("why")`, which is an expression right of `??` and in an arm of `? :`. */
import { wrongArity } from "../../diagnostics/catalog/types.ts";
import type * as Ast from "../../grammar/ast.ts";
import { NEVER, STRING } from "../types/construct.ts";
import { expectType, placeOf } from "./expect-type.ts";
import type { ExpressionScope, Typed, TypePart } from "./scope.ts";
import { broken } from "./typed.ts";

const USAGE = "fail(message)";

/** Types a part of an expression that may be `fail("why")`: without a value, it fits everywhere. */
export function typeOrFail(syntax: Ast.Expr, scope: ExpressionScope, typePart: TypePart): Typed {
  if (syntax.kind !== "Call" || syntax.callee.name !== "fail") return typePart(syntax, scope);
  const binding = scope.names.callee("fail", syntax.callee.span);
  if (binding?.kind !== "node" || binding.isBuiltin !== true) return typePart(syntax, scope);
  const [argument] = syntax.args;
  if (argument === undefined || syntax.args.length > 1) {
    const facts = { usage: USAGE, found: syntax.args.length, expected: "1 argument" };
    scope.report(wrongArity(placeOf(syntax.span, scope), facts));
    return broken(syntax);
  }
  const message = typePart(argument.value, scope);
  expectType(message, STRING, { what: `\`${USAGE}\` takes a string` }, scope);
  return { expression: { op: "fail", message: message.expression }, type: NEVER, syntax };
}
