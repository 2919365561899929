import { checkGraph } from "../../../compiler/checks/check-graph.ts";
import { type Assertion, findViolation, watchedNodes } from "../../../compiler/explore/assertions.ts";
import { findBounds } from "../../../compiler/explore/bounds.ts";
import { controlModel } from "../../../compiler/explore/build-model.ts";
import { findDefects, isSound } from "../../../compiler/explore/defects.ts";
import { explore, type ExploreOptions } from "../../../compiler/explore/explore.ts";
import type { ControlModel } from "../../../compiler/explore/model.ts";
import { type Outcomes, outcomesOf } from "../../../compiler/explore/outcomes.ts";
import { createRunFinder, type Run, traceOf } from "../../../compiler/explore/runs.ts";
import { hasFreeLoops } from "../../../compiler/explore/term-liveness.ts";
import type { StateGraph } from "../../../compiler/explore/state-graph.ts";
import { lowerGraph } from "../../../compiler/lower/lower.ts";
import { bindText } from "../../checks/support/bind-text.ts";
import { bruteForce, type Verdicts } from "./brute-force.ts";
import { differencesApart } from "./compare-apart.ts";
import { differencesOfCheck } from "./compare-check.ts";
import { type Feature, featuresOf } from "./features.ts";
import { type Family, type RandomGraph, randomGraph } from "./random-graph.ts";

export interface Comparison {
  /** A readable list of differences; empty if all verdicts agree. */
  readonly differences: readonly string[];
  readonly verdicts: Verdicts;
  readonly graph: RandomGraph;
  readonly features: ReadonlySet<Feature>;
  /** Nodes whose conditions leave values out. */
  readonly gaps: readonly string[];
  readonly alarms: Alarms;
}

/** Findings of a graph that no run confirms, and the number of possible findings: with conditions computed, and without. */
export interface Alarms {
  readonly followed: number;
  readonly free: number;
  readonly chances: number;
}

/** An error in the exploration, planted. */
export interface PlantedBug {
  readonly outcomes?: (outcomes: Outcomes, model: ControlModel) => Outcomes;
  readonly stepsFrom?: NonNullable<ExploreOptions["stepsFrom"]>;
}

/** Proofs and brute force side by side; `undefined` for a graph that does not bind, or has too many states to run. */
export function compare(seed: number, family: Family, bug: PlantedBug = {}): Comparison | undefined {
  const graph = randomGraph(seed, family);
  const [bound] = bindText(graph.text).graphs;
  if (bound === undefined || bound.hasErrors) return undefined;
  const verdicts = bruteForce(graph, lowerGraph(bound));
  if (verdicts === undefined) return undefined;
  const model = controlModel(bound);
  const own = outcomesOf(model);
  const outcomes = bug.outcomes === undefined ? own : bug.outcomes(own, model);
  const assertions = assertionsOf(graph);
  const step = bug.stepsFrom === undefined ? {} : { stepsFrom: bug.stepsFrom };
  const states = explore(model, outcomes, { data: true, watched: watchedNodes(assertions), ...step });
  const given = answersOf(model, states, assertions);
  const expected: Answers = {
    sound: verdicts.sound,
    noDeadlock: !verdicts.deadlock,
    noRace: !verdicts.race,
    holds: verdicts.holds,
    parallel: verdicts.parallel,
    ends: verdicts.steps !== undefined,
  };
  // A run leaves some loops only by failing without a route, which NG501 reports: the proofs call such a loop endless,
  // the runs end.
  const failsOut = given.endless && !given.answers.sound && verdicts.sound && verdicts.gaps().length > 0;
  const followed = failsOut ? { ...given, answers: { ...given.answers, sound: true } } : given;
  const differences: string[] = [];
  if (!states.complete) differences.push("gave up");
  differences.push(...differencesOf(graph, followed.answers, expected, family === "beyond"));
  if (followed.steps !== undefined && verdicts.steps !== undefined && followed.steps < verdicts.steps)
    differences.push(`${followed.steps} steps seem enough, a run takes ${verdicts.steps}`);
  for (const run of followed.shown) {
    const ran = traceOf(states, run).map((item) => item.ran);
    if (run.feasible && !verdicts.canRun(ran)) differences.push(`no run goes ${JSON.stringify(ran)}`);
  }
  let freeAlarms = 0;
  const isPlanted = bug.outcomes !== undefined || bug.stepsFrom !== undefined;
  const gaps = isPlanted || family === "beyond" ? [] : verdicts.gaps();
  if (!isPlanted) {
    const free = answersOf(
      model,
      explore(model, outcomes, { data: false, watched: watchedNodes(assertions) }),
      assertions,
    ).answers;
    // If conditions keep a run in a loop that free choices can leave, the two results differ. The comparison without
    // conditions then proves nothing.
    const answers = { ...free, sound: free.sound && hasFreeLoops(model) };
    differences.push(
      ...differencesOf(graph, answers, expected, true).map((difference) => `without conditions: ${difference}`),
    );
    freeAlarms = alarms(answers, expected);
    differences.push(...differencesApart(graph, model, outcomes, assertions, states, verdicts));
    differences.push(...differencesOfCheck(graph, checkGraph(bound), verdicts, gaps));
  }
  return {
    differences,
    verdicts,
    graph,
    features: featuresOf(graph, model),
    gaps,
    alarms: { followed: alarms(followed.answers, expected), free: freeAlarms, chances: 5 + assertions.length },
  };
}

/** The proven properties; `true` is the good value of each. */
interface Answers {
  readonly sound: boolean;
  readonly noDeadlock: boolean;
  readonly noRace: boolean;
  readonly holds: readonly boolean[];
  /** Most nodes in one step. */
  readonly parallel: number;
  /** Every run comes to an end. */
  readonly ends: boolean;
}

function answersOf(
  model: ControlModel,
  states: StateGraph,
  assertions: readonly Assertion[],
): {
  readonly answers: Answers;
  readonly shown: readonly Run[];
  readonly steps: number | undefined;
  readonly endless: boolean;
} {
  const finder = createRunFinder(states);
  const defects = findDefects(states, finder);
  const violations = assertions.map((assertion) => findViolation(states, assertion, finder));
  const { steps, perAnswer } = findBounds(states);
  const { leftIncomplete, doubleRuns, accidentalJoins, lostSignals, livelocks, neverFire } = defects;
  const shown = [leftIncomplete, doubleRuns, accidentalJoins, lostSignals, livelocks, neverFire].flatMap((found) =>
    found.map((item) => item.run),
  );
  return {
    answers: {
      sound: isSound(defects),
      noDeadlock: !states.states.some(({ id, ready, places }) => id > 0 && ready === 0 && places.length > 0),
      noRace: !hasRace(model, states),
      holds: violations.map((run) => run === undefined),
      parallel: Math.max(...states.states.map(({ ready }) => ready)),
      ends: steps !== undefined && !perAnswer,
    },
    shown: [...shown, ...violations].filter((run) => run !== undefined),
    steps,
    endless: livelocks.length + defects.mayGoOn.length > 0,
  };
}

/** With `cautious`, findings without a run are allowed, but every proven property must hold. */
function differencesOf(graph: RandomGraph, got: Answers, expected: Answers, cautious: boolean): string[] {
  const found: string[] = [];
  const same = (what: string, proven: boolean, holds: boolean): void => {
    if (proven === holds || (cautious && !proven)) return;
    found.push(`${what}: proofs say ${String(proven)}, runs say ${String(holds)}`);
  };
  same("sound", got.sound, expected.sound);
  same("no deadlock", got.noDeadlock, expected.noDeadlock);
  same("no race", got.noRace, expected.noRace);
  same("every run ends", got.ends, expected.ends);
  got.holds.forEach((holds, index) => same(describe(graph, index), holds, expected.holds[index]!));
  if (got.parallel < expected.parallel || (got.parallel > expected.parallel && !cautious))
    found.push(`${got.parallel} nodes in a step, runs have ${expected.parallel}`);
  return found;
}

function alarms(got: Answers, expected: Answers): number {
  const flags = [
    [got.sound, expected.sound],
    [got.noDeadlock, expected.noDeadlock],
    [got.noRace, expected.noRace],
    [got.ends, expected.ends],
    [got.parallel <= expected.parallel, true],
    ...got.holds.map((holds, index) => [holds, expected.holds[index]!]),
  ];
  return flags.filter(([proven, holds]) => proven === false && holds === true).length;
}

function assertionsOf(graph: RandomGraph): Assertion[] {
  const indexOf = new Map(graph.nodes.map((node, index) => [node.name, index]));
  const index = (name: string | undefined): number => (name === "end" ? -1 : indexOf.get(name ?? "")!);
  return graph.assertions.map(({ form, a, b }): Assertion => {
    if (form === "before" || form === "before each") return { form, first: index(a), then: index(b) };
    return form === "never" ? { form, node: index(a), with: index(b) } : { form, node: index(a) };
  });
}

export function describe(graph: RandomGraph, index: number): string {
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
