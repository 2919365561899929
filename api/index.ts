/**
 * `ngraph`: compiles and runs graph files. The parts have entry points of their own (`ngraph/compiler`, `ngraph/runtime`, …).
 *
 * ```ts
 * import { compileFile, createEngine } from "ngraph";
 *
 * const { table, diagnostics } = await compileFile("support.ngraph");
 * const engine = createEngine(table, { functions: { searchDocs, searchTickets, draftReply } });
 * const result = await engine.run({ ticket: "…" });
 * ```
 */
export { check, compile, compileFile } from "./compile-text.ts";
export { createEngine } from "./create-engine.ts";
export { createPlanRunner } from "./create-plan-runner.ts";
export { createNodeHost } from "./node-host.ts";

export type { CheckReport } from "../compiler/check.ts";
export type { CompileOptions, CompileResult } from "../compiler/compile.ts";
export type { CompilerHost } from "../compiler/load/host.ts";
export type { Diagnostic } from "../diagnostics/diagnostic.ts";
export { renderPretty } from "../diagnostics/render/index.ts";
export type { Checkpoint, PauseItem } from "../runtime/interface/checkpoint.ts";
export type { NodeContext } from "../runtime/interface/context.ts";
export type {
  Engine,
  EngineOptions,
  ResumeOptions,
  RunOptions,
  RunResult,
  RunStatus,
} from "../runtime/interface/engine-options.ts";
export { NgraphError, NodeError, RunError, StoreError, TableError } from "../runtime/interface/errors.ts";
export { ThreadError } from "../runtime/interface/thread-error.ts";
export type { RunEvent } from "../runtime/interface/events.ts";
export type { Json, JsonObject } from "../runtime/value/json.ts";
export type { Store } from "../runtime/interface/store.ts";
export type { PlanRunner, PlanRunnerOptions, PlanRunOptions, PlanRunResult } from "../runtime/plan/plan-options.ts";
export type { PlanTable } from "../runtime/table/plan-table.ts";
export type { Table } from "../runtime/table/table.ts";
