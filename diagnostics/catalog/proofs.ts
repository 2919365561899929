/** What holds for every run, in words, and what could not be shown: NG207, NG210, NG214, NG310, NG605, NG609, NG900, NG901. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";
import { list } from "./reachability.ts";

/** NG310. */
export function soundText(facts: { states: number; graphs: readonly string[] }): string {
  const called = facts.graphs.length === 0 ? "" : `, and so does every run of ${list(facts.graphs)}`;
  return `sound: every run can complete, leaves no barrier half filled, and joins parallel branches only at barriers${called} (${facts.states} states)`;
}

/** NG207. */
export function loopBoundText(facts: { node: string; rounds: number; perAnswer: boolean }): string {
  const times = facts.rounds === 1 ? "once" : `${facts.rounds} times`;
  return `\`${facts.node}\` runs at most ${times}${facts.perAnswer ? " between two pauses" : ""}`;
}

/** NG210. */
export function stepBoundText(facts: { steps: number; perAnswer: boolean }): string {
  const steps = `${facts.steps} step${facts.steps === 1 ? "" : "s"}`;
  return facts.perAnswer ? `at most ${steps} run without a pause` : `every run ends within ${steps}`;
}

/** NG214. */
export function assertionProvenText(facts: { assertion: string }): string {
  return `\`${facts.assertion}\` holds on every run`;
}

/** NG605. */
export function worstCaseCallsText(facts: {
  calls: readonly { readonly what: string; readonly count: number }[];
  perAnswer: boolean;
  perItem: boolean;
}): string {
  const shown = facts.calls.map(({ what, count }) => `${count} ${what}${count === 1 ? "" : "s"}`).join(", ");
  const scope = facts.perAnswer ? " between two pauses" : " in a run";
  return `at most ${shown}${scope}, retries included${facts.perItem ? " (an item of a `for` counted once)" : ""}`;
}

/** NG609. */
export function parallelismText(facts: { nodes: readonly string[]; perItem: boolean }): string {
  const count = facts.nodes.length;
  const items = facts.perItem ? ", not counting the items of a `for`" : "";
  return count === 1
    ? `one node at a time${items}`
    : `at most ${count} nodes in one step${items} (${list(facts.nodes)})`;
}

/** NG900: the search gave up. */
export function notProven(
  place: Place,
  facts: { properties: readonly string[]; why: string; help?: string | undefined; severity?: Severity | undefined },
): Diagnostic {
  return diagnostic("NG900", place, `not proven: ${facts.properties.join(", ")}`, {
    label: facts.why,
    help: facts.help,
    ...(facts.severity === undefined ? {} : { severity: facts.severity }),
  });
}

/** NG901: why a finding is a warning and not an error. */
export function traceUndecided(place: Place, facts: { code: string }): Diagnostic {
  const { file, span } = place;
  return diagnostic(
    "NG901",
    { file, span },
    `the conditions on the run that ${facts.code} shows could not be decided together`,
    { label: "possible as far as is known" },
  );
}
