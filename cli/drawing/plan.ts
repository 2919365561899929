import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { describeCall, expressionPrinter, type Drawing, type DrawnEdge, type DrawnNode } from "./drawing.ts";

/** A plan as boxes and arrows: its tasks, an arrow from each dependency, and `start` before tasks without dependencies. */
export function drawPlan(plan: PlanTable): Drawing {
  const expression = expressionPrinter(plan);
  /** Tasks that only `finally` tasks come after. */
  const ends = new Set(plan.tasks.keys());
  for (const task of plan.tasks) if (task.finally !== true) for (const before of task.after) ends.delete(before);
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
      // A `finally` task comes after all others: the tasks at the ends of the plan stand for them.
      if (task.finally === true) {
        const last = task.after.filter((before) => ends.has(before) || plan.tasks[before]?.finally === true);
        return last.map((before): DrawnEdge => ({
          from: idOf(plan.tasks[before]?.name ?? ""),
          to: idOf(task.name),
          kind: "plain",
          label: `finally ${when}`.trim(),
        }));
      }
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
