import { compileExpression } from "../expression/compile-expression.ts";
import type { Linker } from "../program/linker.ts";
import { callGraph } from "../step/call-graph.ts";
import { graphTool } from "../step/call-tool.ts";
import { FINALLY_PART } from "../step/finally-part.ts";
import { rollBack } from "../step/roll-back.ts";
import { undoEntry } from "../step/undo-entry.ts";
import { callPlan } from "./call-plan.ts";
import { linkPlan } from "./link-plan.ts";

/** All code that graphs and plans may use: `createEngine` and `createPlanRunner` link it. */
export const LINKER: Linker = {
  interpret: compileExpression,
  callGraph,
  graphTool,
  undoEntry,
  rollBack,
  finallyPart: FINALLY_PART,
  callPlan,
  linkPlan: (plan, options) => linkPlan(plan, options, LINKER),
};
