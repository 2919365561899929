import { existsSync } from "node:fs";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { allTables } from "../sources/called-tables.ts";
import { compileSource } from "../sources/compile-source.ts";

/**
 * The initial values of the channels of a checkpoint's graph. Stores contain only written values. The initial values are known if the
 * thread's source file still contains a graph with the same digest, called graphs included; otherwise the map is empty.
 */
export async function startValues({ metadata, digest }: Checkpoint): Promise<ReadonlyMap<string, Json>> {
  const { file } = metadata;
  if (typeof file !== "string" || !existsSync(file)) return new Map();
  try {
    const { tables } = await compileSource(file);
    for (const table of tables.values()) {
      const found = tableOf(table, digest);
      if (found !== undefined) return new Map(found.channels.map(({ name, initial }) => [name, initial ?? null]));
    }
  } catch {
    // The file has changed and no longer describes this checkpoint.
  }
  return new Map();
}

function tableOf(table: Table | PlanTable, digest: string): Table | undefined {
  return allTables(table).find((each): each is Table => each.kind === "graph" && each.digest === digest);
}

/** The values of all channels, in the order of the graph; values of unknown channels come last. */
export function withStartValues(
  values: Readonly<Record<string, Json>>,
  start: ReadonlyMap<string, Json>,
): Readonly<Record<string, Json>> {
  // No prototype: `__proto__` is a valid channel name.
  const all = Object.create(null) as Record<string, Json>;
  for (const [name, value] of start) all[name] = Object.hasOwn(values, name) ? (values[name] ?? null) : value;
  for (const [name, value] of Object.entries(values)) all[name] = value;
  return all;
}
