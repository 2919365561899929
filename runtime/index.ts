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
export { createScheduler, type Scheduler, type SchedulerPlan } from "./scheduler.ts";
export * from "./store.ts";
export { MemoryStore } from "./stores/memory.ts";
export * from "./table.ts";
export type { FieldType, ValueType } from "./value-type.ts";
