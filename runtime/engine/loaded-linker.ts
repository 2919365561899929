import { compileExpression } from "../expression/compile-expression.ts";
import { linkPlan } from "../plan/link-plan.ts";
import type { Linker } from "../program/linker.ts";
import { callGraph } from "../step/call-graph.ts";
import { graphTool } from "../step/call-tool.ts";
import { FINALLY_PART } from "../step/finally-part.ts";
import { undoEntry } from "../step/undo-entry.ts";
import type * as LoadedPlans from "../plan/loaded-plans.ts";
import type { PlanCode } from "../plan/open-plan-runner.ts";
import { LOADED_CODE, loadThreads } from "./loaded-code.ts";

let plans: typeof LoadedPlans | undefined;

async function loadPlans(): Promise<typeof LoadedPlans> {
  return (plans ??= await import("../plan/loaded-plans.ts"));
}

/** All code that graphs and plans may use. The code that runs plans is loaded with the first of them, and rollbacks with the first one. */
export const LOADED_LINKER: Linker = {
  interpret: compileExpression,
  callGraph,
  graphTool,
  undoEntry,
  finallyPart: FINALLY_PART,
  rollBack: async (run) => (await loadThreads()).rollBack(run),
  linkPlan: (plan, options) => linkPlan(plan, options, LOADED_LINKER),
  callPlan: (attempt, plan, args) => (plans?.callPlan ?? callLoadedPlan)(attempt, plan, args),
};

async function callLoadedPlan(...call: Parameters<Linker["callPlan"]>): Promise<unknown> {
  const [attempt] = call;
  let abort: (() => void) | undefined;
  attempt.onAbort = (reason) => (abort = () => attempt.onAbort?.(reason));
  const { callPlan } = await loadPlans();
  const running = callPlan(...call);
  // From here on, the plan itself listens.
  abort?.();
  return running;
}

/** The code for plan runners, loaded on first use. */
export const LOADED_PLAN_CODE: PlanCode = {
  operations: () => plans?.PLAN_OPERATIONS ?? loadPlans().then((loaded) => loaded.PLAN_OPERATIONS),
  openMemory: LOADED_CODE.openMemory,
};
