import type { BuiltinNode, ExpectedType, NodeContext, Tool } from "../interface/context.ts";
import type { Bindings, EngineOptions, FunctionRegistry, ImportedFunction } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { ExpressionFunction } from "../expression/call-function.ts";
import { setField } from "../expression/operations.ts";
import type { Evaluate } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { Attempt } from "../step/attempt.ts";
import type { Task } from "../step/task.ts";
import { readsSecret } from "../expression/secret-arguments.ts";
import type { Expression } from "../expression/expression.ts";
import { prepareExpressions } from "../expression/prepare-expressions.ts";
import { compileRouting, type Routing, type RoutingCode } from "../routing/plan-step.ts";
import { readSecrets } from "../table/read-secrets.ts";
import { refuseEffects } from "../table/refuse-effects.ts";
import type { NodeSpec, Table, ToolSpec } from "../table/table.ts";
import { LONGEST_HOLD } from "../interface/clock.ts";
import { ownValue } from "../value/own-value.ts";
import type { RunLimits } from "../run/limits.ts";
import { ChannelCode } from "./channel-code.ts";
import { expectedType } from "./expected-type.ts";
import { resultType } from "./result-types.ts";
import type { CallBody, LinkedPlan, Linker } from "./linker.ts";

/** A table linked with its code, ready to run. Compiled once for an engine; shared by all its runs. */
export interface Program {
  readonly table: Table;
  readonly linker: Linker;
  /** For messages: the tasks of a plan run as nodes of a program. */
  readonly what: "graph" | "plan";
  readonly routing: RoutingCode;
  readonly channels: readonly ChannelCode[];
  readonly outputs: readonly ChannelCode[];
  /** Inputs without a start value. */
  readonly required: readonly ChannelCode[];
  /** The configuration of a run: of this graph and of all that it calls. */
  readonly config: readonly ChannelCode[];
  readonly nodes: readonly NodeCode[];
  readonly graphs: readonly Program[];
  /** Plans that nodes call, as programs whose nodes are the tasks. */
  readonly plans: readonly Program[];
  /** All fields of the output and of the state, with the value `null`. */
  readonly outputTemplate: JsonObject;
  readonly stateTemplate: JsonObject;
  /** The limits that the graph states. */
  readonly limits: RunLimits;
  /** Start values by channel; `null` for inputs without one. */
  readonly initial: readonly Json[];
  readonly nodeIndex: ReadonlyMap<string, number>;
  readonly channelIndex: ReadonlyMap<string, number>;
  /** Some node has `pause before` or `pause after`. */
  readonly hasGates: boolean;
  /** The first node that pauses, here or in a called graph: the reason why a run needs a store. */
  readonly pausingNode: string | undefined;
  /** Some node receives signals, here or in a called graph. */
  readonly receives: boolean;
  /** Some node has an `undo`, here or in a called graph. */
  readonly hasUndo: boolean;
  /** Some channel keeps its value from run to run. */
  readonly hasMemory: boolean;
  readonly secrets: ReadonlyMap<string, string> | undefined;
}

export interface NodeCode {
  readonly index: number;
  readonly spec: NodeSpec;
  readonly call: CallCode;
  /** Copies of what each step reads of `spec`: a long chain costs as much as the memory that its nodes take. */
  readonly output: NodeSpec["output"];
  readonly timeout: number | undefined;
  readonly isCached: boolean;
  /** A `for` node, or a task of a matrix: expressions read its item. */
  readonly isEach: boolean;
  readonly list: Evaluate | undefined;
  /** The condition of its `for`. */
  readonly itemCondition: Evaluate | undefined;
  readonly hasErrorRoutes: boolean;
  readonly expects: ExpectedType | undefined;
  /** Conditions that hold whenever the node starts (`assert … at`), by expression index. */
  readonly asserted: readonly AssertedCondition[] | undefined;
  /** Its `undo`. */
  readonly undo: UndoCode | undefined;
  /** Allowed targets of `goto` and `send`. */
  readonly goes: ReadonlySet<number> | undefined;
  /** The node names of a step in which only this node ran. */
  readonly stepNames: readonly string[];
  /** The routing of a node without requests. */
  readonly plainRouting: Routing;
  /** `plainRouting` as the only routing of a step. */
  readonly plainRoutings: readonly Routing[];
  /** Created in the first run and reused: all plain tasks of a node are equal. */
  plainTask: Task | undefined;
  plainTasks: readonly Task[] | undefined;
}

export interface AssertedCondition {
  readonly condition: Evaluate;
  /** The index of the condition in the table's expressions. */
  readonly expression: number;
}

/** The `undo` of a node, linked. */
export interface UndoCode {
  /** The name of the function or built-in node. */
  readonly name: string;
  readonly args: readonly {
    /** Of a built-in node. */
    readonly name: string | undefined;
    readonly value: Evaluate;
    readonly expression: Expression;
    /** The expression reads a secret: its value is not stored. */
    readonly isSecret: boolean;
  }[];
  /** The task of the undo with these arguments. */
  readonly code: (args: readonly Evaluate[]) => NodeCode;
}

export type CallCode =
  | { readonly kind: "body"; readonly body: (...args: unknown[]) => unknown; readonly args: readonly Evaluate[] }
  | {
      readonly kind: "builtin";
      readonly body: BuiltinNode;
      readonly names: readonly string[];
      readonly args: readonly Evaluate[];
      /** The tools of a call by a task. */
      readonly tools: ToolsOf;
      /** The graphs among the tools, by name; absent without one. */
      readonly graphs?: ReadonlyMap<string, Program>;
    }
  | {
      readonly kind: "graph";
      readonly graph: Program;
      readonly body: CallBody;
      readonly names: readonly string[];
      readonly args: readonly Evaluate[];
    }
  | { readonly kind: "expression"; readonly value: Evaluate }
  | {
      readonly kind: "plan";
      readonly body: CallBody;
      readonly names: readonly string[];
      readonly args: readonly Evaluate[];
    }
  | { readonly kind: "mock"; readonly body: (context: NodeContext) => unknown };

/**
 * The tools of a built-in node for one attempt.
 *
 * @param contextOf the context of an imported function: each call has its own idempotency key
 */
type ToolsOf = (attempt: Attempt, contextOf: (key: string) => NodeContext) => readonly Tool[];

/**
 * Links a table with the code that it refers to by name.
 *
 * @throws RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED for effects that are not
 * allowed
 */
export function compileProgram(
  table: Table,
  options: EngineOptions,
  linker: Linker,
  what: Program["what"] = "graph",
): Program {
  refuseEffects(table, options.allow, what);
  const missing = new Set<string>();
  const program = { ...link(table, options, { options, linker }, [], missing), what };
  if (missing.size > 0) {
    throw new RunError(
      "NG_MISSING_FUNCTION",
      `${what} \`${table.name}\` needs code that is missing: ${[...missing].join(", ")}`,
    );
  }
  return program;
}

function link(
  table: Table,
  bindings: Bindings,
  { options, linker }: { readonly options: EngineOptions; readonly linker: Linker },
  outer: readonly FunctionRegistry[],
  missing: Set<string>,
): Program {
  const registries = [...(bindings.functions === undefined ? [] : [bindings.functions]), ...outer];
  const mocks = outer.length === 0 && bindings === options ? options.mocks : undefined;
  const isMocked = (node: NodeSpec): boolean => mocks !== undefined && Object.hasOwn(mocks, node.name);
  const needed = neededFunctions(table, isMocked);
  const functions = table.functions.map(({ name, module }, index) => {
    const found = lookUp(registries, name);
    if (found === undefined && needed.has(index)) missing.add(`function \`${name}\` of "${module}" (in \`functions\`)`);
    return found;
  });
  const interpret = linker.interpret.bind(linker);
  const expressions = prepareExpressions(table, functions, interpret, bindings.expressions);
  const routing = compileRouting(table, expressions);
  const channels = table.channels.map(({ reducer }, index) => {
    const imported = reducer?.kind === "function" ? functions[reducer.function] : undefined;
    return new ChannelCode(table, index, imported as ImportedFunction | undefined);
  });
  const graphs = table.graphs.map((graph, index) => {
    const isCalled = table.nodes.some((node) => graphsCalledBy(node.call).includes(index) && !isMocked(node));
    // Code that only mocked nodes call may be missing.
    return link(
      graph,
      ownValue(bindings.graphs, graph.name) ?? {},
      { options, linker },
      registries,
      isCalled ? missing : new Set(),
    );
  });

  const plans = (table.plans ?? []).map((plan, index) => {
    // A plan that only mocked nodes call is not linked.
    const isCalled = table.nodes.some(
      (node) => node.call.kind === "plan" && node.call.plan === index && !isMocked(node),
    );
    if (!isCalled) return undefined;
    // Functions of the plan may be given under its name. Missing ones are taken from the caller.
    const own = ownValue(bindings.graphs, plan.name);
    const none = Object.create(null) as FunctionRegistry;
    const functions = Object.assign(none, ...[...registries].reverse(), own?.functions) as FunctionRegistry;
    const { expressions: _expressions, mocks: _mocks, ...rest } = options;
    return linker.linkPlan(plan, { ...rest, ...own, functions, graphs: { ...bindings.graphs, ...own?.graphs } });
  });

  const linkGraph = (graph: Program, call: Parameters<typeof named>[0]): CallCode => {
    const body: CallBody = (attempt, args) => linker.callGraph(attempt, graph, args);
    return { kind: "graph", graph, body, ...named(call, expressions) };
  };
  const linkTools = (specs: readonly ToolSpec[] = []) => {
    const called = new Map(
      specs.flatMap(({ name, graph }) => (graph === undefined ? [] : [[name, graphs[graph]!] as const])),
    );
    const tools = toolsOf(specs, functions, table.types, called, linker);
    return called.size === 0 ? { tools } : { tools, graphs: called };
  };
  const callCode = (node: NodeSpec): CallCode => {
    if (isMocked(node)) return { kind: "mock", body: mocks![node.name]! };
    const { call } = node;
    switch (call.kind) {
      case "function":
        return {
          kind: "body",
          body: bodyOf(functions[call.function], call),
          args: evaluators(call.args, expressions),
        };
      case "builtin": {
        const body = ownValue(options.builtins, call.name);
        if (body === undefined) missing.add(`built-in node \`${call.name}\` (in \`builtins\`)`);
        return {
          kind: "builtin",
          body: body ?? (() => undefined),
          ...named(call, expressions),
          ...linkTools(call.tools),
        };
      }
      case "graph":
        return linkGraph(graphs[call.graph]!, call);
      case "plan":
        return { kind: "plan", body: plans[call.plan]!.body, ...named(call, expressions) };
      case "expression":
        return { kind: "expression", value: expressions[call.expression]! };
    }
  };

  const undoCode = (node: NodeSpec, index: number): UndoCode | undefined => {
    const { undo, name } = node;
    if (undo === undefined) return undefined;
    const { call, tries, timeout } = undo;
    const isFunction = call.kind === "function";
    const builtin = isFunction ? undefined : ownValue(options.builtins, call.name);
    if (!isFunction && builtin === undefined && !isMocked(node)) {
      missing.add(`built-in node \`${call.name}\` (in \`builtins\`)`);
    }
    const args = isFunction
      ? call.args.map((expression) => ({ name: undefined, expression }))
      : call.args.map((argument) => ({ name: argument.name, expression: argument.expression }));
    const spec: NodeSpec = {
      name,
      call,
      ...(tries === undefined ? {} : { tries }),
      ...(timeout === undefined ? {} : { timeout }),
      routes: [],
      onError: [],
    };
    const callOf = (values: readonly Evaluate[]): CallCode => {
      // The undo of a mocked node has nothing to undo.
      if (isMocked(node)) return { kind: "mock", body: () => null };
      if (!isFunction) {
        return {
          kind: "builtin",
          body: builtin ?? (() => undefined),
          names: call.args.map((argument) => argument.name),
          args: values,
          ...linkTools(call.tools),
        };
      }
      return { kind: "body", body: bodyOf(functions[call.function], call), args: values };
    };
    return {
      name: isFunction ? table.functions[call.function]!.name : call.name,
      args: args.map((argument) => ({
        name: argument.name,
        value: expressions[argument.expression]!,
        expression: table.expressions[argument.expression]!,
        isSecret: readsSecret(table.expressions[argument.expression]!),
      })),
      code: (values) => nodeCode(spec, index, callOf(values)),
    };
  };

  const outputs = channels.filter(({ spec }) => spec.role === "output");
  const asserted = assertedConditions(table, expressions);
  return {
    table,
    linker,
    what: "graph",
    routing,
    graphs,
    plans: plans.flatMap((plan) => (plan === undefined ? [] : [plan.program])),
    channels,
    outputs,
    outputTemplate: templateOf(outputs),
    stateTemplate: templateOf(channels),
    config: channels.filter(({ spec }) => spec.role === "config"),
    required: channels.filter(({ spec }) => spec.role === "input" && spec.initial === undefined),
    nodes: table.nodes.map((spec, index) =>
      nodeCode(spec, index, callCode(spec), {
        list: spec.each === undefined ? undefined : expressions[spec.each.list],
        itemCondition: spec.each?.condition === undefined ? undefined : expressions[spec.each.condition],
        expects: expectedType(table, spec, resultType),
        asserted: asserted.get(index),
        undo: undoCode(spec, index),
      }),
    ),
    limits: Object.freeze({
      steps: table.limits.steps,
      tokens: table.limits.tokens ?? null,
      cost: table.limits.cost ?? null,
    }),
    initial: table.channels.map((channel) => channel.initial ?? null),
    nodeIndex: new Map(table.nodes.map(({ name }, index) => [name, index])),
    channelIndex: new Map(table.channels.map(({ name }, index) => [name, index])),
    hasGates: table.nodes.some((node) => node.pauseBefore === true || node.pauseAfter === true),
    pausingNode: pausingNode(table, graphs, plans),
    receives:
      table.nodes.some(({ call }) => call.kind === "builtin" && call.name === "receive") ||
      graphs.some((graph) => graph.receives) ||
      plans.some((plan) => plan?.program.receives === true),
    hasUndo: table.nodes.some(({ undo }) => undo !== undefined) || graphs.some((graph) => graph.hasUndo),
    hasMemory: channels.some(({ spec }) => spec.role === "memory"),
    secrets: readSecrets(table, options),
  };
}

/** By node: the conditions that hold whenever it starts. */
function assertedConditions(
  { assertions }: Table,
  expressions: readonly Evaluate[],
): ReadonlyMap<number, readonly AssertedCondition[]> {
  const found = new Map<number, AssertedCondition[]>();
  for (const assertion of assertions) {
    if (assertion.kind !== "at") continue;
    const condition = { condition: expressions[assertion.condition]!, expression: assertion.condition };
    found.set(assertion.node, [...(found.get(assertion.node) ?? []), condition]);
  }
  return found;
}

type NodeParts = Pick<NodeCode, "list" | "itemCondition" | "expects" | "asserted" | "undo">;

const NO_PARTS: NodeParts = {
  list: undefined,
  itemCondition: undefined,
  expects: undefined,
  asserted: undefined,
  undo: undefined,
};

function nodeCode(spec: NodeSpec, index: number, call: CallCode, parts: NodeParts = NO_PARTS): NodeCode {
  const plainRouting: Routing = {
    node: index,
    goto: undefined,
    exclusive: false,
    stopped: false,
    errorTargets: undefined,
  };
  // One literal: all nodes have one hidden class, and their fields lie beside each other.
  return {
    index,
    spec,
    call,
    output: spec.output,
    timeout: spec.timeout,
    isCached: spec.cache !== undefined,
    isEach: spec.each !== undefined,
    list: parts.list,
    asserted: parts.asserted,
    undo: parts.undo,
    plainTask: undefined,
    plainTasks: undefined,
    plainRoutings: [plainRouting],
    stepNames: Object.freeze([spec.name]),
    plainRouting,
    itemCondition: parts.itemCondition,
    hasErrorRoutes: spec.onError.length > 0,
    expects: parts.expects,
    goes: spec.goes === undefined ? undefined : new Set(spec.goes),
  };
}

function templateOf(channels: readonly ChannelCode[]): JsonObject {
  const record: Record<string, Json> = {};
  for (const { name } of channels) setField(record, name, null);
  return Object.freeze(record);
}

/** An imported function as the engine calls it: with the context after the arguments. */
function bodyOf(
  imported: unknown,
  { withoutContext }: Pick<ToolSpec, "withoutContext">,
): (...given: unknown[]) => unknown {
  const body = imported as (...given: unknown[]) => unknown;
  return withoutContext === undefined ? body : (...given) => body(...given.slice(0, -1));
}

function lookUp(registries: readonly FunctionRegistry[], name: string): ExpressionFunction | undefined {
  for (const registry of registries) {
    const found = ownValue(registry, name);
    if (typeof found === "function") return found as ExpressionFunction;
  }
  return undefined;
}

function evaluators(indexes: readonly number[], expressions: readonly Evaluate[]): readonly Evaluate[] {
  return indexes.map((index) => expressions[index]!);
}

function named(
  call: { readonly args: readonly { readonly name: string; readonly expression: number }[] },
  expressions: readonly Evaluate[],
) {
  return {
    names: call.args.map((arg) => arg.name),
    args: call.args.map((arg) => expressions[arg.expression]!),
  };
}

function toolsOf(
  specs: readonly ToolSpec[],
  functions: readonly unknown[],
  types: Table["types"],
  graphs: ReadonlyMap<string, Program>,
  linker: Linker,
): ToolsOf {
  return (attempt, contextOf) =>
    specs.map((spec): Tool => {
      const { name, description, approval, function: index } = spec;
      const details = {
        name,
        ...(description === undefined ? {} : { description }),
        needsApproval: approval === true,
      };
      const graph = graphs.get(name);
      if (graph !== undefined) return linker.graphTool(attempt, graph, details);
      const body = bodyOf(functions[index!], spec);
      const call: Tool["call"] = (args, key) => body(...args, contextOf(key));
      return { ...details, parameters: spec.parameters, types, call };
    });
}

/** The graphs that a call runs, by their indexes: the called one, or those among its tools. */
export function graphsCalledBy(call: NodeSpec["call"]): readonly number[] {
  if (call.kind === "graph") return [call.graph];
  if (call.kind !== "builtin") return [];
  return (call.tools ?? []).flatMap(({ graph }) => (graph === undefined ? [] : [graph]));
}

/** Whether the body of a node runs graphs or plans, which save where they stop. */
export function callsRuns({ call }: NodeCode): boolean {
  return call.kind === "graph" || call.kind === "plan" || (call.kind === "builtin" && call.graphs !== undefined);
}

/** Functions with a use other than the call of a mocked node. */
function neededFunctions(table: Table, isMocked: (node: NodeSpec) => boolean): ReadonlySet<number> {
  const needed = new Set<number>();
  const mockedOnly = new Set<number>();
  for (const node of table.nodes) {
    for (const call of [node.call, node.undo?.call]) {
      const called = isMocked(node) ? mockedOnly : needed;
      if (call?.kind === "function") called.add(call.function);
      if (call?.kind !== "builtin") continue;
      for (const tool of call.tools ?? []) if (tool.function !== undefined) called.add(tool.function);
    }
  }
  for (let index = 0; index < table.functions.length; index++) if (!mockedOnly.has(index)) needed.add(index);
  return needed;
}

function pausingNode(
  table: Table,
  graphs: readonly Program[],
  plans: readonly (LinkedPlan | undefined)[],
): string | undefined {
  for (const node of table.nodes) {
    if (node.pauseBefore === true || node.pauseAfter === true) return node.name;
    if (needsStore(table, node)) return node.name;
    if (graphsCalledBy(node.call).some((graph) => graphs[graph]?.pausingNode !== undefined)) return node.name;
    if (node.call.kind === "plan" && plans[node.call.plan]?.program.pausingNode !== undefined) return node.name;
  }
  return undefined;
}

/** Whether a built-in node waits for an answer, or waits for certain longer than a process holds. */
function needsStore({ expressions }: Table, { call, within }: NodeSpec): boolean {
  if (call.kind !== "builtin") return false;
  if (call.name === "ask") return true;
  if (call.name === "receive") return within === undefined || within > LONGEST_HOLD;
  if (call.name !== "sleep") return false;
  const duration = expressions[call.args[0]?.expression ?? -1];
  return duration?.op === "const" && typeof duration.value === "number" && duration.value > LONGEST_HOLD;
}
