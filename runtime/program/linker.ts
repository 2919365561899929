import type { ExpressionEnvironment, Evaluate } from "../expression/compile-expression.ts";
import type { Expression } from "../expression/expression.ts";
import type { Tool } from "../interface/context.ts";
import type { EngineOptions } from "../interface/engine-options.ts";
import type { UndoEntry } from "../interface/undo.ts";
import type { Run, RunEnd } from "../run/run.ts";
import type { Attempt } from "../step/attempt.ts";
import type { FinallyPart } from "../step/finally-part.ts";
import type { Update } from "../step/task.ts";
import type { PlanProgram } from "../plan/plan-program.ts";
import type { PlanTable } from "../table/plan-table.ts";
import type { JsonObject } from "../value/json.ts";
import type { Program, UndoCode } from "./program.ts";

/**
 * The code that only some graphs use. The composition root passes it: `plan/link-calls.ts` has all of it, and a generated
 * module names the parts of its graphs. A program and its steps import none of it, so that a bundle has what its graphs use.
 */
export interface Linker {
  /** Compiles an expression that is not part of a generated module. */
  interpret(expression: Expression, environment?: ExpressionEnvironment): Evaluate;
  callGraph(attempt: Attempt, graph: Program, args: JsonObject): unknown;
  /** A graph as a tool of a built-in node, for one attempt. */
  graphTool(attempt: Attempt, graph: Program, details: Pick<Tool, "name" | "description" | "needsApproval">): Tool;
  callPlan(attempt: Attempt, plan: PlanProgram, args: JsonObject): unknown;
  linkPlan(plan: PlanTable, options: EngineOptions): LinkedPlan;
  /** How the result of a node with `undo` is undone. */
  undoEntry(attempt: Attempt, undo: UndoCode, updates: readonly Update[]): UndoEntry;
  /** Runs the open undos of a run. */
  rollBack(run: Run): Promise<RunEnd>;
  readonly finallyPart: FinallyPart;
}

export interface LinkedPlan {
  readonly program: Program;
  readonly body: CallBody;
}

/** Runs a called graph or plan, as the given attempt of the calling node, and returns its outputs. */
export type CallBody = (attempt: Attempt, args: JsonObject) => unknown;
