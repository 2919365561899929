/** The first stage of binding a graph or a plan: channels and outputs, which everything else refers to. */
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { BoundGraph } from "./bound-graph.ts";
import type { BoundPlan } from "./plan/bound-plan.ts";
import type { TypeTable } from "../types/type-table.ts";
import { bindChannel } from "./bind-channels.ts";
import { resolveWrites, type Write } from "./resolve-writes.ts";
import type { CallableUnit, GraphUnit, PlanUnit } from "./file-scope.ts";
import type { ChannelEntry, GraphContext, NodeEntry } from "./graph-context.ts";

export interface BindOptions {
  readonly types: TypeTable;
  readonly report: (diagnostic: Diagnostic) => void;
  readonly boundGraph: (unit: GraphUnit) => BoundGraph | undefined;
  readonly boundPlan: (unit: PlanUnit) => BoundPlan | undefined;
  /** Its text has syntax errors. */
  readonly hasSyntaxErrors: boolean;
}

/** The options with a `report` that records whether an error has been reported. */
export function watchErrors(options: BindOptions): BindOptions & { readonly foundErrors: () => boolean } {
  let found = options.hasSyntaxErrors;
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error") found = true;
    options.report(diagnostic);
  };
  return { ...options, report, foundErrors: () => found };
}

export interface UnitParts {
  readonly channels: readonly Ast.ChannelDecl[];
  readonly derived?: readonly Ast.DeriveDecl[];
  /** Nodes, or the tasks of a plan as nodes, in source order. */
  readonly nodes: readonly NodeEntry[];
  readonly noun: GraphContext["noun"];
  readonly poisoned: Set<string>;
  readonly hasUnknownNames: boolean;
}

export interface OpenContext {
  readonly context: GraphContext;
  readonly channels: readonly ChannelEntry[];
  /** The channels that each node writes. */
  readonly writes: readonly (readonly Write[])[];
}

/** Binds channels and outputs, and creates the context for the rest. */
export function openContext(unit: CallableUnit, parts: UnitParts, options: BindOptions): OpenContext {
  const { scope } = unit;
  const { types, report, boundGraph, boundPlan } = options;
  const { nodes, noun, poisoned, hasUnknownNames } = parts;
  const channels = parts.channels.map((channel, index) => bindChannel(channel, index, { scope, types, report }));
  const written = new Set<string>();
  const byName = new Map<string, NodeEntry>();
  for (const node of nodes) byName.set(node.name, node);
  const context: GraphContext = {
    unit,
    scope,
    file: scope.file.source,
    types,
    report,
    suggestions: scope.suggestions,
    typeScriptChecks: [],
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    channelNames: channels.map((channel) => channel.name),
    channelLists: new Map(channels.map(({ name }) => [name, [name]])),
    derived: new Map((parts.derived ?? []).map(({ name }) => [name.name, name.span])),
    nodes: byName,
    noun,
    written,
    poisoned,
    hasUnknownNames,
    functions: new Map(),
    called: new Set(),
    calledPlans: new Set(),
    boundGraph,
    boundPlan,
  };
  const writes = nodes.map((node) => resolveWrites(node.declaration.output, context));
  for (const list of writes) for (const write of list) written.add(write.channel.name);
  return { context, channels, writes };
}
