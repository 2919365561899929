/** `ngraph/compiler`: from text to tables, diagnostics and modules. */
export { check, summariseGraph, summarisePlan, type CheckReport, type GraphSummary } from "./check.ts";
export type { Proof } from "./checks/check-graph.ts";
export { compile, type CompiledGraph, type CompiledPlan, type CompileOptions, type CompileResult } from "./compile.ts";
export { planDigest, tableDigest } from "./table/digest.ts";
export type { EmitOptions, MappedModule, ModuleSource } from "./emit/emit-module.ts";
export {
  emitDeclarations,
  emitJavaScript,
  emitMappedDeclarations,
  emitMappedJavaScript,
  emitTypeScript,
} from "./emit/emit-typescript.ts";
export type { SourceMap } from "./emit/source-map.ts";
export { emptyHost, memoryHost, type CompilerHost } from "./load/host.ts";
export { loadPlanTable, loadTable } from "./table/load-table.ts";
export type { SuppressedDiagnostic } from "./suppress/suppress-findings.ts";
export { EXPRESSION_SCHEMA, PLAN_SCHEMA, TABLE_SCHEMA, TYPE_SCHEMA } from "./table/table-schema.ts";

export { DIAGNOSTIC_CODES, type CodeInfo, type DiagnosticCode, type Severity } from "../diagnostics/codes.ts";
export {
  hasErrors,
  sortDiagnostics,
  type Diagnostic,
  type Fix,
  type Label,
  type Place,
  type TraceStep,
} from "../diagnostics/diagnostic.ts";
export { SourceFile, type Position, type Range, type Span } from "../diagnostics/source.ts";
export { TableError } from "../runtime/interface/errors.ts";
export type { Expression } from "../runtime/expression/expression.ts";
export * from "../runtime/table/plan-table.ts";
export * from "../runtime/table/table.ts";
export type { FieldType, ValueType } from "../runtime/table/value-type.ts";
