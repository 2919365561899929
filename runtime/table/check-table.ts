import { checkFormat } from "./check-format.ts";
import { checkShape } from "./check-shape.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { checkCalledConfig, checkGraphRules } from "./graph-rules.ts";
import { checkPlanRules } from "./plan-rules.ts";
import type { PlanTable } from "./plan-table.ts";
import type { Table } from "./table.ts";
import { asTableError, ShapeProblem, type InnerTable } from "./shape-problem.ts";
import { GRAPH_SHAPE, PLAN_SHAPE } from "./table-shapes.ts";

/** Depth of graphs and plans that call each other in a table that an engine runs. */
const MAX_CALL_DEPTH = 64;

/** Tables that have been checked and frozen: this happens once, however many engines use one. */
const checked = new WeakSet<object>();

/**
 * Checks that a value has a table's format, version and shape, and that every index in it points somewhere (1.2), so that no
 * other code of the runtime has to. Does not verify the digest: the compiler's `loadTable` does.
 *
 * @throws TableError NG_BAD_TABLE, naming the place
 */
export function checkTable(value: unknown, kind: "graph" | "plan" = "graph"): asserts value is Table {
  try {
    for (const { path } of checkTables(value, kind)) {
      // A called table is at `graphs/0` or `plans/0` of its caller.
      if (path.length > 2 * MAX_CALL_DEPTH) {
        throw new ShapeProblem(path, `graphs and plans call each other more than ${MAX_CALL_DEPTH} deep`);
      }
    }
  } catch (error) {
    throw asTableError(error);
  }
}

/**
 * Checks a table, and freezes it deeply.
 * @throws TableError NG_BAD_TABLE with the place of the first problem
 */
export function freezeTable(table: Table | PlanTable, kind: "graph" | "plan"): void {
  if (typeof table === "object" && table !== null && checked.has(table)) return;
  checkTable(table, kind);
  deepFreeze(table);
  checked.add(table);
}

/**
 * Checks a table and then each graph and plan that is called in it, and yields each after its check: callers before those they call.
 * @throws ShapeProblem the first problem
 * @throws TableError NG_BAD_TABLE for a plan in which no task can start
 */
export function* checkTables(value: unknown, kind: "graph" | "plan"): Iterable<InnerTable> {
  const tables: InnerTable[] = [{ value, kind, path: [] }];
  // A table in memory may be called from many places: it is checked once.
  const seen = new Set<unknown>();
  for (const table of tables) {
    if (seen.has(table.value)) continue;
    seen.add(table.value);
    checkFormat(table);
    const { path } = table;
    if (table.kind === "graph") {
      for (const inner of checkShape(GRAPH_SHAPE, table.value, path)) tables.push(inner);
      checkGraphRules(table.value as Table, path);
    } else {
      for (const inner of checkShape(PLAN_SHAPE, table.value, path)) tables.push(inner);
      checkPlanRules(table.value as PlanTable, path);
    }
    yield table;
  }
  for (const { value, path } of tables) checkCalledConfig(value as Table | PlanTable, path);
}
