import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";

/** The tables of called graphs and plans, which are lowered before their callers. */
export interface TableOf {
  graph(called: BoundGraph): Table;
  plan(called: BoundPlan): PlanTable;
}

/** Called tables, numbered in the order in which tasks first call them. */
export function createCalled<Bound, Lowered>(tableOf: (bound: Bound) => Lowered) {
  const tables: Lowered[] = [];
  const numbers = new Map<Bound, number>();
  return {
    tables,
    number(bound: Bound): number {
      const known = numbers.get(bound) ?? tables.push(tableOf(bound)) - 1;
      numbers.set(bound, known);
      return known;
    },
  };
}
