/**
 * The conformance suite of hosts: what an engine promises about execution, on any system that runs its graphs, for any test runner.
 *
 * @example with vitest, node:test, Jest, Mocha or Bun
 * import { describe, it } from "vitest";
 * describeHost({ describe, it }, "embedded", (table, functions) => ({
 *   engine: createEngine(table, { functions, store: new MemoryStore() }),
 * }));
 */
import type { HostCase, MakeHost } from "./host-case.ts";
import { FAILURES } from "./failure-cases.ts";
import { PAUSES } from "./pause-cases.ts";
import { STEPS } from "./step-cases.ts";
import { THREADS } from "./thread-cases.ts";

export type { HostCase, HostUnderTest, MakeHost } from "./host-case.ts";

/** All cases. */
export const hostConformance: readonly HostCase[] = [...STEPS, ...FAILURES, ...PAUSES, ...THREADS];

/** The functions that test runners have in common. */
export interface TestApi {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (...context: readonly unknown[]) => Promise<void>): unknown;
}

/**
 * Registers the suite.
 *
 * @param makeHost prepares the system for the graph of one case; the case disposes of it. `crash` enables more cases
 */
export function describeHost(api: TestApi, name: string, makeHost: MakeHost): void {
  api.describe(name, () => {
    for (const { name: caseName, run } of hostConformance) {
      // A rest parameter: runners that count parameters would wait for a callback.
      api.it(caseName, async (...context) => {
        if (!(await run(makeHost))) skip(context[0]);
      });
    }
  });
}

function skip(context: unknown): void {
  if (typeof context !== "object" || context === null || !("skip" in context)) return;
  if (typeof context.skip === "function") context.skip("the host does not survive its processes");
}
