import { checkTable } from "./check-table.ts";
import type { Table } from "./table.ts";

/** Tables that have been checked: checking and freezing happen once, however many engines use one. */
const checked = new WeakSet<object>();

/**
 * Checks a table's version and shape, and freezes it deeply.
 * @throws TableError NG_BAD_TABLE with the place of the first problem
 */
export function freezeTable(table: Table): void {
  if (typeof table === "object" && table !== null && checked.has(table)) return;
  checkTable(table);
  // Without recursion: a table may nest expressions deeply.
  const stack: object[] = [table];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    Object.freeze(value);
    for (const child of Object.values(value) as unknown[]) {
      if (typeof child === "object" && child !== null && !Object.isFrozen(child)) stack.push(child);
    }
  }
  checked.add(table);
}
