import { buildModel } from "../../../compiler/explore/build-model.ts";
import { type Assertion, findViolation, watchedNodes } from "../../../compiler/explore/assertions.ts";
import { findConcurrentPlaces } from "../../../compiler/explore/concurrent-places.ts";
import { findDefects, isSound } from "../../../compiler/explore/defects.ts";
import { exploreApart } from "../../../compiler/explore/explore-apart.ts";
import { explore } from "../../../compiler/explore/explore.ts";
import type { ControlModel } from "../../../compiler/explore/model.ts";
import { type Outcomes, outcomesOf } from "../../../compiler/explore/outcomes.ts";
import { canRunWithout } from "../../../compiler/explore/reach.ts";
import { createRunFinder, type Run, traceOf } from "../../../compiler/explore/runs.ts";
import { hasFreeLoops } from "../../../compiler/explore/sites.ts";
import type { StateGraph } from "../../../compiler/explore/state-graph.ts";
import { lowerGraph } from "../../../compiler/lower/lower-graph.ts";
import { bindText } from "../../checks/support/bind-text.ts";
import { bruteForce, type Verdicts } from "./brute-force.ts";
import { type RandomGraph, randomGraph } from "./random-graph.ts";

export interface Comparison {
  /** What differs, for people; empty where all agree. */
  readonly differences: readonly string[];
  readonly verdicts: Verdicts;
  readonly graph: RandomGraph;
}

/** Proofs and brute force side by side; `undefined` for a graph that does not bind, or has too many states to run. */
export function compare(seed: number): Comparison | undefined {
  const graph = randomGraph(seed);
  const [bound] = bindText(graph.text).graphs;
  if (bound === undefined || bound.hasErrors) return undefined;
  const verdicts = bruteForce(graph, lowerGraph(bound));
  if (verdicts === undefined) return undefined;
  const model = buildModel(bound);
  const outcomes = outcomesOf(model);
  const assertions = assertionsOf(graph);
  const states = explore(model, outcomes, { data: true, watched: watchedNodes(assertions) });
  const finder = createRunFinder(states);
  const defects = findDefects(states, finder);
  const violations = assertions.map((assertion) => findViolation(states, assertion, finder));
  const differences: string[] = [];
  const expectSame = (what: string, got: boolean, expected: boolean): void => {
    if (got !== expected) differences.push(`${what}: proofs say ${String(got)}, runs say ${String(expected)}`);
  };
  if (!states.complete) differences.push("gave up");
  expectSame("sound", isSound(defects), verdicts.sound);
  const leavesSomething = states.states.some(({ id, ready, places }) => id > 0 && ready === 0 && places.length > 0);
  expectSame("deadlock", leavesSomething, verdicts.deadlock);
  expectSame("race", hasRace(model, states), verdicts.race);
  violations.forEach((run, index) => expectSame(describe(graph, index), run === undefined, verdicts.holds[index]!));
  const shown = [
    ...defects.leftIncomplete,
    ...defects.doubleRuns,
    ...defects.accidentalJoins,
    ...defects.lostSignals,
    ...defects.livelocks,
  ].map((item) => item.run);
  for (const run of [...shown, ...violations]) {
    if (run?.feasible === true && !replays(states, run, verdicts)) {
      differences.push(`no run goes ${JSON.stringify(traceOf(states, run).map((step) => step.ran))}`);
    }
  }
  differences.push(...apartDifferences(graph, model, outcomes, assertions, states, verdicts));
  return { differences, verdicts, graph };
}

function assertionsOf(graph: RandomGraph): Assertion[] {
  const indexOf = new Map(graph.nodes.map((node, index) => [node.name, index]));
  const index = (name: string | undefined): number => (name === "end" ? -1 : indexOf.get(name ?? "")!);
  return graph.assertions.map(({ form, a, b }): Assertion => {
    if (form === "before") return { form, first: index(a), then: index(b) };
    return form === "never" ? { form, node: index(a), with: index(b) } : { form, node: index(a) };
  });
}

function describe(graph: RandomGraph, index: number): string {
  const { form, a, b } = graph.assertions[index]!;
  return `${form} ${a}${b === undefined ? "" : ` ${b}`}`;
}

function hasRace(model: ControlModel, states: StateGraph): boolean {
  return states.states.some(({ places, ready }) => {
    const seen = new Set<number>();
    return places.slice(0, ready).some((node) =>
      model.data.writes[node]!.some(({ channel }) => {
        if (seen.has(channel)) return true;
        seen.add(channel);
        return false;
      }),
    );
  });
}

function replays(states: StateGraph, run: Run, verdicts: Verdicts): boolean {
  return verdicts.canRun(traceOf(states, run).map((step) => step.ran));
}

/** The proofs that take steps apart may show less, and nothing that is wrong. */
function apartDifferences(
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
