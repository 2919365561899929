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
import { checkFailures, checkPolicies } from "./check-policies.ts";
import { checkReachability } from "./check-reachability.ts";
import { checkNoRollback, checkRollback } from "./check-rollback.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkRuns, proveSound, type RunsResult } from "./check-runs.ts";
import { checkSecrets } from "./check-secrets.ts";
import { assertionsOf, checkAcrossParts } from "./check-assertions.ts";
import { partsOf } from "./graph-parts.ts";
import { reportExclusiveMembers } from "./check-soundness.ts";
import { checkUntrusted } from "./check-untrusted.ts";
import { type OpenProperty, reportOpen, SOUNDNESS, type Verdict, verdictOf } from "./verdict.ts";
import type { Calls, GraphSummary } from "./worst-case.ts";

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
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const summaryOf = (called: BoundGraph): GraphSummary | undefined => checked(called, maxStates).summary;
  const parts = partsOf(graph);
  const ofFinally = new Set<Diagnostic>();
  const named = (list: readonly Diagnostic[]): Diagnostic[] =>
    list.map((each) => (ofFinally.has(each) ? namingFinally(each) : each));
  const open = (view: BoundGraph): OpenPart => {
    const proofs: Proof[] = [];
    const reportOf = (each: Diagnostic): void => {
      if (view === parts?.finally) ofFinally.add(each);
      report(each);
    };
    return { proofs, context: createCheckContext(view, reportOf, (proof) => void proofs.push(proof)) };
  };
  const whole = open(parts?.whole ?? graph);
  const main = parts === undefined ? whole : open(parts.main);
  const ending = parts === undefined ? undefined : open(parts.finally);
  const hasStart = checkStart(main.context);
  checkText(whole.context, hasStart);
  const runs = checkPart(main.context, hasStart, maxStates, summaryOf);
  const endingRuns = ending && checkPart(ending.context, hasStart, maxStates, summaryOf);
  if (!graph.hasErrors && hasStart) checkFailures(main.context);
  if (ending !== undefined) checkAcrossParts(main.context, ending.context);
  if (ending !== undefined) checkNoRollback(ending.context);
  const found = parts === undefined ? diagnostics : withoutRepeats(diagnostics, parts.main);
  const proofs = ending === undefined ? main.proofs : proofsOfParts(main, ending);
  if (runs === undefined || (ending !== undefined && endingRuns === undefined)) {
    return { maxStates, result: { diagnostics: named(found), proofs }, summary: undefined };
  }
  const isSound = proveSoundness(graph, main, ending, found, runs, endingRuns, summaryOf);
  if (isSound)
    proofs.push(...main.proofs.filter(({ code }) => code === "NG310" && !proofs.some((p) => p.code === code)));
  const opened = [...main.context.open, ...(ending === undefined ? [] : inFinally(ending.context.open))];
  const undecided = new Set([...main.context.undecided, ...(ending?.context.undecided ?? [])]);
  const verdict = verdictOf(opened, found, undecided);
  reportOpen({ ...main.context, report: (diagnostic) => void found.push(diagnostic) }, verdict);
  const calls = endingRuns === undefined ? runs.calls : addCalls(runs.calls, endingRuns.calls);
  return {
    maxStates,
    result: { diagnostics: named(found), proofs, verdict },
    summary: { isSound, calls, completes: runs.completes },
  };
}

/** Findings about loops, which nodes of both parts can form. */
const OF_LOOPS: ReadonlySet<string> = new Set(["NG204", "NG205", "NG206", "NG208", "NG211"]);

/** A finding about a loop, with the part of the graph in which it repeats. */
function namingFinally(diagnostic: Diagnostic): Diagnostic {
  if (!OF_LOOPS.has(diagnostic.code)) return diagnostic;
  return { ...diagnostic, notes: [...diagnostic.notes, "in the part of the graph that begins at `finally`"] };
}

interface OpenPart {
  readonly context: CheckContext;
  readonly proofs: Proof[];
}

/** The checks that do not explore runs. */
function checkText(context: CheckContext, hasStart: boolean): void {
  const { graph } = context;
  checkConfusableNames(graph, context.report);
  checkDuplicateEdges(context);
  checkSecrets(context);
  if (graph.hasErrors || !hasStart) return;
  checkChannelsOfGraph(graph, context.report);
  checkUnreadWrites(context);
  checkGrowingMaps(context);
  checkPolicies(context);
  checkRollback(context);
  checkUntrusted(context);
}

/** The checks of the runs of a graph, or of one of its parts. */
function checkPart(
  context: CheckContext,
  hasStart: boolean,
  maxStates: number,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): RunsResult | undefined {
  let runs: RunsResult | undefined;
  const traps = checkReachability(context);
  checkBarriers(context);
  if (context.isComplete && hasStart && signalsOf(context.model.start).length > 0) {
    if (context.graph.hasErrors) reportExclusiveMembers(context);
    else runs = checkRuns(context, maxStates, summaryOf);
  }
  for (const { nodes, diagnostic } of traps) reportTrap(context, diagnostic, runs?.repeatsOneOf(nodes) ?? "sure");
  // After the loops, because a reported loop covers the findings about its conditions.
  checkRoutes(context);
  return runs;
}

/** Records NG310 if both parts are sound. Returns whether they are. */
function proveSoundness(
  graph: BoundGraph,
  main: OpenPart,
  ending: OpenPart | undefined,
  diagnostics: readonly Diagnostic[],
  runs: RunsResult,
  endingRuns: RunsResult | undefined,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): boolean {
  const unsound = graph.graphs.find((called) => summaryOf(called)?.isSound !== true);
  const states = ending === undefined ? 0 : endingRuns?.soundStates;
  if (runs.soundStates === undefined || states === undefined) return false;
  const { open } = main.context;
  if (diagnostics.some((diagnostic) => diagnostic.severity === "error"))
    open.push({ property: SOUNDNESS, why: "the graph has errors" });
  else if (unsound !== undefined) open.push({ property: SOUNDNESS, why: `\`${unsound.name}\` is not proven sound` });
  else {
    proveSound(main.context, runs.soundStates + states, runs.joinsJumps || endingRuns?.joinsJumps === true);
    return true;
  }
  return false;
}

/**
 * The findings of both parts: one about a node that both reach is reported once. Such a node never runs (NG202) if it runs in
 * neither part.
 */
function withoutRepeats(diagnostics: readonly Diagnostic[], { nodes, shared }: BoundGraph): Diagnostic[] {
  const keyOf = ({ code, span, message }: Diagnostic): string => `${code} ${span.start} ${span.end} ${message}`;
  const counts = new Map<string, number>();
  for (const key of diagnostics.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const inBoth = nodes.filter(({ name }) => shared?.has(name) === true);
  const places = new Set(inBoth.map(({ declaration }) => declaration.name.span.start));
  const seen = new Set<string>();
  return diagnostics.filter((each) => {
    const key = keyOf(each);
    if (each.code === "NG202" && places.has(each.span.start) && counts.get(key) === 1) return false;
    return seen.size !== seen.add(key).size;
  });
}

/** The proofs of both parts. An assertion is proven if each part that checks it proves it. */
function proofsOfParts(main: OpenPart, ending: OpenPart): Proof[] {
  const isProven = ({ context, proofs }: OpenPart, span: Proof["span"]): boolean =>
    !assertionsOf(context).some(({ bound }) => bound.declaration.span === span) ||
    proofs.some((proof) => proof.code === "NG214" && proof.span === span);
  const isAssertion = ({ code }: Proof): boolean => code === "NG214";
  const assertions = new Map(
    [...main.proofs, ...ending.proofs]
      .filter((proof) => isAssertion(proof) && isProven(main, proof.span) && isProven(ending, proof.span))
      .map((proof) => [proof.span, proof]),
  );
  const others = ending.proofs.filter((proof) => !isAssertion(proof));
  return [
    ...main.proofs.filter((proof) => !isAssertion(proof)),
    ...others.map((proof) => ({ ...proof, message: `\`finally\`: ${proof.message}` })),
    ...assertions.values(),
  ];
}

function inFinally(open: readonly OpenProperty[]): OpenProperty[] {
  return open.map((each) =>
    each.property === SOUNDNESS ? each : { ...each, property: `${each.property} in \`finally\`` },
  );
}

function addCalls(a: Calls | undefined, b: Calls | undefined): Calls | undefined {
  if (a === undefined || b === undefined) return undefined;
  const sum = new Map(a);
  for (const [kind, count] of b) sum.set(kind, (sum.get(kind) ?? 0) + count);
  return sum;
}
