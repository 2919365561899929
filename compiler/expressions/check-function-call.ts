import { missingArguments, tooManyArguments } from "../../diagnostics/catalog/names.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { FunctionSignature, SignatureParameter } from "../modules/read-signature.ts";
import { isAssignable } from "../types/assignable.ts";
import { placeOf } from "./expect-type.ts";
import { reportMisfit } from "./fit-value.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

/**
 * Checks the arguments of an imported function against its signatures. Returns the first overload that accepts them;
 * `undefined` if the function has no signature, or if an error has been reported.
 */
export function checkFunctionCall(
  syntax: Ast.CallExpr,
  args: readonly Typed[],
  signatures: readonly FunctionSignature[],
  scope: ExpressionScope,
): FunctionSignature | undefined {
  const [first] = signatures;
  if (first === undefined) return undefined;
  const accepted = signatures.find((signature) => accepts(signature, args, scope));
  const signature = accepted ?? first;
  // Reports even where the signature accepts: a literal may have a field that its type does not.
  return report(syntax, args, signature, scope) ? signature : undefined;
}

function accepts(signature: FunctionSignature, args: readonly Typed[], scope: ExpressionScope): boolean {
  if (args.length < leastArguments(signature)) return false;
  return args.every(({ type }, at) => {
    const expected = parameterType(signature, at);
    return expected !== undefined && isAssignable(type, expected, scope.types) === undefined;
  });
}

/** The engine passes the context after the arguments, so optional parameters before it must be given, too. */
function leastArguments({ parameters, takesContext }: FunctionSignature): number {
  if (takesContext) return parameters.length;
  const required = parameters.filter(({ optional }) => !optional).length;
  const last = parameters[required - 1];
  // It may be the context, under a name of its own.
  return last?.type.kind === "opaque" ? required - 1 : required;
}

function parameterType({ parameters, rest }: FunctionSignature, at: number): ValueType | undefined {
  return parameters[at]?.type ?? rest;
}

function report(
  syntax: Ast.CallExpr,
  args: readonly Typed[],
  signature: FunctionSignature,
  scope: ExpressionScope,
): boolean {
  const { parameters, place } = signature;
  const callee = syntax.callee.name;
  if (args.length < leastArguments(signature)) {
    const missing = parameters.slice(args.length).map(({ name }) => name);
    const facts = { callee, missing, declared: place, isPositional: true };
    scope.report(missingArguments(placeOf(syntax.callee.span, scope), facts));
    return false;
  }
  let isRight = true;
  for (const [at, typed] of args.entries()) {
    const expected = parameterType(signature, at);
    if (expected === undefined) {
      const span = syntax.args[at]?.span ?? syntax.span;
      const known = parameters.map(({ name }) => name);
      scope.report(tooManyArguments(placeOf(span, scope), { callee, known, declared: place }));
      return false;
    }
    const target = { target: describe(parameters[at], callee, at), declared: parameters[at]?.place ?? place };
    // Without `typeScriptChecks`: generated modules check the whole call.
    const { file, types, report: reportFinding, suggestions } = scope;
    if (!reportMisfit(typed, expected, target, { file, types, report: reportFinding, suggestions })) isRight = false;
  }
  return isRight;
}

function describe(parameter: SignatureParameter | undefined, callee: string, at: number): string {
  return parameter === undefined || parameter.name.includes(" ")
    ? `argument ${at + 1} of \`${callee}\``
    : `argument \`${parameter.name}\` of \`${callee}\``;
}
