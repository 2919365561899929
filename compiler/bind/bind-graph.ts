/** Binds one graph: resolves names, then types expressions with what control flow says about them. */
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { type BoundChannel, type BoundGraph, type BoundNode } from "./bound-graph.ts";
import { referencedTypes } from "../types/referenced-types.ts";
import { bindEdge } from "./bind-edges.ts";
import { bindNode } from "./bind-nodes.ts";
import { bindPolicies } from "./bind-policies.ts";
import { bindAssertions, bindLimits, collectDeclarations } from "./declarations.ts";
import type { GraphUnit } from "./file-scope.ts";
import { buildNet } from "../control/build-net.ts";
import { checkFormerNames } from "./former-names.ts";
import { analyseFlow } from "../control/flow.ts";
import type { ChannelEntry, GraphContext } from "./graph-context.ts";
import { openContext, watchErrors, type BindOptions } from "./open-context.ts";
import { unwrittenAtEnd } from "../control/written-at-end.ts";
import { resolveEdges } from "./resolve-edges.ts";

export function bindGraph(unit: GraphUnit, bindOptions: BindOptions): BoundGraph {
  const { declaration, scope } = unit;
  const file = scope.file.source;
  const options = watchErrors(bindOptions);
  const declarations = collectDeclarations(declaration, file, scope.secrets, options.report);
  const { context, channels, writes } = openContext(unit, { ...declarations, noun: "node" }, options);
  const policies = declarations.nodes.map((node) => bindPolicies(node.declaration, context));
  const resolved = resolveEdges(declarations.edges, context);
  const control = buildNet({
    nodes: declarations.nodes.map(({ name }, index) => ({ name, ...policies[index] })),
    edges: resolved.edges,
  });
  const isPartial = resolved.isPartial || declarations.hasBroken || options.foundErrors();
  const mayWrite = writes.map((list) => list.map(({ channel }) => channel.name));
  const surelyWrites = writes.map((list, index) =>
    list
      .filter(({ channel }) => !mayWriteNothing(declarations.nodes[index]?.declaration.each?.list, channel.reducer))
      .map(({ channel }) => channel.name),
  );
  const flow = analyseFlow({
    channels,
    nodes: declarations.nodes,
    edges: resolved.edges,
    net: control,
    writes: surelyWrites,
    mayWrite,
    isPartial,
  });
  const mayEndNull = isPartial
    ? new Set<string>()
    : unwrittenAtEnd(
        control,
        surelyWrites,
        channels.flatMap(({ name, role, startsNull }) => (role === "output" && startsNull ? [name] : [])),
      );
  const nodes = declarations.nodes.map((node, index) =>
    bindNode(node, { writes: writes[index] ?? [], policies: policies[index] ?? NO_POLICIES, flow }, context),
  );
  const edges = resolved.edges.map((edge) => bindEdge(edge, flow, context, channels));
  const assertions = bindAssertions(declarations.assertions, context);
  checkFormerNames(declaration, declarations, context);
  const dropped = declarations.drops.flatMap((drop) => drop.channels.map(({ name }) => name));
  const limits = bindLimits(declarations.limits, context);
  const isCalledBroken = [...context.called, ...context.calledPlans].some((called) => called.hasErrors);
  return {
    file,
    declaration,
    name: declaration.name.name,
    ...(declaration.doc === undefined ? {} : { doc: declaration.doc.text }),
    channels: channels.map((channel) => toBoundChannel(channel, mayEndNull)),
    ...(declaration.was === undefined ? {} : { was: declaration.was.map(({ name }) => name) }),
    ...(dropped.length === 0 ? {} : { dropped }),
    nodes,
    edges,
    control,
    assertions,
    limits,
    functions: functionsOf(channels, context),
    types: referencedTypes(typesOf(channels, nodes), options.types),
    typeScriptChecks: context.typeScriptChecks,
    graphs: [...context.called],
    ...(context.calledPlans.size === 0 ? {} : { plans: [...context.calledPlans] }),
    secrets: [...context.secrets],
    hasErrors: options.foundErrors() || isCalledBroken || declarations.hasBroken,
    poisoned: context.poisoned,
  };
}

/** A `for` over an empty list leaves a channel of numbers or records as it was (7.1). */
function mayWriteNothing(list: Ast.Expr | undefined, reducer: ChannelEntry["reducer"]): boolean {
  if (list === undefined || (list.kind === "List" && list.items.some((item) => item.kind !== "Spread"))) return false;
  return reducer?.kind === "min" || reducer?.kind === "max" || reducer?.kind === "merge" || reducer?.kind === "sum";
}

const NO_POLICIES = { pauseBefore: false, pauseAfter: false, idempotent: false };

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
  return [...channels.map(({ type }) => type), ...nodes.flatMap(({ result }) => result ?? [])];
}
