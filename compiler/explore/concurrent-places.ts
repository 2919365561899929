import type { ControlModel } from "./model.ts";
import type { Outcomes } from "./outcomes.ts";

/** Whether two nodes may ever run in the same step; never false for two that do. */
export type MayRunTogether = (a: number, b: number) => boolean;

/** Larger graphs are not looked at: the relation grows with the square of the places. */
const MAX_PLACES = 1500;

/**
 * Places that may be marked at the same time, by their connections alone (A. Kovalyov's concurrency relation): exact for
 * sound graphs with free choices, and never too small for any. `undefined` for graphs that are too large.
 */
export function findConcurrentPlaces(model: ControlModel, outcomes: Outcomes): MayRunTogether | undefined {
  const size = model.placeCount;
  if (size > MAX_PLACES || outcomes.tooMany.size > 0 || model.unsupported.length > 0) return undefined;
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
  /** One of the two moves on while the other stays. */
  const move = (moving: number, staying: number): void => {
    const barrier = model.barriers[model.barrierOfPlace[moving]!];
    if (barrier === undefined) {
      for (const place of after[moving]!)
        if (place === staying) selfConcurrent.add(place);
        else add(place, staying);
      return;
    }
    if (barrier.target < 0 || barrier.members.some(({ place }) => place === staying)) return;
    if (!barrier.members.every(({ place }) => has(place, staying))) return;
    if (barrier.target === staying) selfConcurrent.add(staying);
    else add(barrier.target, staying);
  };
  // A place that may be marked twice over: what comes of it may meet itself.
  const selfConcurrent = new Set<number>();
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = [Math.floor(pair / size), pair % size];
    move(a, b);
    move(b, a);
  }
  if (selfConcurrent.size > 0) return undefined;
  return has;
}
