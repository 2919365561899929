/**
 * The longest time that work keeps the event loop without a turn: wall time without the time in which the thread waits for a processor,
 * because other programs have them.
 */
import { openSync, readSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

/** In milliseconds. */
export interface Stall {
  readonly longest: number;
  /** The longest turn without the pauses of the garbage collector in it. */
  readonly outsideGarbage: number;
}

interface Turn {
  readonly from: number;
  readonly to: number;
  readonly waited: number;
}

/** The pauses of the garbage collector, in milliseconds since the start. */
const pauses: { readonly startTime: number; readonly duration: number }[] = [];
new PerformanceObserver((list) => pauses.push(...list.getEntries())).observe({ entryTypes: ["gc"] });

export async function longestStall(work: () => Promise<unknown>): Promise<Stall> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  pauses.length = 0;
  const turns: Turn[] = [];
  let isOver = false;
  let from = performance.now();
  let waited = waitForProcessor();
  const look = (): void => {
    const to = performance.now();
    const now = waitForProcessor();
    turns.push({ from, to, waited: now - waited });
    from = to;
    waited = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  // The observer is called later.
  await new Promise((resolve) => setTimeout(resolve, 5));
  let [longest, outsideGarbage] = [0, 0];
  let pause = 0;
  for (const { from, to, waited } of turns) {
    let garbage = 0;
    for (; pause < pauses.length && pauses[pause]!.startTime < to; pause++) garbage += pauses[pause]!.duration;
    longest = Math.max(longest, to - from - waited);
    // The thread may have waited within a collection.
    outsideGarbage = Math.max(outsideGarbage, to - from - Math.max(garbage, waited));
  }
  return { longest, outsideGarbage };
}

/** How long this thread has waited for a processor, in milliseconds. 0 where the system does not say it. */
const waitForProcessor = ((): (() => number) => {
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    const buffer = Buffer.alloc(64);
    return () => Number(buffer.toString("latin1", 0, readSync(file, buffer, 0, 64, 0)).split(" ")[1]) / 1e6;
  } catch {
    return () => 0;
  }
})();
