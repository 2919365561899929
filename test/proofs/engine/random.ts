/** Seeded random choices (mulberry32): one seed is always the same sequence. */
export interface Random {
  /** From 0 (inclusive) to 1. */
  next(): number;
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
    shuffle: <T>(items: readonly T[]): T[] => {
      const list = [...items];
      for (let at = list.length - 1; at > 0; at--) {
        const other = below(at + 1);
        [list[at], list[other]] = [list[other] as T, list[at] as T];
      }
      return list;
    },
  };
}
