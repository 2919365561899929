import { TableError } from "../interface/errors.ts";
import { checkShape, ShapeProblem, type InnerTable, type ValuePath } from "./check-shape.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { checkCalledConfig, checkGraphRules } from "./graph-rules.ts";
import { checkPlanRules } from "./plan-rules.ts";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable } from "./plan-table.ts";
import { TABLE_FORMAT, TABLE_VERSION, type Table } from "./table.ts";
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
    if (!(error instanceof ShapeProblem)) throw error;
    const place = error.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
    throw new TableError("NG_BAD_TABLE", `\`table${place}\`: ${error.message}`, { cause: error });
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

/** Comes before the shape: of what is no table of this version, the shape would only name a confusing place. */
function checkFormat({ value, path, kind }: InnerTable): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ShapeProblem(path, "expected an object");
  }
  const { format, version } = value as { readonly format?: unknown; readonly version?: unknown };
  const [what, expected, known] =
    kind === "plan" ? ["plan's table", PLAN_FORMAT, PLAN_VERSION] : ["routing table", TABLE_FORMAT, TABLE_VERSION];
  const problem = (field: string, message: string): ShapeProblem => {
    const at: ValuePath = [...path, field];
    return new ShapeProblem(at, message);
  };
  if (format !== expected) throw problem("format", `this is no ${what}: its format is not "${expected}"`);
  if (version === known) return;
  if (typeof version !== "number")
    throw problem("version", `expected ${known}, found ${JSON.stringify(version) ?? "nothing"}`);
  const advice = version < known ? `compile the ${kind} again` : "update the package ngraph";
  throw problem("version", `a ${what} of version ${version}, and this package reads version ${known}: ${advice}`);
}
