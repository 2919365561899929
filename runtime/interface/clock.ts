/**
 * The source of time. The engine uses no other, so a test can control every timeout, backoff and lease. Times are
 * milliseconds since 1970 and never decide an order (5.10).
 */
export interface Clock {
  now(): number;
  /** Calls back once after `ms`. Returns the handle for `clearTimeout`. */
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
  /** Calls back after pending timers, signals and other events were handled. Default: a timer of 0 ms. */
  nextTurn?(callback: () => void): void;
}

/** The clock of the host. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, MAX_DELAY)),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
  // `setImmediate` does not sleep; a timer of 0 ms sleeps for a millisecond. Not every host has `setImmediate`.
  nextTurn: (callback) => void (typeof setImmediate === "function" ? setImmediate(callback) : setTimeout(callback, 0)),
};

/** Timers of JavaScript hosts hold 31 bits. A longer delay would fire at once. */
const MAX_DELAY = 2 ** 31 - 1;

/** The longest wait that holds the process, in milliseconds. The run pauses for a longer one. */
export const LONGEST_HOLD = 60_000;
