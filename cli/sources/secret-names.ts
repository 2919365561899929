import { allTables } from "./called-tables.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";

/** The secrets of a graph or plan and of everything it calls. */
export function secretNames(table: PlanTable | Table): readonly string[] {
  return [...new Set(allTables(table).flatMap(({ secrets }) => secrets))];
}
