/**
 * `ngraph/generated`: the imports of modules that `ngc compile` generates. Not for code written by hand: its names
 * belong to the generator of the same version.
 */
import type { Bindings, EngineOptions } from "../runtime/interface/engine-options.ts";
import type { Command } from "../runtime/interface/context.ts";
import type {
  PlanExecuteOptions,
  PlanResumeOptions,
  PlanRunnerOptions,
  PlanRunOptions,
  PlanRunResult,
} from "../runtime/plan/plan-options.ts";
import type { PlanTable } from "../runtime/table/plan-table.ts";
import type { Table } from "../runtime/table/table.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { openGenerated } from "../runtime/engine/open-generated.ts";
import type { BuiltinNode } from "../runtime/interface/context.ts";
import { LOADED_LINKER, LOADED_PLAN_CODE } from "../runtime/engine/loaded-linker.ts";
import { openPlanRunner } from "../runtime/plan/open-plan-runner.ts";
import type { EngineParts } from "../runtime/engine/linker-parts.ts";
import { fromEnvironment } from "../stdlib/from-environment.ts";
import type { GeneratedGraph, Graph, GraphOptions, GraphTypes } from "./generated-types.ts";

export type * from "./generated-types.ts";
export { largeTable } from "./large-table.ts";
export * from "../runtime/expression/generated.ts";
export type { EngineParts } from "../runtime/engine/linker-parts.ts";
export {
  callingGraphs,
  callingTools,
  callingPlans,
  endingFinally,
  undoing,
  undoingWithSecrets,
} from "../runtime/engine/linker-parts.ts";
export { ask as askNode } from "../stdlib/nodes/ask.ts";
export { csv as csvNode } from "../stdlib/nodes/csv.ts";
export { fail as failNode } from "../stdlib/nodes/fail.ts";
export { file as fileNode } from "../stdlib/nodes/file.ts";
export { http as httpNode } from "../stdlib/nodes/http.ts";
export { json as jsonNode } from "../stdlib/nodes/json.ts";
export { memory as memoryNode } from "../stdlib/nodes/memory.ts";
export { print as printNode } from "../stdlib/nodes/print.ts";
export { receive as receiveNode } from "../stdlib/nodes/receive.ts";
export { shell as shellNode } from "../stdlib/nodes/shell.ts";
export { sleep as sleepNode } from "../stdlib/nodes/sleep.ts";
export type { GeneratedExpression } from "../runtime/expression/compile-expression.ts";
export type { NodeContext } from "../runtime/interface/context.ts";
export type { Bindings, Engine } from "../runtime/interface/engine-options.ts";
export type { Json, JsonObject } from "../runtime/value/json.ts";
export type { PlanTable } from "../runtime/table/plan-table.ts";
export type { Table } from "../runtime/table/table.ts";

/** The built-in nodes that a graph or plan uses, also where it calls others, by name. */
export type Builtins = Readonly<Record<string, BuiltinNode>>;

/**
 * The engine of a generated graph. Secrets that the options lack are read from the environment, if there is one.
 *
 * @param parts code of the engine that the graph uses
 */
export function createGraph<T extends GraphTypes>(
  { table, bindings }: GeneratedGraph,
  options: GraphOptions<T>,
  builtins: Builtins = {},
  parts: EngineParts = {},
): Graph<T> {
  const given = options as Omit<EngineOptions, keyof Bindings>;
  const all = { secrets: fromEnvironment, ...given, ...bindings, builtins: { ...builtins, ...given.builtins } };
  const engine: unknown = openGenerated(table, all, parts);
  return engine as Graph<T>;
}

/** A plan as a module holds it. */
export interface GeneratedPlan {
  readonly table: PlanTable;
  readonly bindings: Bindings;
}

/** The options of the function of a generated plan. */
export interface PlanOptions extends Omit<PlanRunnerOptions, keyof Bindings> {}

/** Options of a run that name tasks name those of the plan; a matrix task's own name means all of its tasks. */
type Naming<Options extends PlanExecuteOptions, Task extends string> = Omit<Options, "only" | "fromTask"> & {
  readonly only?: readonly (Task | Base<Task>)[];
  readonly fromTask?: Task | Base<Task>;
};
type Base<Task extends string> = Task extends `${infer Name}[${string}` ? Name : never;

/** How a run of a generated plan ended. */
export interface PlanResult<Output, Task extends string> extends Omit<PlanRunResult, "output" | "batches" | "tasks"> {
  readonly output: Output;
  readonly batches: readonly (readonly Task[])[];
  readonly tasks: readonly (Omit<PlanRunResult["tasks"][number], "id"> & { readonly id: Task })[];
}

/** The runner of a generated plan. */
export interface Plan<Input, Output, Task extends string, Config = JsonObject> {
  readonly table: PlanTable;
  run(input: Input, options?: Naming<PlanRunOptions<Config>, Task>): Promise<PlanResult<Output, Task>>;
  resume(thread: string, options?: Naming<PlanResumeOptions<Config>, Task>): Promise<PlanResult<Output, Task>>;
}

/** The runner of a generated plan. Secrets that the options lack are read from the environment, if there is one. */
export function createPlan<Input, Output, Task extends string, Config = JsonObject>(
  { table, bindings }: GeneratedPlan,
  options: PlanOptions,
  builtins: Builtins = {},
): Plan<Input, Output, Task, Config> {
  const all = { secrets: fromEnvironment, ...options, ...bindings, builtins: { ...builtins, ...options.builtins } };
  const runner: unknown = openPlanRunner(table, all, LOADED_LINKER, LOADED_PLAN_CODE);
  return runner as Plan<Input, Output, Task, Config>;
}

/** Parses the table of a plan that a module contains as text because it is large. */
export function largePlan(json: string, graphs: readonly Table[], plans: readonly PlanTable[]): PlanTable {
  return { ...(JSON.parse(json) as Omit<PlanTable, "graphs" | "plans">), graphs, plans };
}

/** A fits B: an error of `tsc` where it does not. */
export type Checked<A extends B, B> = A;

/** The result of a node's function if `Result` is stored: a value, a promise of it, or a jump. */
export type NodeResult<Result> = Result | Command | Promise<Result | Command> | PromiseLike<Result | Command>;

/** What a function may declare for an argument of type T: lists and records with or without `readonly`. */
export type Argument<T> = T extends readonly (infer Item)[]
  ? Argument<Item>[]
  : T extends (...args: never[]) => unknown
    ? T
    : T extends object
      ? { -readonly [Field in keyof T]: Argument<T[Field]> }
      : T;

/** The update that `reduce merge` accepts: any part of the record. */
export type Merged<T> = { readonly [K in keyof T]?: T[K] };

/** An item that `reduce merge` of a list of records accepts: an item with or without its id, or a removal. */
export type MergedItem<T> =
  | (T extends unknown
      ? { readonly [K in Exclude<keyof T, "id">]: T[K] } & { readonly id?: string | undefined }
      : never)
  | { readonly id: string; readonly removed: true };

/** The update that an imported reducer accepts, its second parameter. */
export type UpdateOf<Reducer extends (...args: never[]) => unknown> = Parameters<Reducer>[1];

/** The item type of a reduced value: a `for` node returns a list of them. */
export type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** A part of an imported type, as expressions read it: what is not there is `null`. */
export type At<T, Key extends PropertyKey> = T extends null | undefined
  ? null
  : Key extends keyof T
    ? undefined extends T[Key]
      ? Exclude<T[Key], undefined> | null
      : T[Key]
    : never;

/** The fields that an imported type has. */
export type FieldOf<T> = T extends null | undefined ? never : keyof T;

/** The result of a function that expressions call: it must not be a promise. */
export type Result<Function_ extends (...args: never[]) => unknown> =
  // `any` is not checked.
  0 extends 1 & ReturnType<Function_>
    ? "a value"
    : Extract<ReturnType<Function_>, PromiseLike<unknown>> extends never
      ? "a value"
      : "a promise";

/** The result of a function that an expression calls. */
export type ReturnOf<Function_ extends (...args: never[]) => unknown> = ReturnType<Function_>;
