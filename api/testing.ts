/**
 * `ngraph/testing`: the `test` blocks of graph files in vitest, in `node:test`, or in another test runner.
 *
 * ```ts
 * import { test } from "node:test";
 * import { assertPassed, runTests } from "ngraph/testing";
 *
 * for (const result of await runTests("support.ngraph")) test(result.title, () => assertPassed(result));
 * ```
 */
import { readFile } from "node:fs/promises";
import { compile } from "../compiler/compile.ts";
import { hasErrors } from "../diagnostics/diagnostic.ts";
import { renderPretty } from "../diagnostics/render/pretty.ts";
import { runTest, type TestResult } from "../testing/run-test.ts";
import { loadFunctions, type LoadModule } from "./load-functions.ts";
import { createNodeHost } from "./node-host.ts";

export type { TestFailure, TestResult } from "../testing/run-test.ts";
export type { LoadModule } from "./load-functions.ts";

export interface RunTestsOptions {
  /** Runs only the tests whose title contains this text. */
  readonly filter?: string;
  /**
   * Imports a module with the functions of nodes. In vitest, `(url) => import(url)` lets vitest load the modules, so that its
   * module mocks and its coverage apply.
   * @default import by Node; esbuild removes types if Node does not
   */
  readonly load?: LoadModule;
}

/**
 * Runs the `test` blocks of a graph file as `ngc test` does: with a store in memory, a simulated clock, and without models,
 * commands and requests. A test that does not pass is a result with `ok: false`, not an error.
 *
 * @param path of the graph file, relative to the working directory
 * @returns the results in the order of the file
 * @throws SyntaxError with the findings and their lines if the file has errors, and the error of `node:fs` if it cannot be read
 */
export async function runTests(path: string, { filter = "", load }: RunTestsOptions = {}): Promise<TestResult[]> {
  const { diagnostics, tests, graphs } = compile(await readFile(path, "utf8"), {
    path,
    host: createNodeHost(),
  });
  if (hasErrors(diagnostics)) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    throw new SyntaxError(`${path} has errors\n\n${renderPretty(errors)}`);
  }
  return Promise.all(
    tests.flatMap((test) => {
      const table = graphs.find(({ bound }) => bound === test.graph)?.table;
      if (table === undefined || !test.title.includes(filter)) return [];
      return [runTest(test, table, (needed) => loadFunctions(needed, load))];
    }),
  );
}

/** Throws an `Error` that lists the failures of a test with their places, unless it passed. */
export function assertPassed({ ok, file, failures }: TestResult): void {
  if (ok) return;
  const lines = failures.flatMap(({ message, line, column, details }) => [
    `${file}(${line},${column}): ${message}`,
    ...details.map((detail) => `  ${detail}`),
  ]);
  throw new Error(lines.join("\n"));
}
