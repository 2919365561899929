import { planSchedule } from "../../runtime/plan/schedule.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { recordedDurations } from "./run-index.ts";

export interface ExpectedDurations {
  /** The duration of a task in its last successful run, in milliseconds. */
  readonly recorded: (task: string) => number | undefined;
  /**
   * The recorded duration. Of a task that has neither one nor an estimate and calls a plan: the length of the schedule of this plan, if a
   * duration in it is known.
   */
  readonly expected: (task: string) => number | undefined;
}

/** What is known of the durations of a plan's tasks. */
export function expectedDurations(runs: string, plan: PlanTable, maxParallel = plan.maxParallel): ExpectedDurations {
  const recorded = recordedDurations(runs, plan.name);
  const tasks = new Map(plan.tasks.map((task) => [task.name, task]));
  const known = new Map<string, number | undefined>();
  const lengthOf = (name: string): number | undefined => {
    const task = tasks.get(name);
    if (task?.call.kind !== "plan" || task.estimate !== undefined) return undefined;
    const called = plan.plans[task.call.plan];
    return called === undefined ? undefined : lengthOfCall(runs, called, name, recorded, maxParallel);
  };
  return {
    recorded,
    expected(task) {
      const found = recorded(task);
      if (found !== undefined) return found;
      if (!known.has(task)) known.set(task, lengthOf(task));
      return known.get(task);
    },
  };
}

/** @param logged durations by the names of the log: its tasks of called plans have the names of their callers before them */
function lengthOfCall(
  runs: string,
  called: PlanTable,
  caller: string,
  logged: (task: string) => number | undefined,
  maxParallel: number,
): number | undefined {
  const most = Math.min(called.maxParallel, maxParallel);
  const own = expectedDurations(runs, called, most);
  let isKnown = false;
  const { makespan } = planSchedule(called, {
    maxParallel: most,
    expected: (index) => {
      const task = called.tasks[index];
      const duration = logged(`${caller}/${task?.name ?? ""}`) ?? own.expected(task?.name ?? "");
      if ((duration ?? task?.estimate) !== undefined) isKnown = true;
      return duration;
    },
  });
  return isKnown ? makespan : undefined;
}
