/**
 * What a store has to do, as a suite that any store can run under any test runner.
 *
 * @example with vitest
 * import { describe, it } from "vitest";
 * describeStore({ describe, it }, "MyStore", () => new MyStore());
 *
 * @example without a runner
 * for (const { name, run } of storeConformance) await run(() => new MyStore());
 */
import { CLAIMS } from "./claim-cases.ts";
import { GROWTH } from "./growth-cases.ts";
import { HISTORY } from "./history-cases.ts";
import { KEYS } from "./key-cases.ts";
import { ROUND_TRIPS } from "./round-trip-cases.ts";
import type { MakeStore, StoreCase } from "./store-case.ts";

export type { MakeStore, StoreCase, StoreUnderTest } from "./store-case.ts";

/** Names begin with the number of the promise in the specification of execution, where there is one. */
export const storeConformance: readonly StoreCase[] = [...ROUND_TRIPS, ...HISTORY, ...CLAIMS, ...KEYS, ...GROWTH];

/** What test runners have in common. */
export interface TestApi {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/**
 * Registers the suite.
 *
 * @param makeStore a fresh, empty store for each case, which closes it; with `reopen` and `size` more is checked
 */
export function describeStore(api: TestApi, name: string, makeStore: MakeStore): void {
  api.describe(name, () => {
    for (const storeCase of storeConformance) api.it(storeCase.name, () => storeCase.run(makeStore));
  });
}
