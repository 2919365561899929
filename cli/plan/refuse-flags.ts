import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import type { StepLimitFlags } from "../run/parse-values.ts";
import type { PlanFlags } from "./execute-plan.ts";

/** A flag that would be without effect is a mistake. @throws CommandError */
export function refusePlanFlags(
  table: Table | PlanTable,
  flags: PlanFlags & { readonly maxSteps?: StepLimitFlags },
): void {
  if (table.kind === "plan") {
    if (flags.maxSteps?.own !== undefined)
      throw new CommandError(`--max-steps: \`${table.name}\` is a plan, which has no steps`, {
        help: "--max-steps GRAPH=N is for a graph that one of its tasks calls",
      });
    return;
  }
  const given = [
    flags.only === undefined ? [] : ["--only"],
    flags.fromTask === undefined ? [] : ["--from-task"],
    flags.dryRun === true ? ["--dry-run"] : [],
    flags.verifyTouches === true ? ["--verify-touches"] : [],
    flags.cache === false ? ["--no-cache"] : [],
  ].flat();
  if (given.length > 0) throw new CommandError(`${given.join(", ")}: \`${table.name}\` is a graph, not a plan`);
}

/** Likewise those of graphs. @throws CommandError */
export function refuseGraphFlags(flags: { readonly from?: string; readonly at?: string }): void {
  const given = [flags.from === undefined ? [] : ["--from"], flags.at === undefined ? [] : ["--at"]].flat();
  if (given.length === 0) return;
  throw new CommandError(`${given.join(", ")}: a run of a plan goes on with what is not done`, {
    help: "--from-task runs a task and all that come after it again, --only one by itself",
  });
}
