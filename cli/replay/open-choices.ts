import type { ControlNode, Routing } from "../../compiler/explore/model.ts";
import { branchesOf } from "../../compiler/control/signals.ts";
import { branchKey, type Choice } from "./read-choice.ts";

/** Maximum number of choices that are tried for one node. */
const MAX_CHOICES = 16;

/**
 * The possible choices of a node at the end of a trace that leaves them open: each branch of its edges, an error, each jump.
 */
export function openChoices(node: ControlNode, nameOf: (index: number) => string): readonly Choice[] {
  const own = branchSets(node.routing).map((taken): Choice => ({ kind: "own", taken: new Set(taken), sends: [] }));
  const onError = node.errorRouting === undefined ? [] : branchSets(node.errorRouting);
  const errors = onError.map((taken): Choice => ({ kind: "error", taken: new Set(taken), sends: [] }));
  const jumps = (node.jumps ?? []).map((target): Choice => ({
    kind: "jump",
    taken: new Set(),
    sends: [],
    goto: { targets: [nameOf(target)], exclusive: false },
  }));
  return [...own, ...errors, ...jumps].slice(0, MAX_CHOICES);
}

/** Sets of branches that can be taken together, as keys. Of a group of conditional edges, a set has at most one branch. */
function branchSets(routing: Routing): readonly (readonly string[])[] {
  let found: (readonly string[])[] = [[]];
  const groups = routing.groups.filter((group) => group.kind !== "always");
  groups.forEach((group, index) => {
    const branches = branchesOf(group).map((_, branch) => [branchKey(index, branch)]);
    const isOptional =
      group.kind === "several" && (group.otherwise !== undefined || routing.groups.length > groups.length);
    const own: readonly (readonly string[])[] = isOptional ? [[], ...branches] : branches;
    found = found.flatMap((before) => own.map((each) => [...before, ...each])).slice(0, MAX_CHOICES);
  });
  return found;
}
