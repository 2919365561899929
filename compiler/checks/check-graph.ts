import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { MAX_STATES } from "../explore/explore.ts";
import { signalsOf } from "../explore/signals.ts";
import { checkBarriers } from "./check-barriers.ts";
import { checkChannelsOfGraph } from "./check-channels.ts";
import { createCheckContext, type Proof } from "./check-context.ts";
import { checkUnreadWrites } from "./check-data.ts";
import { checkModelOutput } from "./check-model-output.ts";
import { checkDuplicateEdges, checkStart } from "./check-names.ts";
import { checkPolicies } from "./check-policies.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkRuns } from "./check-runs.ts";
import { checkSecrets } from "./check-secrets.ts";
import { reportExclusiveMembers } from "./check-soundness.ts";
import type { GraphSummary } from "./worst-case.ts";

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
 * only follows from an error that binding reported is left out. Graphs that it calls are looked at once, however many call them.
 */
export function checkGraph(graph: BoundGraph, options: CheckOptions = {}): CheckResult {
  return checked(graph, options.maxStates ?? MAX_STATES).result;
}

interface CheckedGraph {
  readonly maxStates: number;
  readonly result: CheckResult;
  readonly summary: GraphSummary | undefined;
}

/** Bound graphs never change, so neither does what is found about them. */
const known = new WeakMap<BoundGraph, CheckedGraph>();
const UNDER_WAY: CheckedGraph = { maxStates: 0, result: { diagnostics: [], proofs: [] }, summary: undefined };

function checked(graph: BoundGraph, maxStates: number): CheckedGraph {
  const before = known.get(graph);
  if (before !== undefined && (before === UNDER_WAY || before.maxStates === maxStates)) return before;
  // Graphs that call each other have been refused; this only keeps them from going round here.
  known.set(graph, UNDER_WAY);
  const found = check(graph, maxStates);
  known.set(graph, found);
  return found;
}

function check(graph: BoundGraph, maxStates: number): CheckedGraph {
  const diagnostics: Diagnostic[] = [];
  const proofs: Proof[] = [];
  const context = createCheckContext(
    graph,
    (diagnostic) => void diagnostics.push(diagnostic),
    (proof) => void proofs.push(proof),
  );
  const isClean = (): boolean => !diagnostics.some((diagnostic) => diagnostic.severity === "error");
  let summary: GraphSummary | undefined;
  const hasStart = checkStart(context);
  checkDuplicateEdges(context);
  checkReachability(context);
  checkBarriers(context);
  checkSecrets(context);
  if (!graph.hasErrors && hasStart) {
    checkChannelsOfGraph(graph, context.report);
    checkUnreadWrites(context);
    checkPolicies(context);
    checkModelOutput(context);
  }
  if (context.isComplete && signalsOf(context.model.start).length > 0) {
    if (graph.hasErrors) reportExclusiveMembers(context);
    else summary = checkRuns(context, maxStates, (called) => checked(called, maxStates).summary, isClean);
  }
  // Last, because what is wrong with a loop is said first, and then not again of its condition.
  checkRoutes(context);
  return { maxStates, result: { diagnostics, proofs }, summary };
}
