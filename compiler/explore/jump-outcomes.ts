/** The outcomes of jumps: `goto`, exclusive `goto`, `stop` and `send`. */
import { END_TARGET } from "../control/net.ts";
import { type JumpGroup, jumpGroups, type Pair } from "./jump-groups.ts";
import type { ControlModel, ControlNode } from "./model.ts";
import type { Outcome } from "./outcomes.ts";

/** A `goto` of one target, or (`end`) a stop. */
export function singleJumps(model: ControlModel, node: ControlNode): readonly Outcome[] {
  const found = (node.jumps ?? []).map((target) =>
    jump(model, node, [target], [], `goto ${nameOf(model, target)}`, false),
  );
  if (node.jumpsBack) found.push(jumpBack(model, node, false));
  return found;
}

/** Maximum number of jump targets for which all subsets are enumerated. */
const MAX_JUMPS = 4;

/** Limit of the outcomes of jumps in one graph. The search does not explore more transitions than this. */
export const MAX_JUMP_OUTCOMES = 150_000;

/** The remaining outcomes. Nodes after the last one jump to one target only, and count as cut. */
export interface JumpBudget {
  left: number;
}

export interface Jumps {
  /** Combinations are missing. */
  readonly isCut: boolean;
  /** Targets in different groups (`jumpGroups`) are never combined. */
  readonly isSplit: boolean;
}

/**
 * Adds the other jumps of a node to `found`: a `goto` to several nodes, an exclusive `goto`, and each of these, and the
 * node's own edges, with `send`. The items of a `for` can jump differently, which results in the same sets.
 */
export function addJumps(
  model: ControlModel,
  node: ControlNode,
  own: readonly Outcome[],
  found: Outcome[],
  apart: readonly Pair[],
  budget: JumpBudget,
): Jumps {
  const groups = jumpGroups(model, node, apart);
  const most = budget.left > 0 ? MAX_JUMPS : 1;
  const before = found.length;
  const isCut = groups.some(({ targets }) => targets.length > most);
  const jumps = new Map<string, Outcome>();
  const add = (outcome: Outcome): void => {
    const key = `${outcome.places.join()}/${outcome.ends}/${outcome.rollsBack}/${outcome.exclusive}`;
    if (outcome.cubes !== undefined) found.push(outcome);
    else if (!jumps.has(key)) jumps.set(key, outcome);
  };
  for (const group of groups) addGroup(model, node, group, most, own, add);
  // Beside `rollback`, other targets and sends have no effect.
  if (node.jumpsBack) found.push(jumpBack(model, node, true));
  for (const outcome of jumps.values()) found.push(outcome);
  budget.left -= found.length - before;
  found.sort((left, right) => Number(left.exclusive) - Number(right.exclusive));
  if (isCut) {
    const targets = groups.flatMap((group) => group.targets);
    const all = jump(model, node, targets, targets, `goto ${namesOf(model, targets)}`, false);
    const places = [...new Set([...all.places, ...node.sends, ...own.flatMap((outcome) => outcome.places)])];
    found.push({ ...all, places: places.sort((a, b) => a - b), ends: true, exact: false });
  }
  return { isCut, isSplit: groups.length > 1 };
}

function addGroup(
  model: ControlModel,
  node: ControlNode,
  group: JumpGroup,
  most: number,
  allOwn: readonly Outcome[],
  add: (outcome: Outcome) => void,
): void {
  // Mutation point: stop
  const canStop = node.jumps?.includes(END_TARGET) === true;
  const targets = group.targets.slice(0, most);
  const sets = subsetsOf(targets);
  // Mutation point: sent-nodes
  const sent = subsetsOf(node.sends.filter((copy) => targets.includes(model.nodes[copy]!.declared)));
  const own = allOwn.filter(({ kind }) => kind !== "stuck");
  for (const nodes of sent) {
    const withSent = (outcome: Outcome): Outcome => withTasks(model, outcome, nodes);
    if (nodes.length > 0) {
      if (group.hasOwn) for (const outcome of own) add(withSent(outcome));
      // The own edges are taken, too. Their branches are in another group.
      else add(withSent({ ...jump(model, node, [], [], "", false), ends: false }));
      if (canStop) add(withSent(jump(model, node, [], [], "stop", false)));
    }
    for (const set of sets) {
      const label = `goto ${namesOf(model, set)}`;
      const isKnown = set.length === 1 && nodes.length === 0;
      if (set.length > 0 && !isKnown) add(endsIf(canStop, withSent(jump(model, node, set, [], label, false))));
      if (set.length === 0 && !canStop) continue;
      const exclusive = `exclusive goto ${namesOf(model, set.length === 0 ? [END_TARGET] : set)}`;
      add(endsIf(canStop, withSent(jump(model, node, [], set, exclusive, true))));
    }
  }
  // Some of several sent tasks can take the edges of the node while others jump.
  if (!node.isSent || !group.hasOwn) return;
  for (const outcome of own) {
    for (const set of sets) {
      if (set.length === 0) continue;
      const { places } = jump(model, node, set, [], "", false);
      const label = [outcome.label, `goto ${namesOf(model, set)}`].filter((part) => part !== "").join(", ");
      const all = [...new Set([...outcome.places, ...places])].sort((a, b) => a - b);
      const both = { ...outcome, places: all, label };
      for (const nodes of sent) add(endsIf(canStop, withTasks(model, both, nodes)));
    }
  }
}

/**
 * An outcome with tasks that are sent to nodes. A node that is also signalled in the same step is one more of these
 * tasks, whose number is unknown.
 */
function withTasks(model: ControlModel, outcome: Outcome, sent: readonly number[]): Outcome {
  if (sent.length === 0) return { ...outcome, kind: "jump" };
  const places = new Set([...outcome.places, ...sent]);
  for (const copy of sent) places.delete(model.nodes[copy]!.declared);
  const task = `send ${namesOf(model, sent)}`;
  return {
    ...outcome,
    kind: "jump",
    places: [...places].sort((a, b) => a - b),
    label: [outcome.label, task].filter((part) => part !== "").join(", "),
  };
}

function jumpBack(model: ControlModel, node: ControlNode, exclusive: boolean): Outcome {
  const label = exclusive ? "exclusive goto rollback" : "goto rollback";
  return { ...jump(model, node, [], [], label, exclusive), ends: false, rollsBack: true };
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

function namesOf(model: ControlModel, targets: readonly number[]): string {
  return targets.map((target) => nameOf(model, target)).join(", ");
}

function nameOf(model: ControlModel, target: number): string {
  return target === END_TARGET ? "end" : (model.nodes[target]?.name ?? "");
}
