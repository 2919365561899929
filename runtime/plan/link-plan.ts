import type { EngineOptions } from "../interface/engine-options.ts";
import type { LinkedPlan, Linker } from "../program/linker.ts";
import type { PlanTable } from "../table/plan-table.ts";
import { compilePlan } from "./plan-program.ts";

/** Links a plan that a node calls. */
export function linkPlan(plan: PlanTable, options: EngineOptions, linker: Linker): LinkedPlan {
  const linked = compilePlan(plan, options, linker);
  return { program: linked.program, body: (attempt, args) => linker.callPlan(attempt, linked, args) };
}
