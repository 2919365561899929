/**
 * Groups of jump targets that cannot affect each other. A node can jump, or send tasks, to every set of its targets, and
 * the number of these sets is exponential. Super-steps are synchronous: as long as the branches of two targets share no
 * place, no barrier and no value, the marking of their common run is the union of the markings of two runs, one for each
 * target. The sets within each group then cover all sets (decomposition of a net into independent components).
 */
import { END_TARGET } from "../control/net.ts";
import { signalsOf, successorsOf } from "../control/signals.ts";
import { termsOf } from "./formula.ts";
import { type ControlModel, type ControlNode, formulasOf } from "./model.ts";
import { channelsOf } from "./terms.ts";

export interface JumpGroup {
  /** Nodes, without `END_TARGET`. */
  readonly targets: readonly number[];
  /** The own edges of the node belong to the group. */
  readonly hasOwn: boolean;
}

/** Two nodes of which some property says that they do not run in the same step. */
export type Pair = readonly [number, number];

/** Limit of the targets of which all sets are enumerated without a search for groups. */
const MAX_WHOLE = 4;

/** Limit of the nodes in all branches of one node. */
const MAX_SIZE = 100_000;

/** @param apart pairs of nodes in different branches put the branches into one group */
export function jumpGroups(model: ControlModel, node: ControlNode, apart: readonly Pair[]): readonly JumpGroup[] {
  const targets = (node.jumps ?? []).filter((target) => target !== END_TARGET);
  const whole: JumpGroup = { targets, hasOwn: true };
  // Mutation point: few-targets
  if (targets.length <= MAX_WHOLE) return [whole];
  const own = signalsOf(node.routing).flatMap((signal) => (signal.node === END_TARGET ? [] : [signal.node]));
  const reads = readsOf(model);
  const branches: Branch[] = [];
  let size = 0;
  for (const roots of [own, ...targets.map((target) => [target])]) {
    const branch = branchFrom(model, roots, reads);
    size += branch.nodes.size;
    if (branch.dependsOnOthers || size > MAX_SIZE) return [whole];
    branches.push(branch);
  }
  const { barriers } = branches[0]!;
  for (const signal of signalsOf(node.routing)) addBarrier(model, signal.place, barriers);
  if ([...barriers].some((barrier) => model.barriers[barrier]!.settled !== undefined)) return [whole];
  const readers = readersOf(reads);
  const seen = branches.map((branch) => channelsSeenOutside(branch, readers));
  let groups: { readonly branches: readonly number[] }[] = [];
  for (const index of branches.keys()) {
    const meets = (other: number): boolean =>
      affect(model, branches[index]!, branches[other]!) ||
      (seen[index]! && seen[other]!) ||
      apart.some(([a, b]) => isApart(branches[index]!, branches[other]!, a, b));
    const joined = groups.filter((group) => group.branches.some(meets));
    const merged = { branches: [...joined.flatMap((group) => group.branches), index] };
    groups = [...groups.filter((group) => !joined.includes(group)), merged];
  }
  return groups.map((group) => ({
    targets: group.branches
      .filter((index) => index > 0)
      .map((index) => targets[index - 1]!)
      .sort((a, b) => a - b),
    hasOwn: group.branches.includes(0),
  }));
}

/** Everything that can happen after a signal into some nodes, if conditions and barriers are ignored. */
interface Branch {
  readonly nodes: ReadonlySet<number>;
  readonly barriers: Set<number>;
  /** Channels, by index. */
  readonly reads: ReadonlySet<number>;
  readonly writes: ReadonlySet<number>;
  /**
   * It contains a jump, which could drop the signals of other branches, or a `settled(…)`, which can fire because no node runs
   * in any branch.
   */
  readonly dependsOnOthers: boolean;
}

function branchFrom(
  model: ControlModel,
  roots: readonly number[],
  readsOfNode: readonly ReadonlySet<number>[],
): Branch {
  const successors = successorsOf(model);
  const nodes = new Set(roots);
  const barriers = new Set<number>();
  const reads = new Set<number>();
  const writes = new Set<number>();
  let dependsOnOthers = false;
  for (const index of nodes) {
    const node = model.nodes[index]!;
    dependsOnOthers ||= node.jumps !== undefined;
    if (node.waits >= 0) barriers.add(node.waits);
    for (const routing of [node.routing, node.errorRouting])
      for (const { place } of signalsOf(routing)) addBarrier(model, place, barriers);
    for (const channel of readsOfNode[index]!) reads.add(channel);
    for (const { channel } of model.data.writes[index]!) writes.add(channel);
    for (const next of successors[index]!) nodes.add(next);
  }
  for (const barrier of barriers) dependsOnOthers ||= model.barriers[barrier]!.settled !== undefined;
  return { nodes, barriers, reads, writes, dependsOnOthers };
}

function addBarrier({ barrierOfPlace }: ControlModel, place: number | undefined, barriers: Set<number>): void {
  const barrier = place === undefined || place === END_TARGET ? -1 : barrierOfPlace[place]!;
  if (barrier !== -1) barriers.add(barrier);
}

/** By node: the channels on which its conditions, and the values that it computes, depend. */
function readsOf(model: ControlModel): readonly ReadonlySet<number>[] {
  let found = knownReads.get(model);
  if (found !== undefined) return found;
  found = model.nodes.map((node) => {
    const formulas = [node.routing, node.errorRouting].flatMap(formulasOf);
    if (node.defined !== undefined) formulas.push(node.defined);
    for (const { formula } of node.asserted) formulas.push(formula);
    const channels = new Set(formulas.flatMap((formula) => [...termsOf(formula)].flatMap((term) => term.channels)));
    for (const { expression } of model.data.writes[node.index]!)
      if (expression !== undefined) for (const channel of channelsOf(expression)) channels.add(channel);
    return channels;
  });
  knownReads.set(model, found);
  return found;
}

const knownReads = new WeakMap<ControlModel, readonly ReadonlySet<number>[]>();

function readersOf(reads: readonly ReadonlySet<number>[]): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  for (const [node, channels] of reads.entries()) {
    for (const channel of channels) {
      const known = found.get(channel);
      if (known === undefined) found.set(channel, [node]);
      else known.push(node);
    }
  }
  return found;
}

/** Whether a node outside of the branch reads what the branch writes. Two such branches could combine their values. */
function channelsSeenOutside({ nodes, writes }: Branch, readers: ReadonlyMap<number, readonly number[]>): boolean {
  return [...writes].some((channel) => readers.get(channel)?.some((node) => !nodes.has(node)) === true);
}

function affect({ data }: ControlModel, a: Branch, b: Branch): boolean {
  // Mutation point: branches-meet
  return (
    meet(a.nodes, b.nodes) ||
    meet(a.barriers, b.barriers) ||
    meet(a.writes, b.reads) ||
    meet(a.reads, b.writes) ||
    [...a.writes].some((channel) => b.writes.has(channel) && !isCombined(data.channels[channel]!.reducer))
  );
}

/** Whether writes of one step to a channel are combined, whatever their order is. */
function isCombined(reducer: ControlModel["data"]["channels"][number]["reducer"]): boolean {
  return reducer !== undefined && reducer !== "function";
}

function meet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  for (const item of small) if (large.has(item)) return true;
  return false;
}

function isApart(a: Branch, b: Branch, first: number, second: number): boolean {
  return (a.nodes.has(first) && b.nodes.has(second)) || (a.nodes.has(second) && b.nodes.has(first));
}
