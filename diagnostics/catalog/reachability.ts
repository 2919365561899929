/** Where runs can and cannot get, and whether loops end: NG106, NG201 to NG214. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Label, type Place, type TraceStep } from "../diagnostic.ts";

/** A run that shows a problem, and how it ends. */
export interface ShownRun {
  readonly trace: readonly TraceStep[];
  readonly traceEnd: string;
}

/** NG106: every branch ends at a node without edges. */
export function noPathToEnd(place: Place, facts: { graph: string; lastNodes: readonly string[] }): Diagnostic {
  return diagnostic("NG106", place, `no path of \`${facts.graph}\` reaches \`end\``, {
    label: "runs end where a node has no edges",
    notes: facts.lastNodes.length === 0 ? [] : [`branches end at ${list(facts.lastNodes)}`],
    help: facts.lastNodes[0] === undefined ? undefined : `to say so in the text: \`${facts.lastNodes[0]} -> end\``,
  });
}

/** NG201: nothing leads to a node. */
export function unreachableNode(
  place: Place,
  facts: { node: string; cycleWith: readonly string[]; behind: readonly string[] },
): Diagnostic {
  const message =
    facts.cycleWith.length === 0
      ? `unreachable node \`${facts.node}\``
      : `unreachable nodes ${list([facts.node, ...facts.cycleWith])}`;
  return diagnostic("NG201", place, message, {
    label: facts.cycleWith.length === 0 ? "no edge leads here" : "only these nodes lead to each other",
    notes: facts.behind.length === 0 ? [] : [`what lies behind it is cut off too: ${list(facts.behind)}`],
    help: `add an edge to it, like \`start -> ${facts.node}\`, or remove it`,
  });
}

/** NG202: only routes that are never taken lead to a node. */
export function onlyDeadRoutes(place: Place, facts: { node: string; routes: readonly Label[] }): Diagnostic {
  return diagnostic("NG202", place, `\`${facts.node}\` never runs: no route to it is ever taken`, {
    label: "reachable only through routes that are never taken",
    labels: facts.routes,
    help: "change the condition, or remove the route and the node",
  });
}

/** NG203: several loops that lead only to each other. */
export function noWayToEnd(place: Place, facts: { node: string; nodes: readonly string[] }): Diagnostic {
  return diagnostic("NG203", place, `no way from \`${facts.node}\` to an end`, {
    label: "a run that gets here never completes",
    notes: [`from here on only these run: ${list(facts.nodes)}`],
    help: `let one of them lead out, like \`${facts.nodes[0] ?? facts.node} -> end when …\``,
  });
}

/** NG204: one loop that nothing leaves. */
export function cycleWithoutExit(
  place: Place,
  facts: { cycle: readonly string[]; labels: readonly Label[] },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic("NG204", place, `cycle without an exit: \`${shown}\``, {
    label: facts.cycle.length === 1 ? "leads to itself, and nowhere else" : `closes the cycle, and nothing leaves it`,
    labels: facts.labels,
    help: `let one of the nodes lead out, like \`${facts.cycle.at(-1) ?? ""} -> end when …\``,
  });
}

/** NG205: a loop that could be left, if only its condition could hold. */
export function exitNeverHolds(
  place: Place,
  facts: { condition: string; node: string; cycle: readonly string[]; severity: Severity; run: ShownRun },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic("NG205", place, `the exit of a loop can never be taken: ${facts.condition} never holds`, {
    label: "never holds while the loop goes round",
    notes: [`the loop is \`${shown}\``],
    help: "change the condition, or let the loop change what it asks about",
    severity: facts.severity,
    ...facts.run,
  });
}

/** NG206: a loop that nothing bounds but the step limit. */
export function noLoopBound(place: Place, facts: { cycle: readonly string[]; limit: number | null }): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic("NG206", place, `no bound found for the loop \`${shown}\``, {
    label: facts.limit === null ? "may go round forever" : `may go round until the limit of ${facts.limit} steps`,
    help: "count the rounds in a channel and leave the loop at a number, or state what a run may cost with `limit steps N`",
  });
}

/** NG208: the conditions that could end a loop look only at what the loop leaves alone. */
export function exitUnchanged(
  place: Place,
  facts: { cycle: readonly string[]; reads: readonly string[]; areInputs: boolean; labels: readonly Label[] },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  const reads = facts.reads.length === 0 ? "nothing" : list(facts.reads);
  return diagnostic("NG208", place, `the loop \`${shown}\` can only go round forever: nothing in it changes ${reads}`, {
    label: facts.reads.length === 0 ? "asks about nothing that changes" : `depends on ${reads} alone`,
    labels: facts.labels,
    help:
      facts.reads.length === 0
        ? "let the condition read a channel that the loop writes"
        : facts.areInputs
          ? "inputs never change: ask about something that a node of the loop writes"
          : `let a node of the loop write ${list(facts.reads)}, or ask about something that it writes`,
  });
}

/** NG211: `limit steps` stops runs that would complete. */
export function stepLimitTooLow(
  place: Place,
  facts: { limit: number; needed: number; every: boolean; stated: boolean; run: ShownRun },
): Diagnostic {
  const which = facts.every ? "every run needs at least" : "a run can need";
  return diagnostic("NG211", place, `${which} ${facts.needed} steps, and the limit is ${facts.limit}`, {
    label: facts.stated ? "stops runs that would complete" : "no `limit steps` here: 100 steps are the default",
    help: `\`limit steps ${facts.needed}\``,
    fixes:
      facts.stated && /^limit\b/.test(place.file.text.slice(place.span.start))
        ? [
            {
              title: `raise the limit to ${facts.needed}`,
              edits: [{ span: place.span, text: `limit steps ${facts.needed}` }],
            },
          ]
        : [],
    ...facts.run,
  });
}

/** NG213: a run that an assertion says cannot be. */
export function assertionViolated(
  place: Place,
  facts: { assertion: string; why: string; severity: Severity; run: ShownRun; undecided: boolean },
): Diagnostic {
  return diagnostic("NG213", place, `\`${facts.assertion}\` does not hold: ${facts.why}`, {
    label: facts.undecided ? "not on every run, as far as conditions can be decided" : "not on every run",
    severity: facts.severity,
    ...facts.run,
  });
}

/** "`a`, `b` and `c`". */
export function list(names: readonly string[], word = "and"): string {
  const quoted = names.map((name) => `\`${name}\``);
  const shown = quoted.length > 8 ? [...quoted.slice(0, 7), `${quoted.length - 7} more`] : quoted;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${word} ${shown.at(-1) ?? ""}`;
}
