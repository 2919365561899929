/**
 * Work of a handler outside of its journal. Restate keeps the result of the handler, so a journal entry for the work would be written
 * to the log for nothing. A cancellation reaches a handler only while it waits for Restate: it waits for an awakeable that is never
 * completed, which is no entry of the journal.
 */
import type * as Sdk from "@restatedev/restate-sdk";

/** Milliseconds before a cancellation of a short handler is looked for: most work is over by then. */
export const SHORT_WORK_MS = 20;
/**
 * A handler that only waits is suspended when it was idle for a day (`LONG`), and would wait for ever. It ends before that, and Restate
 * starts it again.
 */
const LONGEST_MS = 23 * 3_600_000;

/**
 * Waits for work.
 *
 * @param after milliseconds before a cancellation is looked for. What the handler has written before is sent by then
 * @param onCancel called when the invocation is cancelled. What it throws is the result; otherwise the work ends by itself
 */
export function untilCancelled<T>(
  sdk: typeof Sdk,
  ctx: Sdk.Context,
  work: Promise<T>,
  after: number,
  onCancel: (error: Sdk.CancelledError) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancelled = (error: unknown): void => {
      if (!(error instanceof sdk.CancelledError)) return;
      try {
        onCancel(error);
      } catch (thrown) {
        reject(thrown as Error);
      }
    };
    const watch = (): void => void ctx.awakeable<null>().promise.then(undefined, cancelled);
    const tooLong = (): void => reject(new Error("the attempt has lasted for almost a day: another one continues"));
    const timers = [setTimeout(tooLong, LONGEST_MS)];
    if (after === 0) watch();
    else timers.push(setTimeout(watch, after));
    work.then(resolve, reject).finally(() => timers.forEach(clearTimeout));
  });
}
