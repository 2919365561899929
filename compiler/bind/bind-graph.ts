/** The second stage of binding one graph: types expressions with the facts that follow from the control flow. */
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundChannel, BoundGraph, BoundNode, TypedExpression } from "./bound-graph.ts";
import { toolTypes } from "./bind-tools.ts";
import { referencedTypes } from "../types/referenced-types.ts";
import { unusedDeclaration } from "../../diagnostics/catalog/names.ts";
import type { ExpressionScope } from "../expressions/scope.ts";
import { typeCondition, typeExpression } from "../expressions/type-expression.ts";
import { bindConfig } from "./bind-config.ts";
import { bindEdge } from "./bind-edges.ts";
import { bindNode } from "./bind-nodes.ts";
import { NO_POLICIES } from "./bind-policies.ts";
import { bindAssertions, bindLimits } from "./declarations.ts";
import { deleteStatement } from "./delete-unused.ts";
import type { Expansion } from "./expand-names.ts";
import type { GraphControl } from "../control/graph-control.ts";
import { mayInterrupt } from "./may-interrupt.ts";
import { signatureDigest } from "./signature-digest.ts";
import { checkFormerNames } from "./former-names.ts";
import type { Flow } from "../control/flow.ts";
import { isSilenced, placeIn, type ChannelEntry, type GraphContext, type NodeEntry } from "./graph-context.ts";
import { scopeAt } from "./resolve-names.ts";
import type { ResolvedGraph } from "./resolve-graph.ts";
import { toTypedExpression } from "./typed-expression.ts";

/** Types the expressions of a graph. Calls have the results of graphs that are typed already. */
export function bindGraph(resolved: ResolvedGraph, { net, flow, mayEndNull }: GraphControl): BoundGraph {
  const { unit, options, context, declarations, channels, writes, policies } = resolved;
  const { declaration, scope } = unit;
  const nodes = declarations.nodes.map((node, index) =>
    bindNode(node, { writes: writes[index] ?? [], policies: policies[index] ?? NO_POLICIES, flow }, context),
  );
  const edges = resolved.edges.map((edge) => bindEdge(edge, flow, context, channels));
  reportUnreadNames(declarations.derived, resolved.expansion, flow, context);
  const conditionOf = (condition: Ast.Expr, { name, index }: NodeEntry): TypedExpression => {
    const place = { flow: flow.atNode(index), reader: `\`assert … at ${name}\``, locals: new Map<string, never>() };
    const scope: ExpressionScope = { ...scopeAt(place, context), where: "condition", facts: place.flow.facts };
    return toTypedExpression(typeCondition(condition, scope), context);
  };
  const assertions = bindAssertions(declarations.assertions, conditionOf, context);
  checkFormerNames(declaration, declarations, context);
  const dropped = declarations.drops.flatMap((drop) => drop.channels.map(({ name }) => name));
  const limits = bindLimits(declarations.limits, context);
  const isCalledBroken = [...context.called, ...context.calledPlans].some((called) => called.hasErrors);
  const boundChannels = channels.map((channel) => toBoundChannel(channel, mayEndNull));
  const config = bindConfig(boundChannels, context);
  return {
    file: context.file,
    declaration,
    name: declaration.name.name,
    ...(declaration.doc === undefined ? {} : { doc: declaration.doc.text }),
    channels: boundChannels,
    config,
    ...(declaration.was === undefined ? {} : { was: declaration.was.map(({ name }) => name) }),
    ...(dropped.length === 0 ? {} : { dropped }),
    nodes,
    edges,
    ...(declarations.derived.length === 0
      ? {}
      : derivedTypesOf(declarations.derived, resolved.expansion, flow, context)),
    control: net,
    assertions,
    limits,
    functions: functionsOf(channels, context),
    ...declaredFunctions(context),
    types: referencedTypes([...typesOf(channels, nodes), ...config.map(({ channel }) => channel.type)], options.types),
    typeScriptChecks: context.typeScriptChecks,
    graphs: [...context.called],
    ...(context.calledPlans.size === 0 ? {} : { plans: [...context.calledPlans] }),
    secrets: [...scope.secrets.keys()],
    hasErrors: options.foundErrors() || isCalledBroken || declarations.hasBroken,
    poisoned: context.poisoned,
  };
}

/** What imported functions declare. The closures keep the scope of the file, not all that binding the graph has needed. */
function declaredFunctions({ scope, types }: GraphContext): Pick<BoundGraph, "signatureOf" | "mayInterrupt"> {
  return {
    signatureOf: (name) => signatureDigest(name, { scope, types }),
    mayInterrupt: (name) => mayInterrupt(name, { scope }),
  };
}

/** Reports errors of derived names that nothing reads (in other names they are found where they are read), and NG111. */
function reportUnreadNames(
  derived: readonly Ast.DeriveDecl[],
  { used, expand }: Expansion,
  flow: Flow,
  context: GraphContext,
): void {
  for (const declaration of derived) {
    const { name, value } = declaration;
    if (used.has(name.name) || context.poisoned.has(name.name)) continue;
    const place = { flow: flow.anywhere, reader: `\`${name.name}\``, locals: new Map<string, never>() };
    typeExpression(expand(value), scopeAt(place, context));
    if (!isSilenced(name.name, context)) {
      const fixes = [deleteStatement(context.file, declaration, "derive")];
      context.report(unusedDeclaration(placeIn(context, name.span), { name: name.name, what: "derived name", fixes }));
    }
  }
}

/** The types that derived names have wherever nothing more is known. Reports nothing: errors are found where the names are read. */
function derivedTypesOf(
  derived: readonly Ast.DeriveDecl[],
  { expand }: Expansion,
  { anywhere }: Flow,
  shared: GraphContext,
): Pick<BoundGraph, "derivedTypes"> {
  return { derivedTypes: () => typeDerived(derived, expand, anywhere, shared) };
}

function typeDerived(
  derived: readonly Ast.DeriveDecl[],
  expand: Expansion["expand"],
  anywhere: Flow["anywhere"],
  shared: GraphContext,
): ReadonlyMap<Ast.DeriveDecl, ValueType> {
  const types = new Map<Ast.DeriveDecl, ValueType>();
  for (const each of derived) {
    let hasErrors = false;
    const context: GraphContext = {
      ...shared,
      // A warning is no reason to hide a type.
      report: ({ severity }) => void (hasErrors ||= severity === "error"),
      typeScriptChecks: [],
      functions: new Map(shared.functions),
      poisoned: new Set(shared.poisoned),
    };
    const place = { flow: anywhere, reader: `\`${each.name.name}\``, locals: new Map<string, never>() };
    const { type } = typeExpression(expand(each.value), scopeAt(place, context));
    if (!hasErrors) types.set(each, type);
  }
  return types;
}

export function toBoundChannel(channel: ChannelEntry, mayEndNull: ReadonlySet<string>): BoundChannel {
  const { startsNull: _start, index: _position, hasWrongReducer: _reported, ...bound } = channel;
  return mayEndNull.has(channel.name) ? { ...bound, mayEndNull: true } : bound;
}

/**
 * The imported functions of a graph: those that expressions refer to by index first, then those used only as reducers.
 */
export function functionsOf(channels: readonly ChannelEntry[], context: GraphContext): BoundGraph["functions"] {
  const specs = [...context.functions.values()].map(({ spec }) => spec);
  const known = new Set(context.functions.keys());
  for (const { reducer } of channels) {
    if (reducer?.kind !== "function" || known.has(reducer.function.name)) continue;
    known.add(reducer.function.name);
    specs.push(reducer.function);
  }
  return specs;
}

function typesOf(channels: readonly ChannelEntry[], nodes: readonly BoundNode[]): ValueType[] {
  return [
    ...channels.map(({ type }) => type),
    ...nodes.flatMap(({ result }) => result ?? []),
    ...nodes.flatMap(({ call }) => toolTypes(call)),
  ];
}
