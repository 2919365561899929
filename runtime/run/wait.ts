import type { Clock } from "../interface/clock.ts";
import type { Run } from "./run.ts";

/** Waits until a time of the clock. Rejects with the reason of the signal when it aborts. */
export function waitUntil(due: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: unknown;
    const stop = (): void => {
      clock.clearTimeout(timer);
      reject(signal.reason as Error);
    };
    // A clock may fire early: timers of a host hold 31 bits.
    const wait = (): void => {
      const left = due - clock.now();
      if (left > 0) {
        timer = clock.setTimeout(wait, left);
        return;
      }
      signal.removeEventListener("abort", stop);
      resolve();
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    wait();
  });
}

/**
 * Waits for `ms` milliseconds. Resolves to `false`, early, if the run is cancelled or interrupted, or if `signal` aborts.
 */
export function waitUnlessCancelled(
  { cancellation, aborting, shared: { clock } }: Run,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  if (cancellation.aborted || aborting || signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (isOver: boolean): void => {
      clock.clearTimeout(timer);
      cancellation.unlisten(onCancel);
      signal?.removeEventListener("abort", onCancel);
      resolve(isOver);
    };
    const onCancel = (): void => end(false);
    const timer = clock.setTimeout(() => end(true), ms);
    cancellation.listen(onCancel);
    signal?.addEventListener("abort", onCancel, { once: true });
  });
}
