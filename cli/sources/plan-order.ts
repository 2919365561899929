import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PlanTable } from "../../runtime/table/plan-table.ts";

/** The path of a plan's table, which also stores the order that `ngc plan --optimize` found. */
export function planTablePath(file: string, plan: string): string {
  return join(dirname(file), `${plan}.table.json`);
}

/**
 * The plan with the order that `ngc plan --optimize` found, if the plan's table beside its source stores one. The stored order is
 * ignored if it belongs to another version of the plan (its digest differs) or is malformed.
 */
export function withKnownOrder(table: PlanTable, file: string): PlanTable {
  if (table.ranks !== undefined) return table;
  const kept = readKept(table, file);
  const ranks: unknown = kept?.ranks;
  if (kept?.digest !== table.digest || !isOrder(ranks, table.tasks.length)) return table;
  return Object.freeze({ ...table, ranks: Object.freeze(ranks) });
}

/** Whether the stored order belongs to another version of the plan, and so is not used. */
export function hasOldOrder(table: PlanTable, file: string): boolean {
  const kept = readKept(table, file);
  return kept?.ranks !== undefined && kept.name === table.name && kept.digest !== table.digest;
}

function readKept(table: PlanTable, file: string): Partial<PlanTable> | null {
  try {
    return JSON.parse(readFileSync(planTablePath(file, table.name), "utf8")) as Partial<PlanTable> | null;
  } catch {
    return null;
  }
}

function isOrder(ranks: unknown, count: number): ranks is number[] {
  if (!Array.isArray(ranks) || ranks.length !== count) return false;
  const seen = new Set<unknown>(ranks);
  return seen.size === count && ranks.every((rank) => Number.isInteger(rank) && rank >= 0 && rank < count);
}
