/**
 * Where time comes from. The engine asks nothing else for it, so a test can hold every timeout, backoff and lease in
 * its hand. Times are milliseconds since 1970 and never decide an order (5.10).
 */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; returns what `clearTimeout` takes. */
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** The host's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, MAX_DELAY)),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
};

/** Timers of JavaScript hosts hold 31 bits; beyond them they fire at once. */
const MAX_DELAY = 2 ** 31 - 1;
