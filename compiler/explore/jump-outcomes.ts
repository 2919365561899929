/** The outcomes of jumps: `goto`, exclusive `goto`, `stop` and `send`. */
import { END_TARGET } from "../control/net.ts";
import type { ControlModel, ControlNode } from "./model.ts";
import type { Outcome } from "./outcomes.ts";

/** A `goto` of one target, or (`end`) a stop. */
export function singleJumps(model: ControlModel, node: ControlNode): readonly Outcome[] {
  return (node.jumps ?? []).map((target) => jump(model, node, [target], [], `goto ${nameOf(model, target)}`, false));
}

/** Maximum number of jump targets for which all subsets are enumerated. */
const MAX_JUMPS = 4;

/**
 * Adds the other jumps of a node to `found`: a `goto` to several nodes, an exclusive `goto`, and each of these, and the
 * node's own edges, with `send`. The items of a `for` can jump differently, which results in the same sets. Returns
 * whether combinations are missing.
 */
export function addJumps(model: ControlModel, node: ControlNode, own: readonly Outcome[], found: Outcome[]): boolean {
  const targets = (node.jumps ?? []).filter((target) => target !== END_TARGET);
  // Mutation point: stop
  const canStop = node.jumps?.includes(END_TARGET) === true;
  const isCut = targets.length > MAX_JUMPS;
  const sets = subsetsOf(targets.slice(0, MAX_JUMPS));
  // Mutation point: sent-nodes
  const sent = subsetsOf(node.sends.slice(0, MAX_JUMPS));
  const names = (nodes: readonly number[]): string => nodes.map((target) => nameOf(model, target)).join(", ");
  const withSent = (outcome: Outcome, nodes: readonly number[]): Outcome => ({
    ...outcome,
    kind: "jump",
    places: [...new Set([...outcome.places, ...nodes])].sort((a, b) => a - b),
    label: [outcome.label, nodes.length === 0 ? "" : `send ${names(nodes)}`].filter((part) => part !== "").join(", "),
  });
  for (const nodes of sent) {
    if (nodes.length > 0) {
      for (const outcome of own) if (outcome.kind !== "stuck") found.push(withSent(outcome, nodes));
      if (canStop) found.push(withSent(jump(model, node, [], [], "stop", false), nodes));
    }
    for (const set of sets) {
      const label = `goto ${names(set)}`;
      const isKnown = set.length === 1 && nodes.length === 0;
      if (set.length > 0 && !isKnown)
        found.push(endsIf(canStop, withSent(jump(model, node, set, [], label, false), nodes)));
      if (set.length === 0 && !canStop) continue;
      const exclusive = jump(
        model,
        node,
        [],
        set,
        `exclusive goto ${names(set.length === 0 ? [END_TARGET] : set)}`,
        true,
      );
      found.push(endsIf(canStop, withSent(exclusive, nodes)));
    }
  }
  // Some of several sent tasks can take the edges of the node while others jump.
  if (node.isSent) {
    for (const outcome of own) {
      if (outcome.kind === "stuck") continue;
      for (const set of sets) {
        if (set.length === 0) continue;
        const { places } = jump(model, node, set, [], "", false);
        const label = [outcome.label, `goto ${names(set)}`].filter((part) => part !== "").join(", ");
        const both = { ...outcome, places: [...new Set([...outcome.places, ...places])], label };
        for (const nodes of sent) found.push(endsIf(canStop, withSent(both, nodes)));
      }
    }
  }
  found.sort((left, right) => Number(left.exclusive) - Number(right.exclusive));
  if (isCut) {
    const all = jump(model, node, targets, targets, `goto ${names(targets)}`, false);
    const places = [...new Set([...all.places, ...node.sends, ...own.flatMap((outcome) => outcome.places)])];
    found.push({ ...all, places: places.sort((a, b) => a - b), ends: true, exact: false });
  }
  return isCut;
}

/** A jump to `end` beside other targets ends a branch, too. */
function endsIf(canStop: boolean, outcome: Outcome): Outcome {
  return canStop ? { ...outcome, ends: true } : outcome;
}

function subsetsOf(items: readonly number[]): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** items.length }, (_, mask) =>
    items.filter((_item, bit) => (mask & (2 ** bit)) !== 0),
  );
}

function jump(
  model: ControlModel,
  node: ControlNode,
  targets: readonly number[],
  direct: readonly number[],
  label: string,
  exclusive: boolean,
): Outcome {
  const places = new Set<number>(direct);
  for (const target of targets) {
    if (target === END_TARGET) continue;
    const gate = model.nodes[target]?.waits ?? -1;
    if (gate === -1) places.add(target);
    else {
      for (const member of model.barriers[gate]?.members ?? []) {
        if (member.nodes.includes(node.index)) places.add(member.place);
      }
    }
  }
  return {
    kind: "jump",
    places: [...places].sort((a, b) => a - b),
    ends: places.size === 0,
    label,
    cubes: undefined,
    exact: true,
    exclusive,
    branches: [],
  };
}

function nameOf(model: ControlModel, target: number): string {
  return target === END_TARGET ? "end" : (model.nodes[target]?.name ?? "");
}
