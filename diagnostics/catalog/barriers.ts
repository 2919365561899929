/** Barriers, and parallel branches that meet or end. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import { list, type ShownRun } from "./reachability.ts";

/** The target that a barrier which never fires prevents from running; another edge may still run it. */
interface NeverFires {
  readonly target: string;
  readonly runsOtherwise: boolean;
}

/** "`c` can never run: its barrier", or "the barrier into `c` never fires: it". */
function neverFires({ target, runsOtherwise }: NeverFires): string {
  return runsOtherwise ? `the barrier into \`${target}\` never fires: it` : `\`${target}\` can never run: its barrier`;
}

/** A member of a barrier in source form: `a`, or `any(a, h)`. */
export type MemberName = string;

/** NG301: members lie in different arms of one choice. */
export function waitsForExclusiveArms(
  place: Place,
  facts: NeverFires & {
    members: readonly MemberName[];
    arms: readonly Label[];
    run?: ShownRun | undefined;
    fixes: readonly Fix[];
    severity?: Severity | undefined;
  },
): Diagnostic {
  const which = facts.members.length === 2 ? "both arms" : "several arms";
  return diagnostic("NG301", place, `${neverFires(facts)} waits for ${which} of one choice`, {
    label: facts.members.length === 2 ? "waits for both" : "waits for all of them",
    labels: facts.arms,
    help: `signal it from either: \`any(${facts.members.join(", ")}) -> ${facts.target}\``,
    fixes: facts.fixes,
    ...(facts.severity === undefined ? {} : { severity: facts.severity }),
    ...facts.run,
  });
}

/** NG301: a member runs only after the barrier. */
export function waitsForItself(
  place: Place,
  facts: NeverFires & { member: MemberName; others: readonly string[] },
): Diagnostic {
  return diagnostic("NG301", place, `${neverFires(facts)} waits for \`${facts.member}\`, which only runs after it`, {
    label: `waits for \`${facts.member}\``,
    notes: facts.others.length === 0 ? [] : [`the cycle of waits goes through ${list(facts.others)}`],
    help: `remove \`${facts.member}\` from the barrier, or start it in another way`,
  });
}

/** NG301: a member has no edge to the waiting node. */
export function waitsWithoutEdge(place: Place, facts: NeverFires & { member: string }): Diagnostic {
  return diagnostic("NG301", place, `${neverFires(facts)} waits for \`${facts.member}\`, which has no edge to it`, {
    label: "never signals",
    help: `add the edge \`${facts.member} -> ${facts.target}\`, or remove \`${facts.member}\` from \`waits\``,
  });
}

/** NG301: a barrier or an `any(…)` without names. */
export function waitsForNobody(place: Place, facts: { word: "all" | "settled" | "any" }): Diagnostic {
  return diagnostic("NG301", place, `this barrier can never be complete: \`${facts.word}()\` names no node`, {
    label: "waits for no node",
    help: `name the nodes to wait for: \`${facts.word === "settled" ? "settled" : "all"}(a, b) -> …\``,
  });
}

/** NG301: no run fills all members, for a reason that is not covered above. */
export function neverComplete(
  place: Place,
  facts: NeverFires & {
    run?: ShownRun | undefined;
    missing: readonly MemberName[];
    /** Those of them that always fail. */
    failing: readonly MemberName[];
    severity?: Severity | undefined;
  },
): Diagnostic {
  const { missing, failing } = facts;
  const why =
    failing.length > 0
      ? `waits for ${list(failing)}, which always ${failing.length === 1 ? "fails" : "fail"}`
      : missing.length > 0
        ? `waits for ${list(missing)}, which never ${missing.length === 1 ? "signals" : "signal"} it`
        : "is never complete, because no run fills all of its members";
  return diagnostic("NG301", place, `${neverFires(facts)} ${why}`, {
    label: "never complete",
    help: "wait only for nodes that every run signals from, or use `any(…)` for nodes that replace each other",
    ...(facts.severity === undefined ? {} : { severity: facts.severity }),
    ...facts.run,
  });
}

/** NG302, NG303: a run ends while a barrier is partly filled. */
export function leftIncomplete(
  place: Place,
  facts: {
    target: string;
    present: readonly MemberName[];
    missing: readonly MemberName[];
    firesFirst: boolean;
    severity: Severity;
    undecided: boolean;
    run: ShownRun;
    labels: readonly Label[];
    help?: string | undefined;
    fixes: readonly Fix[];
  },
): Diagnostic {
  const code = facts.firesFirst ? "NG303" : "NG302";
  const when = facts.firesFirst ? " from its second round on" : "";
  const message = `the barrier into \`${facts.target}\` can be left incomplete${when}: ${list(facts.present)} ${facts.present.length === 1 ? "has" : "have"} signalled, ${list(facts.missing)} never ${facts.missing.length === 1 ? "does" : "do"}`;
  return diagnostic(code, place, message, {
    label: `may wait for ${list(facts.missing)} forever`,
    labels: facts.labels,
    severity: facts.severity,
    help:
      facts.help ??
      `let every path lead to a member, let another node signal in its place: \`any(${facts.missing[0] ?? "a"}, …)\`, or wait only for members that can still signal: \`settled(…)\``,
    fixes: facts.fixes,
    ...facts.run,
  });
}

/** NG304: a member is unreachable. */
export function memberUnreachable(
  place: Place,
  facts: NeverFires & { member: string; declaration?: Label | undefined; behind: readonly string[] },
): Diagnostic {
  return diagnostic("NG304", place, `${neverFires(facts)} waits for \`${facts.member}\`, and nothing leads there`, {
    label: "never runs",
    labels: facts.declaration === undefined ? [] : [facts.declaration],
    notes: facts.behind.length === 0 ? [] : [`also unreachable: ${list(facts.behind)}`],
    help: `add an edge to \`${facts.member}\`, or remove it from the barrier`,
  });
}

/** NG305: a barrier has one member, or names a node twice. */
export function degenerateBarrier(
  place: Place,
  facts: { what: "one" | "repeated"; member: string; help: string; fixes: readonly Fix[] },
): Diagnostic {
  return facts.what === "one"
    ? diagnostic("NG305", place, "a barrier with one member waits for nothing", {
        label: `only \`${facts.member}\``,
        help: facts.help,
        fixes: facts.fixes,
      })
    : diagnostic("NG305", place, `the barrier names \`${facts.member}\` more than once`, {
        label: "named before",
        help: facts.help,
        fixes: facts.fixes,
      });
}

/** NG305: a member of `settled(…)` is also a target. */
export function settledOnTarget(place: Place, facts: { member: string; fixes: readonly Fix[] }): Diagnostic {
  const message = `\`${facts.member}\` is a member and a target of this \`settled\`: each of its runs would start it again`;
  return diagnostic("NG305", place, message, {
    label: "also a target",
    severity: "error",
    help: `remove \`${facts.member}\` from the members`,
    fixes: facts.fixes,
  });
}

/** NG306: members exclude each other within one round. */
export function exclusiveMembers(
  place: Place,
  facts: { members: readonly MemberName[]; labels: readonly Label[]; replacement: string; fixes: readonly Fix[] },
): Diagnostic {
  return diagnostic(
    "NG306",
    place,
    `${list(facts.members)} are arms of one choice: the barrier needs two rounds to see both`,
    {
      label: "never in the same round",
      labels: facts.labels,
      help: `where either is enough: \`${facts.replacement}\``,
      fixes: facts.fixes,
    },
  );
}

/** Two parallel arms that lead to one node without a barrier. */
interface MeetingArms {
  readonly node: string;
  readonly sources: readonly [string, string];
  readonly labels: readonly Label[];
  readonly run: ShownRun;
  readonly help: string;
  readonly fixes: readonly Fix[];
}

/** NG307: two parallel arms run the node once each. */
export function runsTwice(place: Place, facts: MeetingArms): Diagnostic {
  return diagnostic(
    "NG307",
    place,
    `\`${facts.node}\` can run twice: ${list(facts.sources)} run in parallel and signal it in different steps`,
    {
      label: "runs once for each signal",
      labels: facts.labels,
      help: facts.help,
      fixes: facts.fixes,
      ...facts.run,
    },
  );
}

/** NG308: a branch ends while others run. */
export function branchEndsEarly(
  place: Place,
  facts: { node: string; others: readonly string[]; run: ShownRun },
): Diagnostic {
  return diagnostic("NG308", place, `the branch of \`${facts.node}\` can end while others continue`, {
    label: `ends while ${list(facts.others)} still ${facts.others.length === 1 ? "runs" : "run"}`,
    ...facts.run,
  });
}

/** NG309: a member signals again before its barrier has fired. */
export function signalLost(
  place: Place,
  facts: { target: string; member: MemberName; sameStep: boolean; run: ShownRun },
): Diagnostic {
  const message = facts.sameStep
    ? `two nodes fill one place of the barrier into \`${facts.target}\` in the same step: one of their signals is lost`
    : `\`${facts.member}\` can signal the barrier into \`${facts.target}\` again before it has fired: one of the signals is lost`;
  return diagnostic("NG309", place, message, {
    label: facts.sameStep ? "counts once" : "counts once, however often it signals",
    help: "let the barrier fire before its members run again, or give the second signal a member of its own",
    ...facts.run,
  });
}

/** NG311: a run can enter a loop without an exit. */
export function livelock(
  place: Place,
  facts: { nodes: readonly string[]; severity: Severity; run: ShownRun },
): Diagnostic {
  return diagnostic("NG311", place, `a run can enter a loop that it never leaves: ${list(facts.nodes)}`, {
    label: "never ends once it is here",
    help: "let one of them lead out under a condition that can hold there",
    severity: facts.severity,
    ...facts.run,
  });
}

/** NG312: a node pauses the run while other nodes run. */
export function pauseBesideSiblings(
  place: Place,
  facts: { node: string; siblings: readonly string[]; run: ShownRun },
): Diagnostic {
  return diagnostic(
    "NG312",
    place,
    `\`${facts.node}\` can pause the run while ${list(facts.siblings)} ${facts.siblings.length === 1 ? "runs" : "run"} beside it`,
    {
      label: "their results wait for the answer",
      ...facts.run,
    },
  );
}

/** NG314: an exclusive jump drops the signals of nodes in the same step. */
export function exclusiveJumpDiscards(
  place: Place,
  facts: { node: string; siblings: readonly string[]; run: ShownRun },
): Diagnostic {
  return diagnostic(
    "NG314",
    place,
    `an exclusive jump of \`${facts.node}\` would discard the signals of ${list(facts.siblings)}`,
    {
      label: "may replace every other route of the step",
      help: "jump without `exclusive`, or let it run alone",
      ...facts.run,
    },
  );
}

/** NG315: the source of this edge is not listed in the `waits` of its target. */
export function signalIgnored(
  place: Place,
  facts: { source: string; target: string; waits: readonly string[]; declaration: Label },
): Diagnostic {
  return diagnostic(
    "NG315",
    place,
    `\`${facts.source}\` can never run \`${facts.target}\`, which waits for ${list(facts.waits)}`,
    {
      label: "this signal does not count",
      labels: [facts.declaration],
      help:
        facts.source === "start"
          ? `\`start\` cannot be a member of a barrier: remove this edge, or remove \`waits\` from \`${facts.target}\``
          : `name \`${facts.source}\` in \`waits\` too, or remove this edge`,
    },
  );
}

/** NG316: parallel arms signal a node in the same step only because they have the same length. */
export function accidentalJoin(place: Place, facts: MeetingArms): Diagnostic {
  return diagnostic(
    "NG316",
    place,
    `\`${facts.node}\` runs once for ${list(facts.sources)} only because they finish in the same step`,
    {
      label: "would run twice if one of them took longer",
      labels: facts.labels,
      help: facts.help,
      fixes: facts.fixes,
      ...facts.run,
    },
  );
}
