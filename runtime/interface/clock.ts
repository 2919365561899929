/**
 * Where time comes from. The engine asks nothing else for it, so a test can hold every timeout, backoff and lease in
 * its hand. Times are milliseconds since 1970 and never decide an order (5.10).
 */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`; returns what `clearTimeout` takes. */
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
  /** Calls back as soon as timers, signals and others have had their turn. Without it: a timer of 0 ms. */
  nextTurn?(callback: () => void): void;
}

/** The host's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, MAX_DELAY)),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
  // A timer would put the process to sleep for a millisecond; not every host has a way without.
  nextTurn: (callback) => void (typeof setImmediate === "function" ? setImmediate(callback) : setTimeout(callback, 0)),
};

/** Timers of JavaScript hosts hold 31 bits; beyond them they fire at once. */
const MAX_DELAY = 2 ** 31 - 1;
