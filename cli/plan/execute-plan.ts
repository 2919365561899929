import { relative, resolve } from "node:path";
import type { PlanExecuteOptions, PlanRunInfo, PlanRunner, PlanRunResult } from "../../runtime/plan/plan-options.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Output } from "../output/output.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import type { ExecutionOptions } from "../run/execution-options.ts";
import { openRunSession, type RunTarget } from "../run/run-session.ts";
import { reasonOf } from "../sources/source-files.ts";
import { withDrain } from "./drain.ts";
import { createOutputTails, type OutputTails } from "./output-tails.ts";
import { createOutputGroups, isGithubActions } from "./output-groups.ts";
import { createFileTaskCache } from "./cache/file-task-cache.ts";
import { openSharedCache, type SharedCache } from "./cache/shared-cache.ts";
import { expectedDurations } from "./expected-durations.ts";
import { createFailedOutputs } from "./failed-outputs.ts";
import { notifyEnd } from "./notify.ts";
import { withOneAuthor, type PlanFlags } from "./plan-flags.ts";
import { PlanLog } from "./plan-log.ts";
import { createPlanProgress, planEventLines } from "./plan-progress.ts";
import { createPlanView } from "./plan-view.ts";
import { endLeftovers, startOf } from "./process-groups.ts";
import { planDocument, reportPlan } from "./report-plan.ts";
import { withOutput } from "./read-logs.ts";
import { RUNS_DIRECTORY } from "./run-directory.ts";
import { outputOf, printedBy, writeReports } from "./run-report.ts";
import { RunRecords } from "./run-records.ts";
import { createRunTimeline } from "./run-timeline.ts";
import { hasTerminal } from "./terminal.ts";
import { createTaskWorktrees, usesWorktrees } from "./task-worktrees.ts";
import { claimTree, type TreeClaim } from "./tree-claim.ts";
import { createTouchGuard } from "./verify-touches.ts";

export interface PlanExecution extends RunTarget<PlanTable> {
  readonly options: ExecutionOptions & PlanFlags;
  readonly start: (runner: PlanRunner, options: PlanExecuteOptions) => Promise<PlanRunResult>;
}

/**
 * Loads the user's code, runs the plan with its log below `.ngraph/runs/`, closes the store, and prints progress and result.
 */
export async function executePlan(given: PlanExecution, output: Output): Promise<ExitCode> {
  const execution = { ...given, options: withOneAuthor(given.options) };
  const { table, options, file } = execution;
  const [{ createPlanRunner }, { createShell }] = await Promise.all([
    import("../../runtime/plan/plan-runner.ts"),
    import("../../stdlib/nodes/shell.ts"),
  ]);
  const shared = sharedCacheOf(options);
  const tails = createOutputTails();
  const log = new PlanLog(RUNS_DIRECTORY, output.live ? tails.onText : undefined);
  const { expected } = expectedDurations(log.runs, table, options.maxParallel);
  const progress = options.events === true ? planEventLines() : createProgress(execution, expected, output, tails);
  const timeline = options.report === undefined ? undefined : createRunTimeline();
  const groups = isGithubActions() && options.events !== true ? createOutputGroups(log.runs, output) : undefined;
  // The groups have printed the output of failed tasks already. With `--events`, programs read stderr.
  const printsOutput = groups === undefined && options.events !== true;
  const failedOutputs = printsOutput ? createFailedOutputs(log.runs, output) : undefined;
  const worktrees = usesWorktrees(table)
    ? createTaskWorktrees(
        process.cwd(),
        (task) => log.diffPath(task),
        (task, path) =>
          progress.above(() => output.note(`the changes of ${task} are kept, not merged: ${relative("", path)}`)),
      )
    : undefined;
  const guard = options.verifyTouches === true ? createTouchGuard(table, process.cwd()) : undefined;
  const shell = createShell({
    onStart(command) {
      const started = startOf(command.group);
      log.onCommandStart(command, started);
      return records?.onStart(command, started);
    },
    onEnd(command) {
      records?.onEnd(command);
      log.onCommandEnd(command);
    },
    onLeft: ({ command, node }) =>
      remark(`${node}: ended what the command left in the background: ${session.redact(command)}`),
    ...(worktrees === undefined ? {} : { rootOf: (node) => worktrees.rootOf(node) }),
    lendTerminal: () => (hasTerminal() ? progress.pause() : undefined),
    storeFailure: (task, text) => log.storeFailure(task, session.redact(text)),
    onOutput: (command, stream, chunk) => log.onOutput(command, stream, chunk),
  });
  const session = await openRunSession(execution, progress, output, () => ({ shell }));
  const runner = createPlanRunner(table, session.engineOptions);

  const remark = (text: string): void => progress.above(() => output.note(text));
  const gone = options.hostGone ?? [];
  const records = RunRecords.of(execution.store.store, execution.store.isMemory, {
    gone,
    redact: session.redact,
    onNote: remark,
  });
  const cache = createFileTaskCache(resolve(".ngraph/cache"), {
    root: process.cwd(),
    isForced: options.cache === false,
    shared,
    signatureKey: process.env["NGRAPH_CACHE_SIGNATURE_KEY"],
    redact: session.redact,
    onRemark: remark,
    outputOf: (node) => (started === undefined ? "" : printedBy(log.runs, started.runId, node)),
    onReplay: (node, text) => log.replay(node, text),
  });

  let started: PlanRunInfo | undefined;
  let claim: TreeClaim | undefined;
  const runOptions: PlanExecuteOptions = {
    ...session.runOptions,
    expected,
    metadata: { ...session.runOptions.metadata, kind: "plan", runs: log.runs },
    taskCache: cache,
    async beforeStart(info) {
      const own = { run: info.runId, thread: info.thread, plan: table.name, kind: "plan" as const };
      claim = claimTree(log.runs, { ...own, gone });
      if (info.lastRun !== null) await endLastRun(info.lastRun, log.runs, output);
      const dead = await claim.endDeadRuns();
      for (const command of dead) output.note(`ended a command of an earlier run: ${command}`);
      await records?.begin(own, claim.covers);
      worktrees?.prepare();
      log.open(info, file, session.redact, session.hasSecrets);
      const { plannedRun } = await import("./planned-run.ts");
      log.writePlanned(() => plannedRun(table, { ...options, expected }));
      started = info;
    },
    onEvent(event) {
      log.onEvent(event);
      timeline?.onEvent(event);
      failedOutputs?.onEvent(event);
      // Announces the run only after this event: before it, the store has nothing to resume.
      if (event.type === "run_start") session.announce(started?.thread, started?.resumedFrom != null);
      guard?.onEvent(event);
      progress.onEvent(event);
      if (started !== undefined) groups?.(event, started.runId);
    },
    ...(worktrees === undefined ? {} : { worktrees }),
    ...(guard === undefined ? {} : { afterTask: guard.afterTask }),
    ...(options.only === undefined ? {} : { only: options.only }),
    ...(options.fromTask === undefined ? {} : { fromTask: options.fromTask }),
  };
  const onDrain = (): void =>
    progress.above(() =>
      session.output.note(
        "stopping: running attempts may end, no task and no further attempt starts; press Ctrl-C again to end them now",
      ),
    );
  try {
    const result = await session
      .run(() => withDrain(onDrain, (signals) => execution.start(runner, { ...runOptions, ...signals })))
      .finally(() => records?.end());
    await cache.close();
    const remarks = guard?.remarks ?? [];
    log.finish(planDocument(result, remarks));
    if (log.failure !== undefined) output.problem(`the run's log is not complete: ${reasonOf(log.failure)}`);
    await session.close();
    const code = reportPlan(
      result,
      session.place,
      remarks,
      session.output,
      (task) => failedOutputs?.print(task),
      withOutput(log.runs, result.runId),
    );
    if (timeline !== undefined)
      writeReports(options.report ?? [], {
        plan: table.name,
        result,
        timeline,
        outputOf: (task) => outputOf(log.runs, result.runId, task),
      });
    const notified = await notifyEnd(options.notify ?? [], table.name, result, log.runs, session.redact);
    for (const problem of notified) output.problem(problem);
    return code;
  } finally {
    log.close();
    claim?.release();
  }
}

/** The shared cache that a flag or the environment names. `--no-cache` stores results there and takes none. */
function sharedCacheOf({ sharedCache }: PlanFlags): SharedCache | undefined {
  const place = sharedCache ?? process.env["NGRAPH_SHARED_CACHE"];
  return place === undefined || place === "" ? undefined : openSharedCache(place, process.env);
}

function createProgress(
  { table, options }: PlanExecution,
  expected: (task: string) => number | undefined,
  output: Output,
  tails: OutputTails,
): ReturnType<typeof createPlanProgress> {
  const now = (): number => performance.now();
  return createPlanProgress(
    createPlanView(table, expected, options.maxParallel ?? table.maxParallel, now),
    output,
    now,
    tails,
  );
}

/** Ends commands that outlived a crash of the last run, before the first task starts (9.10). */
async function endLastRun(
  { runId, metadata }: NonNullable<PlanRunInfo["lastRun"]>,
  runs: string,
  output: Output,
): Promise<void> {
  const { runs: recorded } = metadata;
  const directory = resolve(typeof recorded === "string" ? recorded : runs, runId);
  for (const command of await endLeftovers(directory)) output.note(`ended a command of the last run: ${command}`);
}
