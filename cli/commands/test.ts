import { hasErrors } from "../../diagnostics/diagnostic.ts";
import type { Bindings } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { printDiagnostics, uniqueDiagnostics } from "../output/print-diagnostics.ts";
import { CommandError } from "../process/command-error.ts";
import { userSourceFiles } from "../process/user-error.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import type { Output } from "../output/output.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { runAndWatch } from "../sources/watch-files.ts";
import { choiceOption } from "../run/parse-values.ts";
import { compileSource } from "../sources/compile-source.ts";
import { findSources } from "../sources/source-files.ts";
import { STORE_FLAG, STORE_HELP } from "../threads/open-store.ts";
import { defineCommand } from "../start/define-command.ts";
import {
  printCoverage,
  printResults,
  resultsDocument,
  TEST_FORMATS,
  type TestFormat,
} from "../testing/report-tests.ts";

interface TestOptions {
  readonly filter?: string;
  readonly coverage?: boolean;
  readonly picture?: string;
  readonly watch?: boolean;
  readonly record?: string;
  readonly store?: string;
  readonly format?: TestFormat;
}

export const testCommand = defineCommand<TestOptions>({
  usage: "test [path...]",
  summary: "run the `test` blocks of graphs, without network and with a simulated clock",
  configure: (command) => {
    command
      .option("--filter <text>", "run only the tests whose title contains this text")
      .option("--record <thread>", "print the last run of a thread as a `test` block with mocks, which passes")
      .option(STORE_FLAG, STORE_HELP)
      .option("--watch", "run the tests again when a file changes")
      .option("--coverage", "list the nodes, edges, arms and error routes that no test takes")
      .option("--picture <file>", "with --coverage: draw what the tests take (.svg, .html, .png, .mmd, .dot, .txt)")
      .addOption(choiceOption("--format <format>", "default: text", TEST_FORMATS));
  },
  examples: [
    "ngc test support.ngraph",
    "ngc test graphs/ --filter refund",
    "ngc test support.ngraph --coverage --picture coverage.svg",
    "ngc test graphs/ --watch",
    "ngc test --record 42 >> support.ngraph",
    "ngc test graphs/ --format junit > results.xml",
  ],
  run: async (paths, options, output) => {
    if (options.record !== undefined) return record(options.record, paths, options, output);
    if (options.store !== undefined) throw new CommandError("--store is the store of the thread of --record");
    if (options.picture !== undefined && options.coverage !== true) {
      throw new CommandError("--picture draws the coverage of tests", { help: "add --coverage" });
    }
    if (paths.length === 0) throw new CommandError("missing argument: path", { help: "name a file or a directory" });
    if (options.watch !== true) return testOnce(paths, options, output, new Set());
    return runAndWatch(paths, output, (watched) => testOnce(paths, options, output, watched));
  },
});

async function record(
  thread: string,
  [file, ...others]: readonly string[],
  options: TestOptions,
  output: Output,
): Promise<ExitCode> {
  const { filter, coverage, picture, watch, format } = options;
  if ([filter, coverage, picture, watch, format].some((each) => each !== undefined) || others.length > 0) {
    throw new CommandError("--record takes at most one file, and --store", {
      help: "`ngc test --record THREAD` prints a test, and runs no others",
    });
  }
  const { recordThread } = await import("../testing/record-thread.ts");
  return recordThread(thread, file, options.store, output);
}

async function testOnce(
  paths: readonly string[],
  { filter, format = "text", coverage, picture }: TestOptions,
  output: Output,
  watched: Set<string>,
): Promise<ExitCode> {
  const compiled: CompileResult[] = [];
  for (const path of findSources(paths)) compiled.push(await compileSource(path, { watched }));
  const diagnostics = uniqueDiagnostics(compiled.flatMap((source) => source.diagnostics));
  printDiagnostics(
    diagnostics.filter(({ severity }) => severity === "error"),
    {},
    output,
  );
  if (hasErrors(diagnostics)) {
    if (output.json) output.document(await diagnosticsDocument(compiled));
    return EXIT.invalid;
  }
  const { runTest } = await import("../../testing/run-test.ts");
  const { bindFunctions } = await import("../sources/bind-functions.ts");
  const { CoverageCounter } = await import("../../testing/coverage.ts");
  // A graph without tests is not covered.
  const counters = new Map(
    coverage === true
      ? compiled.flatMap(({ graphs }) =>
          graphs.flatMap(({ table }) => (table === undefined ? [] : [[table, new CoverageCounter(table)] as const])),
        )
      : [],
  );
  // One after the other: a bundle registers a listener for the exit of the process while it loads.
  let loading: Promise<unknown> = Promise.resolve();
  const load = (table: Table): Promise<Bindings> => {
    const bound = loading.then(async () => (await bindFunctions(table, undefined)).bindings);
    loading = bound.catch(() => undefined);
    return bound;
  };
  const draw =
    picture === undefined
      ? undefined
      : (await import("../testing/draw-coverage.ts")).coverageDrawer(picture, compiled, [...counters.keys()]);
  const running = compiled.flatMap(({ tests, graphs }) =>
    tests.flatMap((test) => {
      if (filter !== undefined && !test.title.includes(filter)) return [];
      const table = graphs.find(({ bound }) => bound === test.graph)?.table;
      return table === undefined ? [] : [runTest(test, table, load, counters.get(table))];
    }),
  );
  if (running.length === 0 && filter !== undefined) {
    throw new CommandError(`no test has a title that contains \`${filter}\``);
  }
  const results = await Promise.all(running);
  const covered = [...counters.values()].map((counter) => counter.result());
  output.document(resultsDocument(results, coverage === true ? covered : undefined));
  printResults(results, format, output);
  if (results.length === 0) noteNoTests(compiled, output);
  printCoverage(covered, format, output);
  await draw?.(covered, output);
  for (const file of userSourceFiles()) watched.add(file);
  return results.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** Zero tests are no failure, as in `node --test`: a directory of graphs may have none yet. The reader learns how to write one. */
function noteNoTests(compiled: readonly CompileResult[], output: Output): void {
  const name = compiled.flatMap(({ graphs }) => graphs)[0]?.name ?? "GRAPH";
  output.note(`no file declares a test: test "…" for ${name} { … }; \`ngc test --record THREAD\` prints one of a run`);
}
