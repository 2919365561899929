import type { Run } from "./run.ts";

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
