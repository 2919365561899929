import { planSchedule } from "../../runtime/plan/schedule.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Output } from "../output/output.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { RUNS_DIRECTORY } from "./run-directory.ts";
import { recordedDurations } from "./run-index.ts";

/** `--dry-run`: prints the batches in which tasks would start, and runs nothing (K-43). */
export function dryRun(table: PlanTable, maxParallel: number | undefined, output: Output): ExitCode {
  const expected = recordedDurations(RUNS_DIRECTORY, table.name);
  const { batches } = planSchedule(table, {
    expected: (task) => expected(table.tasks[task]?.name ?? ""),
    ...(maxParallel === undefined ? {} : { maxParallel }),
  });
  const names = batches.map((batch) => batch.map((task) => table.tasks[task]?.name ?? ""));
  output.document({ version: 1, dryRun: true, batches: names });
  for (const [index, batch] of names.entries()) output.result(`${index + 1}. ${batch.join(", ")}`);
  return EXIT.ok;
}
