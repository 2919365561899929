import { branchEndsEarly, exclusiveJumpDiscards, pauseBesideSiblings } from "../../diagnostics/catalog/barriers.ts";
import type { RunFinder } from "../explore/runs.ts";
import { endingOf, type StateGraph } from "../explore/state-graph.ts";
import type { CheckContext } from "./check-context.ts";
import { shownRun } from "./check-soundness.ts";

/** Reports NG308, NG312 and NG314: information about parallel branches. */
export function checkParallelBranches(context: CheckContext, graph: StateGraph, finder: RunFinder): void {
  const { model } = context;
  const siblings = (places: readonly number[], node: number): string[] =>
    places.filter((place) => place !== node).map(context.nodeName);
  // Most nodes run alone, and the search for a run looks at all states.
  const isParallel = new Uint8Array(model.nodes.length);
  for (const { places, ready } of graph.states)
    if (ready > 1) for (let index = 0; index < ready; index++) isParallel[places[index]!] = 1;
  for (const node of model.nodes) {
    const { index, name } = node;
    if (isParallel[index] === 0) continue;
    const beside = ({ places, ready }: { places: readonly number[]; ready: number }): boolean =>
      ready > 1 && places.indexOf(index) !== -1 && places.indexOf(index) < ready;
    if (node.pauses || node.jumps !== undefined) {
      const run = finder.toState(beside);
      if (run === undefined) continue;
      const state = graph.states[run.states.at(-1) ?? 0]!;
      const facts = { node: name, siblings: siblings(state.places.slice(0, state.ready), index) };
      if (node.pauses) {
        context.report(pauseBesideSiblings(context.nodePlace(index), { ...facts, run: shownRun(graph, run, "") }));
      }
      const losing = state.places.slice(0, state.ready).filter((place) => {
        return place !== index && graph.outcomes.nodes[place]!.some((outcome) => outcome.places.length > 0);
      });
      if (node.jumps !== undefined && losing.length > 0) {
        context.report(
          exclusiveJumpDiscards(context.nodePlace(index), {
            node: name,
            siblings: losing.map(context.nodeName),
            run: shownRun(graph, run, ""),
          }),
        );
      }
    }
  }
  reportEarlyEnds(context, graph, finder);
}

/** Limit of the states whose steps are searched for branches that end early (NG308 is informational). */
const MAX_LOOKED_AT = 2000;

/** NG308. */
function reportEarlyEnds(context: CheckContext, graph: StateGraph, finder: RunFinder): void {
  const found = new Set<number>();
  for (const { id, places, ready } of graph.states.slice(0, MAX_LOOKED_AT)) {
    if (ready < 2) continue;
    const running = places.slice(0, ready);
    if (running.every((node) => found.has(node) || !graph.outcomes.nodes[node]!.some((outcome) => outcome.ends)))
      continue;
    for (const step of graph.steps(id)) {
      if (!goesOn(graph, step.to)) continue;
      for (const [position, node] of running.entries()) {
        if (found.has(node) || step.outcomes[position]?.ends !== true) continue;
        found.add(node);
        const others = running.filter(
          (other, index) => other !== node && (step.outcomes[index]?.places.length ?? 0) > 0,
        );
        const run = { ...finder.to(id), last: step };
        context.report(
          branchEndsEarly(context.nodePlace(node), {
            node: context.nodeName(node),
            others: others.map(context.nodeName),
            run: shownRun(graph, run, ""),
          }),
        );
      }
    }
  }
}

function goesOn(graph: StateGraph, state: number): boolean {
  return state !== -1 && endingOf(graph, state) === undefined && graph.states[state]!.ready > 0;
}
