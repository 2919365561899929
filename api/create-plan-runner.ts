import type { PlanRunner, PlanRunnerOptions } from "../runtime/plan/plan-options.ts";
import { LOADED_LINKER, LOADED_PLAN_CODE } from "../runtime/engine/loaded-linker.ts";
import { openPlanRunner } from "../runtime/plan/open-plan-runner.ts";
import type { PlanTable } from "../runtime/table/plan-table.ts";
import { loadedNodes } from "../stdlib/loaded-nodes.ts";

/**
 * A runner for one plan, with the built-in nodes (`shell`, `print`, `ask`, …). Pass `llm` and `tool` in `builtins`.
 *
 * @throws TableError when the table is not valid; RunError NG_MISSING_FUNCTION when code is missing, NG_EFFECT_DENIED when
 *   the plan has effects that `allow` does not permit
 * @example
 * const runner = createPlanRunner(table, { store: new SqliteStore("runs.db") });
 * const { outcome, tasks } = await runner.run({}, { maxParallel: 8 });
 */
export function createPlanRunner(table: PlanTable, options: PlanRunnerOptions = {}): PlanRunner {
  const all = { ...options, builtins: { ...loadedNodes, ...options.builtins } };
  return openPlanRunner(table, all, LOADED_LINKER, LOADED_PLAN_CODE);
}
