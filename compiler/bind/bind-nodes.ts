import { reservedName } from "../../diagnostics/catalog/names.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Effect } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundNode } from "./bound-graph.ts";
import type { Facts } from "../expressions/facts.ts";
import type { ExpressionScope } from "../expressions/scope.ts";
import { typeFor } from "../expressions/type-expression.ts";
import { bindCall } from "./bind-call.ts";
import { checkDeclared, checkEachWrites, checkResult, inferResult } from "./check-result.ts";
import { boundOutput, type Write } from "./resolve-writes.ts";
import { bindUndo } from "./bind-undo.ts";
import type { BoundPolicies } from "./bind-policies.ts";
import type { Flow } from "../control/flow.ts";
import { placeIn, type GraphContext, type NodeEntry } from "./graph-context.ts";
import { channelList } from "./name-list.ts";
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
  const scope = each === undefined ? outside : scopeWith(each.inner.locals, each.inner.facts);
  const { call, result, effects: own, callee, unwritten, declared } = bindCall(declaration.call, scope, context);
  for (const effect of own) effects.add(effect);
  const type = result === "infer" ? inferResult(parts.writes, each !== undefined) : result;
  if (each !== undefined) checkEachWrites(parts.writes, context);
  if (type !== undefined && result !== "infer") {
    const isChecked = call.kind === "builtin" || call.kind === "function";
    checkResult(declaration, { type, isChecked, callee, unwritten }, parts.writes, context);
  }
  checkDeclared(declaration, declared, type, parts.writes, context);
  const output = boundOutput(declaration.output, parts.writes);
  const { policies, undoPolicy } = withoutUndo(parts.policies);
  const undo =
    undoPolicy && bindUndo({ declaration, writes: parts.writes, result: type, scope, undo: undoPolicy }, context);
  for (const effect of undo?.effects ?? []) effects.add(effect);
  // Fields are added one by one: each spread would cost as much as the rest of the object.
  const bound: { -readonly [Key in keyof BoundNode]: BoundNode[Key] } = {
    declaration,
    name,
    call,
    ...policies,
    effects: effectList(effects),
    reads: channelList(reads, context),
    writes: writtenBy(parts.writes, context),
  };
  if (declaration.doc !== undefined) bound.doc = declaration.doc.text;
  if (each !== undefined) bound.each = each.bound;
  if (output !== undefined) bound.output = output;
  // What a function declares is not checked at run time: only the types of channels are.
  if (type !== undefined && call.kind !== "function") bound.result = type;
  if (undo?.undo !== undefined) bound.undo = undo.undo;
  return bound;
}

/** The names of the channels that a node writes. */
function writtenBy(writes: readonly Write[], context: GraphContext): BoundNode["writes"] {
  const [first] = writes;
  const only = writes.length === 1 && first !== undefined ? context.channelLists.get(first.channel.name) : undefined;
  return only ?? channelList(new Set(writes.map(({ channel }) => channel.name)), context);
}

/** Most nodes have no `undo`: their policies are not copied. */
function withoutUndo(all: BoundPolicies): {
  readonly policies: Omit<BoundPolicies, "undo">;
  readonly undoPolicy?: BoundPolicies["undo"];
} {
  if (all.undo === undefined) return { policies: all };
  const { undo, ...policies } = all;
  return { policies, undoPolicy: undo };
}

/** Most nodes have no effect, or only that of a function. */
function effectList(effects: ReadonlySet<Effect>): readonly Effect[] {
  if (effects.size === 0) return NO_EFFECTS;
  return effects.size === 1 && effects.has("code") ? CODE_ONLY : [...effects].sort();
}

const NO_EFFECTS: readonly Effect[] = [];
const CODE_ONLY: readonly Effect[] = ["code"];

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
  each: Ast.ForClause,
  scope: ExpressionScope,
  context: GraphContext,
): { readonly bound: NonNullable<BoundNode["each"]>; readonly inner: ExpressionScope } {
  for (const variable of [each.item, ...(each.index === undefined ? [] : [each.index])]) {
    if (variable.name !== "error") continue;
    const meaning = "the failure that led to a node";
    context.report(reservedName(placeIn(context, variable.span), { name: "error", meaning }));
  }
  const { list, condition, inner } = typeFor(each, "`for` goes over a list", scope);
  const bound = {
    item: each.item.name,
    ...(each.index === undefined ? {} : { index: each.index.name }),
    list: toTypedExpression(list, context),
    ...(condition === undefined ? {} : { condition: toTypedExpression(condition, context) }),
  };
  return { bound, inner };
}
