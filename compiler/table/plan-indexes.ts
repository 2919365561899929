/** What the schema of a plan cannot say: indexes point at something, names are told apart, and no task waits for itself. */
import type { PlanTable, TaskSpec } from "../../runtime/table/plan-table.ts";
import {
  checkCall,
  checkNames,
  checkNodeCall,
  checkOutput,
  checkParts,
  createPartChecker,
  within,
  type PartChecker,
  type TableProblem,
} from "./table-indexes.ts";

/** The first thing that is wrong with a plan whose shape is right; `undefined` for a good one. */
export function findBadPlanIndex(plan: PlanTable): TableProblem | undefined {
  const found: TableProblem[] = [];
  const check = createPartChecker(plan, found);
  checkNames(plan.channels, "/channels", "channels", found);
  checkNames(plan.tasks, "/tasks", "tasks", found);
  checkNames(plan.pools, "/pools", "pools", found);
  checkParts(plan, check);
  for (const [at, task] of plan.tasks.entries()) checkTask(task, at, plan, check);
  for (const [at, { role }] of plan.channels.entries()) {
    if (role === "memory") found.push({ path: `/channels/${at}/role`, message: "a plan has no memory" });
  }
  checkRanks(plan, found);
  if (found.length === 0) checkOrder(plan, found);
  return found[0];
}

function checkTask(task: TaskSpec, at: number, plan: PlanTable, check: PartChecker): void {
  const path = `/tasks/${at}`;
  const { found } = check;
  const { call, pool } = task;
  checkNodeCall(call, plan.plans.length, `${path}/call`, check);
  for (const [index, other] of task.checks.entries()) checkCall(other, `${path}/checks/${index}`, check);
  const isTask = within(plan.tasks.length, "task", found);
  for (const [index, before] of task.after.entries()) isTask(before, `${path}/after/${index}`);
  if (new Set(task.after).size < task.after.length)
    found.push({ path: `${path}/after`, message: "a task stands twice" });
  if (task.condition !== undefined) check.expression(task.condition, `${path}/condition`);
  checkOutput(task.output, `${path}/output`, check);
  if (pool === undefined) return;
  within(plan.pools.length, "pool", found)(pool.pool, `${path}/pool/pool`);
  const size = plan.pools[pool.pool]?.size ?? pool.count;
  if (pool.count > size) found.push({ path: `${path}/pool/count`, message: `the pool has only ${size}` });
}

function checkRanks({ ranks, tasks }: PlanTable, found: TableProblem[]): void {
  if (ranks === undefined) return;
  const isOrder = ranks.length === tasks.length && new Set(ranks).size === tasks.length;
  if (!isOrder || ranks.some((rank) => rank >= tasks.length)) {
    found.push({ path: "/ranks", message: "every task has a rank of its own, from 0 on" });
  }
}

function checkOrder({ tasks }: PlanTable, found: TableProblem[]): void {
  const waiting = tasks.map((task) => task.after.length);
  const next: number[][] = tasks.map(() => []);
  for (const [index, task] of tasks.entries()) for (const before of task.after) next[before]?.push(index);
  const order = waiting.flatMap((count, task) => (count === 0 ? [task] : []));
  if (order.length === 0) found.push({ path: "/tasks", message: "graph has no roots — cycle or malformed deps" });
  for (let at = 0; at < order.length; at++) {
    for (const task of next[order[at] ?? -1] ?? []) {
      const left = (waiting[task] ?? 0) - 1;
      waiting[task] = left;
      if (left === 0) order.push(task);
    }
  }
  const stuck = waiting.findIndex((count) => count > 0);
  if (stuck !== -1) found.push({ path: `/tasks/${stuck}/after`, message: "the task waits for itself" });
}
