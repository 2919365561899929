/**
 * `ngraph/runtime`: runs compiled graphs. No dependencies and no built-in modules of any host: it works in browsers and on edge
 * runtimes as it does on Node.
 */
export * from "../runtime/index.ts";
export { MemoryStore, type MemoryStoreOptions } from "../runtime/stores/memory.ts";
// Replaces the runtime's own, which has no built-in nodes.
export { createEngine } from "./create-engine.ts";
export { createPlanRunner } from "./create-plan-runner.ts";
