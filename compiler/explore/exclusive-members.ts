import { immediateDominators } from "../control/dominators.ts";
import { findComponents, isCyclic } from "../algorithms/components.ts";
import { isUnsatisfiable, both } from "./formula.ts";
import { type ControlBarrier, END_TARGET, type Signal } from "../control/net.ts";
import type { Branch, ControlModel, Routing } from "./model.ts";
import { branchesOf, signalsOf, successorsOf } from "../control/signals.ts";

/** Members of one barrier that exclude each other: they follow different arms of one choice. */
export interface ExclusiveMembers {
  readonly barrier: ControlBarrier;
  /** Positions in the barrier's members, ascending; the first two exclude each other. */
  readonly members: readonly number[];
  /** The node that makes the choice; -1 for `start`. */
  readonly choice: number;
  /** By position in `members`: a signal of its arm, as the place of a label. */
  readonly arms: readonly (Signal | undefined)[];
  /** The choice is in a loop, so a run can make it again. */
  readonly repeats: boolean;
}

/** Limit of steps in the dominator tree, for all members together. */
const MAX_WALK = 5_000_000;

/**
 * Barriers that wait for mutually exclusive arms of one choice: one arm dominates one member, and another arm of the
 * same choice dominates another member. The dominator tree covers places, `start` and arms.
 */
export function findExclusiveMembers(model: ControlModel): ExclusiveMembers[] {
  if (model.barriers.every(({ members, settled }) => members.length < 2 || settled !== undefined)) return [];
  const arms = layOutArms(model);
  const idom = immediateDominators({ size: arms.size, start: arms.start, successors: arms.successors });
  const successors = successorsOf(model);
  const inner = (node: number): readonly number[] => successors[node] ?? [];
  let components: ReturnType<typeof findComponents> | undefined;
  const found: ExclusiveMembers[] = [];
  const budget = { left: MAX_WALK };
  const depths = depthsOf(idom, arms.start);
  for (const barrier of model.barriers) {
    // A `waits` to which no member has an edge has no members.
    if (barrier.settled !== undefined || barrier.members.length < 2) continue;
    // Choice -> the first arm and member.
    const seen = new Map<string, { vertex: number; member: number }>();
    // The nearest common dominator: arms above it dominate all members and exclude none.
    const common = barrier.members
      .map(({ place }) => place)
      .reduce((a, b) => nearestCommon(idom, depths, a, b, budget));
    search: for (const [member, { place }] of barrier.members.entries()) {
      for (const [choice, vertex] of armsBefore(arms, idom, place, common, budget)) {
        const other = seen.get(choice);
        if (other === undefined) seen.set(choice, { vertex, member });
        else if (other.vertex !== vertex) {
          // The choice is also above the common dominator, so the arms may belong to different rounds of a loop.
          if (armsBefore(arms, idom, common, arms.start, budget, true).has(choice)) continue;
          const [first, second] = [arms.arms.get(other.vertex)!, arms.arms.get(vertex)!];
          if (!excludes(first, second)) continue;
          components ??= findComponents(model.nodes.length, inner);
          const group = first.choice === -1 ? [] : (components.members[components.componentOf[first.choice]!] ?? []);
          found.push({
            barrier,
            members: [other.member, member],
            choice: first.choice,
            arms: [first.signal, second.signal],
            repeats: isCyclic(group, inner),
          });
          break search;
        }
      }
    }
  }
  return found;
}

/**
 * Choice -> the arm that dominates a vertex, for arms below `until`. Omits choices with several such arms. With
 * `inclusive`, includes the vertex itself and choices with several arms.
 */
function armsBefore(
  arms: Arms,
  idom: Int32Array,
  from: number,
  until: number,
  budget: { left: number },
  inclusive = false,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const several = new Set<string>();
  const first = inclusive ? from : idom[from]!;
  for (let vertex = first; vertex !== -1 && vertex !== until && vertex !== arms.start; vertex = idom[vertex]!) {
    if (budget.left-- <= 0) return new Map();
    const arm = arms.arms.get(vertex);
    if (arm === undefined) continue;
    const choice = `${arm.choice}/${arm.branch === undefined ? "" : arm.group}`;
    if (found.has(choice)) several.add(choice);
    found.set(choice, vertex);
  }
  if (!inclusive) for (const choice of several) found.delete(choice);
  return found;
}

/** By vertex: its depth in the dominator tree; -1 for unreachable vertices. */
function depthsOf(idom: Int32Array, start: number): Int32Array {
  const depths = new Int32Array(idom.length).fill(-1);
  depths[start] = 0;
  const path: number[] = [];
  for (let vertex = 0; vertex < idom.length; vertex++) {
    let at = vertex;
    while (at !== -1 && depths[at] === -1 && idom[at] !== -1) {
      path.push(at);
      at = idom[at]!;
    }
    for (let next = path.pop(); next !== undefined; next = path.pop()) {
      const above = depths[idom[next]!]!;
      if (above !== -1) depths[next] = above + 1;
    }
  }
  return depths;
}

/** The nearest common dominator of two vertices; the first vertex if one of them is unreachable. */
function nearestCommon(
  idom: Int32Array,
  depths: Int32Array,
  first: number,
  second: number,
  budget: { left: number },
): number {
  let [a, b] = [first, second];
  if (depths[a] === -1 || depths[b] === -1) return first;
  while (a !== b && budget.left-- > 0) {
    if (depths[a]! >= depths[b]!) a = idom[a]!;
    else b = idom[b]!;
  }
  return a;
}

interface Arm {
  readonly choice: number;
  readonly group: string;
  readonly branch: Branch | undefined;
  readonly isOtherwise: boolean;
  readonly isChoiceOfOne: boolean;
  readonly signal: Signal | undefined;
}

interface Arms {
  readonly size: number;
  readonly start: number;
  readonly successors: readonly (readonly number[])[];
  /** By vertex. */
  readonly arms: ReadonlyMap<number, Arm>;
}

/** Builds the flow graph for the dominators. Its vertices are the places, then `start`, then the arms of choices. */
function layOutArms(model: ControlModel): Arms {
  const successors: number[][] = Array.from({ length: model.placeCount + 1 }, () => []);
  const arms = new Map<number, Arm>();
  const start = model.placeCount;
  const connect = (from: number, signals: readonly Signal[]): void => {
    for (const { place } of signals) if (place !== undefined && place !== END_TARGET) successors[from]?.push(place);
  };
  const addArm = (from: number, arm: Arm, signals: readonly Signal[]): number => {
    const vertex = successors.push([]) - 1;
    arms.set(vertex, arm);
    successors[from]?.push(vertex);
    connect(vertex, signals);
    return vertex;
  };
  const addRouting = (from: number, choice: number, routing: Routing, kind: string): void => {
    routing.groups.forEach((group, index) => {
      if (group.kind === "always") return connect(from, group.signals);
      for (const branch of branchesOf(group)) {
        addArm(
          from,
          {
            choice,
            group: `${kind}${index}`,
            branch,
            isOtherwise: group.kind === "several" && branch === group.otherwise,
            isChoiceOfOne: group.kind === "one",
            signal: branch.signals[0],
          },
          branch.signals,
        );
      }
    });
  };
  const side = (node: number, kind: string, routing: Routing): number =>
    addArm(
      node,
      {
        choice: node,
        group: kind,
        branch: undefined,
        isOtherwise: false,
        isChoiceOfOne: false,
        signal: signalsOf(routing)[0],
      },
      [],
    );
  addRouting(start, -1, model.start, "own");
  for (const node of model.nodes) {
    const { errorRouting } = node;
    if (errorRouting === undefined) addRouting(node.index, node.index, node.routing, "own");
    else {
      addRouting(side(node.index, "success", node.routing), node.index, node.routing, "own");
      addRouting(side(node.index, "error", errorRouting), node.index, errorRouting, "error");
    }
    for (const jump of node.jumps ?? []) {
      if (jump === END_TARGET) continue;
      successors[node.index]?.push(jump);
      // A jump can also count as a signal into the barrier that gates the target.
      const gate = model.barriers[model.nodes[jump]?.waits ?? -1];
      for (const member of gate?.members ?? []) {
        if (member.nodes.includes(node.index)) successors[node.index]?.push(member.place);
      }
    }
  }
  for (const barrier of model.barriers) {
    if (barrier.target === END_TARGET) continue;
    const targets = barrier.passesOn?.flatMap(({ places }) => places) ?? [barrier.target];
    for (const { place } of barrier.members) for (const target of targets) successors[place]?.push(target);
  }
  return { size: successors.length, start, successors, arms };
}

/** Whether two arms of one choice can never be taken together. */
function excludes(a: Arm, b: Arm): boolean {
  if (a.group !== b.group) return [a.group, b.group].sort().join() === "error,success";
  if (a.isChoiceOfOne || a.isOtherwise || b.isOtherwise) return true;
  if (a.branch === undefined || b.branch === undefined) return false;
  return isUnsatisfiable(both([a.branch.formula, b.branch.formula]));
}
