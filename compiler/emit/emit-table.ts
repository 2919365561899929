import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { fieldName, literal, quote } from "./quote.ts";

/** A table with more characters is written as one JSON text, which type checkers and engines read much faster. */
const MAX_LITERAL = 1_000_000;
/** So is a table with more levels: TypeScript refuses to compare deeper types (TS2321), and 5.9 ends with an exception at some thousand. */
const MAX_LEVELS = 100;

/**
 * A table as an expression of the module, with one item on each line, which keeps diffs small. Omits `debug`: positions
 * would change with every edit, and nothing at run time needs them. `graphs` and `plans` are the expressions of the
 * called tables.
 */
export function emitTable(table: Table | PlanTable, graphs: readonly string[], plans: readonly string[] = []): string {
  const isPlan = table.kind === "plan";
  const hasPlans = isPlan || plans.length > 0;
  const { debug: _debug, graphs: _graphs, plans: _plans, ...fields } = table;
  const json = JSON.stringify(fields);
  const lists = { graphs: `[${graphs.join(", ")}]`, plans: `[${plans.join(", ")}]` };
  const called = hasPlans ? `graphs: ${lists.graphs},\n  plans: ${lists.plans}` : `graphs: ${lists.graphs}`;
  if (json.length > MAX_LITERAL || !isWithin(fields, MAX_LEVELS)) {
    const parts = hasPlans ? `${lists.graphs}, ${lists.plans}` : lists.graphs;
    return `$.${isPlan ? "largePlan" : "largeTable"}(${quote(json)}, ${parts})`;
  }
  const lines = Object.entries(fields).map(([name, value]) => `  ${fieldName(name)}: ${emitField(value)},`);
  return `{\n${lines.join("\n")}\n  ${called},\n}`;
}

/** Whether a value nests at most so many lists and records. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1));
}

function emitField(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0 || typeof value[0] !== "object") return literal(value);
  return `[\n${value.map((item) => `    ${literal(item)},`).join("\n")}\n  ]`;
}
