import { wrongType } from "../../diagnostics/catalog/types.ts";
import { reservedName } from "../../diagnostics/catalog/names.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Effect } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundNode } from "./bound-graph.ts";
import { hideFacts, type Facts } from "../expressions/facts.ts";
import { expectNotNull, leaveContainerToTypeScript } from "../expressions/expect-type.ts";
import type { ExpressionScope } from "../expressions/scope.ts";
import { typeExpression } from "../expressions/type-expression.ts";
import { listItem, mapHelp } from "../expressions/typed.ts";
import { BROKEN_TYPE, isBroken, listOf } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { bindCall } from "./bind-call.ts";
import { boundOutput, checkEachWrites, checkResult, inferResult, type Write } from "./bind-output.ts";
import type { BoundPolicies } from "./bind-policies.ts";
import type { Flow } from "../control/flow.ts";
import { placeIn, type GraphContext, type NodeEntry } from "./graph-context.ts";
import { createNames } from "./resolve-names.ts";
import { toTypedExpression } from "./typed-expression.ts";

/**
 * Types the call of a node. Its `into` and its policies have been resolved before, because control flow depends on
 * them.
 */
export function bindNode(
  entry: NodeEntry,
  parts: { readonly writes: readonly Write[]; readonly policies: BoundPolicies; readonly flow: Flow },
  context: GraphContext,
): BoundNode {
  const { declaration, name, index } = entry;
  const flow = parts.flow.atNode(index);
  const reads = new Set<string>();
  const effects = new Set<Effect>();
  const scopeWith = (locals: ReadonlyMap<string, ValueType>, facts: Facts): ExpressionScope => ({
    file: context.file,
    types: context.types,
    names: withCode(createNames({ flow, reader: `\`${name}\``, locals }, context), effects),
    report: context.report,
    suggestions: context.suggestions,
    where: "argument",
    locals,
    facts,
    reads,
    depth: 0,
  });
  const outside = scopeWith(NO_LOCALS, flow.facts);
  const each = declaration.each === undefined ? undefined : bindEach(declaration.each, outside, context);
  const scope =
    each === undefined ? outside : scopeWith(new Map([[each.item, each.type]]), hideFacts(flow.facts, each.item));
  const { call, result, effects: own, callee, unwritten } = bindCall(declaration.call, scope, context);
  for (const effect of own) effects.add(effect);
  const type = result === "infer" ? inferResult(parts.writes, each !== undefined) : result;
  if (each !== undefined) checkEachWrites(parts.writes, context);
  if (type !== undefined && result !== "infer") {
    const isChecked = call.kind === "builtin" || call.kind === "function";
    checkResult(declaration, { type, isChecked, callee, unwritten }, parts.writes, context);
  }
  const output = boundOutput(declaration.output, parts.writes);
  return {
    declaration,
    name,
    ...(declaration.doc === undefined ? {} : { doc: declaration.doc.text }),
    call,
    ...(each === undefined ? {} : { each: { item: each.item, list: each.list } }),
    ...(output === undefined ? {} : { output }),
    // What a function declares is not checked at run time: only the types of channels are.
    ...(type === undefined || call.kind === "function" ? {} : { result: type }),
    ...parts.policies,
    effects: [...effects].sort(),
    reads: [...reads],
    writes: [...new Set(parts.writes.map(({ channel }) => channel.name))],
  };
}

const NO_LOCALS: ReadonlyMap<string, ValueType> = new Map();

/** Adds the effect `code` to a node whose expressions call imported functions. */
export function withCode(names: ExpressionScope["names"], effects: Set<Effect>): ExpressionScope["names"] {
  return {
    ...names,
    callee: (name, span) => {
      const binding = names.callee(name, span);
      if (binding?.kind === "import") effects.add("code");
      return binding;
    },
  };
}

function bindEach(
  each: NonNullable<Ast.NodeDecl["each"]>,
  scope: ExpressionScope,
  context: GraphContext,
): { item: string; type: ValueType; list: ReturnType<typeof toTypedExpression> } {
  const item = each.item.name;
  if (item === "error") {
    const meaning = "the failure that led to a node";
    context.report(reservedName(placeIn(context, each.item.span), { name: item, meaning }));
  }
  const list = typeExpression(each.list, scope);
  const what = "`for` goes over a list";
  const type = expectNotNull(list, what, scope, "write `… ?? []` for that case");
  const found = listItem(type, scope);
  if (found === undefined && !isBroken(type)) {
    const label = `this is \`${typeToText(type)}\``;
    const facts = { message: what, label, help: mapHelp(type, scope) };
    context.report(wrongType(placeIn(context, each.list.span), facts));
  }
  leaveContainerToTypeScript({ type, syntax: list.syntax }, listOf(BROKEN_TYPE), scope);
  return { item, type: found ?? BROKEN_TYPE, list: toTypedExpression(list, context) };
}
