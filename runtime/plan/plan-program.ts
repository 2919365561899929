import type { EngineOptions } from "../interface/engine-options.ts";
import type { Evaluate } from "../expression/compile-expression.ts";
import { expressionParts } from "../expression/expression-depth.ts";
import type { Linker } from "../program/linker.ts";
import { compileProgram, type NodeCode, type Program } from "../program/program.ts";
import { DEFAULT_BACKOFF_OF_TASKS } from "./task-backoff.ts";
import type { CallSpec } from "../table/table.ts";
import { nodesOf } from "./plan-nodes.ts";
import type { PlanTable, TaskIndex, TaskSpec } from "../table/plan-table.ts";
import { successorsOf, topologicalOrder } from "./plan-order.ts";
import { expressionsOf } from "./task-expressions.ts";
import { ownValue } from "../value/own-value.ts";

/**
 * A plan linked with its code, ready to run. Its tasks run as the nodes of a program without edges: the engine runs the
 * attempts, the plan scheduler decides their order.
 */
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
  /** Channels that its expressions read and that some task writes. */
  readonly reads: readonly number[];
  readonly backoff: { readonly min: number; readonly max: number };
}

export interface CheckCode {
  readonly node: NodeCode;
  readonly call: CallSpec;
  /** The expression of the command, if the check is a command. */
  readonly command: Evaluate | undefined;
}

/**
 * Links a plan with the code that it refers to by name.
 *
 * @throws RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED for effects that are not
 * allowed
 */
export function compilePlan(plan: PlanTable, options: EngineOptions, linker: Linker): PlanProgram {
  const linked = compileProgram(nodesOf(plan), options, linker, "plan");
  const plans = plan.plans.map((called) => compilePlan(called, optionsOf(called, options), linker));
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
      node: taskNode(spec, program.nodes[index] as NodeCode, expressions, plans, linker),
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

/** The first task that calls a plan with pauses. */
function pausingTask(plan: PlanTable, plans: readonly PlanProgram[]): string | undefined {
  return plan.tasks.find(({ call }) => call.kind === "plan" && plans[call.plan]?.program.pausingNode !== undefined)
    ?.name;
}

/** Functions of a called plan may be given under its name. Missing ones are taken from the caller. */
function optionsOf(called: PlanTable, options: EngineOptions): EngineOptions {
  const own = ownValue(options.graphs, called.name);
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
  linker: Linker,
): NodeCode {
  const { call } = spec;
  if (call.kind !== "plan" || node.call.kind === "mock") return withItem(spec, node);
  const called = plans[call.plan] as PlanProgram;
  return {
    ...withItem(spec, node),
    call: {
      kind: "plan",
      body: (attempt, args) => linker.callPlan(attempt, called, args),
      names: call.args.map(({ name }) => name),
      args: call.args.map(({ expression }) => expressions[expression] as Evaluate),
    },
  };
}

/** For a matrix task: expressions read its value under the name of the variable. */
function withItem({ item }: TaskSpec, node: NodeCode): NodeCode {
  return item === undefined
    ? node
    : { ...node, spec: { ...node.spec, each: { item: item.name, list: 0 } }, isEach: true };
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
  const open = expressionsOf(plan, task);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.op === "channel") found.add(next.channel);
    for (const part of expressionParts(next)) open.push(part);
  }
  return found;
}
