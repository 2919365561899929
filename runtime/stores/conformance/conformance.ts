/**
 * The conformance suite: the behaviour that the engine requires of a store, for any store and any test runner.
 *
 * @example with vitest, node:test, Jest, Mocha or Bun: any runner with `describe` and `it`
 * import { describe, it } from "vitest";
 * describeStore({ describe, it }, "MyStore", () => new MyStore());
 *
 * @example without a runner
 * for (const { run } of storeConformance) await run(() => new MyStore());
 */
import { CLAIMS } from "./claim-cases.ts";
import { CRASHES } from "./crash-cases.ts";
import { GROWTH } from "./growth-cases.ts";
import { HISTORY } from "./history-cases.ts";
import { KEYS } from "./key-cases.ts";
import { MEMORY } from "./memory-cases.ts";
import { PRUNING } from "./prune-cases.ts";
import { ROUND_TRIPS } from "./round-trip-cases.ts";
import { SECOND_PROCESS } from "./second-process-cases.ts";
import { SIGNALS } from "./signal-cases.ts";
import type { MakeStore, Need, StoreCase } from "./store-case.ts";
import { WRITES } from "./write-cases.ts";

export { cutLastWrite } from "./cut-last-write.ts";
export { ConformanceError } from "./expect.ts";
export type {
  CrashedStore,
  MakeStore,
  Need,
  OptionalMethod,
  StoreCase,
  StoreUnderTest,
  TestFunction,
} from "./store-case.ts";

/** All cases. A case with `needs` tests something that a store may leave out. */
export const storeConformance: readonly StoreCase[] = [
  ...ROUND_TRIPS,
  ...HISTORY,
  ...CLAIMS,
  ...WRITES,
  ...SIGNALS,
  ...PRUNING,
  ...MEMORY,
  ...KEYS,
  ...GROWTH,
  ...CRASHES,
  ...SECOND_PROCESS,
];

/** The functions that test runners have in common. */
export interface TestApi {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (...context: readonly unknown[]) => Promise<void>): unknown;
}

/**
 * Registers the suite. A case whose `needs` the store lacks is skipped if the runner passes a context with `skip` to its
 * tests (as vitest and node:test do); otherwise it passes.
 *
 * @param makeStore returns a fresh, empty store for each case. The case closes it. `reopen`, `size`, `crash` and
 *   `secondProcess` enable more cases
 */
export function describeStore(api: TestApi, name: string, makeStore: MakeStore): void {
  api.describe(name, () => {
    for (const { name: caseName, run } of storeConformance) {
      // A rest parameter: runners that count parameters would wait for a callback.
      api.it(caseName, async (...context) => {
        const lacks = await run(makeStore);
        if (lacks.length > 0) skip(context[0], lacks);
      });
    }
  });
}

function skip(context: unknown, lacks: readonly Need[]): void {
  if (typeof context !== "object" || context === null || !("skip" in context)) return;
  if (typeof context.skip === "function") context.skip(`the store has no ${lacks.join(", ")}`);
}
