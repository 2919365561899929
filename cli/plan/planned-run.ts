import { planSchedule } from "../../runtime/plan/schedule.ts";
import { selectTasks } from "../../runtime/plan/select-tasks.ts";
import type { PlanExecuteOptions } from "../../runtime/plan/plan-options.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { viewSchedule } from "../schedule/schedule-view.ts";
import type { PlannedRun } from "./run-directory.ts";

interface PlannedRunOptions extends Pick<PlanExecuteOptions, "only" | "fromTask"> {
  readonly maxParallel?: number;
  /** Milliseconds of a task. */
  readonly expected: (task: string) => number | undefined;
}

/** The schedule of the tasks that a run will execute, with the durations of earlier runs. */
export function plannedRun(table: PlanTable, options: PlannedRunOptions): PlannedRun {
  const { maxParallel = table.maxParallel, expected } = options;
  const selected = selectTasks(table, options);
  const schedule = planSchedule(table, {
    expected: (task) => expected(table.tasks[task]?.name ?? ""),
    maxParallel,
    selected,
  });
  const { unit, makespan, tasks } = viewSchedule(table, schedule, { maxParallel, recorded: expected, expected });
  return {
    version: 1,
    unit,
    makespan,
    maxParallel,
    tasks: tasks.map(({ id, start, end, critical }) => ({ id, start, end, critical })),
  };
}
