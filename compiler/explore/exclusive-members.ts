import { immediateDominators } from "../control/dominators.ts";
import { findComponents, isCyclic } from "../algorithms/components.ts";
import { isUnsatisfiable, both } from "./formula.ts";
import { type Branch, type ControlBarrier, type ControlModel, END_TARGET, type Routing, type Signal } from "./model.ts";
import { branchesOf, signalsOf, successorsOf } from "./signals.ts";

/** Members of one barrier that lie behind different arms of one choice. */
export interface ExclusiveMembers {
  readonly barrier: ControlBarrier;
  /** Positions in the barrier's members, ascending; the first two exclude each other. */
  readonly members: readonly number[];
  /** The node whose choice it is; -1 for `start`. */
  readonly choice: number;
  /** By position in `members`: a signal of its arm, to point at. */
  readonly arms: readonly (Signal | undefined)[];
  /** The choice can be made again before the run ends. */
  readonly repeats: boolean;
}

/** Steps up the tree of dominators, over all members: a large barrier at the end of a long chain has its bounds. */
const MAX_WALK = 5_000_000;

/**
 * Barriers that wait for what one choice lets happen only one at a time: each way from `start` to one member passes one
 * arm, each way to the other another. By dominators over nodes, arms and members.
 */
export function findExclusiveMembers(model: ControlModel): ExclusiveMembers[] {
  if (model.barriers.every((barrier) => barrier.members.length < 2)) return [];
  const arms = layOutArms(model);
  const idom = immediateDominators({ size: arms.size, start: arms.start, successors: arms.successors });
  const successors = successorsOf(model);
  const inner = (node: number): readonly number[] => successors[node] ?? [];
  let components: ReturnType<typeof findComponents> | undefined;
  const found: ExclusiveMembers[] = [];
  const budget = { left: MAX_WALK };
  const depths = depthsOf(idom, arms.start);
  for (const barrier of model.barriers) {
    // By choice: the arm and member seen first.
    const seen = new Map<string, { vertex: number; member: number }>();
    // What is on the way to all of them tells none of them apart.
    const common = barrier.members
      .map(({ place }) => place)
      .reduce((a, b) => nearestCommon(idom, depths, a, b, budget));
    search: for (const [member, { place }] of barrier.members.entries()) {
      for (const [choice, vertex] of armsBefore(arms, idom, place, common, budget)) {
        const other = seen.get(choice);
        if (other === undefined) seen.set(choice, { vertex, member });
        else if (other.vertex !== vertex) {
          // Made before already, and then again: the arms of different rounds say nothing.
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
 * By choice: the one arm that every way from `until` to a vertex passes. Choices of which it passes several arms say nothing.
 * With `inclusive` the vertex itself counts.
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

/** By vertex: how many vertices are on every way to it; -1 for what nothing leads to. */
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

/** The last vertex that every way to either passes; `a` itself where nothing leads to one of them. */
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

/** Vertices: places, then `start`, then arms. */
function layOutArms(model: ControlModel): Arms {
  const successors: number[][] = Array.from({ length: model.placeCount + 1 }, () => []);
  const arms = new Map<number, Arm>();
  const start = model.placeCount;
  const lead = (from: number, signals: readonly Signal[]): void => {
    for (const { place } of signals) if (place !== undefined && place !== END_TARGET) successors[from]?.push(place);
  };
  const addArm = (from: number, arm: Arm, signals: readonly Signal[]): number => {
    const vertex = successors.push([]) - 1;
    arms.set(vertex, arm);
    successors[from]?.push(vertex);
    lead(vertex, signals);
    return vertex;
  };
  const addRouting = (from: number, choice: number, routing: Routing, kind: string): void => {
    routing.groups.forEach((group, index) => {
      if (group.kind === "always") return lead(from, group.signals);
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
      // It may also count as a signal into the barrier that gates the target.
      const gate = model.barriers[model.nodes[jump]?.waits ?? -1];
      for (const member of gate?.members ?? []) {
        if (member.nodes.includes(node.index)) successors[node.index]?.push(member.place);
      }
    }
  }
  for (const barrier of model.barriers) {
    if (barrier.target === END_TARGET) continue;
    for (const { place } of barrier.members) successors[place]?.push(barrier.target);
  }
  return { size: successors.length, start, successors, arms };
}

function excludes(a: Arm, b: Arm): boolean {
  if (a.group !== b.group) return [a.group, b.group].sort().join() === "error,success";
  if (a.isChoiceOfOne || a.isOtherwise || b.isOtherwise) return true;
  if (a.branch === undefined || b.branch === undefined) return false;
  return isUnsatisfiable(both([a.branch.formula, b.branch.formula]));
}
