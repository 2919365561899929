import { isatty } from "node:tty";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { CommandError } from "../process/command-error.ts";
import type { PlanFlags } from "./plan-flags.ts";

/** Whether a person can type and read. Standard output may be redirected: interactive commands print on the other stream. */
export function hasTerminal(): boolean {
  return isatty(0) && isatty(2);
}

/**
 * Refuses a run without a terminal whose plan has an interactive task that is certain to run, before it runs the others.
 *
 * @throws CommandError
 */
export function refuseWithoutTerminal(table: PlanTable, { only, fromTask }: PlanFlags): void {
  if (hasTerminal() || fromTask !== undefined) return;
  const task = table.tasks.find(
    ({ name, interactive, condition }) =>
      interactive === true && condition === undefined && (only === undefined || only.includes(name)),
  );
  if (task === undefined) return;
  throw new CommandError(`the task \`${task.name}\` is interactive, and this run has no terminal`, {
    help: "run the plan in a terminal, without redirected input, or select other tasks with --only",
  });
}
