export interface Backoff {
  /** Milliseconds before the second attempt, at least. */
  readonly min: number;
  /** Milliseconds that no wait exceeds. */
  readonly max: number;
}

export const DEFAULT_BACKOFF: Backoff = { min: 200, max: 10_000 };

/**
 * How long to wait after an attempt. The wait doubles with each, from `min` to `max`; chance spreads it over the way to the next
 * doubling (over the upper half once `max` is reached), so that tasks that failed together part.
 *
 * @param attempt the one that failed, from 1
 * @param random from 0 (inclusive) to 1
 */
export function backoffDelay({ min, max }: Backoff, attempt: number, random: () => number): number {
  const longest = Math.max(min, max);
  const upper = Math.min(longest, min * 2 ** attempt);
  const lower = Math.max(min, Math.min(min * 2 ** (attempt - 1), longest / 2));
  return Math.round(lower + (upper - lower) * random());
}
