export interface Backoff {
  /** Shortest wait before the second attempt, in milliseconds. */
  readonly min: number;
  /** Longest wait, in milliseconds. */
  readonly max: number;
}

export const DEFAULT_BACKOFF: Backoff = { min: 200, max: 10_000 };

/**
 * The wait after a failed attempt: exponential backoff with jitter. The wait doubles with each attempt, and up to `min`
 * is added at random, so that tasks that failed together do not retry together. `max` limits the sum.
 *
 * @param attempt the failed attempt, 1-based
 * @param random returns a number from 0 (inclusive) to 1
 * @returns whole milliseconds
 */
export function backoffDelay({ min, max }: Backoff, attempt: number, random: () => number): number {
  // Mutation point: backoff-growth
  return Math.min(Math.max(min, max), min * 2 ** (attempt - 1) + Math.floor(min * random()));
}
