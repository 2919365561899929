import type { Bindings, ImportedFunction } from "../interface/engine-options.ts";
import type { Table } from "../table/table.ts";

/**
 * Bindings whose functions throw: enough to inspect and fork threads, and for nodes that do not call their functions.
 *
 * @param reason why the functions are not loaded, for the message of the error
 */
export function stubBindings(table: Table, reason: string, known = new Map<Table, Bindings>()): Bindings {
  const before = known.get(table);
  if (before !== undefined) return before;
  const functions = Object.create(null) as Record<string, ImportedFunction>;
  for (const { name } of table.functions) {
    functions[name] = () => {
      throw new Error(`${name} is not loaded: ${reason}`);
    };
  }
  const graphs = Object.create(null) as Record<string, Bindings>;
  for (const called of table.graphs) graphs[called.name] = stubBindings(called, reason, known);
  const bindings = { functions, graphs };
  known.set(table, bindings);
  return bindings;
}
