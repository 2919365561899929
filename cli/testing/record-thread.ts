/** `ngc test --record`: prints the last run of a thread as a `test` block that passes. */
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { sampleValue } from "../replay/sample-value.ts";
import { bindFunctions } from "../sources/bind-functions.ts";
import { compileText } from "../sources/compile-source.ts";
import { formatText } from "../sources/format-text.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { readSource } from "../sources/source-files.ts";
import { withStore } from "../threads/open-store.ts";
import { latestOf, refusePlanThread, sourceOf } from "../threads/thread-source.ts";
import { recordTest } from "./record-test.ts";

/** Steps of a run that is recorded. A longer test is not readable. */
const MAX_STEPS = 1000;

/**
 * @param path the file of the graph; `undefined` for the file that the run recorded
 * @throws CommandError for a run that is not over, or whose test would not pass
 */
export function recordThread(
  thread: string,
  path: string | undefined,
  storeName: string | undefined,
  output: Output,
): Promise<ExitCode> {
  return withStore(storeName, { mustExist: true, readOnly: true }, async ({ store }) => {
    const head = await latestOf(store, thread);
    refusePlanThread(head, "has no `test` blocks");
    const { file, graph } = sourceOf(head, { file: path });
    const table = await loadGraph(file, graph, output);
    if (table === undefined) return EXIT.invalid;
    const text = await testOfThread(store, head, file, table);
    output.document({ version: 1, thread, file, graph: table.name, test: text });
    output.result(text.trimEnd());
    return EXIT.ok;
  });
}

/**
 * The last run of a thread as the text of a `test` block that passes.
 *
 * @throws CommandError for a file or a run without a test: one of YAML, or a run that is not over or whose test would not pass
 */
export async function testOfThread(store: Store, head: Checkpoint, file: string, table: Table): Promise<string> {
  if (/\.ya?ml$/i.test(file)) {
    throw new CommandError(`${file}: a test is recorded as .ngraph text`, {
      help: "`ngc convert` prints the file in the other spelling",
    });
  }
  if (head.status === "running" || head.status === "cancelled") {
    throw new CommandError(
      `the last run of thread \`${printable(head.threadId)}\` is ${head.status}: it has no end to expect`,
      {
        help: "`ngc resume` continues it",
      },
    );
  }
  const title = `thread ${head.threadId}`;
  const block = recordTest(table, await lastRun(store, head), title, await samplesOf(file, table.name));
  await verify(block, title, file);
  const formatted = await formatText(block, file);
  return typeof formatted === "string" ? formatted : block;
}

/** Values with the types of nodes' results: the store has the fields of a result that the node writes, and a mock has all of them. */
async function samplesOf(file: string, graph: string): Promise<(node: string) => Json> {
  const { graphs } = await compileText(readSource(file), file);
  const bound = graphs.find(({ name }) => name === graph)?.bound;
  return (name) => {
    const type = bound?.nodes.find((node) => node.name === name)?.result;
    return type === undefined ? null : sampleValue({ type, types: bound?.types ?? [] });
  };
}

/** The checkpoints of the last run of a thread, oldest first. */
async function lastRun(store: Store, head: Checkpoint): Promise<readonly Checkpoint[]> {
  const found = await store.list(head.threadId, { limit: 3 * MAX_STEPS });
  const own = found.filter(({ runId }) => runId === head.runId);
  const chain = own.map((each) => migrateCheckpoint(each, { threadId: head.threadId })).toReversed();
  if (chain[0]?.phase === "input") return chain;
  throw new CommandError("the start of the run is not in the store, or the run is too long", {
    help: `a run that is recorded has its first checkpoint and at most ${MAX_STEPS} steps`,
  });
}

/** Runs the test. @throws CommandError when it is no valid test or does not pass */
async function verify(block: string, title: string, file: string): Promise<void> {
  const compiled = await compileText(`${readSource(file).replace(/\n*$/, "\n\n")}${block}`, file);
  const help = "write the test by hand; `ngc history` and `ngc show` print the path and the values of the run";
  if (hasErrors(compiled.diagnostics)) {
    const error = compiled.diagnostics.find(({ severity }) => severity === "error");
    throw new CommandError(`the run cannot be recorded: ${error?.message}`, { help });
  }
  // A test of an earlier record may have the same title: this one is the last.
  const test = compiled.tests.findLast((each) => each.title === title);
  const table = compiled.graphs.find(({ bound }) => bound === test?.graph)?.table;
  if (test === undefined || table === undefined) throw new CommandError("the run cannot be recorded", { help });
  const { runTest } = await import("../../testing/run-test.ts");
  const result = await runTest(test, table, async (each) => (await bindFunctions(each, undefined)).bindings);
  if (result.ok) return;
  const [failure] = result.failures;
  throw new CommandError(
    `the run cannot be recorded: its test would fail: ${[failure?.message, ...(failure?.details ?? [])].join("; ")}`,
    { help },
  );
}
