export interface Backoff {
  /** Milliseconds before the second attempt, at least. */
  readonly min: number;
  /** Milliseconds that no wait exceeds. */
  readonly max: number;
}

export const DEFAULT_BACKOFF: Backoff = { min: 200, max: 10_000 };

/**
 * How long to wait after an attempt. The wait doubles with each, and chance adds up to `min` to it, so that tasks that failed
 * together part; `max` bounds the sum.
 *
 * @param attempt the one that failed, from 1
 * @param random from 0 (inclusive) to 1
 * @returns whole milliseconds
 */
export function backoffDelay({ min, max }: Backoff, attempt: number, random: () => number): number {
  // Mutation point: backoff-growth
  return Math.min(Math.max(min, max), min * 2 ** (attempt - 1) + Math.floor(min * random()));
}
