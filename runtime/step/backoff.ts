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

/** The longest wait that an error can request: a run holds its process while it waits. */
const LONGEST_REQUEST = 10 * 60_000;

/** The wait in milliseconds that a thrown error requests with `retryAfterMs`, as after HTTP status 429; 0 without one. */
export function readRetryAfter(error: unknown): number {
  try {
    if (typeof error !== "object" || error === null || !("retryAfterMs" in error)) return 0;
    const { retryAfterMs } = error;
    if (typeof retryAfterMs !== "number" || !(retryAfterMs > 0)) return 0;
    return Math.ceil(Math.min(retryAfterMs, LONGEST_REQUEST));
  } catch {
    return 0;
  }
}
