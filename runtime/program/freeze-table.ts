import type { Table } from "../table.ts";

/** Tables that are frozen all through: an engine made again from one pays nothing. */
const frozen = new WeakSet<object>();

/** Freezes a table deeply (1.2): nothing can change it while runs share it. */
export function freezeTable(table: Table): Table {
  if (frozen.has(table)) return table;
  const open: object[] = [table];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // A frozen part may still hold parts that are not: only the set of this module says "all through".
    if (frozen.has(next)) continue;
    frozen.add(next);
    Object.freeze(next);
    for (const child of Object.values(next) as unknown[]) {
      if (typeof child === "object" && child !== null) open.push(child);
    }
  }
  return table;
}
