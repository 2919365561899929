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

/** Waits for `ms` milliseconds. Resolves to `false`, early, if the run is cancelled or interrupted. */
export function waitUnlessCancelled({ cancellation, aborting, shared: { clock } }: Run, ms: number): Promise<boolean> {
  if (cancellation.aborted || aborting) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onCancel = (): void => {
      clock.clearTimeout(timer);
      cancellation.unlisten(onCancel);
      resolve(false);
    };
    const timer = clock.setTimeout(() => {
      cancellation.unlisten(onCancel);
      resolve(true);
    }, ms);
    cancellation.listen(onCancel);
  });
}
