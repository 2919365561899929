/**
 * The firing rule of `settled(…)` on a marking (3.4), an OR-join: the general synchronizing merge of the workflow patterns
 * (van der Aalst and others). It is a function of the marking, so the proofs are exact for it.
 */
import { END_TARGET, type Settled } from "../control/net.ts";
import type { ControlModel } from "./model.ts";

/**
 * The barriers of the next statement `settled(…)` that fires; `undefined` if none does. A statement with a signal fires
 * if no marked place can lead to a signal of a member that has none. If no node is marked, the first statement with a
 * signal fires: it never leaves a run incomplete.
 */
export function firingSettled(model: ControlModel, marked: ReadonlySet<number>): readonly number[] | undefined {
  const signalled = new Set<Settled>();
  for (const place of marked) {
    const settled = model.barriers[model.barrierOfPlace[place]!]?.settled;
    if (settled !== undefined) signalled.add(settled);
  }
  if (signalled.size === 0) return undefined;
  const inOrder = [...signalled].sort((a, b) => a.first - b.first);
  for (const settled of inOrder) {
    // Mutation point: settled-reach
    if (!isHeld(model, settled, marked)) return settled.barriers;
  }
  for (const place of marked) if (place < model.nodes.length) return undefined;
  return inOrder[0]!.barriers;
}

/** Whether a signal can still come to a member that has none. */
function isHeld(model: ControlModel, { first, barriers, reach }: Settled, marked: ReadonlySet<number>): boolean {
  const missing = new Int32Array(reach.words);
  model.barriers[first]!.members.forEach(({ place }, member) => {
    if (!marked.has(place)) missing[member >> 5]! |= 1 << (member & 31);
  });
  for (const place of marked) {
    const barrier = model.barriers[model.barrierOfPlace[place]!];
    if (barrier !== undefined && barriers.includes(barrier.index)) continue;
    // A barrier with a signal can lead where its target leads.
    const node = barrier === undefined ? place : barrier.target;
    if (node === END_TARGET) continue;
    for (let word = 0; word < reach.words; word++) {
      if ((reach.bits[node * reach.words + word]! & missing[word]!) !== 0) return true;
    }
  }
  return false;
}
