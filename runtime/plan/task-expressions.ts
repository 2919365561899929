import type { Expression } from "../expression/expression.ts";
import type { PlanTable, TaskSpec } from "../table/plan-table.ts";

/** The expressions of a task: of its calls, its checks and its condition. */
export function expressionsOf(plan: PlanTable, task: TaskSpec): Expression[] {
  const found: Expression[] = [];
  const visit = (index: number): void => {
    const expression = plan.expressions[index];
    if (expression !== undefined) found.push(expression);
  };
  for (const call of [task.call, ...task.checks]) {
    if (call.kind === "expression") visit(call.expression);
    else for (const arg of call.args) visit(typeof arg === "number" ? arg : arg.expression);
  }
  if (task.condition !== undefined) visit(task.condition);
  return found;
}
