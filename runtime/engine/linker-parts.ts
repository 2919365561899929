/** The parts of the linker that generated modules name: each one is in a bundle only if a graph of it uses the part. */
import { compileExpression } from "../expression/compile-expression.ts";
import { callGraph } from "../step/call-graph.ts";
import { graphTool } from "../step/call-tool.ts";
import { FINALLY_PART } from "../step/finally-part.ts";
import { undoEntry } from "../step/undo-entry.ts";
import { LOADED_LINKER } from "./loaded-linker.ts";

/** Parts of the linker, without their types: those of the engine are not part of the package's declarations. */
export interface EngineParts extends Readonly<
  Partial<
    Record<
      "interpret" | "callGraph" | "graphTool" | "callPlan" | "linkPlan" | "undoEntry" | "rollBack" | "finallyPart",
      unknown
    >
  >
> {}

/** Of graphs that call graphs. */
export const callingGraphs: EngineParts = { callGraph };
/** Of graphs in which a model calls graphs as tools. */
export const callingTools: EngineParts = { callGraph, graphTool };
/** Of graphs that call plans, directly or in a graph that they call. */
export const callingPlans: EngineParts = LOADED_LINKER;
/** Of graphs with a `finally` part. */
export const endingFinally: EngineParts = { finallyPart: FINALLY_PART };
/** Of graphs with `undo`. The rollback itself is loaded when a run begins it. */
export const undoing: EngineParts = { undoEntry };
/** Of graphs with `undo` and secrets: arguments that name a secret are stored as expressions. */
export const undoingWithSecrets: EngineParts = { undoEntry, interpret: compileExpression };
