import type { Assertion } from "../../../compiler/explore/assertions.ts";
import { findConcurrentPlaces } from "../../../compiler/explore/concurrent-places.ts";
import { exploreApart } from "../../../compiler/explore/explore-apart.ts";
import type { ControlModel } from "../../../compiler/explore/model.ts";
import type { Outcomes } from "../../../compiler/explore/outcomes.ts";
import { canRunWithout } from "../../../compiler/explore/reach.ts";
import { hasFreeLoops } from "../../../compiler/explore/term-liveness.ts";
import type { StateGraph } from "../../../compiler/explore/state-graph.ts";
import type { Verdicts } from "./brute-force.ts";
import { describe } from "./compare.ts";
import type { RandomGraph } from "./random-graph.ts";

/** The proofs that split steps may prove less, but nothing wrong. */
export function differencesApart(
  graph: RandomGraph,
  model: ControlModel,
  outcomes: Outcomes,
  assertions: readonly Assertion[],
  states: StateGraph,
  verdicts: Verdicts,
): string[] {
  const maxStates = 10_000;
  const found: string[] = [];
  const apart = exploreApart(model, outcomes, { maxStates }).holds;
  if (apart && hasFreeLoops(model) && !verdicts.sound) found.push("taken apart it seems sound");
  const mayRunTogether = apart ? findConcurrentPlaces(model, outcomes) : undefined;
  if (mayRunTogether !== undefined) {
    for (const { places, ready } of states.states) {
      const running = places.slice(0, ready);
      const missed = running.some((a) => running.some((b) => a !== b && !mayRunTogether(a, b)));
      if (missed) found.push(`taken apart ${running.join()} seem never to run together`);
    }
  }
  assertions.forEach((assertion, index) => {
    if (verdicts.holds[index] === true) return;
    if (assertion.form === "before each") return;
    const shown =
      assertion.form === "before"
        ? !canRunWithout(model, outcomes, assertion.first, assertion.then)
        : assertion.form === "never"
          ? assertion.node !== assertion.with && mayRunTogether?.(assertion.node, assertion.with) === false
          : apart &&
            exploreApart(
              model,
              outcomes,
              assertion.form === "once" ? { maxStates, once: assertion.node } : { maxStates, without: assertion.node },
            ).holds;
    if (shown) found.push(`taken apart this seems to hold: ${describe(graph, index)}`);
  });
  return found;
}
