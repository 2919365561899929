/** Reachability of nodes and ends, bounds of loops, and assertions. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Label, type Place, type TraceStep } from "../diagnostic.ts";

/** A run that shows a problem, and its end. */
export interface ShownRun {
  readonly trace: readonly TraceStep[];
  readonly traceEnd: string;
}

/** NG106: every branch ends at a node without edges. */
export function noPathToEnd(place: Place, facts: { graph: string; lastNodes: readonly string[] }): Diagnostic {
  return diagnostic("NG106", place, `no path of \`${facts.graph}\` reaches \`end\``, {
    label: "runs end where a node has no edges",
    notes: facts.lastNodes.length === 0 ? [] : [`branches end at ${list(facts.lastNodes)}`],
    help: facts.lastNodes[0] === undefined ? undefined : `to make the end explicit: \`${facts.lastNodes[0]} -> end\``,
  });
}

/** NG201: no path leads to a node. */
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
    notes: facts.behind.length === 0 ? [] : [`also unreachable: ${list(facts.behind)}`],
    help: `add an edge to it, like \`start -> ${facts.node}\`, or remove it`,
  });
}

/** NG202: every route to a node is never taken. */
export function onlyDeadRoutes(place: Place, facts: { node: string; routes: readonly Label[] }): Diagnostic {
  return diagnostic("NG202", place, `\`${facts.node}\` never runs: no route to it is ever taken`, {
    label: "reachable only through routes that are never taken",
    labels: facts.routes,
    help: "change the condition, or remove the route and the node",
  });
}

/** NG203: several loops lead only to each other. */
export function noWayToEnd(place: Place, facts: { node: string; nodes: readonly string[] }): Diagnostic {
  return diagnostic("NG203", place, `no path from \`${facts.node}\` to an end`, {
    label: "a run that reaches this node never completes",
    notes: [`from here on only these run: ${list(facts.nodes)}`],
    help: `let one of them lead out, like \`${facts.nodes[0] ?? facts.node} -> end when …\``,
  });
}

/** NG204: no edge leaves a loop. */
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

/** NG205: the condition that leaves a loop never holds. */
export function exitNeverHolds(
  place: Place,
  facts: { condition: string; node: string; cycle: readonly string[]; severity: Severity; run: ShownRun },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic("NG205", place, `the exit of a loop can never be taken: ${facts.condition} never holds`, {
    label: "never holds inside the loop",
    notes: [`the loop is \`${shown}\``],
    help: "change the condition, or let the loop change what it reads",
    severity: facts.severity,
    ...facts.run,
  });
}

/** NG206: no bound was found for a loop. */
export function noLoopBound(place: Place, facts: { cycle: readonly string[]; limit: number | null }): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic("NG206", place, `no bound found for the loop \`${shown}\``, {
    label: facts.limit === null ? "may repeat forever" : `may repeat until the limit of ${facts.limit} steps`,
    help: "count the rounds in a channel and leave the loop at a limit, or declare `limit steps N`",
  });
}

/** NG208: the conditions that leave a loop read only channels that the loop does not write. */
export function exitUnchanged(
  place: Place,
  facts: { cycle: readonly string[]; reads: readonly string[]; areInputs: boolean; labels: readonly Label[] },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  const reads = facts.reads.length === 0 ? "nothing" : list(facts.reads);
  return diagnostic("NG208", place, `the loop \`${shown}\` can only repeat forever: nothing in it changes ${reads}`, {
    label: facts.reads.length === 0 ? "reads nothing that changes" : `depends on ${reads} alone`,
    labels: facts.labels,
    help:
      facts.reads.length === 0
        ? "let the condition read a channel that the loop writes"
        : facts.areInputs
          ? "inputs and configuration never change: read a channel that a node of the loop writes"
          : `let a node of the loop write ${list(facts.reads)}, or read a channel that it writes`,
  });
}

/** NG211: `limit steps` is lower than the number of steps of some run. */
export function stepLimitTooLow(
  place: Place,
  facts: { limit: number; needed: number; every: boolean; stated: boolean; run: ShownRun },
): Diagnostic {
  const which = facts.every ? "every run needs at least" : "a run can need";
  // The limit is a statement in the text, and a key of `limits` in YAML.
  const isStatement = /^limit\b/.test(place.file.text.slice(place.span.start, place.span.end));
  return diagnostic("NG211", place, `${which} ${facts.needed} steps, and the limit is ${facts.limit}`, {
    label: facts.stated ? "stops runs that would complete" : "no `limit steps` here: 100 steps are the default",
    help: `\`limit steps ${facts.needed}\``,
    fixes: facts.stated
      ? [
          {
            title: `raise the limit to ${facts.needed}`,
            edits: [{ span: place.span, text: `${isStatement ? "limit steps" : "steps:"} ${facts.needed}` }],
          },
        ]
      : [],
    ...facts.run,
  });
}

/** NG213: a run violates an assertion. `isOpen`: the run may be impossible. */
export function assertionViolated(
  place: Place,
  facts: { assertion: string; why: string; severity: Severity; run: ShownRun; undecided: boolean; isOpen: boolean },
): Diagnostic {
  const verb = facts.isOpen ? "may not hold" : "does not hold";
  return diagnostic("NG213", place, `\`${facts.assertion}\` ${verb}: ${facts.why}`, {
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
