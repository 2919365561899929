/** One graph: names resolved, expressions typed, in the order in which each part needs the others. */
import { duplicateEdge, noStartEdge } from "../../diagnostics/catalog/names.ts";
import { unusedChannel } from "../../diagnostics/catalog/types.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { END_NAME, type BoundChannel, type BoundEdge, type BoundGraph, type BoundNode } from "./bound-graph.ts";
import { referencedTypes } from "../types/referenced-types.ts";
import { bindEdge } from "./bind-edges.ts";
import { bindNode } from "./bind-nodes.ts";
import { bindPolicies } from "./bind-policies.ts";
import { bindAssertions, bindLimits, collectDeclarations, type Declarations } from "./declarations.ts";
import type { GraphUnit } from "./file-scope.ts";
import { analyseFlow } from "../control/flow.ts";
import { placeIn, type ChannelEntry, type GraphContext } from "./graph-context.ts";
import { openContext, watchErrors, type BindOptions } from "./open-context.ts";
import { unwrittenAtEnd } from "../control/written-at-end.ts";
import { END_INDEX, resolveEdges, START_INDEX, targetsOf, type ResolvedEdge } from "./resolve-edges.ts";

export function bindGraph(unit: GraphUnit, bindOptions: BindOptions): BoundGraph {
  const { declaration, scope } = unit;
  const file = scope.file.source;
  const options = watchErrors(bindOptions);
  const declarations = collectDeclarations(declaration, file, scope.secrets, options.report);
  const { context, channels, writes } = openContext(unit, { ...declarations, noun: "node" }, options);
  const policies = declarations.nodes.map((node) => bindPolicies(node.declaration, context));
  const resolved = resolveEdges(declarations.edges, context);
  const indexesOf = (names: readonly string[] | undefined): number[] =>
    (names ?? []).flatMap((name) => (name === END_NAME ? END_INDEX : (context.nodes.get(name)?.index ?? [])));
  const isPartial = resolved.isPartial || declarations.hasBroken || options.foundErrors();
  const control = {
    edges: resolved.edges,
    waits: byNode(policies.map(({ waits }) => indexesOf(waits))),
    goes: byNode(policies.map(({ goes }) => indexesOf(goes))),
    writes: writes.map((list) => list.map(({ channel }) => channel.name)),
  };
  const flow = analyseFlow({ ...control, channels, nodes: declarations.nodes, isPartial });
  const mayEndNull = isPartial
    ? new Set<string>()
    : unwrittenAtEnd(
        { ...control, nodes: declarations.nodes.length },
        channels.flatMap(({ name, role, startsNull }) => (role === "output" && startsNull ? [name] : [])),
      );
  const nodes = declarations.nodes.map((node, index) =>
    bindNode(node, { writes: writes[index] ?? [], policies: policies[index] ?? NO_POLICIES, flow }, context),
  );
  const edges = resolved.edges.map((edge) => bindEdge(edge, flow, context));
  const assertions = bindAssertions(declarations.assertions, context);
  const limits = bindLimits(declarations.limits, context);
  checkStart(declarations, resolved.edges, resolved.isPartial, context);
  reportDuplicateEdges(resolved.edges, context);
  if (!options.foundErrors() && !declarations.hasBroken) reportUnusedChannels(channels, nodes, edges, context);
  const isCalledBroken = [...context.called, ...context.calledPlans].some((called) => called.hasErrors);
  return {
    file,
    declaration,
    name: declaration.name.name,
    ...(declaration.doc === undefined ? {} : { doc: declaration.doc.text }),
    channels: channels.map((channel) => toBoundChannel(channel, mayEndNull)),
    nodes,
    edges,
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

const NO_POLICIES = { pauseBefore: false, pauseAfter: false, idempotent: false };

function byNode(lists: readonly (readonly number[])[]): ReadonlyMap<number, readonly number[]> {
  return new Map([...lists.entries()].filter(([, list]) => list.length > 0));
}

export function toBoundChannel(channel: ChannelEntry, mayEndNull: ReadonlySet<string>): BoundChannel {
  const { startsNull: _start, index: _position, hasWrongReducer: _reported, ...bound } = channel;
  return mayEndNull.has(channel.name) ? { ...bound, mayEndNull: true } : bound;
}

/** Functions that expressions refer to by index come first, then reducers that are nothing else. */
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

function checkStart(
  declarations: Declarations,
  edges: readonly ResolvedEdge[],
  isPartial: boolean,
  context: GraphContext,
): void {
  // An edge that could not be read or resolved may be the one that starts.
  if (isPartial || declarations.hasBroken) return;
  const starts = edges.some(
    ({ source }) => source.kind === "nodes" && source.nodes.some(({ index }) => index === START_INDEX),
  );
  if (starts) return;
  const entered = new Set(edges.flatMap((edge) => targetsOf(edge.to).map(({ name }) => name)));
  const first = declarations.nodes.find(({ name }) => !entered.has(name)) ?? declarations.nodes[0];
  const { name } = context.unit.declaration;
  context.report(noStartEdge(placeIn(context, name.span), { graph: name.name, first: first?.name }));
}

/** Pairs of one statement that are looked at for duplicates. */
const MAX_PAIRS = 10_000;

/** NG108: one plain edge (or one with the same condition) between two nodes stated twice. */
function reportDuplicateEdges(edges: readonly ResolvedEdge[], context: GraphContext): void {
  const seen = new Map<string, Span>();
  for (const { source, to, onError } of edges) {
    if (to.kind === "match" || to.kind === "cases") continue;
    const guard =
      to.kind === "when"
        ? context.file.text.slice(to.condition.span.start, to.condition.span.end).replace(/\s+/g, " ")
        : "";
    const sources =
      source.kind === "nodes"
        ? source.nodes.map(({ name, span }) => ({ key: name, text: name, span }))
        : [
            {
              key: barrierKey(source.members),
              text: `all(${source.members.map((group) => group.map(({ name }) => name).join(" or ")).join(", ")})`,
              span: source.span,
            },
          ];
    if (sources.length * to.targets.length > MAX_PAIRS) continue;
    for (const from of sources) {
      for (const target of to.targets) {
        const key = `${from.key}>${target.name}>${to.kind}>${onError}>${guard}`;
        const first = seen.get(key);
        if (first === undefined) seen.set(key, target.span);
        else {
          const facts = { from: from.text, to: target.name, first: placeIn(context, first) };
          context.report(duplicateEdge(placeIn(context, target.span), facts));
        }
      }
    }
  }
}

function barrierKey(members: readonly (readonly { readonly name: string }[])[]): string {
  return `all ${members
    .map((group) =>
      group
        .map(({ name }) => name)
        .sort()
        .join("|"),
    )
    .sort()
    .join("&")}`;
}

/** NG406: neither read nor written; an input that nothing reads, an output that nothing writes. */
function reportUnusedChannels(
  channels: readonly ChannelEntry[],
  nodes: readonly BoundNode[],
  edges: readonly BoundEdge[],
  context: GraphContext,
): void {
  const reads = new Set(nodes.flatMap((node) => node.reads));
  for (const { to } of edges) {
    if (to.kind === "when") for (const name of to.condition.reads) reads.add(name);
    else if (to.kind === "match") for (const name of to.subject.reads) reads.add(name);
    else if (to.kind === "cases") for (const arm of to.arms) for (const name of arm.condition.reads) reads.add(name);
  }
  for (const { name, role, declaration } of channels) {
    if (context.poisoned.has(name)) continue;
    const isRead = reads.has(name);
    const isWritten = context.written.has(name);
    const problem =
      role === "input"
        ? isRead
          ? undefined
          : "read"
        : role === "output"
          ? isWritten
            ? undefined
            : "written"
          : isRead || isWritten
            ? undefined
            : "used";
    if (problem === undefined) continue;
    context.report(unusedChannel(placeIn(context, declaration.name.span), { name, role, problem }));
  }
}
