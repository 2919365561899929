/** The end of a step: signals mark places, and complete barriers fire. */
import { type ControlBarrier, END_TARGET } from "../control/net.ts";
import { firingSettled } from "./settled-barriers.ts";
import type { ControlModel } from "./model.ts";
import type { Collision } from "./state-graph.ts";

export interface Firing {
  readonly marked: ReadonlySet<number>;
  /** Barriers that fired. */
  readonly fired: readonly number[];
  readonly collisions: readonly Collision[];
  /** A barrier into `end` fired. */
  readonly ends: boolean;
  /** A barrier into `rollback` fired. */
  readonly rollsBack: boolean;
}

/** Limit of the alternatives of one step; more of them are not enumerated. */
const MAX_FIRINGS = 64;

/** The node that signalled a place in this step. */
type SourceOf = (place: number) => number;

/**
 * Marks the signalled places and fires the barriers that are complete. There is one result, except after barriers
 * into nodes with `waits` (`ControlBarrier.passesOn`): the model does not represent which nodes of an `any(…)` have
 * signalled, nor which of two barriers is complete first. `undefined` if there are too many results.
 */
export function fireBarriers(
  model: ControlModel,
  held: Iterable<number>,
  signalled: readonly number[],
  sourceOf: SourceOf,
): readonly Firing[] | undefined {
  const nodeCount = model.nodes.length;
  const marked = new Set(held);
  const collisions: Collision[] = [];
  const touched = new Set<number>();
  for (const place of signalled) {
    if (place >= nodeCount) {
      const barrier = model.barriers[model.barrierOfPlace[place]!]!;
      // Several signals of a member of `settled(…)` count once, as declared.
      if (barrier.settled !== undefined) {
        marked.add(place);
        continue;
      }
      if (marked.has(place)) collisions.push({ kind: "lost", place, sources: [-1, sourceOf(place)] });
      else touched.add(barrier.index);
    }
    marked.add(place);
  }
  const order = touched.size < 2 ? [...touched] : [...touched].sort((a, b) => a - b);
  const isComplete = (index: number): boolean => areMarked(model.barriers[index]!, marked);
  const passing = order.filter((index) => model.barriers[index]!.passesOn !== undefined && isComplete(index));
  const start: Start = { model, marked, collisions, signalled, sourceOf };
  if (passing.length === 0) return [fireInOrder(start, order, NOTHING_PASSED)];
  const passed = passing.map((index) => ({ index, alternatives: alternativesOf(model.barriers[index]!) }));
  const count = passed.reduce((product, { alternatives }) => product * alternatives.length, 1);
  if (count > MAX_FIRINGS) return undefined;
  const others = order.filter((index) => !passing.includes(index));
  const orders = others.some(isComplete)
    ? [
        [...others, ...passing],
        [...passing, ...others],
      ]
    : [[...passing, ...others]];
  let choices: ReadonlyMap<number, readonly number[]>[] = [NOTHING_PASSED];
  for (const { index, alternatives } of passed)
    choices = choices.flatMap((choice) => alternatives.map((places) => new Map([...choice, [index, places]])));
  return orders.flatMap((each) => choices.map((choice) => fireInOrder(start, each, choice)));
}

const NOTHING_PASSED: ReadonlyMap<number, readonly number[]> = new Map();

interface Start {
  readonly model: ControlModel;
  readonly marked: ReadonlySet<number>;
  readonly collisions: readonly Collision[];
  readonly signalled: readonly number[];
  readonly sourceOf: SourceOf;
}

function fireInOrder(start: Start, order: readonly number[], passed: ReadonlyMap<number, readonly number[]>): Firing {
  const { model, signalled, sourceOf } = start;
  const nodeCount = model.nodes.length;
  const marked = new Set(start.marked);
  const collisions = [...start.collisions];
  const fired = new Set<number>();
  const firedInto = new Map<number, number>();
  let ends = false;
  let rollsBack = false;
  const fireInto = (index: number, target: number): void => {
    if (target === END_TARGET) {
      if (model.barriers[index]!.rollsBack === true) rollsBack = true;
      else ends = true;
      return;
    }
    const direct = signalled.includes(target) ? sourceOf(target) : undefined;
    const other = firedInto.get(target) ?? direct;
    if (other !== undefined && other !== nodeCount + index)
      collisions.push({ kind: "collapse", place: target, sources: [other, nodeCount + index] });
    firedInto.set(target, nodeCount + index);
  };
  const pending = [...order];
  for (const index of pending) {
    const barrier = model.barriers[index]!;
    // Mutation point: barrier-complete
    if (!areMarked(barrier, marked)) continue;
    fired.add(index);
    // Mutation point: barrier-cleared
    for (const member of barrier.members) marked.delete(member.place);
    if (barrier.passesOn !== undefined) {
      for (const place of passed.get(index) ?? []) {
        if (marked.has(place)) collisions.push({ kind: "lost", place, sources: [-1, nodeCount + index] });
        marked.add(place);
      }
      pending.push(model.nodes[barrier.target]!.waits);
      continue;
    }
    fireInto(index, barrier.target);
  }
  for (const target of firedInto.keys()) marked.add(target);
  for (let next = firingSettled(model, marked); next !== undefined; next = firingSettled(model, marked)) {
    for (const index of next) {
      const { target, members } = model.barriers[index]!;
      for (const { place } of members) marked.delete(place);
      fired.add(index);
      fireInto(index, target);
      if (target !== END_TARGET) marked.add(target);
    }
  }
  return { marked, fired: [...fired], collisions, ends, rollsBack };
}

function areMarked({ members }: ControlBarrier, marked: ReadonlySet<number>): boolean {
  return members.every((member) => marked.has(member.place));
}

/** The sets of places that a barrier can pass on. */
function alternativesOf({ passesOn = [] }: ControlBarrier): readonly (readonly number[])[] {
  let found: readonly (readonly number[])[] = [[]];
  for (const { places, atLeast, isAll } of passesOn) {
    const sets = isAll ? [places] : subsetsOf(places).filter((set) => set.length >= atLeast);
    found = found.flatMap((before) => sets.map((set) => [...new Set([...before, ...set])]));
    if (found.length > MAX_FIRINGS) return found;
  }
  return found;
}

function subsetsOf(places: readonly number[]): readonly (readonly number[])[] {
  return places.reduce<readonly (readonly number[])[]>(
    (sets, place) => (sets.length > MAX_FIRINGS ? sets : sets.concat(sets.map((set) => [...set, place]))),
    [[]],
  );
}
