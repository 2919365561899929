import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { BoundGraph } from "../bound-graph.ts";
import { findDefects, isSound } from "../explore/defects.ts";
import { explore, MAX_STATES } from "../explore/explore.ts";
import { outcomesOf } from "../explore/outcomes.ts";
import { createRunFinder } from "../explore/runs.ts";
import { signalsOf } from "../explore/signals.ts";
import { checkBarriers } from "./check-barriers.ts";
import { type CheckContext, createCheckContext } from "./check-context.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkRoutes } from "./check-routes.ts";
import { reportDefects, reportExclusiveMembers, reportParallelBranches } from "./check-soundness.ts";

/** A property that holds for every run. */
export interface Proof {
  readonly code: string;
  readonly message: string;
}

export interface CheckResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly proofs: readonly Proof[];
}

export interface CheckOptions {
  /** States that the exploration may look at before it gives up (NG900); default 100,000. */
  readonly maxStates?: number;
}

/**
 * Checks one bound graph and proves what it can: routes, barriers, loops, data, policies, assertions. Never throws; what
 * only follows from an error that binding reported is left out.
 */
export function checkGraph(graph: BoundGraph, options: CheckOptions = {}): CheckResult {
  const diagnostics: Diagnostic[] = [];
  const proofs: Proof[] = [];
  const context = createCheckContext(graph, (diagnostic) => void diagnostics.push(diagnostic));
  checkReachability(context);
  checkBarriers(context);
  checkRoutes(context);
  const hasStructuralErrors = diagnostics.some((diagnostic) => diagnostic.severity === "error");
  if (context.isComplete && signalsOf(context.model.start).length > 0) {
    if (graph.hasErrors) reportExclusiveMembers(context);
    else checkRuns(context, options, proofs, hasStructuralErrors);
  }
  return { diagnostics, proofs };
}

function checkRuns(context: CheckContext, options: CheckOptions, proofs: Proof[], hasErrors: boolean): void {
  const maxStates = options.maxStates ?? MAX_STATES;
  const outcomes = outcomesOf(context.model);
  const states = explore(context.model, outcomes, { data: true, maxStates });
  const finder = createRunFinder(states);
  const defects = findDefects(states, finder);
  reportDefects(context, states, defects);
  reportParallelBranches(context, states, finder);
  if (isSound(defects) && !hasErrors) {
    proofs.push({
      code: "NG310",
      message: `sound: every run can complete, and leaves nothing behind (${states.states.length - 1} states)`,
    });
  }
}
