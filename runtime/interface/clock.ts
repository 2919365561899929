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
  readonly nextTurn?: ((callback: () => void) => void) | undefined;
}

/** The clock of the host. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, MAX_DELAY)),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
  nextTurn:
    // In Cloudflare Workers, which alone have this class, a timer ends with the request that has set it: no other one may wait for it.
    "WebSocketPair" in globalThis
      ? undefined
      : // `setImmediate` does not sleep; a timer of 0 ms sleeps for a millisecond. Not every host has `setImmediate`.
        (callback) => void (globalThis.setImmediate ?? setTimeout)(callback),
};

/** Timers of JavaScript hosts hold 31 bits. A longer delay would fire at once. */
const MAX_DELAY = 2 ** 31 - 1;

/** The longest wait that holds the process, in milliseconds. The run pauses for a longer one. */
export const LONGEST_HOLD = 60_000;
