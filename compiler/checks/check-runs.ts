import { soundText } from "../../diagnostics/catalog/proofs.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { watchedNodes } from "../explore/assertions.ts";
import { type Defects, findDefects, isSound, isSoundButForJoins } from "../explore/defects.ts";
import { explore, LARGE } from "../explore/explore.ts";
import { type Apart, exploreApart } from "../explore/explore-apart.ts";
import { outcomesOf, START_NODE } from "../explore/outcomes.ts";
import { createRunFinder, type RunFinder } from "../explore/runs.ts";
import { repeatsOneOf, type Repeats } from "../explore/repeats.ts";
import type { Reach } from "../explore/reach.ts";
import { endingOf, type GaveUp, type StateGraph } from "../explore/state-graph.ts";
import { type AssertionToCheck, assertionsOf, checkAssertions } from "./check-assertions.ts";
import { type CheckContext, createCheckContext, jumpReason } from "./check-context.ts";
import { checkSharedSteps } from "./check-data.ts";
import { checkDeadRoutes } from "./check-dead-routes.ts";
import { checkBounds, checkFrozenLoops } from "./check-loops.ts";
import { checkParallelBranches } from "./check-parallel-branches.ts";
import { reportDefects, reportExclusiveMembers } from "./check-soundness.ts";
import { proveApart } from "./prove-apart.ts";
import { SOUNDNESS } from "./verdict.ts";
import { type Calls, type GraphSummary, proveWorstCase } from "./worst-case.ts";

/** The result of exploring the runs of a graph. */
export interface RunsResult {
  /** The number of states of the soundness proof; `undefined` without a proof. */
  readonly soundStates: number | undefined;
  /** Branches of one jump meet without a barrier, always in one step. */
  readonly joinsJumps: boolean;
  /** External calls of one run in the worst case; `undefined` without a bound. */
  readonly calls: Calls | undefined;
  /** Some run is known to complete. */
  readonly completes: boolean;
  /** See `repeatsOneOf`. */
  repeatsOneOf(nodes: readonly number[]): Repeats;
}

/**
 * The checks that explore the runs of a graph: soundness, loops, assertions, parallel writers, bounds. Findings come
 * from a model in which each jump has one target. Proofs use a second model with all jumps that the engine allows.
 * Findings that only the second model has are reported as possible.
 */
export function checkRuns(
  context: CheckContext,
  maxStates: number,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): RunsResult {
  const canJump = context.model.nodes.some((node) => node.jumps !== undefined);
  const unsure = nodesOfUnsureCalls(context, summaryOf);
  if (!canJump) return proveRuns(context, exploreRuns(context, maxStates, unsure), maxStates, summaryOf);
  const found: Diagnostic[] = [];
  const any = contextOfAnyJump(context, found);
  const fewer = Math.ceil(maxStates / JUMP_SHARE);
  const wider = exploreRuns(any, fewer, unsure);
  const shown = { ...context, ...withoutProofs(context, found) };
  const exploration = exploreRuns(shown, maxStates, unsure, { ...wider, reach: any.reach });
  reportRuns(shown, exploration);
  if (exploration.states.complete) checkBounds(shown, exploration.states, exploration.finder, wider.states);
  const { states, defects } = exploration;
  const isSoundWithOne = states.complete && states.stuck.size === 0 && isSound(defects);
  return proveRuns(any, { ...wider, isSoundWithOne }, fewer, summaryOf);
}

/** Declared nodes that call a graph which is not known to complete in any run. */
function nodesOfUnsureCalls(
  { graph }: CheckContext,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): ReadonlySet<number> {
  return new Set(
    graph.nodes.flatMap(({ call }, index) =>
      call.kind === "graph" && summaryOf(call.graph)?.completes !== true ? [index] : [],
    ),
  );
}

/** Graphs with at most this number of nodes are explored longer if parallel branches meet without a barrier. */
const SMALL = 30;

/** The second exploration, with all jumps that the engine allows, may visit 1/8 of the states. */
const JUMP_SHARE = 8;

/** One exploration of a graph with its assertions and defects. */
interface Exploration {
  readonly assertions: readonly AssertionToCheck[];
  readonly states: StateGraph;
  /** The exploration of interleaved runs, which is made when it is needed. */
  readonly apart: () => Apart;
  readonly finder: RunFinder;
  readonly defects: Defects;
  /** All jumps were explored, and the graph is sound if each of them has one target. */
  readonly isSoundWithOne?: boolean;
}

/**
 * @param unsure declared nodes that are not known to succeed
 * @param wider an exploration with more jumps. It refutes claims about all runs: a barrier that fires there is not
 *   reported as one that never fires, and a loop that runs leave there is not reported as endless.
 */
function exploreRuns(
  context: CheckContext,
  maxStates: number,
  unsure: ReadonlySet<number>,
  wider?: Exploration & { readonly reach: Reach },
): Exploration {
  const { model } = context;
  const assertions = assertionsOf(context);
  const watched = watchedNodes(assertions.map((item) => item.assertion));
  const apart = assertions.flatMap(({ assertion }): [number, number][] =>
    assertion.form === "never" ? [[assertion.node, assertion.with]] : [],
  );
  const outcomes = outcomesOf(model, unsure, apart);
  let known: Apart | undefined;
  const interleaved = (): Apart => (known ??= exploreApart(model, outcomes, { maxStates }));
  // A small graph is explored longer, even after an error, so that one check reports all findings.
  const isEnough = (count: number): boolean =>
    (model.nodes.length > SMALL || count > LARGE) && interleaved().isUnsafe === true;
  const explored = explore(model, outcomes, { data: true, maxStates, watched, isEnough });
  const finder = createRunFinder(explored);
  if (wider === undefined)
    return { assertions, states: explored, apart: interleaved, finder, defects: findDefects(explored, finder) };
  const fires = wider.states.complete ? wider.states.barrierFires : wider.reach.barrierOpens;
  const barrierFires = explored.barrierFires.map((value, barrier) => (value === 1 ? 1 : fires[barrier]!));
  const states = { ...explored, barrierFires };
  const defects = findDefects(states, finder);
  const leavesLoops = wider.states.complete && wider.defects.livelocks.length === 0;
  return {
    assertions,
    states,
    apart: interleaved,
    finder,
    defects: leavesLoops ? { ...defects, livelocks: [] } : defects,
  };
}

/** Reports the findings of an exploration. Returns the assertions that it does not decide. */
function reportRuns(
  context: CheckContext,
  { assertions, states, finder, defects }: Exploration,
): readonly AssertionToCheck[] {
  if (states.complete) checkFrozenLoops(context, states, finder);
  else reportExclusiveMembers(context);
  reportDefects(context, states, defects);
  checkParallelBranches(context, states, finder);
  checkSharedSteps(context, states, finder);
  return checkAssertions(context, assertions, states, finder);
}

function proveRuns(
  context: CheckContext,
  exploration: Exploration,
  maxStates: number,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
): RunsResult {
  const { states, finder, defects } = exploration;
  const why = reasonOf(context, states);
  const { open } = context;
  const unanswered = reportRuns(context, exploration);
  let calls: Calls | undefined;
  // The branches of one jump may meet again in one step, as the workers of a supervisor do.
  const isSoundHere = exploration.isSoundWithOne === true ? isSoundButForJoins(defects) : isSound(defects);
  let soundStates = isSoundHere && states.stuck.size === 0 ? states.states.length - 1 : undefined;
  if (states.complete) {
    const bounds = checkBounds(context, states, finder);
    if (defects.neverFire.length === 0) checkDeadRoutes(context, states);
    calls = proveWorstCase(context, states, bounds, summaryOf);
  } else {
    for (const property of ["step bound", "loop bounds", "largest parallelism", "routes that are never taken"])
      open.push({ property, why, isMinor: true });
  }
  if (defects.complete) {
    for (const { text } of unanswered)
      open.push({ property: `\`${text}\``, why: "too many nodes whose failures assertions tell apart" });
  } else {
    const proven = proveApart(context, { states, apart: exploration.apart() }, unanswered, maxStates);
    ({ soundStates } = proven);
    // A complete state graph decides which nodes run in one step, even if soundness needed the second search.
    const left = proven.open.filter((property) => !states.complete || property !== "writers of one step");
    for (const property of left) open.push({ property, why, isLarge: true });
  }
  if (soundStates === undefined) {
    const reason = reasonOfSoundness(context, exploration);
    const isLarge = !states.complete && reason === undefined;
    open.push({ property: SOUNDNESS, why: reason ?? why, ...(isLarge ? { isLarge } : {}) });
  } else if (states.complete && !states.states.some(({ id }) => endingOf(states, id) === "completed")) {
    soundStates = undefined;
    open.push({ property: SOUNDNESS, why: "no run completes" });
  }
  const completes = states.states.some(({ id }) => endingOf(states, id) === "completed" && finder.isFeasible(id));
  const joinsJumps = defects.accidentalJoins.length > 0;
  return { soundStates, joinsJumps, calls, completes, repeatsOneOf: (nodes) => repeatsOneOf(states, finder, nodes) };
}

/** The reason why the exploration is incomplete. */
function reasonOf(context: CheckContext, states: StateGraph): string {
  return states.gaveUp === undefined ? "a second search was given up" : gaveUpText(context, states.gaveUp);
}

function gaveUpText(context: CheckContext, gaveUp: GaveUp): string {
  const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
  switch (gaveUp.kind) {
    case "node": {
      const name = gaveUp.node === START_NODE ? context.model.entry : context.nodeName(gaveUp.node);
      return `\`${name}\` has too many combinations of conditions or jumps`;
    }
    case "step": {
      const names = gaveUp.nodes.slice(0, 3).map((node) => `\`${context.nodeName(node)}\``);
      const more = gaveUp.nodes.length > 3 ? ` and ${gaveUp.nodes.length - 3} more` : "";
      return `too many ways for one step of ${names.join(", ")}${more}`;
    }
    case "states":
    case "work":
      return `gave up after ${count(gaveUp.count)} states`;
  }
}

/** The reason why a completely explored graph is not proven sound. */
function reasonOfSoundness(
  context: CheckContext,
  { states, defects, isSoundWithOne }: Exploration,
): string | undefined {
  const reason = jumpReason(context);
  const isMany = isSoundWithOne === true ? `${reason ?? ""}; with one target for each jump it is sound` : reason;
  if (!states.complete) {
    const { doubleRuns, accidentalJoins, lostSignals, leftIncomplete } = defects;
    const isRefuted = doubleRuns.length + accidentalJoins.length + lostSignals.length + leftIncomplete.length > 0;
    return isRefuted ? isMany : undefined;
  }
  const name = (node: number): string => (node === START_NODE ? context.model.entry : context.nodeName(node));
  const [stuck] = states.stuck;
  if (stuck !== undefined) {
    const [node, { branch }] = stuck;
    if (branch === undefined) return `\`${name(node)}\` may have no edge to take`;
    return `\`${branch.label.replace(/^when /, "")}\` after \`${name(node)}\` may have no value`;
  }
  const { neverFire, leftIncomplete, livelocks, doubleRuns, accidentalJoins, lostSignals, mayGoOn } = defects;
  if (neverFire.length + leftIncomplete.length > 0) return isMany ?? "a barrier may be left half filled";
  if (lostSignals.length > 0) return isMany ?? "a signal may be lost";
  if (doubleRuns.length + accidentalJoins.length > 0) return isMany ?? "parallel arms may meet without a barrier";
  if (livelocks.length > 0) return isMany ?? "runs may go round without end";
  const open = mayGoOn.map((id) => states.states[id]!).find(({ ready }) => ready > 0);
  const [node] = open?.places ?? [];
  if (node !== undefined)
    return `whether runs come to an end after \`${name(node)}\` depends on conditions that cannot be decided`;
  return undefined;
}

/** Overrides of a context for the first exploration: records its findings and drops its proofs. */
function withoutProofs(
  context: CheckContext,
  found: Diagnostic[],
): Pick<CheckContext, "report" | "reportFinding" | "prove"> {
  return {
    report: (diagnostic) => {
      found.push(diagnostic);
      context.report(diagnostic);
    },
    reportFinding: (diagnostic, run) => {
      found.push(diagnostic);
      context.reportFinding(diagnostic, run);
    },
    prove: () => undefined,
  };
}

/** Findings of the second exploration with severity `warning`; all others have `info`. */
const WARNED: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>(["NG213"]);
/** Findings that are reported in the first exploration only. */
const ONCE: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>(["NG308", "NG312", "NG314", "NG404", "NG901"]);

/** Claims about all runs, which hold because the second exploration contains all of them. */
const UNIVERSAL: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>(["NG202", "NG502"]);

/** A context of the same graph for the second exploration, with all jumps that the engine allows. */
function contextOfAnyJump(context: CheckContext, known: readonly Diagnostic[]): CheckContext {
  const keyOf = ({ code, span }: Diagnostic): string => `${code}/${span.start}`;
  const reported = new Set<string>();
  const report = (diagnostic: Diagnostic): void => {
    const key = keyOf(diagnostic);
    if (ONCE.has(diagnostic.code) || reported.has(key) || known.some((other) => keyOf(other) === key)) return;
    reported.add(key);
    if (UNIVERSAL.has(diagnostic.code)) {
      context.report(diagnostic);
      return;
    }
    const possible: Diagnostic = { ...diagnostic, severity: WARNED.has(diagnostic.code) ? "warning" : "info" };
    context.undecided.add(possible);
    context.report(possible);
    if (diagnostic.code === "NG401") {
      context.open.push({ property: "writers of one step", why: jumpReason(any) ?? "" });
    }
  };
  const any = createCheckContext(context.graph, report, () => undefined, "any");
  return {
    ...any,
    prove: context.prove,
    report: (diagnostic) => (diagnostic.code === "NG900" ? context.report(diagnostic) : report(diagnostic)),
    reportFinding: report,
    trapped: context.trapped,
    reportedConditions: context.reportedConditions,
    undecided: context.undecided,
    open: context.open,
    refuted: context.refuted,
  };
}

/** Records NG310. The caller has verified all its conditions. */
export function proveSound(context: CheckContext, soundStates: number, joinsJumps: boolean): void {
  const { graph, model } = context;
  const failing = model.nodes.filter((node) => node.alwaysFails && node.errorRouting === undefined);
  context.prove(
    "NG310",
    soundText({
      states: soundStates,
      joinsJumps,
      graphs: graph.graphs.map(({ name }) => name),
      failing: failing.map(({ index }) => context.nodeName(index)),
    }),
  );
}
