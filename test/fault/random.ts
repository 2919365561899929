/** Random numbers that depend only on a seed (mulberry32), so that every failure can be reproduced. */
export interface Random {
  /** From 0 (inclusive) to 1. */
  (): number;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 (inclusive) to `below` (exclusive). */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[below(random, list.length)]!;
}

/** A subset of the numbers from 0 to `count` (exclusive), ascending; possibly empty. */
export function someOf(random: Random, count: number, probability: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter(() => chance(random, probability));
}

/** A number derived from a text. Node bodies make decisions with it. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return value >>> 0;
}
