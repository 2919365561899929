import { type ControlModel, hasPlainBarriers } from "./model.ts";
import type { Outcomes } from "./outcomes.ts";

/** Whether two nodes can run in the same step. An over-approximation: `false` is a proof that they cannot. */
export type MayRunTogether = (a: number, b: number) => boolean;

/** Limit for the analysis, because the relation is quadratic in the number of places. */
const MAX_PLACES = 1500;

/**
 * The concurrency relation of a Petri net (A. Kovalyov): pairs of places that can be marked at the same time, computed
 * from the structure without conditions. It is exact for sound free-choice nets and an over-approximation for all
 * others. `undefined` for graphs that are too large, and for nets in which a place can be marked twice.
 */
export function findConcurrentPlaces(model: ControlModel, outcomes: Outcomes): MayRunTogether | undefined {
  const size = model.placeCount;
  if (size > MAX_PLACES || outcomes.tooMany.size > 0 || !hasPlainBarriers(model)) return undefined;
  const words = (size + 31) >> 5;
  const relation = new Int32Array(size * words);
  const has = (a: number, b: number): boolean => (relation[a * words + (b >> 5)]! & (1 << (b & 31))) !== 0;
  const pending: number[] = [];
  const add = (a: number, b: number): void => {
    if (has(a, b)) return;
    relation[a * words + (b >> 5)]! |= 1 << (b & 31);
    relation[b * words + (a >> 5)]! |= 1 << (a & 31);
    pending.push(a * size + b);
  };
  const addAll = (places: readonly number[]): void => {
    for (let i = 0; i < places.length; i++) for (let j = i + 1; j < places.length; j++) add(places[i]!, places[j]!);
  };
  for (const outcome of outcomes.start) addAll(outcome.places);
  for (const list of outcomes.nodes) for (const outcome of list) addAll(outcome.places);
  const after = outcomes.nodes.map((list) => [...new Set(list.flatMap((outcome) => outcome.places))]);
  /** Fires the transitions of one place of a concurrent pair while the other place stays marked. */
  const fire = (firing: number, staying: number): void => {
    const barrier = model.barriers[model.barrierOfPlace[firing]!];
    if (barrier === undefined) {
      for (const place of after[firing]!)
        if (place === staying) selfConcurrent.add(place);
        else add(place, staying);
      return;
    }
    if (barrier.target < 0 || barrier.members.some(({ place }) => place === staying)) return;
    if (!barrier.members.every(({ place }) => has(place, staying))) return;
    if (barrier.target === staying) selfConcurrent.add(staying);
    else add(barrier.target, staying);
  };
  // Places that can be marked twice: the net is not 1-safe there, and the relation would be wrong.
  const selfConcurrent = new Set<number>();
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = [Math.floor(pair / size), pair % size];
    fire(a, b);
    fire(b, a);
  }
  if (selfConcurrent.size > 0) return undefined;
  return has;
}
