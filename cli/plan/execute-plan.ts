import { resolve } from "node:path";
import type { Command } from "commander";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";
import type { PlanExecuteOptions, PlanRunner, PlanRunResult } from "../../runtime/plan/plan-options.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { createRedactor } from "../../runtime/event/redact.ts";
import { planSchedule } from "../../runtime/plan/schedule.ts";
import { bindFunctions } from "../sources/bind-functions.ts";
import { maxStepsOf, type ExecutionOptions } from "../run/execution.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { llmFromEnvironment } from "../run/llm-from-environment.ts";
import { type OpenStore } from "../threads/open-store.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { quietly, type Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";
import { enterStage } from "../process/run-under-way.ts";
import { secretNames } from "../sources/secret-names.ts";
import { reasonOf } from "../sources/source-files.ts";
import { withDrain } from "./drain.ts";
import { createFileTaskCache } from "./file-task-cache.ts";
import { createPlanProgress, type PlanProgress } from "./plan-progress.ts";
import { createPlanView } from "./plan-view.ts";
import { endLeftovers, processRecorder } from "./process-groups.ts";
import { planDocument, reportPlan } from "./report-plan.ts";
import { createRunDirectory, RUNS_DIRECTORY, type RunDirectory } from "./run-directory.ts";
import { recordedDurations, writeRunIndex } from "./run-index.ts";
import { createTouchGuard } from "./verify-touches.ts";

/** Options of `run` and `resume` that mean something for plans only. */
export interface PlanFlags {
  readonly only?: readonly string[];
  readonly fromTask?: string;
  readonly dryRun?: boolean;
  readonly verifyTouches?: boolean;
  /** `false` with `--no-cache`. */
  readonly cache?: boolean;
}

export function addPlanOptions(command: Command): void {
  command
    .option("--only <tasks>", "a plan: only these tasks, as if all others were done", (text) =>
      text.split(",").map((name) => name.trim()),
    )
    .option("--from-task <task>", "a plan: this task and those that come after it")
    .option("--verify-touches", "a plan: compare what changes in the git tree with what tasks declare")
    .option("--no-cache", "a plan: run tasks although nothing they depend on has changed");
}

export interface PlanExecution {
  readonly table: PlanTable;
  /** The file that the plan came from; the run remembers it for `ngc resume`. */
  readonly file: string;
  readonly store: OpenStore;
  readonly options: ExecutionOptions & PlanFlags;
  /** Further flags for the command that goes on with the run. */
  readonly flags: string;
  readonly start: (runner: PlanRunner, options: PlanExecuteOptions) => Promise<PlanRunResult>;
}

/** `--dry-run`: what would start when, and nothing runs (K-43). */
export function dryRun(table: PlanTable, options: ExecutionOptions & PlanFlags, output: Output): ExitCode {
  const expected = recordedDurations(RUNS_DIRECTORY, table.name);
  const { batches } = planSchedule(table, {
    expected: (task) => expected(table.tasks[task]?.name ?? ""),
    ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
  });
  const names = batches.map((batch) => batch.map((task) => table.tasks[task]?.name ?? ""));
  output.document({ version: 1, dryRun: true, batches: names });
  for (const [index, batch] of names.entries()) output.result(`${index + 1}. ${batch.join(", ")}`);
  return EXIT.ok;
}

/** Loads the user's code, runs the plan with its log under `.ngraph/runs/`, shows progress and result, and closes the store. */
export async function executePlan(execution: PlanExecution, output: Output): Promise<ExitCode> {
  const { table, store, options, file } = execution;
  const [{ createPlanRunner }, { builtinNodes }, { createPrint }, { createShell }, code] = await Promise.all([
    import("../../runtime/plan/plan-runner.ts"),
    import("../../stdlib/builtin-nodes.ts"),
    import("../../stdlib/nodes/print.ts"),
    import("../../stdlib/nodes/shell.ts"),
    bindFunctions(table, options.builtins),
  ]);
  const runs = resolve(RUNS_DIRECTORY);
  const expected = recordedDurations(runs, table.name);
  const now = (): number => performance.now();
  const view = createPlanView(table, expected, options.maxParallel ?? table.maxParallel, now);
  const progress: PlanProgress =
    options.events === true
      ? {
          onEvent: (event) => void process.stderr.write(`${JSON.stringify(event)}\n`),
          above: (write) => write(),
          stop: () => {},
        }
      : createPlanProgress(view, output, now);
  // Lines for machines are not mixed with remarks for people.
  const say = options.events === true ? quietly(output) : output;
  const guard = options.verifyTouches === true ? createTouchGuard(table, process.cwd()) : undefined;
  let directory: RunDirectory | undefined;
  let logFailure: unknown;
  let started: () => void = () => undefined;
  const onEvent = (event: PlanEvent): void => {
    try {
      directory?.appendEvent(event);
    } catch (error) {
      logFailure ??= error;
    }
    if (event.type === "run_start") started();
    guard?.onEvent(event);
    progress.onEvent(event);
  };
  const print = createPrint((line) => {
    const text = printableText(line);
    progress.above(() => (output.json ? output.problem(text) : output.result(text)));
  });
  const redact = createRedactor(new Map(secretNames(table).map((name) => [name, process.env[name] ?? ""])));
  const shell = createShell({
    onStart: (command) => directory !== undefined && processRecorder(directory, redact).onStart(command),
    onEnd: (command) => directory !== undefined && processRecorder(directory, redact).onEnd(command),
  });
  const runner = createPlanRunner(table, {
    ...code.bindings,
    builtins: { ...builtinNodes, ...(await llmFromEnvironment(process.env)), print, shell, ...code.builtins },
    store: store.store,
    secrets: (name) => process.env[name],
    ...(options.allow === undefined ? {} : { allow: options.allow }),
  });
  enterStage({ name: "running" });
  try {
    const result = await withDrain(
      () => progress.above(() => say.note("stopping: what runs may end; press Ctrl-C again to end it now")),
      ({ drain, signal }) =>
        execution.start(runner, {
          drain,
          signal,
          expected,
          onEvent,
          ...maxStepsOf(options, table.name),
          metadata: { file: resolve(file), graph: table.name, kind: "plan", runs },
          taskCache: createFileTaskCache(resolve(".ngraph/cache"), process.cwd(), options.cache === false),
          beforeStart: async ({ runId, lastRun, resumedFrom, thread }) => {
            // Told once the store has it: before, there is nothing to go on with.
            started = () => thread !== null && announce(thread, resumedFrom !== null, execution, say);
            if (lastRun !== null) await endLastRun(lastRun.runId, lastRun.metadata["runs"], runs, output);
            directory = createRunDirectory(runs, runId, file);
          },
          ...(guard === undefined ? {} : { afterTask: guard.afterTask }),
          ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
          ...(options.only === undefined ? {} : { only: options.only }),
          ...(options.fromTask === undefined ? {} : { fromTask: options.fromTask }),
        }),
    );
    progress.stop();
    enterStage({ name: "over" });
    await new Promise((resolve) => setImmediate(resolve));
    try {
      directory?.writeSummary(planDocument(result, guard?.remarks ?? []));
    } catch (error) {
      // The run has ended as it has, and is to be told.
      logFailure ??= error;
    }
    writeRunIndex(runs);
    if (logFailure !== undefined) output.problem(`the run's log is not complete: ${reasonOf(logFailure)}`);
    // Closed before anything is said, so that whoever reads it finds the store at rest.
    await store.store.close?.();
    const place = { flags: store.flag + execution.flags, isMemory: store.isMemory };
    return reportPlan(result, place, guard?.remarks ?? [], say);
  } finally {
    progress.stop();
    directory?.close();
    enterStage({ name: "over" });
  }
}

/** A task may take the process down with it: how to find the run again is said before the first one starts. */
function announce(thread: string, resumed: boolean, { store, flags }: PlanExecution, output: Output): void {
  if (store.isMemory) return;
  output.note(`${resumed ? "going on with" : "running as"} thread ${thread}`);
  enterStage({ name: "running", thread, command: `ngc resume ${quoteArgument(thread)}${store.flag}${flags}` });
}

/** Nothing starts before commands that outlived a crash have been ended (9.10). */
async function endLastRun(runId: string, recorded: unknown, runs: string, output: Output): Promise<void> {
  const directory = resolve(typeof recorded === "string" ? recorded : runs, runId);
  for (const command of await endLeftovers(directory)) output.note(`ended what the last run left running: ${command}`);
}
