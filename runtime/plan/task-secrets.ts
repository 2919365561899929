import { secretsIn } from "../expression/secret-arguments.ts";
import { missingSecrets, refuseMissingSecrets, type MissingSecrets } from "../table/missing-secrets.ts";
import type { PlanTable, TaskSpec } from "../table/plan-table.ts";
import type { Table } from "../table/table.ts";
import { graphsCalledBy } from "../program/program.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";
import { expressionsOf } from "./task-expressions.ts";

/**
 * Refuses a run whose tasks, or the graphs and plans that these tasks call, read a missing secret. The other tasks of the plan may lack
 * theirs.
 *
 * @param missing what the whole plan lacks
 * @throws RunError NG_MISSING_SECRET
 */
export function refuseMissingTaskSecrets(
  { plan }: PlanProgram,
  tasks: readonly TaskCode[],
  missing: MissingSecrets,
): void {
  if (missing.size === 0) return;
  const read = secretsIn(tasks.flatMap(({ spec }) => expressionsOf(plan, spec)));
  const called = new Set(tasks.flatMap(({ spec }) => tablesCalledBy(plan, spec)));
  refuseMissingSecrets(
    new Map([
      ...missingSecrets([...called], (name) => !missing.has(name)),
      ...[...read].filter((name) => missing.has(name)).map((name) => [name, plan.name] as const),
    ]),
  );
}

function tablesCalledBy({ graphs, plans }: PlanTable, task: TaskSpec): readonly (Table | PlanTable)[] {
  return [task.call, ...task.checks].flatMap((call): readonly (Table | PlanTable)[] => {
    if (call.kind === "plan") return plans.slice(call.plan, call.plan + 1);
    return graphsCalledBy(call).flatMap((graph) => graphs.slice(graph, graph + 1));
  });
}
