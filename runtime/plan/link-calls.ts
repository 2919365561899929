import type { Linker } from "../program/program.ts";
import { callGraph } from "../step/call-graph.ts";
import { callPlan } from "./call-plan.ts";
import { compilePlan } from "./plan-program.ts";

/** How nodes and tasks run the graphs and plans that they call. `createEngine` and `createPlanRunner` link it. */
export const LINKER: Linker = {
  callGraph,
  linkPlan(plan, options) {
    const linked = compilePlan(plan, options, LINKER);
    return { program: linked.program, body: (attempt, args) => callPlan(attempt, linked, args) };
  },
};
