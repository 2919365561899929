import type { ControlNode, Routing } from "../../compiler/explore/model.ts";
import { branchesOf } from "../../compiler/explore/signals.ts";
import { branchKey, type Choice } from "./read-choice.ts";

/** Ways that one node is tried in; more are not. */
const MAX_WAYS = 16;

/**
 * Every way a node may go at the end of a trace that does not say which: along each branch of its edges, by an error, by a jump.
 */
export function openChoices(node: ControlNode, nameOf: (index: number) => string): readonly Choice[] {
  const own = ways(node.routing).map((taken): Choice => ({ kind: "own", taken: new Set(taken), sends: [] }));
  const onError = node.errorRouting === undefined ? [] : ways(node.errorRouting);
  const errors = onError.map((taken): Choice => ({ kind: "error", taken: new Set(taken), sends: [] }));
  const jumps = (node.jumps ?? []).map((target): Choice => ({
    kind: "jump",
    taken: new Set(),
    sends: [],
    goto: { targets: [nameOf(target)], exclusive: false },
  }));
  return [...own, ...errors, ...jumps].slice(0, MAX_WAYS);
}

/** Branches that may be taken together, as keys. Of conditional edges none, or one of them at a time. */
function ways(routing: Routing): readonly (readonly string[])[] {
  let found: (readonly string[])[] = [[]];
  const groups = routing.groups.filter((group) => group.kind !== "always");
  groups.forEach((group, index) => {
    const branches = branchesOf(group).map((_, branch) => [branchKey(index, branch)]);
    const isOptional =
      group.kind === "several" && (group.otherwise !== undefined || routing.groups.length > groups.length);
    const own: readonly (readonly string[])[] = isOptional ? [[], ...branches] : branches;
    found = found.flatMap((before) => own.map((each) => [...before, ...each])).slice(0, MAX_WAYS);
  });
  return found;
}
