/** Channels in parallel branches and loops: conflicting writes, stale reads, unused values, growing lists. */
import type { Severity } from "../codes.ts";
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import { quotedTemplateHelp } from "./quoted-template.ts";
import { list, type ShownRun } from "./reachability.ts";

/** NG401: two nodes of one step write a channel without a reducer. */
export function concurrentWrite(
  place: Place,
  facts: {
    channel: string;
    nodes: readonly [string, string];
    others: readonly string[];
    labels: readonly Label[];
    severity: Severity;
    /** One of them replaces the value with `set`. */
    isReplaced: boolean;
    fixes: readonly Fix[];
    run: ShownRun;
  },
): Diagnostic {
  const { channel, nodes } = facts;
  return diagnostic("NG401", place, `two writers of \`${channel}\` in one step: ${list(nodes)}`, {
    label: `\`${nodes[1]}\` writes it in the same step`,
    labels: facts.labels,
    severity: facts.severity,
    notes: facts.others.length === 0 ? [] : [`${list(facts.others)} can write it in the same step, too`],
    help: facts.isReplaced
      ? "`into set` is the only write of its channel in a step: run one after the other"
      : `declare how writes combine (\`reduce append\`, \`reduce last\`, …), write different channels, or run one after the other`,
    fixes: facts.fixes,
    ...facts.run,
  });
}

/** NG402: an imported reducer receives parallel writes in declaration order. */
export function reducerOrder(
  place: Place,
  facts: {
    channel: string;
    reducer: string;
    nodes: readonly [string, string];
    labels: readonly Label[];
    run: ShownRun;
  },
): Diagnostic {
  return diagnostic(
    "NG402",
    place,
    `${list(facts.nodes)} write \`${facts.channel}\` in one step, and \`${facts.reducer}\` receives them in declaration order`,
    {
      label: "applied second",
      labels: facts.labels,
      help: `make sure that \`${facts.reducer}\` returns the same result in any order, or run one after the other`,
      ...facts.run,
    },
  );
}

/** NG404: a node reads a channel that another node of the same step writes. */
export function readsEarlierValue(
  place: Place,
  facts: { reader: string; channel: string; writers: readonly string[]; run: ShownRun },
): Diagnostic {
  const { reader, channel, writers } = facts;
  return diagnostic(
    "NG404",
    place,
    `\`${reader}\` can run in the same step as ${list(writers)} and then reads \`${channel}\` as it was before`,
    {
      label: `reads \`${channel}\` from before this step`,
      ...facts.run,
    },
  );
}

/** NG405: no expression reads a written channel. */
export function writeNeverRead(
  place: Place,
  facts: { channel: string; writers: readonly string[]; declaration: Label },
): Diagnostic {
  return diagnostic("NG405", place, `\`${facts.channel}\` is written and never read`, {
    label: `written by ${list(facts.writers)}`,
    labels: [facts.declaration],
    help:
      quotedTemplateHelp(place, facts.channel) ?? `read it, make it an \`output\`, or remove \`into ${facts.channel}\``,
  });
}

/** NG410: a `for` node goes over all items of a list in a loop, and adds its results to the same list. */
export function selfGrowingList(place: Place, facts: { channel: string; node: string; reducer: string }): Diagnostic {
  const { channel, node, reducer } = facts;
  return diagnostic(
    "NG410",
    place,
    `\`${node}\` adds its results to \`${channel}\`, over which it goes in every round`,
    {
      label: `\`reduce ${reducer}\` keeps the items of the round before`,
      notes: ["each round goes over all items and adds as many: the list doubles"],
      help: `replace the list with the results, \`into set ${channel}\`, or write another channel`,
    },
  );
}

/** NG410: a loop without a bound appends to a list. */
export function unboundedList(
  place: Place,
  facts: { channel: string; node: string; cycle: readonly string[] },
): Diagnostic {
  const shown = [...facts.cycle, facts.cycle[0] ?? ""].join(" -> ");
  return diagnostic(
    "NG410",
    place,
    `the list \`${facts.channel}\` grows without bound: \`${facts.node}\` adds to it in every round`,
    {
      label: "adds an item a round",
      notes: [`no bound was found for the loop \`${shown}\`, and the graph has no step limit`],
      help: "bound the loop, keep only the last items, or declare `limit steps N`",
    },
  );
}
