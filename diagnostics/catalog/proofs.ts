/** Proven properties as sentences, and properties that could not be proven. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Place } from "../diagnostic.ts";
import { list } from "./reachability.ts";

/** NG310: every run can complete. */
export function soundText(facts: {
  states: number;
  joinsJumps: boolean;
  graphs: readonly string[];
  failing: readonly string[];
}): string {
  const called = facts.graphs.length === 0 ? "" : `, and so does every run of ${list(facts.graphs)}`;
  const joins = facts.joinsJumps ? ", or those of one jump in one step" : "";
  const fails = facts.failing.length === 0 ? "" : ` unless it fails at ${list(facts.failing, "or")}`;
  return `sound: every run can complete${fails}, leaves no barrier half filled, and joins parallel branches only at barriers${joins}${called} (${facts.states} states)`;
}

/** NG207: a loop has a bound. */
export function loopBoundText(facts: { node: string; rounds: number; perAnswer: boolean }): string {
  const times = facts.rounds === 1 ? "once" : `${facts.rounds} times`;
  return `\`${facts.node}\` runs at most ${times}${facts.perAnswer ? " between two pauses" : ""}`;
}

/** NG207: a loop ends at a bound of unknown value. */
export function loopEndsText(facts: { cycle: readonly string[]; counters: readonly string[] }): string {
  const [first = ""] = facts.cycle;
  const counts = facts.counters.length === 1 ? "reaches its bound" : "reach their bounds";
  return `the loop \`${[...facts.cycle, first].join(" -> ")}\` ends when ${list(facts.counters)} ${counts}`;
}

/** NG210: every run has a bound. */
export function stepBoundText(facts: { steps: number; perAnswer: boolean }): string {
  const steps = `${facts.steps} step${facts.steps === 1 ? "" : "s"}`;
  return facts.perAnswer ? `at most ${steps} run without a pause` : `every run ends within ${steps}`;
}

/** NG214: an assertion holds. */
export function assertionProvenText(facts: { assertion: string; first?: string | undefined }): string {
  const scope = facts.first === undefined ? "" : `: for the first run of \`${facts.first}\``;
  return `\`${facts.assertion}\` holds on every run${scope}`;
}

/** NG605: the most calls that a run can make. */
export function worstCaseCallsText(facts: {
  calls: readonly { readonly what: string; readonly count: number }[];
  perAnswer: boolean;
  perItem: boolean;
}): string {
  const shown = facts.calls.map(({ what, count }) => `${count} ${what}${count === 1 ? "" : "s"}`).join(", ");
  const scope = facts.perAnswer ? " between two pauses" : " in a run";
  return `at most ${shown}${scope}, retries included${facts.perItem ? " (an item of a `for` counted once)" : ""}`;
}

/** NG609: the most nodes of one step. */
export function parallelismText(facts: { nodes: readonly string[]; perItem: boolean; perTask?: boolean }): string {
  const count = facts.nodes.length;
  const several = [
    ...(facts.perItem ? ["the items of a `for`"] : []),
    ...(facts.perTask === true ? ["several tasks sent to one node"] : []),
  ];
  const items = several.length === 0 ? "" : `, not counting ${several.join(" and ")}`;
  return count === 1
    ? `one node at a time${items}`
    : `at most ${count} nodes in one step${items} (${list(facts.nodes)})`;
}

/** NG900: properties that are neither proven nor refuted, with the reason. */
export function notProven(
  place: Place,
  facts: { properties: readonly string[]; why: string; help?: string | undefined; severity?: Severity | undefined },
): Diagnostic {
  return diagnostic("NG900", place, `not proven: ${facts.properties.join(", ")} (${facts.why})`, {
    label: "not decided",
    help: facts.help,
    ...(facts.severity === undefined ? {} : { severity: facts.severity }),
  });
}

/** NG901: the solver could not decide the conditions of the shown run, so the finding is a warning. */
export function traceUndecided(place: Place, facts: { code: string }): Diagnostic {
  const { file, span } = place;
  return diagnostic(
    "NG901",
    { file, span },
    `the conditions on the run that ${facts.code} shows could not be decided together`,
    { label: "possible as far as is known" },
  );
}
