import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { NodeFailure } from "../node-failure.ts";

/** Timers take 32-bit delays; a longer sleep uses several timers. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** `sleep(30s)`: waits for that duration, or until the run is cancelled. */
export const sleep: BuiltinNode = async ({ duration }, context) => {
  if (typeof duration !== "number" || !(duration >= 0)) {
    throw new NodeFailure(`\`sleep\` takes a number of milliseconds from 0, not ${JSON.stringify(duration)}`, {
      retryable: false,
    });
  }
  for (let left = duration; left > 0; left -= LONGEST_TIMER) await wait(Math.min(left, LONGEST_TIMER), context.signal);
  return null;
};

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
