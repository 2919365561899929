import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
/** Collects all garbage. */
export const collectGarbage = runInNewContext("gc") as () => void;

/** Compiled code allocates less: some objects that do not leave a function are never made. */
const WARM_UP_RUNS = 250;

/**
 * The bytes that a call allocates: the growth of the heap over a few calls, without a collection between them. The least of several counts, because a
 * collection or a compilation may fall into one of them.
 */
export async function allocatedBytes(run: () => Promise<unknown>, calls = 4): Promise<number> {
  for (let at = 0; at < WARM_UP_RUNS; at++) await run();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) {
    // The code that this turn has compiled belongs to no count, and a run that waits for its turn neither.
    await new Promise(setImmediate);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < calls; at++) await run();
    const grown = process.memoryUsage().heapUsed - before;
    if (grown > 0) least = Math.min(least, grown / calls);
  }
  return least;
}
