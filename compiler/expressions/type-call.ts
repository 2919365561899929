import {
  asyncInExpression,
  namedLibraryArgument,
  nodeInExpression,
  notJsonValue,
  wrongArity,
} from "../../diagnostics/catalog/types.ts";
import { mixedArguments, repeatedArgument } from "../../diagnostics/catalog/names.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import { opaque, recordOf } from "../types/construct.ts";
import { findNotJson } from "../modules/not-json.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";
import { checkFunctionCall } from "./check-function-call.ts";
import { placeOf } from "./expect-type.ts";
import { librarySignatures } from "./library-signatures.ts";
import type { ExpressionScope, Typed, TypePart } from "./scope.ts";
import { hasItems } from "./type-access.ts";
import { broken, listItem, reportUnwritten } from "./typed.ts";

/**
 * Types a call inside an expression: of a library function, or of an imported function, which must be pure and
 * synchronous.
 */
export function typeCall(syntax: Ast.CallExpr, scope: ExpressionScope, typePart: TypePart): Typed {
  const { callee } = syntax;
  const binding = scope.names.callee(callee.name, callee.span);
  if (binding?.kind === "import") {
    const { args, signature } = typeFunctionArguments(syntax, binding.signatures, scope, typePart);
    const [declared] = binding.signatures;
    if (declared?.isAsync === true) {
      scope.report(asyncInExpression(placeOf(callee.span, scope), { name: callee.name, declared: declared.place }));
      return broken(syntax);
    }
    const expression: Expression = { op: "call", function: binding.index, args: args.map((typed) => typed.expression) };
    const given = args.map(({ type, syntax: part }) => ({ type, name: part.kind === "Name" ? part.name : undefined }));
    scope.names.leaveToTypeScript({ kind: "call", function: binding.spec, args: given, span: syntax.span });
    const type = signature?.result ?? resultOf(binding.spec);
    const found = findNotJson(type, scope.types, false);
    if (found === undefined) return { expression, type, syntax };
    const source = `the result of \`${callee.name}\``;
    const facts = { target: "an expression", verb: "use", source, ...found } as const;
    scope.report(notJsonValue(placeOf(syntax.span, scope), facts));
    return broken(syntax);
  }
  const args = syntax.args.map((argument) => typePart(argument.value, scope));
  if (binding?.kind === "node") {
    scope.report(nodeInExpression(placeOf(callee.span, scope), { name: callee.name, where: scope.where }));
    return broken(syntax);
  }
  const signature = binding === undefined ? librarySignatures.get(callee.name) : undefined;
  if (signature === undefined) {
    if (binding === undefined) scope.names.unknownCallee(callee);
    return broken(syntax);
  }
  const named = syntax.args.find((argument) => argument.name !== undefined);
  if (named?.name !== undefined) {
    scope.report(namedLibraryArgument(placeOf(named.name.span, scope), signature.usage));
    return broken(syntax);
  }
  const { minimum, maximum } = signature;
  if (args.length < minimum || (maximum !== null && args.length > maximum)) {
    const expected = countText(minimum, maximum);
    scope.report(wrongArity(placeOf(syntax.span, scope), { usage: signature.usage, found: args.length, expected }));
    return broken(syntax);
  }
  const type = itemType(syntax, args, scope) ?? signature.result(args, scope, signature.usage);
  const expression: Expression = { op: "library", name: callee.name, args: args.map((typed) => typed.expression) };
  return { expression, type, syntax };
}

/** The type of `first(list)` and `last(list)` of a list that is known to have items: without the `null` of an empty list. */
function itemType(
  { callee, args: [list] }: Ast.CallExpr,
  [typed]: readonly Typed[],
  scope: ExpressionScope,
): ValueType | undefined {
  if (callee.name !== "first" && callee.name !== "last") return undefined;
  if (list === undefined || typed === undefined || !hasItems(list.value, scope)) return undefined;
  return listItem(typed.type, scope);
}

/**
 * Types the arguments of an imported function: positional ones as they are, named ones as one record. Checks them
 * against the function's signatures, and returns the one that counts.
 */
export function typeFunctionArguments(
  syntax: Ast.CallExpr,
  signatures: readonly FunctionSignature[],
  scope: ExpressionScope,
  typePart: TypePart,
): { readonly args: readonly Typed[]; readonly signature: FunctionSignature | undefined } {
  const { args, parts, isMixed } = typeArguments(syntax, scope, typePart);
  const isChecked = signatures.length > 0 && !isMixed;
  const signature = isChecked ? checkFunctionCall(syntax, args, signatures, scope) : undefined;
  const isNamed = parts.length !== args.length || args[0] !== parts[0];
  for (const [at, typed] of parts.entries()) {
    // Other parameters do not accept `null`: it has been reported already.
    const expected = signature?.parameters[isNamed ? 0 : at]?.type.kind;
    if (!isChecked || expected === "json" || expected === "opaque") reportUnwritten(typed, scope);
  }
  return { args, signature };
}

/** `parts`: the arguments as they are written, where `args` is one record of them. */
function typeArguments(
  syntax: Ast.CallExpr,
  scope: ExpressionScope,
  typePart: TypePart,
): { readonly args: readonly Typed[]; readonly parts: readonly Typed[]; readonly isMixed: boolean } {
  const named = syntax.args.filter((argument) => argument.name !== undefined);
  if (named.length > 0 && named.length < syntax.args.length) {
    const at = named[0]?.span ?? syntax.span;
    scope.report(mixedArguments(placeOf(at, scope), syntax.callee.name));
  }
  if (named.length === 0 || named.length < syntax.args.length) {
    const parts = syntax.args.map((argument) => typePart(argument.value, scope));
    return { args: parts, parts, isMixed: named.length > 0 };
  }
  const fields: { name: string; value: Expression }[] = [];
  const types: FieldType[] = [];
  const seen = new Map<string, Ast.Argument>();
  const parts: Typed[] = [];
  for (const argument of named) {
    const name = argument.name?.name ?? "";
    const typed = typePart(argument.value, scope);
    parts.push(typed);
    const first = seen.get(name);
    if (first !== undefined) {
      const facts = { callee: syntax.callee.name, name, first: placeOf(first.span, scope) };
      scope.report(repeatedArgument(placeOf(argument.span, scope), facts));
      continue;
    }
    seen.set(name, argument);
    fields.push({ name, value: typed.expression });
    types.push({ name, type: typed.type });
  }
  const record: Typed = { expression: { op: "record", fields }, type: recordOf(types), syntax };
  return { args: [record], parts, isMixed: false };
}

/** The opaque type of what an imported function returns. */
function resultOf(spec: FunctionSpec): ValueType {
  return opaque(`ReturnType<typeof ${spec.name}>`, spec.module);
}

function countText(minimum: number, maximum: number | null): string {
  const word = (count: number): string => (count === 1 ? "1 argument" : `${count} arguments`);
  if (maximum === null) return `at least ${word(minimum)}`;
  return minimum === maximum ? word(minimum) : `${minimum} to ${word(maximum)}`;
}
