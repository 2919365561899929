/** Markings and their steps in flat lists: a large graph has as many of them as nodes, and none has an object of its own. */
export class ApartStates {
  readonly #places: (readonly number[])[] = [];
  /** 1 where the node that is counted has run. */
  readonly #hasRun: number[] = [];
  /** Hash -> the state that was reached last with it. */
  readonly #byHash = new Map<number, number>();
  /** By state: the one with the same hash that was reached before it, or -1. */
  readonly #earlier: number[] = [];
  /** The steps: state and next state, one after the other. */
  readonly #steps: number[] = [];

  get count(): number {
    return this.#places.length;
  }

  placesOf(id: number): readonly number[] {
    return this.#places[id]!;
  }

  hasRun(id: number): boolean {
    return this.#hasRun[id] === 1;
  }

  /** Adds a step from a state (-1: from `start`), and the next state if it is new. */
  reach(places: readonly number[], hasRun: boolean, from: number): void {
    const ran = hasRun ? 1 : 0;
    const hash = hashOf(places, ran);
    const newest = this.#byHash.get(hash) ?? -1;
    let id = newest;
    while (id !== -1 && !(this.#hasRun[id] === ran && areEqual(this.#places[id]!, places))) id = this.#earlier[id]!;
    if (id === -1) {
      id = this.#places.length;
      this.#byHash.set(hash, id);
      this.#places.push(places);
      this.#hasRun.push(ran);
      this.#earlier.push(newest);
    }
    if (from >= 0) this.#steps.push(from, id);
  }

  /** Backward reachability: whether every state leads to an end. */
  canAllEnd(ends: readonly number[]): boolean {
    const { count } = this;
    const steps = this.#steps;
    // The predecessors of state n: `before` from `first[n]` to `first[n + 1]` (compressed sparse rows).
    const first = new Int32Array(count + 2);
    for (let at = 1; at < steps.length; at += 2) first[steps[at]! + 2]!++;
    for (let id = 2; id < first.length; id++) first[id]! += first[id - 1]!;
    const before = new Int32Array(steps.length >> 1);
    for (let at = 1; at < steps.length; at += 2) before[first[steps[at]! + 1]!++] = steps[at - 1]!;
    const canEnd = new Uint8Array(count);
    const pending = [...ends];
    for (const id of pending) canEnd[id] = 1;
    for (const id of pending) {
      for (let at = first[id]!; at < first[id + 1]!; at++) {
        const earlier = before[at]!;
        if (canEnd[earlier] === 1) continue;
        canEnd[earlier] = 1;
        pending.push(earlier);
      }
    }
    return !canEnd.includes(0);
  }
}

function hashOf(places: readonly number[], seed: number): number {
  let hash = seed;
  for (const place of places) {
    hash = Math.imul(hash ^ place, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function areEqual(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((place, at) => place === right[at]);
}
