import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { describeCall, expressionPrinter, type Drawing, type DrawnEdge, type DrawnNode } from "./drawing.ts";

/** A plan as boxes and arrows: its tasks, an arrow from each dependency, and `start` before tasks without dependencies. */
export function drawPlan(plan: PlanTable): Drawing {
  const expression = expressionPrinter(plan);
  return {
    name: plan.name,
    nodes: [
      { id: "start", kind: "start", label: "start", detail: "", pauses: false },
      ...plan.tasks.map((task): DrawnNode => ({
        id: idOf(task.name),
        kind: "node",
        label: task.name,
        detail: `${describeCall(plan, task.call, expression)}${task.alone === true ? ", alone" : ""}`,
        pauses: task.call.kind === "builtin" && task.call.name === "ask",
      })),
    ],
    edges: plan.tasks.flatMap((task) => {
      const when = task.condition === undefined ? "" : `when ${expression(task.condition)}`;
      const from = task.after.length === 0 ? ["start"] : task.after.map((at) => idOf(plan.tasks[at]?.name ?? ""));
      return from.map((source, at): DrawnEdge => {
        const need = task.trigger === "mixed" ? (task.needs?.[at] ?? "all") : task.trigger;
        const kind = when === "" && need !== "any" && need !== "failed" ? "plain" : "conditional";
        return { from: source, to: idOf(task.name), kind, label: `${need === "all" ? "" : need} ${when}`.trim() };
      });
    }),
  };
}

/** The id of a task. `start` and `end` are valid names of tasks, but reserved ids of a drawing. */
function idOf(task: string): string {
  return task === "start" || task === "end" ? `task ${task}` : task;
}
