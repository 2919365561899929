/** `ngraph/runtime`: runs tables. No dependencies, no built-in modules of any host. */
export * from "./interface/checkpoint.ts";
export * from "./interface/clock.ts";
export * from "./interface/context.ts";
export { createEngine } from "./engine/create-engine.ts";
export * from "./interface/engine-options.ts";
export * from "./interface/errors.ts";
export { reasonOf } from "./interface/thrown-reason.ts";
export * from "./interface/thread-error.ts";
export * from "./interface/events.ts";
export type * from "./interface/host.ts";
export type { Json, JsonObject, MaybePromise } from "./value/json.ts";
export * from "./run/node-cache.ts";
export type { CheckResult, PlanEvent, PlanEventListener, PlanTotals, TaskAttempt } from "./plan/plan-events.ts";
export type * from "./plan/plan-options.ts";
export { createPlanRunner } from "./plan/plan-runner.ts";
export type { PlanOutcome, TaskStatus } from "./plan/plan-scheduler.ts";
export type { PlanTable } from "./table/plan-table.ts";
export type { TaskCache, TaskCacheEntry, TaskCacheRequest } from "./plan/task-cache.ts";
export {
  createScheduler,
  type BarrierDescription,
  type NodeRouting,
  type RoutingRequest,
  type Scheduler,
  type SchedulerPlan,
  type SchedulerState,
} from "./routing/scheduler.ts";
export type { BarrierSignals } from "./routing/barrier-state.ts";
export * from "./interface/memory.ts";
export * from "./interface/store.ts";
export { type CodecContext, type StoreCodec, withCodec } from "./stores/codec.ts";
export { MemoryStore } from "./stores/memory.ts";
export * from "./table/table.ts";
export type { FieldType, ValueType } from "./table/value-type.ts";
