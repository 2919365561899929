import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { soundText } from "../../diagnostics/catalog/proofs.ts";
import type { BoundGraph } from "../bound-graph.ts";
import { watchedNodes } from "../explore/assertions.ts";
import { findDefects, isSound } from "../explore/defects.ts";
import { explore, MAX_STATES } from "../explore/explore.ts";
import { outcomesOf } from "../explore/outcomes.ts";
import { createRunFinder } from "../explore/runs.ts";
import { signalsOf } from "../explore/signals.ts";
import { assertionsOf, checkAssertions } from "./check-assertions.ts";
import { checkBarriers } from "./check-barriers.ts";
import { type CheckContext, createCheckContext, type Proof } from "./check-context.ts";
import { checkSharedSteps, checkUnreadWrites } from "./check-data.ts";
import { checkBounds, checkFrozenLoops } from "./check-loops.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkRoutes } from "./check-routes.ts";
import { reportDefects, reportExclusiveMembers, reportParallelBranches } from "./check-soundness.ts";

export type { Proof } from "./check-context.ts";

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
  const context = createCheckContext(
    graph,
    (diagnostic) => void diagnostics.push(diagnostic),
    (proof) => void proofs.push(proof),
  );
  checkReachability(context);
  checkBarriers(context);
  if (!graph.hasErrors) checkUnreadWrites(context);
  if (context.isComplete && signalsOf(context.model.start).length > 0) {
    if (graph.hasErrors) reportExclusiveMembers(context);
    else checkRuns(context, options, () => diagnostics.some((diagnostic) => diagnostic.severity === "error"));
  }
  checkRoutes(context);
  return { diagnostics, proofs };
}

function checkRuns(context: CheckContext, options: CheckOptions, hasErrors: () => boolean): void {
  const maxStates = options.maxStates ?? MAX_STATES;
  const outcomes = outcomesOf(context.model);
  const assertions = assertionsOf(context);
  const watched = watchedNodes(assertions.map((item) => item.assertion));
  const states = explore(context.model, outcomes, { data: true, maxStates, watched });
  const finder = createRunFinder(states);
  const defects = findDefects(states, finder);
  const wasClean = !hasErrors();
  if (states.complete) checkFrozenLoops(context, states);
  reportDefects(context, states, defects);
  reportParallelBranches(context, states, finder);
  checkSharedSteps(context, states, finder);
  checkAssertions(context, assertions, states, finder);
  if (states.complete) checkBounds(context, states, finder);
  if (isSound(defects) && wasClean) {
    context.prove("NG310", soundText({ states: states.states.length - 1, graphs: [] }));
  }
}
