/** Nodes that signals can reach if all conditions are ignored. Linear in the graph. */
import { END_TARGET } from "../control/net.ts";
import type { ControlModel, Routing } from "./model.ts";
import type { Outcome, Outcomes } from "./outcomes.ts";
import { signalsOf } from "../control/signals.ts";

export interface Reach {
  /** By node: reachable if a barrier opens as soon as one of its members can signal. */
  readonly possible: Uint8Array;
  /** By node: reachable if a barrier opens only when all its members can signal. */
  readonly actual: Uint8Array;
  /** By barrier: all members can signal, possibly in different steps; of `settled(…)`: one member can. */
  readonly barrierOpens: Uint8Array;
  /** By place: some reachable node signals it. */
  readonly placeFilled: Uint8Array;
}

export function findReach(model: ControlModel): Reach {
  const possible = spread(model, (missing, members) => missing < members);
  const actual = spread(model, (missing) => missing === 0);
  return {
    possible: possible.reached,
    actual: actual.reached,
    barrierOpens: actual.opened,
    placeFilled: actual.filled,
  };
}

function spread(
  model: ControlModel,
  opens: (missing: number, members: number) => boolean,
): { reached: Uint8Array; opened: Uint8Array; filled: Uint8Array } {
  const reached = new Uint8Array(model.nodes.length);
  const filled = new Uint8Array(model.placeCount);
  const opened = new Uint8Array(model.barriers.length);
  const missing = model.barriers.map((barrier) => barrier.members.length);
  const pending: number[] = [];
  const reach = (node: number): void => {
    if (reached[node] === 1) return;
    reached[node] = 1;
    pending.push(node);
  };
  const signal = (place: number): void => {
    const barrier = model.barrierOfPlace[place]!;
    if (barrier === -1) return reach(place);
    if (filled[place] === 1) return;
    filled[place] = 1;
    missing[barrier]!--;
    const { target, passesOn, settled, members } = model.barriers[barrier]!;
    if (opened[barrier] === 1 || (settled === undefined && !opens(missing[barrier]!, members.length))) return;
    opened[barrier] = 1;
    if (passesOn !== undefined) for (const { places } of passesOn) places.forEach(signal);
    else if (target !== END_TARGET) reach(target);
  };
  const follow = (routing: Routing | undefined): void => {
    for (const { place } of signalsOf(routing)) if (place !== undefined && place !== END_TARGET) signal(place);
  };
  follow(model.start);
  for (let index = 0; index < pending.length; index++) {
    const node = model.nodes[pending[index]!]!;
    if (!node.alwaysFails) follow(node.routing);
    follow(node.errorRouting);
    // An exclusive jump runs its target without the barrier that gates it.
    for (const target of node.jumps ?? []) if (target !== END_TARGET) reach(target);
  }
  return { reached, opened, filled };
}

/**
 * Whether a node can run (with `END_TARGET`: a branch can end) before another node has finished. An over-approximation,
 * so `false` is a proof: conditions are ignored, and a marked place stays marked.
 */
export function canRunWithout(model: ControlModel, outcomes: Outcomes, without: number, wanted: number): boolean {
  const marked = new Set<number>();
  const pending: number[] = [];
  let ends = false;
  const signal = (outcome: Outcome): void => {
    ends ||= outcome.ends;
    for (const place of outcome.places) {
      if (marked.has(place)) continue;
      marked.add(place);
      const barrier = model.barriers[model.barrierOfPlace[place]!];
      if (barrier === undefined) pending.push(place);
      else if (barrier.settled !== undefined || barrier.members.every((member) => marked.has(member.place))) {
        if (barrier.target === END_TARGET) ends = true;
        else if (!marked.has(barrier.target)) {
          marked.add(barrier.target);
          pending.push(barrier.target);
        }
      }
    }
  };
  for (const outcome of outcomes.start) signal(outcome);
  for (const node of pending) {
    if (node === wanted) return true;
    for (const outcome of outcomes.nodes[node]!) if (node !== without || outcome.kind === "error") signal(outcome);
  }
  return wanted === END_TARGET && ends;
}
