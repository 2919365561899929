/** Binds one graph: resolves names, then types expressions with what control flow says about them. */
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { type BoundChannel, type BoundGraph, type BoundNode } from "./bound-graph.ts";
import { referencedTypes } from "../types/referenced-types.ts";
import { unusedDeclaration } from "../../diagnostics/catalog/names.ts";
import { typeExpression } from "../expressions/type-expression.ts";
import { bindEdge } from "./bind-edges.ts";
import { bindNode } from "./bind-nodes.ts";
import { bindPolicies } from "./bind-policies.ts";
import { bindAssertions, bindLimits, collectDeclarations, type Declarations } from "./declarations.ts";
import { createExpansion, expandChannel, expandEdge, expandNode, type Expand, type Expansion } from "./expand-names.ts";
import type { GraphUnit } from "./file-scope.ts";
import { buildNet } from "../control/build-net.ts";
import { checkFormerNames } from "./former-names.ts";
import { analyseFlow, type Flow } from "../control/flow.ts";
import { isSilenced, placeIn, type ChannelEntry, type GraphContext } from "./graph-context.ts";
import { scopeAt } from "./resolve-names.ts";
import { openContext, watchErrors, type BindOptions } from "./open-context.ts";
import { unwrittenAtEnd } from "../control/written-at-end.ts";
import { resolveEdges } from "./resolve-edges.ts";
import type { Write } from "./bind-output.ts";

export function bindGraph(unit: GraphUnit, bindOptions: BindOptions): BoundGraph {
  const { declaration, scope } = unit;
  const file = scope.file.source;
  const options = watchErrors(
    declaresNames(declaration) ? { ...bindOptions, report: onceEach(bindOptions.report) } : bindOptions,
  );
  const collected = collectDeclarations(declaration, file, scope.secrets, options.report);
  const { declarations, expansion } = expandDeclarations(collected, scope, options);
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
      .filter(
        ({ channel, isOptional, isSet }) =>
          isOptional !== true &&
          (isSet === true || !mayWriteNothing(declarations.nodes[index]?.declaration.each, channel.reducer)),
      )
      .map(({ channel }) => channel.name),
  );
  const flow = analyseFlow({
    channels,
    nodes: declarations.nodes,
    edges: resolved.edges,
    net: control,
    writes: surelyWrites,
    mayWrite,
    fills: filledLists(declarations.nodes, writes, context),
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
  reportUnreadNames(collected.derived, expansion, flow, context);
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
    secrets: [...scope.secrets.keys()],
    hasErrors: options.foundErrors() || isCalledBroken || declarations.hasBroken,
    poisoned: context.poisoned,
  };
}

function declaresNames({ statements }: Ast.GraphDecl): boolean {
  return statements.some(({ kind }) => kind === "Derive");
}

/** Reports each finding once: a derived name is bound at each place that reads it. */
function onceEach(report: BindOptions["report"]): BindOptions["report"] {
  const seen = new Set<string>();
  return (diagnostic) => {
    const { code, span, message } = diagnostic;
    const key = `${code} ${span.start} ${span.end} ${message}`;
    if (!seen.has(key)) report(diagnostic);
    seen.add(key);
  };
}

/** The declarations with derived names and constants replaced by what they stand for. */
function expandDeclarations(
  declarations: Declarations,
  scope: GraphUnit["scope"],
  { report }: BindOptions,
): { readonly declarations: Declarations; readonly expansion: Expansion } {
  const { derived, poisoned } = declarations;
  const own = new Set(declarations.channels.map(({ name }) => name.name));
  const expansion = createExpansion({ scope, derived, isOwnName: (name) => own.has(name), report, poisoned });
  const { expand } = expansion;
  const expanded = {
    ...declarations,
    channels: declarations.channels.map((channel) => expandChannel(channel, constantsOnly(expand, derived))),
    nodes: declarations.nodes.map((node) => ({ ...node, declaration: expandNode(node.declaration, expand) })),
    edges: declarations.edges.map((edge) => expandEdge(edge, expand)),
  };
  return { declarations: expanded, expansion };
}

/** For defaults: they are constant, so a derived name stays as it is and is reported. */
function constantsOnly(expand: Expand, derived: readonly Ast.DeriveDecl[]): Expand {
  const names = derived.map(({ name }) => name.name);
  return (expression) => expand(expression, names);
}

/** Reports errors of derived names that nothing reads (in other names they are found where they are read), and NG111. */
function reportUnreadNames(
  derived: readonly Ast.DeriveDecl[],
  { used, expand }: Expansion,
  flow: Flow,
  context: GraphContext,
): void {
  for (const { name, value } of derived) {
    if (used.has(name.name) || context.poisoned.has(name.name)) continue;
    const place = { flow: flow.anywhere, reader: `\`${name.name}\``, locals: new Map<string, never>() };
    typeExpression(expand(value), scopeAt(place, context));
    if (!isSilenced(name.name, context)) {
      context.report(unusedDeclaration(placeIn(context, name.span), { name: name.name, what: "derived name" }));
    }
  }
}

/** See `FlowInput.fills`. */
function filledLists(
  nodes: Declarations["nodes"],
  writes: readonly (readonly Write[])[],
  context: GraphContext,
): readonly (readonly string[])[] {
  // A node that replaces a list can remove its items.
  const replaced = new Set(writes.flat().flatMap(({ channel, isSet }) => (isSet === true ? [channel.name] : [])));
  return writes.map((list, index) => {
    const { call, each } = nodes[index]!.declaration;
    if (each !== undefined || !isSomeItem(call, context)) return [];
    return list.flatMap(({ channel, field }) => {
      const collects = channel.reducer?.kind === "append" || channel.reducer?.kind === "union";
      return collects && field === undefined && !replaced.has(channel.name) ? [channel.name] : [];
    });
  });
}

/**
 * Whether an expression is one value that is no list, or a list with items. Its syntax decides, because facts are found
 * before expressions have types.
 */
function isSomeItem(expression: Ast.Expr, context: GraphContext): boolean {
  switch (expression.kind) {
    case "String":
    case "Number":
    case "Bool":
    case "Template":
    case "Record":
    case "Unary":
      return true;
    case "Binary":
      return expression.operator !== "??";
    case "List":
      return expression.items.some((item) => item.kind !== "Spread");
    case "Derived":
      return isSomeItem(expression.value, context);
    case "Conditional":
      return isSomeItem(expression.then, context) && isSomeItem(expression.otherwise, context);
    case "Name":
    case "Member":
      return ITEMS.has(pathType(expression, context)?.kind ?? "null");
    default:
      return false;
  }
}

const ITEMS: ReadonlySet<ValueType["kind"]> = new Set(["string", "int", "float", "bool", "literal", "record"]);

/** The type of a channel, or of a field of its record. */
function pathType(path: Ast.Expr, context: GraphContext): ValueType | undefined {
  if (path.kind === "Name") return context.channels.get(path.name)?.type;
  if (path.kind !== "Member" || path.optional) return undefined;
  const record = pathType(path.object, context);
  if (record?.kind !== "record") return undefined;
  const field = record.fields.find(({ name }) => name === path.property.name);
  return field?.optional === true ? undefined : field?.type;
}

/** A `for` over an empty list leaves a channel of numbers or records as it was (7.1). */
function mayWriteNothing(each: Ast.ForClause | undefined, reducer: ChannelEntry["reducer"]): boolean {
  if (each === undefined) return false;
  const { list, condition } = each;
  if (condition === undefined && list.kind === "List" && list.items.some((item) => item.kind !== "Spread"))
    return false;
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
