/**
 * What a store has to do, as a suite that any store can run under any test runner.
 *
 * @example with vitest, node:test, Jest, Mocha or Bun: whatever has `describe` and `it`
 * import { describe, it } from "vitest";
 * describeStore({ describe, it }, "MyStore", () => new MyStore());
 *
 * @example without a runner
 * for (const { run } of storeConformance) await run(() => new MyStore());
 */
import { CLAIMS } from "./claim-cases.ts";
import { GROWTH } from "./growth-cases.ts";
import { HISTORY } from "./history-cases.ts";
import { KEYS } from "./key-cases.ts";
import { PRUNING } from "./prune-cases.ts";
import { ROUND_TRIPS } from "./round-trip-cases.ts";
import type { MakeStore, Need, StoreCase } from "./store-case.ts";
import { WRITES } from "./write-cases.ts";

export { ConformanceError } from "./expect.ts";
export type { MakeStore, Need, OptionalMethod, StoreCase, StoreUnderTest } from "./store-case.ts";

/** All cases. Those with `needs` are about what a store may leave out. */
export const storeConformance: readonly StoreCase[] = [
  ...ROUND_TRIPS,
  ...HISTORY,
  ...CLAIMS,
  ...WRITES,
  ...PRUNING,
  ...KEYS,
  ...GROWTH,
];

/** What test runners have in common. */
export interface TestApi {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (...context: readonly unknown[]) => Promise<void>): unknown;
}

/**
 * Registers the suite. A case about methods that the store leaves out is skipped, where the runner hands its tests a way to say so (vitest
 * and node:test do); elsewhere it passes.
 *
 * @param makeStore a fresh, empty store for each case, which closes it; with `reopen` and `size` more is checked
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
