/**
 * Creates the table of a bound plan without errors. Linear in the plan. Tasks keep the order of the file, because it
 * breaks ties between tasks. Lists without an order (paths, secrets, effects) are sorted, so that the text and YAML
 * spellings of a plan have the same digest.
 */
import {
  DEFAULT_TRIES,
  PLAN_FORMAT,
  PLAN_VERSION,
  type CacheSpec,
  type PlanTable,
  type TaskSpec,
  type TouchSpec,
} from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { BoundPlan, BoundTask } from "../bind/plan/bound-plan.ts";
import { deepFreeze } from "../../runtime/table/deep-freeze.ts";
import { planDigest } from "../table/digest.ts";
import { createExpressionPool } from "./expression-pool.ts";
import { lowerChannel, lowerInheritedConfig, orderChannels } from "./lower-channels.ts";
import { createCalled, type TableOf } from "./called-tables.ts";
import { collectEffects, lowerCall, lowerOutput, lowerPlanCall, type CallContext } from "./lower-nodes.ts";

/** Creates the frozen table of a plan. `tableOf` returns the tables of what it calls. */
export function createPlanTable(bound: BoundPlan, tableOf: TableOf): PlanTable {
  const { ordered, index } = orderChannels(bound);
  const pool = createExpressionPool(bound, index);
  const graphs = createCalled(tableOf.graph);
  const plans = createCalled(tableOf.plan);
  const context: CallContext = {
    channelIndex: new Map(ordered.map((channel, at) => [channel.name, at])),
    pool,
    graph: graphs.number,
    plan: plans.number,
  };
  const channels = [...ordered.map((channel) => lowerChannel(channel, pool)), ...lowerInheritedConfig(bound, pool)];
  const tasks = bound.tasks.map((task) => lowerTask(task, context));
  const called: readonly (Table | PlanTable)[] = [...graphs.tables, ...plans.tables];
  const table: Omit<PlanTable, "digest"> = {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    kind: "plan",
    name: bound.name,
    maxParallel: bound.maxParallel,
    order: bound.order,
    onFailure: bound.onFailure,
    pools: bound.pools,
    channels,
    tasks,
    expressions: pool.expressions,
    functions: pool.functions,
    types: bound.types,
    graphs: graphs.tables,
    plans: plans.tables,
    secrets: [...bound.secrets].sort(),
    effects: collectEffects(bound.tasks, called, pool.functions.length > 0),
    ...(bound.matrix === undefined ? {} : { matrix: { list: 0, plan: bound.matrix.owner } }),
    debug: {
      file: bound.file.path,
      nodes: bound.tasks.map((task) => bound.file.position(task.declaration.name.span.start)),
      expressions: pool.positions,
      ...(bound.doc === undefined ? {} : { doc: bound.doc }),
    },
  };
  return deepFreeze({ ...table, digest: planDigest(table) });
}

function lowerTask(task: BoundTask, context: CallContext): TaskSpec {
  const { name, condition, output, tries } = task;
  return {
    name,
    call: task.call.kind === "plan" ? lowerPlanCall(task.call, context) : lowerCall(task.call, name, context),
    ...(task.item === undefined ? {} : { item: task.item }),
    ...(task.isFinal === true ? { finally: true } : {}),
    after: task.after,
    trigger: task.trigger,
    ...(task.needs === undefined ? {} : { needs: task.needs }),
    ...(condition === undefined ? {} : { condition: context.pool.expression(condition) }),
    ...(task.statuses === undefined ? {} : { statuses: task.statuses }),
    ...(output === undefined ? {} : { output: lowerOutput(output, context) }),
    touches: task.touches.map(({ path, mode }): TouchSpec => ({ path, mode })).sort(byPath),
    ...(task.alone ? { alone: true } : {}),
    ...(task.allowFailure === true ? { allowFailure: true } : {}),
    ...(task.worktree === true ? { worktree: true } : {}),
    ...(task.pool === undefined ? {} : { pool: task.pool }),
    checks: task.checks.map((check) => lowerCall(check, name, context)),
    // A task with checks is repeated until they pass; another task only where `tries` says so.
    tries: tries?.attempts ?? (task.checks.length > 0 ? DEFAULT_TRIES : 1),
    ...(tries?.backoff === undefined ? {} : { backoff: tries.backoff }),
    ...(task.timeout === undefined ? {} : { timeout: task.timeout }),
    ...(task.estimate === undefined ? {} : { estimate: task.estimate }),
    ...(task.cache === undefined ? {} : { cache: lowerCache(task.cache) }),
    ...(task.interactive === true ? { interactive: true } : {}),
  };
}

function lowerCache({ inputs, outputs, variables, tools }: CacheSpec): CacheSpec {
  return {
    inputs: [...inputs].sort(),
    ...(outputs === undefined ? {} : { outputs: [...outputs].sort() }),
    ...(variables === undefined ? {} : { variables: [...variables].sort() }),
    ...(tools === undefined ? {} : { tools: [...tools].sort() }),
  };
}

function byPath(a: TouchSpec, b: TouchSpec): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.mode === b.mode ? 0 : a.mode < b.mode ? -1 : 1;
}
