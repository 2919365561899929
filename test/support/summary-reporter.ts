import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with one line that scripts can read: `12 passed, 0 failed`. A file that could not be collected
 * and an error outside of tests count as failed, so that a broken suite is never reported as passed.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failedHere += 1;
      }
      failed += failedHere === 0 && module.state() === "failed" ? 1 : failedHere;
    }
    // After the default reporter's own summary, which is printed in the same turn.
    process.once("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
