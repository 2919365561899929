/**
 * A plan after binding: names resolved, calls typed, matrix tasks multiplied, every part still linked to its syntax.
 * Lowering flattens it into a plan table; a plan with errors is not lowered.
 */
import type { SourceFile, Span } from "../../../diagnostics/source.ts";
import type * as Ast from "../../../grammar/ast.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { PlanTable, TaskNeed, TaskSpec, Trigger, TouchSpec } from "../../../runtime/table/plan-table.ts";
import type { Effect, FunctionSpec } from "../../../runtime/table/table.ts";
import type { ValueType } from "../../../runtime/table/value-type.ts";
import type {
  BoundArgument,
  BoundCall,
  BoundChannel,
  BoundConfig,
  BoundGraph,
  BoundNode,
  TypedExpression,
} from "../bound-graph.ts";
import type { TypeScriptCheck } from "../../expressions/typescript-check.ts";

export interface BoundPlan {
  readonly file: SourceFile;
  readonly declaration: Ast.PlanDecl;
  readonly name: string;
  readonly doc?: string;
  readonly channels: readonly BoundChannel[];
  /** By position in `channels`: the index that the expressions have for it. Absent: the position. */
  readonly numbers?: readonly number[];
  /** The plan of a matrix, see `dynamic-matrix.ts`. */
  readonly matrix?: { readonly owner: string };
  /** As in `BoundGraph`. */
  readonly config: readonly BoundConfig[];
  /** In source order; a matrix task occurs once for each value. */
  readonly tasks: readonly BoundTask[];
  readonly maxParallel: number;
  readonly order: PlanTable["order"];
  readonly onFailure: PlanTable["onFailure"];
  readonly pools: PlanTable["pools"];
  readonly functions: readonly FunctionSpec[];
  /** As in `BoundGraph`. */
  readonly signatureOf?: (name: string) => string | undefined;
  /** As in `BoundGraph`. */
  readonly mayInterrupt?: (name: string) => boolean;
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
  /** Checks that only `tsc` can make. */
  readonly typeScriptChecks: readonly TypeScriptCheck[];
  /** Called graphs and plans, once each, in order of first use. */
  readonly graphs: readonly BoundGraph[];
  readonly plans: readonly BoundPlan[];
  readonly secrets: readonly string[];
  readonly hasErrors: boolean;
  readonly poisoned: ReadonlySet<string>;
}

/** The call of a task. */
export type BoundTaskCall = BoundCall | BoundPlanCall;

export interface BoundPlanCall {
  readonly kind: "plan";
  readonly plan: BoundPlan;
  readonly args: readonly BoundArgument[];
}

export interface BoundTask {
  readonly declaration: Ast.TaskDecl;
  /** Of a matrix task: `test[20]`. */
  readonly name: string;
  readonly doc?: string;
  readonly item?: { readonly name: string; readonly value: Json };
  readonly call: BoundTaskCall;
  /** Indexes into `tasks`, ascending. */
  readonly after: readonly number[];
  readonly isFinal?: true;
  readonly trigger: Trigger;
  /** Of a `mixed` trigger, by position in `after`. */
  readonly needs?: readonly TaskNeed[];
  readonly condition?: TypedExpression;
  /** As in `TaskSpec`. */
  readonly statuses?: NonNullable<TaskSpec["statuses"]>;
  readonly output?: NonNullable<BoundNode["output"]>;
  readonly checks: readonly BoundCall[];
  readonly touches: readonly BoundTouch[];
  readonly alone: boolean;
  readonly allowFailure?: true;
  readonly worktree?: true;
  readonly pool?: { readonly pool: number; readonly count: number };
  readonly tries?: NonNullable<BoundNode["tries"]>;
  readonly timeout?: number;
  readonly estimate?: number;
  readonly cache?: NonNullable<TaskSpec["cache"]>;
  readonly interactive?: true;
  readonly idempotent: boolean;
  /** Of the call and of the checks. */
  readonly effects: readonly Effect[];
  /** Channels (by name). */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

export interface BoundTouch extends TouchSpec {
  readonly span: Span;
}
