import type { Backoff } from "../step/backoff.ts";

/** 9.6: 2 s before the second attempt, doubled before each further one, at most one minute. */
export const DEFAULT_BACKOFF_OF_TASKS: Backoff = { min: 2000, max: 60_000 };

/**
 * Milliseconds before an attempt, from the second one on. No jitter: tasks of a plan do not compete for one service.
 */
export function taskBackoff({ min, max }: Backoff, attempt: number): number {
  return Math.min(min * 2 ** Math.min(attempt - 2, 40), max);
}
