import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { MAX_STATES } from "../explore/explore.ts";
import { signalsOf } from "../control/signals.ts";
import { checkBarriers } from "./check-barriers.ts";
import { checkChannelsOfGraph } from "./check-channels.ts";
import type { Repeats } from "../explore/repeats.ts";
import { type CheckContext, createCheckContext, type Proof } from "./check-context.ts";
import { checkUnreadWrites } from "./check-data.ts";
import { checkConfusableNames, checkDuplicateEdges, checkStart } from "./check-names.ts";
import { checkGrowingMaps } from "./check-loops.ts";
import { checkPolicies } from "./check-policies.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkRuns, proveSound, type RunsResult } from "./check-runs.ts";
import { checkSecrets } from "./check-secrets.ts";
import { reportExclusiveMembers } from "./check-soundness.ts";
import { checkUntrusted } from "./check-untrusted.ts";
import { reportOpen, SOUNDNESS, type Verdict, verdictOf } from "./verdict.ts";
import type { GraphSummary } from "./worst-case.ts";

export type { Proof } from "./check-context.ts";
export type { Verdict } from "./verdict.ts";

export interface CheckResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly proofs: readonly Proof[];
  /** Absent if errors prevent the exploration. */
  readonly verdict?: Verdict;
}

export interface CheckOptions {
  /** States that are explored before the search stops (NG900); default 100,000. */
  readonly maxStates?: number;
}

/**
 * Checks one bound graph: routes, barriers, loops, data, policies, assertions. Also proves properties of its runs.
 * Never throws. Consequences of errors that binding has reported are not reported. Each called graph is checked once.
 */
export function checkGraph(graph: BoundGraph, options: CheckOptions = {}): CheckResult {
  return checked(graph, options.maxStates ?? MAX_STATES).result;
}

interface CheckedGraph {
  readonly maxStates: number;
  readonly result: CheckResult;
  readonly summary: GraphSummary | undefined;
}

/** Results by graph. Bound graphs are immutable. */
const known = new WeakMap<BoundGraph, CheckedGraph>();
const IN_PROGRESS: CheckedGraph = { maxStates: 0, result: { diagnostics: [], proofs: [] }, summary: undefined };

function checked(graph: BoundGraph, maxStates: number): CheckedGraph {
  const before = known.get(graph);
  if (before !== undefined && (before === IN_PROGRESS || before.maxStates === maxStates)) return before;
  // Binding reports recursive calls. This entry prevents an endless recursion here.
  known.set(graph, IN_PROGRESS);
  const found = check(graph, maxStates);
  known.set(graph, found);
  return found;
}

/** Reports an endless loop of the edges. It is an error if a run is known to repeat it. */
function reportTrap(context: CheckContext, trap: Diagnostic, enters: Repeats): void {
  if (enters === "never") return;
  const diagnostic: Diagnostic = enters === "sure" ? trap : { ...trap, severity: "warning" };
  if (enters === "possible") context.undecided.add(diagnostic);
  context.report(diagnostic);
}

function check(graph: BoundGraph, maxStates: number): CheckedGraph {
  const diagnostics: Diagnostic[] = [];
  const proofs: Proof[] = [];
  const context = createCheckContext(
    graph,
    (diagnostic) => void diagnostics.push(diagnostic),
    (proof) => void proofs.push(proof),
  );
  const summaryOf = (called: BoundGraph): GraphSummary | undefined => checked(called, maxStates).summary;
  let runs: RunsResult | undefined;
  const hasStart = checkStart(context);
  checkConfusableNames(graph, context.report);
  checkDuplicateEdges(context);
  const traps = checkReachability(context);
  checkBarriers(context);
  checkSecrets(context);
  if (!graph.hasErrors && hasStart) {
    checkChannelsOfGraph(graph, context.report);
    checkUnreadWrites(context);
    checkGrowingMaps(context);
    checkPolicies(context);
    checkUntrusted(context);
  }
  if (context.isComplete && signalsOf(context.model.start).length > 0) {
    if (graph.hasErrors) reportExclusiveMembers(context);
    else runs = checkRuns(context, maxStates, summaryOf);
  }
  for (const { nodes, diagnostic } of traps) reportTrap(context, diagnostic, runs?.repeatsOneOf(nodes) ?? "sure");
  // After the loops, because a reported loop covers the findings about its conditions.
  checkRoutes(context);
  if (runs === undefined) return { maxStates, result: { diagnostics, proofs }, summary: undefined };
  const { open } = context;
  const unsound = graph.graphs.find((called) => summaryOf(called)?.isSound !== true);
  let isSound = false;
  if (runs.soundStates !== undefined) {
    if (diagnostics.some((diagnostic) => diagnostic.severity === "error"))
      open.push({ property: SOUNDNESS, why: "the graph has errors" });
    else if (unsound !== undefined) open.push({ property: SOUNDNESS, why: `\`${unsound.name}\` is not proven sound` });
    else {
      isSound = true;
      proveSound(context, runs.soundStates);
    }
  }
  const verdict = verdictOf(open, diagnostics, context.undecided);
  reportOpen(context, verdict);
  return {
    maxStates,
    result: { diagnostics, proofs, verdict },
    summary: { isSound, calls: runs.calls, completes: runs.completes },
  };
}
