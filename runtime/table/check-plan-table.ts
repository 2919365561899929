import { checkTable } from "./check-table.ts";
import { TableError } from "../interface/errors.ts";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable } from "./plan-table.ts";
import { nodesOf } from "../plan/plan-program.ts";
import { topologicalOrder } from "../plan/priorities.ts";
import { bad, list, record, waits } from "./table-shape.ts";

/** 9.9, word for word. */
export const NO_ROOTS = "graph has no roots — cycle or malformed deps";

const MAX_PLAN_DEPTH = 64;
const checked = new WeakSet<object>();

/**
 * Checks a plan's version and shape, and freezes it deeply: every index points somewhere, no task waits for itself.
 * @throws TableError NG_BAD_TABLE with the place of the first problem
 */
export function freezePlanTable(table: PlanTable): void {
  if (typeof table === "object" && table !== null && checked.has(table)) return;
  checkPlanTable(table, "plan", 0);
  const stack: object[] = [table];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    Object.freeze(value);
    for (const child of Object.values(value) as unknown[]) {
      if (typeof child === "object" && child !== null && !Object.isFrozen(child)) stack.push(child);
    }
  }
  checked.add(table);
}

export function checkPlanTable(value: unknown, at: string, depth: number): void {
  if (depth > MAX_PLAN_DEPTH) bad(at, `plans call each other more than ${MAX_PLAN_DEPTH} deep`);
  const plan = record(value, at);
  if (plan["format"] !== PLAN_FORMAT) bad(`${at}.format`, `expected ${JSON.stringify(PLAN_FORMAT)}`);
  if (plan["version"] !== PLAN_VERSION)
    bad(`${at}.version`, `expected ${PLAN_VERSION}: compile the plan again with this version of ngraph`);
  if (plan["kind"] !== "plan") bad(`${at}.kind`, 'expected "plan"');
  whole(plan["maxParallel"], `${at}.maxParallel`, 1);
  oneOf(plan["order"], ["priority", "file"], `${at}.order`);
  oneOf(plan["onFailure"], ["continue", "no-new", "kill"], `${at}.onFailure`);
  const pools = list(plan["pools"], `${at}.pools`).map((item, index) => {
    const pool = record(item, `${at}.pools[${index}]`);
    whole(pool["size"], `${at}.pools[${index}].size`, 1);
    return pool["size"] as number;
  });
  const plans = list(plan["plans"], `${at}.plans`);
  const tasks = list(plan["tasks"], `${at}.tasks`);
  const conditions: number[] = [];
  tasks.forEach((item, index) => {
    const place = `${at}.tasks[${index}]`;
    const task = record(item, place);
    const after = list(task["after"], `${place}.after`);
    for (const before of after) {
      if (!Number.isSafeInteger(before) || (before as number) < 0 || (before as number) >= tasks.length)
        bad(`${place}.after`, `${String(before)} is no task (there are ${tasks.length})`);
    }
    if (new Set(after).size < after.length) bad(`${place}.after`, "a task stands twice");
    oneOf(task["trigger"], ["all", "any", "done"], `${place}.trigger`);
    whole(task["tries"], `${place}.tries`, 1);
    for (const name of ["timeout", "estimate"]) if (task[name] !== undefined) number(task[name], `${place}.${name}`);
    if (task["backoff"] !== undefined) waits(task["backoff"], `${place}.backoff`);
    list(task["touches"], `${place}.touches`).forEach((touch, position) => {
      const spec = record(touch, `${place}.touches[${position}]`);
      if (typeof spec["path"] !== "string") bad(`${place}.touches[${position}].path`, "expected a string");
      oneOf(spec["mode"], ["read", "write"], `${place}.touches[${position}].mode`);
    });
    if (task["pool"] !== undefined) {
      const use = record(task["pool"], `${place}.pool`);
      const size = pools[use["pool"] as number];
      if (size === undefined) bad(`${place}.pool`, `${String(use["pool"])} is no pool (there are ${pools.length})`);
      whole(use["count"], `${place}.pool.count`, 1);
      if ((use["count"] as number) > (size ?? 0)) bad(`${place}.pool.count`, `the pool has ${size} places`);
    }
    const call = record(task["call"], `${place}.call`);
    if (call["kind"] === "plan") {
      if (plans[call["plan"] as number] === undefined)
        bad(`${place}.call.plan`, `${String(call["plan"])} is no plan (there are ${plans.length})`);
      for (const arg of list(call["args"], `${place}.call.args`))
        conditions.push(record(arg, `${place}.call.args`)["expression"] as number);
    }
    list(task["checks"], `${place}.checks`);
    if (task["cache"] !== undefined) list(record(task["cache"], `${place}.cache`)["inputs"], `${place}.cache.inputs`);
    if (task["condition"] !== undefined) conditions.push(task["condition"] as number);
  });
  const expressions = list(plan["expressions"], `${at}.expressions`).length;
  for (const index of conditions)
    if (!Number.isSafeInteger(index) || index < 0 || index >= expressions)
      bad(at, `${String(index)} is no expression (there are ${expressions})`);
  // Calls, channels, types and expressions are those of graphs, and checked by the same code.
  checkTable(nodesOf(value as PlanTable));
  checkOrder(value as PlanTable, at);
  plans.forEach((called, index) => checkPlanTable(called, `${at}.plans[${index}]`, depth + 1));
}

function checkOrder(plan: PlanTable, at: string): void {
  if (plan.tasks.length > 0 && plan.tasks.every((task) => task.after.length > 0))
    throw new TableError("NG_BAD_TABLE", NO_ROOTS);
  const order = topologicalOrder(plan);
  if (order.length === plan.tasks.length) return;
  const known = new Set(order);
  const left = plan.tasks.flatMap(({ name }, index) => (known.has(index) ? [] : [name]));
  bad(`${at}.tasks`, `${left.slice(0, 10).join(", ")} wait for each other`);
}

function number(value: unknown, at: string): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) bad(at, "expected a number of at least 0");
}

function whole(value: unknown, at: string, least: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    bad(at, `expected a whole number of at least ${least}`);
}

function oneOf(value: unknown, allowed: readonly string[], at: string): void {
  if (!allowed.includes(value as string)) bad(at, `expected one of ${allowed.join(", ")}`);
}
