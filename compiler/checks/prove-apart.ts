import { setChannels } from "../bind/bound-graph.ts";
import { type Assertion, findViolation } from "../explore/assertions.ts";
import { findConcurrentPlaces, type MayRunTogether } from "../explore/concurrent-places.ts";
import { findDefects, isSound } from "../explore/defects.ts";
import { explore } from "../explore/explore.ts";
import { type Apart, exploreApart } from "../explore/explore-apart.ts";
import type { Outcomes } from "../explore/outcomes.ts";
import { canRunWithout } from "../explore/reach.ts";
import { createRunFinder } from "../explore/runs.ts";
import { hasFreeLoops } from "../explore/term-liveness.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import { type AssertionToCheck, provenText } from "./check-assertions.ts";
import type { CheckContext } from "./check-context.ts";

export interface ProvenApart {
  /** The number of states of the soundness proof; `undefined` without a proof. */
  readonly soundStates: number | undefined;
  /** Names of the other properties that are not proven. */
  readonly open: readonly string[];
}

/**
 * Proofs for graphs whose exploration is incomplete. They use the interleaved exploration (`exploreApart`), the
 * concurrency relation, and an exploration that ignores conditions. The latter runs only if the first two leave a
 * property open.
 */
export function proveApart(
  context: CheckContext,
  { states: followed, apart }: { readonly states: StateGraph; readonly apart: Apart },
  assertions: readonly AssertionToCheck[],
  maxStates: number,
): ProvenApart {
  const { model } = context;
  const { outcomes } = followed;
  // Parallel branches that meet without a barrier have many states, and are not sound.
  const isEnough = (): boolean => apart.isUnsafe === true;
  const mayRunTogether = apart.holds ? findConcurrentPlaces(model, outcomes) : undefined;
  let whole: StateGraph | undefined;
  const wholeGraph = (): StateGraph | undefined => {
    if (!followed.followsValues) return undefined;
    whole ??= explore(model, outcomes, { data: false, maxStates, watched: followed.watched, isEnough });
    return whole.complete ? whole : undefined;
  };
  const question: Question = { context, outcomes, isApart: apart.holds, mayRunTogether, wholeGraph, maxStates };
  // Without conditions, a run can leave every loop with an exit. This is a proof only if the conditions do not prevent
  // it.
  const loopsAreFree = hasFreeLoops(model);
  let soundStates = apart.holds && loopsAreFree ? apart.states : undefined;
  if (soundStates === undefined && loopsAreFree) {
    const found = wholeGraph();
    if (found !== undefined && found.stuck.size === 0 && isSound(findDefects(found)))
      soundStates = found.states.length - 1;
  }
  const open: string[] = [];
  if (!writersAreApart(question)) open.push("writers of one step");
  for (const item of assertions) {
    if (holds(question, item.assertion)) {
      context.prove("NG214", provenText(item), item.bound.declaration.span);
    } else open.push(`\`${item.text}\``);
  }
  return { soundStates, open };
}

interface Question {
  readonly context: CheckContext;
  readonly outcomes: Outcomes;
  readonly isApart: boolean;
  readonly mayRunTogether: MayRunTogether | undefined;
  /** The exploration without conditions; `undefined` if it is incomplete. */
  wholeGraph(): StateGraph | undefined;
  readonly maxStates: number;
}

function holds(question: Question, assertion: Assertion): boolean {
  if (holdsApart(question, assertion)) return true;
  const whole = question.wholeGraph();
  return whole !== undefined && findViolation(whole, assertion, createRunFinder(whole)) === undefined;
}

function holdsApart(
  { context, outcomes, isApart, mayRunTogether, maxStates }: Question,
  assertion: Assertion,
): boolean {
  const { model } = context;
  switch (assertion.form) {
    case "before":
      return !canRunWithout(model, outcomes, assertion.first, assertion.then);
    case "before each":
    case "at":
      return false;
    case "never":
      return mayRunTogether?.(assertion.node, assertion.with) === false;
    case "once":
      return isApart && exploreApart(model, outcomes, { maxStates, once: assertion.node }).holds;
    case "eventually":
      return isApart && exploreApart(model, outcomes, { maxStates, without: assertion.node }).holds;
  }
}

/** Whether no two writers of a channel without a reducer, or with a write by `set`, can run in the same step. */
function writersAreApart(question: Question): boolean {
  const { graph, model } = question.context;
  const pairs: [number, number][] = [];
  const replaced = setChannels(graph);
  for (const channel of graph.channels) {
    if (channel.reducer !== undefined && !replaced.has(channel.name)) continue;
    const writers = model.nodes.filter(({ declared }) => graph.nodes[declared]!.writes.includes(channel.name));
    for (let i = 0; i < writers.length; i++) {
      // Several tasks can be sent to one node.
      for (let j = writers[i]!.isSent ? i : i + 1; j < writers.length; j++) {
        const [a, b] = [writers[i]!.index, writers[j]!.index];
        if (question.mayRunTogether?.(a, b) === false) continue;
        pairs.push([a, b]);
        if (pairs.length > 1000) return false;
      }
    }
  }
  if (pairs.length === 0) return true;
  const whole = question.wholeGraph();
  return whole !== undefined && pairs.every(([a, b]) => !runTogether(whole, a, b));
}

function runTogether(graph: StateGraph, a: number, b: number): boolean {
  return graph.states.some(({ places, ready }) => {
    const [first, second] = [places.indexOf(a), places.indexOf(b)];
    return first !== -1 && first < ready && second !== -1 && second < ready;
  });
}
