import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";

/** The secrets of a graph or plan and of everything it calls. */
export function secretNames(table: PlanTable | Table): readonly string[] {
  const called = table.kind === "plan" ? [...table.graphs, ...table.plans] : table.graphs;
  return [...new Set([...table.secrets, ...called.flatMap(secretNames)])];
}
