/** `ngraph/runtime`: runs tables. No dependencies, no built-in modules of any host. */
export * from "./checkpoint.ts";
export * from "./clock.ts";
export * from "./context.ts";
export * from "./engine.ts";
export * from "./engine-options.ts";
export * from "./errors.ts";
export * from "./events.ts";
export type { Json, JsonObject, MaybePromise } from "./json.ts";
export * from "./node-cache.ts";
export type { CheckResult, PlanEvent, PlanEventListener, PlanTotals, TaskAttempt } from "./plan/plan-events.ts";
export type * from "./plan/plan-options.ts";
export { createPlanRunner } from "./plan/plan-runner.ts";
export type { PlanOutcome, TaskStatus } from "./plan/plan-scheduler.ts";
export type { PlanTable } from "./plan/plan-table.ts";
export type { TaskCache, TaskCacheEntry, TaskCacheRequest } from "./plan/task-cache.ts";
export {
  createScheduler,
  type BarrierDescription,
  type BarrierSignals,
  type NodeRouting,
  type RoutingRequest,
  type Scheduler,
  type SchedulerPlan,
  type SchedulerState,
} from "./scheduler.ts";
export * from "./store.ts";
export { MemoryStore } from "./stores/memory.ts";
export * from "./table.ts";
export type { FieldType, ValueType } from "./value-type.ts";
