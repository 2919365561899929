import { notProven, soundText } from "../../diagnostics/catalog/proofs.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { watchedNodes } from "../explore/assertions.ts";
import { findDefects, isSound } from "../explore/defects.ts";
import { explore } from "../explore/explore.ts";
import { outcomesOf } from "../explore/outcomes.ts";
import { createRunFinder } from "../explore/runs.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import { assertionsOf, checkAssertions } from "./check-assertions.ts";
import type { CheckContext } from "./check-context.ts";
import { checkSharedSteps } from "./check-data.ts";
import { checkDeadRoutes } from "./check-dead-routes.ts";
import { checkBounds, checkFrozenLoops } from "./check-loops.ts";
import { checkParallelBranches } from "./check-parallel-branches.ts";
import { reportDefects, reportExclusiveMembers } from "./check-soundness.ts";
import { proveApart } from "./prove-apart.ts";
import { type Calls, type GraphSummary, proveWorstCase } from "./worst-case.ts";

/**
 * Everything that follows from looking at all runs: soundness, loops, assertions, parallel writers, bounds. `isClean` says
 * whether nothing was wrong with the graph before.
 */
export function checkRuns(
  context: CheckContext,
  maxStates: number,
  summaryOf: (graph: BoundGraph) => GraphSummary | undefined,
  isClean: () => boolean,
): GraphSummary {
  const { model, graph } = context;
  const assertions = assertionsOf(context);
  const watched = watchedNodes(assertions.map((item) => item.assertion));
  const outcomes = outcomesOf(model);
  const states = explore(model, outcomes, { data: true, maxStates, watched });
  const finder = createRunFinder(states);
  const defects = findDefects(states, finder);
  if (states.complete) checkFrozenLoops(context, states);
  else reportExclusiveMembers(context);
  reportDefects(context, states, defects);
  checkParallelBranches(context, states, finder);
  checkSharedSteps(context, states, finder);
  const open = checkAssertions(context, assertions, states, finder);
  let calls: Calls | undefined;
  let soundStates = isSound(defects) ? states.states.length - 1 : undefined;
  if (states.complete) {
    const bounds = checkBounds(context, states, finder);
    if (defects.neverFire.length === 0) checkDeadRoutes(context, states);
    calls = proveWorstCase(context, states, bounds, summaryOf);
  }
  if (defects.mayGoOn.length > 0 && defects.livelocks.length === 0)
    reportUndecidedEnd(context, states, defects.mayGoOn);
  if (!defects.complete) {
    const proven = proveApart(context, outcomes, states, open, maxStates);
    ({ soundStates } = proven);
    if (proven.open.length > 0) reportOpen(context, states, proven.open);
  }
  const isGood =
    soundStates !== undefined && isClean() && graph.graphs.every((called) => summaryOf(called)?.isSound === true);
  const sound = isGood && soundWithJumps(context, maxStates);
  if (sound && soundStates !== undefined) {
    context.prove("NG310", soundText({ states: soundStates, graphs: graph.graphs.map(({ name }) => name) }));
  }
  return { isSound: sound, calls };
}

/** Jumps may do more than lead to one place: several targets, `send`, exclusive jumps. Soundness holds for those, too. */
function soundWithJumps(context: CheckContext, maxStates: number): boolean {
  const { model } = context;
  if (model.nodes.every((node) => node.jumps === undefined)) return true;
  const states = explore(model, outcomesOf(model, "all"), { data: true, maxStates });
  if (isSound(findDefects(states))) return true;
  const index = model.nodes.findIndex((node) => node.jumps !== undefined);
  context.report(
    notProven(context.nodePlace(index), {
      properties: ["soundness"],
      why: "holds while it jumps to one node at a time",
      help: "a jump to several nodes, an exclusive one or a `send` beside edges can leave a barrier half filled or run a node twice",
      severity: "info",
    }),
  );
  return false;
}

/** NG900, for people who want to know why there is no NG310: that runs can go round is told by NG206. */
function reportUndecidedEnd(context: CheckContext, { states }: StateGraph, mayGoOn: readonly number[]): void {
  const first = mayGoOn.map((id) => states[id]!).find(({ ready }) => ready > 0);
  const node = first?.places[0];
  if (node === undefined) return;
  context.report(
    notProven(context.nodePlace(node), {
      properties: ["soundness"],
      why: "whether runs come to an end from here depends on values that are not followed",
      severity: "info",
    }),
  );
}

/** NG900. */
function reportOpen(context: CheckContext, states: StateGraph, open: readonly string[]): void {
  const unsupported = context.model.unsupported[0];
  const tooMany = states.outcomes.tooMany[0];
  const why =
    unsupported !== undefined
      ? `${unsupported} is not followed`
      : tooMany !== undefined
        ? `\`${tooMany === -1 ? "start" : context.nodeName(tooMany)}\` has too many combinations of conditions`
        : `gave up after ${states.states.length.toLocaleString("en")} states`;
  context.report(
    notProven(context.graphPlace(), {
      properties: open,
      why,
      help: "fewer parallel branches with choices of their own, or a called graph for each of them, make a proof possible",
    }),
  );
}
