import { planSchedule } from "../../runtime/plan/schedule.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { selectTasks } from "../../runtime/plan/select-tasks.ts";
import type { Output } from "../output/output.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { withOneAuthor, type PlanFlags } from "./plan-flags.ts";
import { RUNS_DIRECTORY } from "./run-directory.ts";
import { expectedDurations } from "./expected-durations.ts";

/**
 * `--dry-run`: prints the batches in which the selected tasks would start, and runs nothing (K-43).
 *
 * @throws RunError NG_BAD_INPUT for an unknown task in `only` or `fromTask`
 */
export function dryRun(
  table: PlanTable,
  options: PlanFlags & { readonly maxParallel?: number },
  output: Output,
): ExitCode {
  const { maxParallel, only, fromTask } = withOneAuthor(options);
  const { expected } = expectedDurations(RUNS_DIRECTORY, table, maxParallel);
  const selection = {
    ...(only === undefined ? {} : { only }),
    ...(fromTask === undefined ? {} : { fromTask }),
  };
  const { batches } = planSchedule(table, {
    selected: selectTasks(table, selection),
    expected: (task) => expected(table.tasks[task]?.name ?? ""),
    ...(maxParallel === undefined ? {} : { maxParallel }),
  });
  const names = batches.map((batch) => batch.map((task) => table.tasks[task]?.name ?? ""));
  output.document({ version: 1, dryRun: true, batches: names });
  for (const [index, batch] of names.entries()) output.result(`${index + 1}. ${batch.join(", ")}`);
  return EXIT.ok;
}
