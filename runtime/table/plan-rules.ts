/** Rules for a plan's table that its shape cannot state, because they join several fields. */
import { TableError } from "../interface/errors.ts";
import type { ValuePath } from "./shape-problem.ts";
import { bad, checkBackoff, checkCommonRules, checkTools } from "./graph-rules.ts";
import type { PlanTable, TaskSpec } from "./plan-table.ts";

/** 9.9, word for word. */
const NO_ROOTS = "graph has no roots — cycle or malformed deps";

/**
 * The rules for a plan whose shape is right.
 * @throws ShapeProblem the first problem
 * @throws TableError NG_BAD_TABLE for a plan in which no task can start
 */
export function checkPlanRules(plan: PlanTable, path: ValuePath): void {
  checkCommonRules(plan, path);
  for (const [at, { role }] of plan.channels.entries()) {
    if (role === "memory") bad(path, ["channels", at, "role"], "a plan has no memory");
  }
  for (const [at, task] of plan.tasks.entries()) checkTask(task, plan, [...path, "tasks", at]);
  checkMatrix(plan, path);
  checkRanks(plan, path);
  checkOrder(plan, path);
}

function checkTask(task: TaskSpec, plan: PlanTable, path: ValuePath): void {
  if (new Set(task.after).size < task.after.length) bad(path, ["after"], "a task is named twice");
  if ((task.needs?.length ?? 0) !== (task.trigger === "mixed" ? task.after.length : 0)) {
    bad(path, ["needs"], "a `mixed` trigger has one for each dependency, and no other trigger has any");
  }
  checkBackoff(task.backoff, [...path, "backoff"]);
  for (const [at, check] of task.checks.entries()) checkTools(check, [...path, "checks", at]);
  checkTools(task.call, [...path, "call"]);
  const { pool } = task;
  if (pool === undefined) return;
  const size = plan.pools[pool.pool]?.size ?? pool.count;
  if (pool.count > size) bad(path, ["pool", "count"], `the pool has only ${size}`);
}

function checkMatrix({ matrix, tasks, channels }: PlanTable, path: ValuePath): void {
  if (matrix === undefined) return;
  const [task] = tasks;
  if (tasks.length !== 1 || task?.item === undefined || task.statuses !== undefined) {
    bad(path, ["tasks"], "a matrix has one task, with a variable");
  }
  if (channels[matrix.list]?.role !== "input") bad(path, ["matrix", "list"], "the values of a matrix are an input");
}

function checkRanks({ ranks, tasks }: PlanTable, path: ValuePath): void {
  if (ranks === undefined) return;
  const isOrder = ranks.length === tasks.length && new Set(ranks).size === tasks.length;
  if (!isOrder || ranks.some((rank) => rank >= tasks.length)) {
    bad(path, ["ranks"], "every task has a rank of its own, from 0 on");
  }
}

/** Kahn's algorithm: the tasks that are left over depend on each other. */
function checkOrder({ tasks }: PlanTable, path: ValuePath): void {
  if (tasks.length > 0 && tasks.every((task) => task.after.length > 0)) throw new TableError("NG_BAD_TABLE", NO_ROOTS);
  const waiting = tasks.map((task) => task.after.length);
  const next: number[][] = tasks.map(() => []);
  for (const [index, task] of tasks.entries()) for (const before of task.after) next[before]?.push(index);
  const order = waiting.flatMap((count, task) => (count === 0 ? [task] : []));
  for (const done of order) {
    for (const task of next[done] ?? []) {
      const left = (waiting[task] ?? 0) - 1;
      waiting[task] = left;
      if (left === 0) order.push(task);
    }
  }
  if (order.length === tasks.length) return;
  const left = tasks.flatMap(({ name }, task) => ((waiting[task] ?? 0) > 0 ? [name] : []));
  bad(path, ["tasks"], `${left.slice(0, 10).join(", ")} depend on each other`);
}
