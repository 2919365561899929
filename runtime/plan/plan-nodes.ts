import type { PlanTable, TaskSpec } from "../table/plan-table.ts";
import { TABLE_FORMAT, TABLE_VERSION, type CallSpec, type NodeSpec, type Table } from "../table/table.ts";

/** A graph table without edges: a node for each task, then a node for each check of each task. */
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
    // The argument of `check` that `withoutCheck` adds.
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

/** In a task with checks, the checks decide about success: a command has a result whatever its exit code is (9.6). */
function ownCall(task: TaskSpec, no: number): CallSpec {
  const { call } = task;
  if (call.kind === "plan") throw new TypeError("a node cannot call a plan");
  if (task.checks.length === 0 || task.output === undefined) return call;
  return call.kind === "builtin" && call.args.some((arg) => arg.name === "check") ? call : withoutCheck(call, no);
}

/** Adds `check: false` to a command: its exit code becomes part of its result instead of a failure. */
function withoutCheck(call: CallSpec, no: number): CallSpec {
  if (call.kind !== "builtin" || call.name !== "shell") return call;
  return { ...call, args: [...call.args.filter((arg) => arg.name !== "check"), { name: "check", expression: no }] };
}
