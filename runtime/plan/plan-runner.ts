import { openMemory } from "../memory/long-term-memory.ts";
import type { PlanTable } from "../table/plan-table.ts";
import { LINKER } from "./link-calls.ts";
import { openPlanRunner, type PlanCode } from "./open-plan-runner.ts";
import { PLAN_OPERATIONS } from "./plan-operations.ts";
import type { PlanRunner, PlanRunnerOptions } from "./plan-options.ts";

/**
 * Creates a runner for a plan: checks the plan, links it with its code once, and serves any number of runs
 * (execution.md, section 9).
 *
 * @throws TableError NG_BAD_TABLE; RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED
 * @example
 * const runner = createPlanRunner(table, { builtins: builtinNodes, store: new MemoryStore() });
 * const { outcome, tasks } = await runner.run({}, { maxParallel: 8 });
 */
export function createPlanRunner(table: PlanTable, options: PlanRunnerOptions = {}): PlanRunner {
  return openPlanRunner(table, options, LINKER, CODE);
}

const CODE: PlanCode = { operations: () => PLAN_OPERATIONS, openMemory };
