import type { PlanTable } from "../runtime/table/plan-table.ts";
import type { Table } from "../runtime/table/table.ts";

/** Parses a table that a module contains as text because it is large. */
export function largeTable(json: string, graphs: readonly Table[], plans?: readonly PlanTable[]): Table {
  const parts = plans === undefined ? { graphs } : { graphs, plans };
  return { ...(JSON.parse(json) as Omit<Table, "graphs" | "plans">), ...parts };
}
