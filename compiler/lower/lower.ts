/**
 * Lowers bound graphs and plans to tables. A table contains the tables of all that its graph or plan calls, so the
 * called ones are lowered first, in any depth and without recursion.
 */
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { depthFirst } from "../algorithms/depth-first.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import { createGraphTable } from "./lower-graph.ts";
import { createPlanTable } from "./lower-plan.ts";

/** Tables by graph and plan: one that several others call is lowered once. */
export interface LoweredTables {
  readonly graphs: Map<BoundGraph, Table>;
  readonly plans: Map<BoundPlan, PlanTable>;
}

export function noTables(): LoweredTables {
  return { graphs: new Map(), plans: new Map() };
}

/** Returns the frozen table of a graph, and adds it and those of all that it calls. None of them may have errors. */
export function lowerGraph(graph: BoundGraph, tables: LoweredTables = noTables()): Table {
  lower(graph, tables);
  return tables.graphs.get(graph) as Table;
}

/** Returns the frozen table of a plan, and adds it and those of all that it calls. None of them may have errors. */
export function lowerPlan(plan: BoundPlan, tables: LoweredTables = noTables()): PlanTable {
  lower(plan, tables);
  return tables.plans.get(plan) as PlanTable;
}

function lower(root: BoundGraph | BoundPlan, { graphs, plans }: LoweredTables): void {
  const tableOf = {
    graph: (called: BoundGraph) => graphs.get(called) as Table,
    plan: (called: BoundPlan) => plans.get(called) as PlanTable,
  };
  const isPlan = (bound: BoundGraph | BoundPlan): bound is BoundPlan => "tasks" in bound;
  const isKnown = (bound: BoundGraph | BoundPlan): boolean => (isPlan(bound) ? plans.has(bound) : graphs.has(bound));
  depthFirst([root], {
    edges: (bound) => (isKnown(bound) ? [] : [...bound.graphs, ...(bound.plans ?? [])]),
    target: (called) => called,
    leave: (bound) => {
      if (isKnown(bound)) return;
      if (isPlan(bound)) plans.set(bound, createPlanTable(bound, tableOf));
      else graphs.set(bound, createGraphTable(bound, tableOf));
    },
  });
}
