import { findComponents, isCyclic } from "../algorithms/components.ts";
import { isExactEdge, type RunFinder } from "./runs.ts";
import type { StateGraph } from "./state-graph.ts";

/** Whether a run repeats a loop: some run does, no run does, or it is not known. */
export type Repeats = "sure" | "possible" | "never";

/**
 * Whether a run repeats a loop of states in which one of these nodes runs. An incomplete state graph does not exclude
 * any loop.
 */
export function repeatsOneOf(states: StateGraph, finder: RunFinder, nodes: readonly number[]): Repeats {
  if (!states.complete) return "sure";
  const wanted = new Set(nodes);
  const runsOne = (id: number): boolean => {
    const { places, ready } = states.states[id]!;
    for (let index = 0; index < ready; index++) if (wanted.has(places[index]!)) return true;
    return false;
  };
  const hasLoop = (isAllowed: (id: number, edge: number) => boolean): boolean => {
    const leads = (id: number): number[] =>
      Array.from(states.successors[id] ?? []).filter((_, edge) => isAllowed(id, edge));
    const { members } = findComponents(states.states.length, leads);
    return members.some((group) => isCyclic(group, leads) && group.some(runsOne));
  };
  if (!states.states.some(({ id }) => runsOne(id)) || !hasLoop(() => true)) return "never";
  return hasLoop((id, edge) => finder.isFeasible(id) && isExactEdge(states, id, edge)) ? "sure" : "possible";
}
