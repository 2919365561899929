import type { EngineOptions } from "../interface/engine-options.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Evaluate } from "../expression/compile-expression.ts";
import type { Expression } from "../expression/expression.ts";
import { expressionParts } from "../expression/expression-depth.ts";
import { compileProgram, type NodeCode, type Program } from "../program/program.ts";
import { DEFAULT_BACKOFF_OF_TASKS } from "./task-backoff.ts";
import { TABLE_FORMAT, TABLE_VERSION, type CallSpec, type NodeSpec, type Table } from "../table/table.ts";
import { callPlan } from "./call-plan.ts";
import type { PlanTable, TaskIndex, TaskSpec } from "../table/plan-table.ts";
import { successorsOf, topologicalOrder } from "./priorities.ts";

/** A plan with its code, ready to run. Its tasks run as nodes of a program without edges: the engine's attempts, the plan's order. */
export interface PlanProgram {
  readonly plan: PlanTable;
  readonly program: Program;
  readonly tasks: readonly TaskCode[];
  readonly plans: readonly PlanProgram[];
  readonly successors: readonly (readonly TaskIndex[])[];
  /** By channel: the tasks that write it, in topological order. */
  readonly writers: readonly (readonly TaskIndex[])[];
  readonly taskIndex: ReadonlyMap<string, TaskIndex>;
}

export interface TaskCode {
  readonly index: TaskIndex;
  readonly spec: TaskSpec;
  readonly node: NodeCode;
  readonly checks: readonly CheckCode[];
  readonly condition: Evaluate | undefined;
  /** Channels that its expressions read and some task writes. */
  readonly reads: readonly number[];
  readonly backoff: { readonly min: number; readonly max: number };
}

export interface CheckCode {
  readonly node: NodeCode;
  readonly call: CallSpec;
  /** Of a command: what it says. */
  readonly command: Evaluate | undefined;
}

/**
 * Links a plan with the code it names.
 * @throws RunError NG_MISSING_FUNCTION that lists everything missing, NG_EFFECT_DENIED for effects that are not allowed
 */
export function compilePlan(plan: PlanTable, options: EngineOptions): PlanProgram {
  const linked = compileProgram(nodesOf(plan), options, "plan");
  const plans = plan.plans.map((called) => compilePlan(called, optionsOf(called, options)));
  const program: Program = {
    ...linked,
    plans: plans.map((called) => called.program),
    pausingNode: linked.pausingNode ?? pausingTask(plan, plans),
  };
  const writers: TaskIndex[][] = program.channels.map(() => []);
  for (const task of topologicalOrder(plan)) {
    for (const channel of writtenBy(plan.tasks[task])) writers[channel]?.push(task);
  }
  let check = plan.tasks.length;
  const tasks = plan.tasks.map((spec, index): TaskCode => {
    const { expressions } = program.routing;
    return {
      index,
      spec,
      node: taskNode(spec, program.nodes[index] as NodeCode, expressions, plans),
      checks: spec.checks.map((call) => ({
        call,
        node: withItem(spec, program.nodes[check++] as NodeCode),
        command: commandOf(call, expressions),
      })),
      condition: spec.condition === undefined ? undefined : expressions[spec.condition],
      reads: [...channelsRead(plan, spec)].filter((channel) => (writers[channel]?.length ?? 0) > 0),
      backoff: spec.backoff ?? DEFAULT_BACKOFF_OF_TASKS,
    };
  });
  return {
    plan,
    program,
    tasks,
    plans,
    writers,
    successors: successorsOf(plan),
    taskIndex: new Map(plan.tasks.map(({ name }, index) => [name, index])),
  };
}

export function outputsOf({ program }: PlanProgram): readonly ChannelCode[] {
  return program.outputs;
}

/** A graph table with the tasks as nodes, then the checks of each task, and no edge between any. */
export function nodesOf(plan: PlanTable): Table {
  const no = plan.expressions.length;
  const node = (name: string, call: CallSpec, task: TaskSpec): NodeSpec => ({
    name,
    call,
    ...(task.timeout === undefined ? {} : { timeout: task.timeout }),
    routes: [],
    onError: [],
  });
  return {
    format: TABLE_FORMAT,
    version: TABLE_VERSION,
    kind: "graph",
    name: plan.name,
    channels: plan.channels,
    nodes: [
      ...plan.tasks.map((task) => ({
        ...node(
          task.name,
          task.call.kind === "plan" ? { kind: "expression", expression: no } : ownCall(task, no),
          task,
        ),
        ...(task.output === undefined ? {} : { output: task.output }),
      })),
      ...plan.tasks.flatMap((task) =>
        task.checks.map((call, index) => node(`${task.name} check ${index + 1}`, withoutCheck(call, no), task)),
      ),
    ],
    start: [],
    barriers: [],
    // What a command's exit code means is decided here.
    expressions: [...plan.expressions, { op: "const", value: false }],
    functions: plan.functions,
    types: plan.types,
    graphs: plan.graphs,
    secrets: plan.secrets,
    effects: plan.effects,
    limits: { steps: null, parallel: null },
    assertions: [],
    digest: plan.digest,
    ...(plan.debug === undefined ? {} : { debug: plan.debug }),
  };
}

/** Where checks decide, a command that ends with another code than 0 has a result all the same (9.6). */
function ownCall(task: TaskSpec, no: number): CallSpec {
  const { call } = task;
  if (call.kind === "plan") throw new TypeError("a called plan is no call of a node");
  if (task.checks.length === 0 || task.output === undefined) return call;
  return call.kind === "builtin" && call.args.some((arg) => arg.name === "check") ? call : withoutCheck(call, no);
}

/** The exit code of a command is a value, not a failure. */
function withoutCheck(call: CallSpec, no: number): CallSpec {
  if (call.kind !== "builtin" || call.name !== "shell") return call;
  return { ...call, args: [...call.args.filter((arg) => arg.name !== "check"), { name: "check", expression: no }] };
}

/** The first task that calls a plan which waits for answers. */
function pausingTask(plan: PlanTable, plans: readonly PlanProgram[]): string | undefined {
  return plan.tasks.find(({ call }) => call.kind === "plan" && plans[call.plan]?.program.pausingNode !== undefined)
    ?.name;
}

/** Functions of a called plan may be given under its name; those missing there are looked for in the caller's. */
function optionsOf(called: PlanTable, options: EngineOptions): EngineOptions {
  const own = Object.prototype.hasOwnProperty.call(options.graphs ?? {}, called.name)
    ? options.graphs?.[called.name]
    : undefined;
  const { expressions: _, mocks: __, ...rest } = options;
  return {
    ...rest,
    functions: { ...options.functions, ...own?.functions },
    graphs: { ...options.graphs, ...own?.graphs },
    ...(own?.expressions === undefined ? {} : { expressions: own.expressions }),
  };
}

function taskNode(
  spec: TaskSpec,
  node: NodeCode,
  expressions: readonly Evaluate[],
  plans: readonly PlanProgram[],
): NodeCode {
  const { call } = spec;
  if (call.kind !== "plan" || node.call.kind === "mock") return withItem(spec, node);
  const called = plans[call.plan] as PlanProgram;
  return {
    ...withItem(spec, node),
    call: {
      kind: "attempt",
      body: (attempt, args) => callPlan(attempt, called, args),
      names: call.args.map(({ name }) => name),
      args: call.args.map(({ expression }) => expressions[expression] as Evaluate),
    },
  };
}

/** Of a matrix task: expressions read its value under the variable's name. */
function withItem({ item }: TaskSpec, node: NodeCode): NodeCode {
  return item === undefined ? node : { ...node, spec: { ...node.spec, each: { item: item.name, list: 0 } } };
}

function commandOf(call: CallSpec, expressions: readonly Evaluate[]): Evaluate | undefined {
  if (call.kind !== "builtin" || call.name !== "shell") return undefined;
  const argument = call.args.find(({ name }) => name === "command");
  return argument === undefined ? undefined : expressions[argument.expression];
}

function writtenBy(task: TaskSpec | undefined): readonly number[] {
  const { output } = task ?? {};
  if (output === undefined) return [];
  return output.kind === "channel" ? [output.channel] : output.fields.map(({ channel }) => channel);
}

function channelsRead(plan: PlanTable, task: TaskSpec): ReadonlySet<number> {
  const found = new Set<number>();
  const open: Expression[] = [];
  const visit = (index: number): void => {
    const expression = plan.expressions[index];
    if (expression !== undefined) open.push(expression);
  };
  for (const call of [task.call, ...task.checks]) {
    if (call.kind === "expression") visit(call.expression);
    else for (const arg of call.args) visit(typeof arg === "number" ? arg : arg.expression);
  }
  if (task.condition !== undefined) visit(task.condition);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.op === "channel") found.add(next.channel);
    for (const part of expressionParts(next)) open.push(part);
  }
  return found;
}
