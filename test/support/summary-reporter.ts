import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with one line that scripts can read: `12 passed, 0 failed`. A file that could not be collected
 * and an error outside of tests count as failed, so that a broken suite is never reported as passed. A test that passed
 * only when it was repeated is listed before it as flaky, with the error of its first attempt (a random test names its
 * seed there).
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    const flaky: string[] = [];
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failedHere += 1;
        if (test.diagnostic()?.flaky === true) {
          flaky.push(`flaky: ${module.relativeModuleId} > ${test.fullName}\n${errors?.[0]?.stack ?? ""}\n`);
        }
      }
      failed += failedHere === 0 && module.state() === "failed" ? 1 : failedHere;
    }
    // After the default reporter's own summary, which is printed in the same turn.
    process.once("exit", () => process.stdout.write(`${flaky.join("")}${passed} passed, ${failed} failed\n`));
  }
}
