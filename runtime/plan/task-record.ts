import type { PendingWrite } from "../interface/checkpoint.ts";
import type { Expression } from "../expression/expression.ts";
import type { Update } from "../step/task.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { PlanTable, TaskIndex, TaskSpec } from "../table/plan-table.ts";
import { sha256 } from "../table/sha256.ts";
import { topologicalOrder } from "./plan-order.ts";
import type { PlanProgram } from "./plan-program.ts";
import { readUpdates, storedUpdates } from "./cached-task.ts";

/**
 * The stored result of a finished task, with what it was made from: a resume keeps it while its call and the results of
 * its dependencies are the same (9.10).
 */
export interface TaskRecord {
  /** `undefined`: they do not fit the plan. */
  readonly updates: readonly Update[] | undefined;
  readonly attempts: number;
  readonly duration: number | null;
  /** The execution that made the result: the epoch of its claim. */
  readonly epoch: number;
  /** The digest of its call and checks; `undefined` in a record of an older version. */
  readonly call: string | undefined;
  /** By name, the epoch of each dependency that was done when the task started; `undefined` in an older version. */
  readonly seen: ReadonlyMap<string, number> | undefined;
}

/** The pending write of a finished task. */
export function recordWrite(program: PlanProgram, task: TaskIndex, record: TaskRecord): PendingWrite {
  const { name } = program.plan.tasks[task] as TaskSpec;
  const { updates = [], attempts, duration, epoch, call, seen } = record;
  const result: Json = {
    updates: storedUpdates(program, updates),
    attempts,
    duration,
    epoch,
    call: call ?? null,
    seen: [...(seen ?? [])],
  };
  return { taskId: name, node: name, result };
}

export function readRecord(program: PlanProgram, result: Json): TaskRecord {
  const { updates, attempts, duration, epoch, call, seen } = result as JsonObject;
  return {
    updates: readUpdates(program, updates),
    attempts: typeof attempts === "number" ? attempts : 1,
    duration: typeof duration === "number" ? duration : null,
    epoch: typeof epoch === "number" ? epoch : 0,
    call: typeof call === "string" ? call : undefined,
    seen: Array.isArray(seen) ? new Map(seen as [string, number][]) : undefined,
  };
}

/**
 * The dependencies whose results a task has not seen, by name: they have other results now. Empty if the record is
 * current.
 *
 * @param epochOf the epoch of a dependency that is done, else `undefined`
 */
export function unseen(
  plan: PlanTable,
  task: TaskIndex,
  { seen }: TaskRecord,
  epochOf: (dependency: TaskIndex) => number | undefined,
): readonly string[] {
  const { after, trigger } = plan.tasks[task] as TaskSpec;
  if (seen === undefined) return [];
  return after.flatMap((dependency) => {
    const { name } = plan.tasks[dependency] as TaskSpec;
    const epoch = epochOf(dependency);
    const before = seen.get(name);
    // A task `after any` started when one was done. The others do not matter to it.
    if (trigger === "any" && (before === undefined || epoch === undefined)) return [];
    return epoch === before ? [] : [name];
  });
}

/**
 * The records that hold, whatever the tasks that still run do: their calls are the same, and so are the results of their
 * dependencies.
 */
export function certainRecords(
  plan: PlanTable,
  records: ReadonlyMap<TaskIndex, TaskRecord>,
): ReadonlyMap<TaskIndex, TaskRecord> {
  const certain = new Map<TaskIndex, TaskRecord>();
  for (const task of topologicalOrder(plan)) {
    const record = records.get(task);
    if (record?.updates === undefined) continue;
    const { after, trigger } = plan.tasks[task] as TaskSpec;
    const isKnown = (dependency: TaskIndex): boolean => certain.has(dependency);
    const areKnown = after.length === 0 || (trigger === "any" ? after.some(isKnown) : after.every(isKnown));
    if (record.seen !== undefined && !areKnown) continue;
    if (unseen(plan, task, record, (dependency) => certain.get(dependency)?.epoch).length > 0) continue;
    certain.set(task, record);
  }
  return certain;
}

/** The digest of what a task calls, with the names of channels and functions instead of their positions. */
export function digestOfCall(plan: PlanTable, task: TaskIndex): string {
  const { call, checks, item } = plan.tasks[task] as TaskSpec;
  const expression = (index: number): Json => named(plan, plan.expressions[index] as Expression);
  const described = (spec: TaskSpec["call"]): Json => {
    switch (spec.kind) {
      case "expression":
        return { value: expression(spec.expression) };
      case "function": {
        const { module, export: name } = plan.functions[spec.function] ?? { module: "", export: "" };
        return { module, name, args: spec.args.map(expression) };
      }
      default: {
        const args = spec.args.map((arg): Json => [arg.name, expression(arg.expression)]);
        if (spec.kind === "builtin") {
          const tools = (spec.tools ?? []).flatMap(({ name, graph }): Json[] => {
            return graph === undefined ? [] : [{ name, digest: plan.graphs[graph]?.digest ?? "" }];
          });
          return { builtin: spec.name, args, ...(tools.length === 0 ? {} : { tools }) };
        }
        const called = spec.kind === "graph" ? plan.graphs[spec.graph] : plan.plans[spec.plan];
        return { digest: called?.digest ?? "", args };
      }
    }
  };
  return sha256(JSON.stringify([described(call), checks.map(described), item?.value ?? null]));
}

/** A copy of an expression with names of channels and functions instead of their positions. */
function named(plan: PlanTable, expression: Expression): Json {
  const text = JSON.stringify(expression, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("op" in value)) return value;
    const part = value as Expression;
    if (part.op === "channel") return { op: "channel", name: plan.channels[part.channel]?.name };
    if (part.op !== "call") return part;
    const { function: index, ...rest } = part;
    return { ...rest, name: plan.functions[index]?.export };
  });
  return JSON.parse(text) as Json;
}
