import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";

/** The graphs and plans that a graph or plan calls directly. */
export function calledTables(table: Table | PlanTable): readonly (Table | PlanTable)[] {
  return "plans" in table ? [...table.graphs, ...(table.plans ?? [])] : table.graphs;
}

/** A graph or plan with everything that it calls, each once: the same graph may be called on many paths. */
export function allTables(table: Table | PlanTable): readonly (Table | PlanTable)[] {
  const found = new Set([table]);
  for (const each of found) for (const called of calledTables(each)) found.add(called);
  return [...found];
}

/** Whether a graph, or a graph that it calls, calls a plan. */
export function callsPlans(table: Table): boolean {
  return allTables(table).some(({ kind }) => kind === "plan");
}

/** Maximum number of paths on which a run or a JSON table may reach called graphs: each path has its own copy. */
const MAX_PATHS = 20_000;

/** Refuses a graph that calls others on too many paths, which grow exponentially with the depth of calls. @throws CommandError */
export function refuseManyPaths(table: Table | PlanTable): void {
  const counts = new Map<Table | PlanTable, number>();
  const countOf = (each: Table | PlanTable): number => {
    const known = counts.get(each);
    if (known !== undefined) return known;
    let count = 1;
    for (const called of calledTables(each)) count += countOf(called);
    counts.set(each, count);
    return count;
  };
  const count = countOf(table);
  if (count <= MAX_PATHS) return;
  throw new CommandError(
    `\`${table.name}\` reaches the graphs that it calls on ${count} paths, more than ${MAX_PATHS}, and each path has its own copy`,
    { exitCode: EXIT.failed, help: "let fewer graphs call the same graph, or call it from one place" },
  );
}
