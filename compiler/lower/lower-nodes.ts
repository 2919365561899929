import type {
  AssertionSpec,
  CallSpec,
  ChannelIndex,
  Effect,
  GraphIndex,
  NamedArgument,
  NodeIndex,
  NodeSpec,
  OutputField,
  OutputSpec,
  PlanCallSpec,
  ToolSpec,
  UndoSpec,
} from "../../runtime/table/table.ts";
import { END } from "../../runtime/table/table.ts";
import type {
  BoundArgument,
  BoundAssertion,
  BoundCall,
  BoundGraph,
  BoundNode,
  BoundTool,
  BoundUndo,
} from "../bind/bound-graph.ts";
import type { BoundPlan, BoundPlanCall } from "../bind/plan/bound-plan.ts";
import type { ExpressionPool } from "./expression-pool.ts";
import { indexOf } from "./lower-routes.ts";

/** The indexes that calls and outputs refer to. */
export interface CallContext {
  readonly channelIndex: ReadonlyMap<string, ChannelIndex>;
  readonly pool: ExpressionPool;
  /** Number of a called graph. */
  graph(graph: BoundGraph): GraphIndex;
  /** Number of a called plan. */
  plan(plan: BoundPlan): number;
}

export interface NodeContext extends CallContext {
  readonly nodeIndex: ReadonlyMap<string, NodeIndex>;
}

/** A node whose edges are added once all nodes are lowered. Fields are added one by one: spreads would take a third of the time of lowering. */
export type NodeDraft = { -readonly [Key in keyof Omit<NodeSpec, EdgeField>]: NodeSpec[Key] } & {
  -readonly [Key in EdgeField]?: NodeSpec[Key];
};

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

type EdgeField = "waits" | "routes" | "onError";

export function lowerNode(node: BoundNode, context: NodeContext): NodeDraft {
  const output = node.output === undefined ? undefined : lowerOutput(node.output, context);
  const call = node.call.kind === "plan" ? lowerPlanCall(node.call, context) : lowerCall(node.call, node.name, context);
  const draft: NodeDraft = { name: node.name, call };
  if (node.each !== undefined) draft.each = lowerEach(node, node.each, context);
  if (output !== undefined) draft.output = output;
  if (node.tries !== undefined) draft.tries = node.tries;
  if (node.timeout !== undefined) draft.timeout = node.timeout;
  if (node.within !== undefined) draft.within = node.within;
  if (node.cache !== undefined) draft.cache = node.cache;
  if (node.pauseBefore) draft.pauseBefore = true;
  if (node.pauseAfter) draft.pauseAfter = true;
  if (node.goes !== undefined) draft.goes = node.goes.map((name) => indexOf(context.nodeIndex, name));
  if (node.idempotent) draft.idempotent = true;
  if (node.undo !== undefined) draft.undo = lowerUndo(node.undo, node.name, context);
  if (node.was !== undefined) draft.was = node.was;
  return draft;
}

function lowerEach(
  node: BoundNode,
  each: NonNullable<BoundNode["each"]>,
  { pool }: NodeContext,
): NonNullable<NodeSpec["each"]> {
  return {
    item: each.item,
    ...(each.index === undefined ? {} : { index: each.index }),
    list: pool.expression(each.list),
    ...(each.condition === undefined ? {} : { condition: pool.expression(each.condition) }),
    ...(node.maxParallel === undefined ? {} : { parallel: node.maxParallel }),
    ...(node.allowsFailure === undefined ? {} : { allowFailure: node.allowsFailure }),
  };
}

function lowerUndo({ call, tries, timeout }: BoundUndo, owner: string, context: CallContext): UndoSpec {
  return {
    call: lowerCall(call, owner, context) as UndoSpec["call"],
    ...(tries === undefined ? {} : { tries }),
    ...(timeout === undefined ? {} : { timeout }),
  };
}

/** `owner`: the node or task, for messages. */
export function lowerCall(call: BoundCall, owner: string, context: CallContext): CallSpec {
  switch (call.kind) {
    case "function":
      return {
        kind: "function",
        function: context.pool.function(call.function),
        args: call.args.map((argument) => context.pool.expression(argument)),
        ...(call.withoutContext === undefined ? {} : { withoutContext: true }),
      };
    case "builtin":
      return {
        kind: "builtin",
        name: call.signature.name,
        args: lowerArguments(call.args, context),
        ...(call.tools === undefined ? {} : { tools: call.tools.map((tool) => lowerTool(tool, context)) }),
      };
    case "graph":
      return { kind: "graph", graph: context.graph(call.graph), args: lowerArguments(call.args, context) };
    case "expression":
      return { kind: "expression", expression: context.pool.expression(call.expression) };
    case "broken":
      throw new TypeError(`${owner} has errors: only what has none is lowered`);
  }
}

function lowerTool(tool: BoundTool, { pool, graph }: CallContext): ToolSpec {
  return {
    ...("graph" in tool
      ? { name: tool.name, graph: graph(tool.graph), parameters: [] }
      : { name: tool.function.name, function: pool.function(tool.function), parameters: tool.parameters }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(tool.approval ? { approval: true } : {}),
    ...("withoutContext" in tool ? { withoutContext: true } : {}),
  };
}

export function lowerPlanCall(call: BoundPlanCall, context: CallContext): PlanCallSpec {
  return { kind: "plan", plan: context.plan(call.plan), args: lowerArguments(call.args, context) };
}

function lowerArguments(args: readonly BoundArgument[], { pool }: CallContext): readonly NamedArgument[] {
  return args.map(({ name, value }) => ({ name, expression: pool.expression(value) }));
}

export function lowerOutput(output: NonNullable<BoundNode["output"]>, { channelIndex }: CallContext): OutputSpec {
  const channel = (name: string): ChannelIndex => channelIndex.get(name) ?? 0;
  // Fields are added one by one: V8 can give each copy by a spread a hidden class of its own, of 250 bytes.
  if (output.kind === "channel") {
    const whole: Draft<OutputSpec & { readonly kind: "channel" }> = {
      kind: "channel",
      channel: channel(output.channel),
    };
    if (output.set !== undefined) whole.set = output.set;
    return whole;
  }
  const fields = output.fields.map((item): OutputField => {
    const field: Draft<OutputField> = { field: item.field, channel: channel(item.channel) };
    if (item.optional !== undefined) field.optional = item.optional;
    if (item.set !== undefined) field.set = item.set;
    return field;
  });
  return { kind: "fields", fields };
}

export function lowerAssertion(assertion: BoundAssertion, { nodeIndex, pool }: NodeContext): AssertionSpec {
  const node = indexOf(nodeIndex, assertion.node);
  const other = assertion.other === undefined ? END : indexOf(nodeIndex, assertion.other);
  switch (assertion.form) {
    case "at":
      if (assertion.condition === undefined) throw new TypeError(`an assertion at ${assertion.node} has no condition`);
      return { kind: "at", node, condition: pool.expression(assertion.condition) };
    case "before":
      return { kind: "before", first: node, then: other, ...(assertion.each === undefined ? {} : { each: true }) };
    case "never":
      return { kind: "never", node, with: other };
    default:
      return { kind: assertion.form, node };
  }
}

/** The effects of nodes and called graphs, and `code` if imported functions are called. Sorted, each once. */
export function collectEffects(
  parts: readonly { readonly effects: readonly Effect[] }[],
  called: readonly { readonly effects: readonly Effect[] }[],
  callsFunctions: boolean,
): readonly Effect[] {
  const effects = new Set<Effect>(callsFunctions ? ["code"] : []);
  for (const part of [...parts, ...called]) for (const effect of part.effects) effects.add(effect);
  return [...effects].sort();
}
