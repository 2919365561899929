import type { Checkpoint, PauseItem, ThreadId } from "../interface/checkpoint.ts";
import { RunError, StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { takeAnswers } from "../thread/answers.ts";
import { Cancellation } from "../run/cancellation.ts";
import { checkOptions } from "../run/option-names.ts";
import { PLAN_RESUME_OPTIONS, PLAN_RUN_OPTIONS } from "./plan-option-names.ts";
import { isAbandoned } from "../checkpoint/abandoned-call.ts";
import { answerWrite, pausesByTask } from "../checkpoint/restore-run.ts";
import { applyConfig, changeConfig } from "../run/run-config.ts";
import { followRun } from "../run/follow-run.ts";
import { applyInput } from "../run/run-input.ts";
import { createShared } from "../run/run-settings.ts";
import { NO_LIMITS, type LimitOptions } from "../run/limits.ts";
import { Run } from "../run/run.ts";
import { newId } from "../checkpoint/ids.ts";
import type { Shared } from "../run/shared.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { asRunner, beforeClaim, storeOf } from "../thread/thread-access.ts";
import { loadClaimedHead, loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import type { JsonObject } from "../value/json.ts";
import { drivePlan, type DriveRequest } from "./drive-plan.ts";
import { createPlanEmitter } from "./plan-events.ts";
import type {
  PlanExecuteOptions,
  PlanResumeOptions,
  PlanRunInfo,
  PlanRunOptions,
  PlanRunResult,
} from "./plan-options.ts";
import { type PlanProgram } from "./plan-program.ts";
import type { PlanCore } from "./open-plan-runner.ts";
import { setPlanContext } from "./plan-hooks.ts";
import type { TaskIndex } from "../table/plan-table.ts";
import { exitCodeOf, statusOf, totalsOf } from "./plan-totals.ts";
import { callsPlans, ledgerOf } from "./run-ledger.ts";
import { certainRecords } from "./task-record.ts";
import { NOTHING_RESTORED, restorePlan, type RestoredPlan } from "./restore-plan.ts";
import { saveFirstCheckpoint, saveLastCheckpoint } from "./save-plan.ts";
import { retriedTasks, selectTasks } from "./select-tasks.ts";
import { refuseMissingReads } from "./selected-reads.ts";
import { refuseMissingTaskSecrets } from "./task-secrets.ts";

/** What a plan runner does. */
export const PLAN_OPERATIONS = {
  /** Starts a run. */
  async start(plan: PlanCore, input: JsonObject | undefined, options: PlanRunOptions): Promise<PlanRunResult> {
    return orCancelled(startPlan(plan, input, options));
  },
  async resume(plan: PlanCore, thread: ThreadId, options: PlanResumeOptions): Promise<PlanRunResult> {
    return orCancelled(resumePlan(plan, thread, options));
  },
};

export type PlanOperations = typeof PLAN_OPERATIONS;

/** A cancelled run whose store does not answer rejects: it does not know which tasks are stored as done. */
async function orCancelled(running: Promise<PlanRunResult>): Promise<PlanRunResult> {
  try {
    return await running;
  } catch (error) {
    if (!isAbandoned(error)) throw error;
    throw new RunError("NG_CANCELLED", `the run was cancelled: ${error.message}`, { cause: error });
  }
}

async function startPlan(
  { plan, core }: PlanCore,
  input: JsonObject = {},
  options: PlanRunOptions,
): Promise<PlanRunResult> {
  checkOptions("a run", options, PLAN_RUN_OPTIONS);
  const selected = selectTasks(plan.plan, options);
  const toRun = selected === undefined ? plan.tasks : plan.tasks.filter(({ index }) => selected.has(index));
  refuseMissingTaskSecrets(plan, toRun, core.missingSecrets);
  const runId = newId();
  if (core.options.store === undefined) return startWithoutStore({ plan, core }, input, options, selected, runId);
  const threadId = options.thread === undefined ? newId() : checkThreadId(options.thread);
  return asRunner(core, threadId, forRunner(options), async (durable, cancellation) => {
    const { head } = await loadClaimedHead(durable, plan.program);
    if (head !== undefined && options.abandon !== true) refuseUnfinished(head);
    const lastRun = head === undefined ? null : lastRunOf(head);
    const info: PlanRunInfo = { runId, resumedFrom: null, thread: threadId, lastRun };
    const shared = createShared(core, limitsOf(options), {
      threadId,
      runId,
      durable,
      ttl: head?.ttl,
      metadata: metadataOf(plan, info, options),
    });
    const run = new Run(plan.program, shared, { cancellation, limits: NO_LIMITS });
    applyInput(run, input);
    applyConfig(run, options.config);
    followRun(run, head);
    return executePlan(plan, run, NOTHING_RESTORED, selected, info, options);
  });
}

async function startWithoutStore(
  { plan, core }: PlanCore,
  input: JsonObject,
  options: PlanRunOptions,
  selected: ReadonlySet<TaskIndex> | undefined,
  runId: string,
): Promise<PlanRunResult> {
  const { pausingNode, table } = plan.program;
  if (pausingNode !== undefined) {
    throw new StoreError(
      "NG_NO_STORE",
      `plan \`${table.name}\` waits for an answer at task \`${pausingNode}\`, which needs a store: give the runner a \`store\``,
    );
  }
  if (options.thread !== undefined) checkThreadId(options.thread);
  const cancellation = new Cancellation(true);
  cancellation.link(options.signal, core.clock);
  try {
    const shared = createShared(core, limitsOf(options), { threadId: options.thread, runId });
    const run = new Run(plan.program, shared, { cancellation, limits: NO_LIMITS });
    applyInput(run, input);
    applyConfig(run, options.config);
    const info: PlanRunInfo = { runId, resumedFrom: null, thread: null, lastRun: null };
    return await executePlan(plan, run, NOTHING_RESTORED, selected, info, options);
  } finally {
    cancellation.unlink();
  }
}

/**
 * Claims the thread before it reads the end of the last run. Nothing starts before `beforeStart` has handled what that
 * run left (9.10).
 */
async function resumePlan({ plan, core }: PlanCore, thread: ThreadId, options: PlanResumeOptions) {
  checkOptions("a resume", options, PLAN_RESUME_OPTIONS);
  storeOf(core, "a thread can only be resumed from a store");
  const threadId = checkThreadId(thread);
  const selected = selectTasks(plan.plan, options);
  const retried = retriedTasks(plan.plan, options);
  await beforeClaim(core, forRunner(options), (store) => loadHead(store, threadId));
  return asRunner(core, threadId, forRunner(options), async (durable, cancellation) => {
    const { store } = durable;
    const head = await loadHead(store, threadId);
    const writes = await loadWrites(store, threadId, head.id);
    const { answers, fresh } = await takeAnswers(store, head, writes, options);
    if (head.status === "completed" && head.nextNodes.length === 0 && (selected ?? retried) === undefined) {
      throw new ThreadError(
        "NG_NOT_PAUSED",
        threadId,
        `the last run of thread \`${threadId}\` is completed: no task is left to resume; \`retry\` (\`--retry\`) and \`fromTask\` (\`--from-task\`) run tasks again`,
      );
    }
    const lastRun = lastRunOf(head);
    const info: PlanRunInfo = { runId: newId(), resumedFrom: lastRun.runId, thread: threadId, lastRun };
    const shared = createShared(core, limitsOf(options), {
      threadId,
      // Idempotency keys and namespaces of called graphs depend on the id of the first run, so that finished work is
      // not repeated.
      runId: head.runId,
      durable,
      ttl: head.ttl,
      answers,
      isResume: true,
      metadata: { ...head.metadata, ...metadataOf(plan, info, options) },
    });
    const run = new Run(plan.program, shared, { cancellation, limits: NO_LIMITS });
    const repeated = selected ?? retried;
    const restored = restorePlan(plan, run, head, writes, { keepsChanged: selected !== undefined, repeated });
    for (const { pause } of fresh) {
      const [task] = pausesByTask(run, [pause]).keys();
      if (task !== undefined && !plan.taskIndex.has(task)) refuseAnswerOf(task, pause, threadId, plan);
    }
    changeConfig(run, options.config);
    const kept = withoutSelected(run, plan, restored, repeated);
    if (core.missingSecrets.size > 0) {
      // A task whose result is kept reads no secret.
      const known = certainRecords(plan.plan, kept.tasks);
      const open = plan.tasks.filter(({ index }) => selected?.has(index) ?? !known.has(index));
      refuseMissingTaskSecrets(plan, open, core.missingSecrets);
    }
    // A resume that is refused leaves the thread unchanged.
    if (fresh.length > 0 && store.putWrites !== undefined) {
      const records = fresh.map(({ pause, value }) => answerWrite(pause, value));
      await durable.journal.write(() => store.putWrites?.(durable.claim, head.id, records) ?? undefined, true);
    }
    const again = new Set([...restored.tasks.keys()].filter((task) => repeated?.has(task) === true));
    return executePlan(plan, run, kept, selected, info, options, { again, forced: retried });
  });
}

async function executePlan(
  plan: PlanProgram,
  run: Run,
  restored: RestoredPlan,
  selected: ReadonlySet<TaskIndex> | undefined,
  info: PlanRunInfo,
  options: PlanExecuteOptions,
  repeated: Pick<DriveRequest, "again" | "forced"> = {},
): Promise<PlanRunResult> {
  const { shared, cancellation } = run;
  const { clock } = shared;
  if (selected !== undefined)
    refuseMissingReads(plan, run, selected, (task) => selected.has(task) || restored.tasks.has(task));
  // Called before the first write: if this process dies here, the next run still finds the run that left processes
  // behind.
  await options.beforeStart?.(info);
  await saveFirstCheckpoint(plan, run, restored);
  const listeners = options.onEvent === undefined ? [] : [options.onEvent];
  const emit = createPlanEmitter(info.runId, () => clock.now(), listeners);
  shareWithCalledPlans(shared, options, emit);
  emit({
    type: "run_start",
    plan: plan.plan.name,
    total_nodes: plan.tasks.length,
    ...(info.resumedFrom === null ? {} : { resumed_from: info.resumedFrom }),
  });
  const begin = clock.now();
  const end = await drivePlan({
    program: plan,
    run,
    options,
    emit,
    prefix: "",
    ledger: callsPlans(plan) ? ledgerOf(shared, options.maxParallel ?? plan.plan.maxParallel) : undefined,
    // A selection runs its tasks alone: the results of all others stay as they are.
    restored: selected === undefined ? certainRecords(plan.plan, restored.tasks) : restored.tasks,
    records: restored.tasks,
    changed: restored.changed,
    waited: restored.waited,
    executions: restored.executions,
    ...repeated,
    leftOut:
      selected === undefined
        ? []
        : plan.tasks.flatMap(({ index }) => (selected.has(index) || restored.tasks.has(index) ? [] : [index])),
  });
  const totals = totalsOf(plan.plan, end, clock.now() - begin);
  const isCancelled =
    cancellation.aborted || (options.drain?.aborted === true && end.tasks.some((task) => task.status === "cancelled"));
  const status = statusOf(end, isCancelled);
  const exitCode = exitCodeOf(status, totals.outcome);
  await saveLastCheckpoint(run, end, status, totals.outcome);
  emit({ type: "run_end", ...totals, exit_code: exitCode });
  return {
    status,
    outcome: totals.outcome,
    runId: info.runId,
    resumedFrom: info.resumedFrom,
    thread: info.thread,
    batches: end.batches,
    tasks: end.tasks,
    totals,
    output: run.output(),
    pauses: end.pauses,
    error: end.error ?? (isCancelled ? run.cancelled() : null),
    exitCode,
  };
}

/**
 * Passes settings to called plans. Draining is not passed on: a called plan is part of a running task, which may
 * finish.
 */
function shareWithCalledPlans(
  shared: Shared,
  options: PlanExecuteOptions,
  emit: ReturnType<typeof createPlanEmitter>,
): void {
  const { expected, taskCache, worktrees } = options;
  setPlanContext(shared, {
    emit,
    prefix: "",
    options: {
      ...(expected === undefined ? {} : { expected }),
      ...(taskCache === undefined ? {} : { taskCache }),
      ...(worktrees === undefined ? {} : { worktrees }),
    },
  });
}

/** The answer would be recorded, and no task would ever take it. */
function refuseAnswerOf(task: string, { id }: PauseItem, thread: ThreadId, { plan }: PlanProgram): never {
  throw new ThreadError(
    "NG_DRIFT",
    thread,
    `\`${id}\` waits in task \`${task}\`, which no longer exists in plan \`${plan.name}\`: resume the thread without this answer`,
  );
}

/** Tasks that are selected or tried again run even if they are done. */
function withoutSelected(
  run: Run,
  plan: PlanProgram,
  restored: RestoredPlan,
  selected: ReadonlySet<TaskIndex> | undefined,
): RestoredPlan {
  if (selected === undefined) return restored;
  for (const task of selected) run.writer?.results.delete(plan.plan.tasks[task]?.name ?? "");
  return { ...restored, tasks: new Map([...restored.tasks].filter(([task]) => !selected.has(task))) };
}

function forRunner({ signal }: PlanExecuteOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function limitsOf({ maxSteps, maxTokens, maxCost }: PlanExecuteOptions): LimitOptions {
  return {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
}

function metadataOf(plan: PlanProgram, info: PlanRunInfo, options: PlanExecuteOptions): JsonObject {
  return { ...options.metadata, plan: plan.plan.name, run: info.runId, resumedFrom: info.resumedFrom };
}

function lastRunOf({ metadata, runId }: Checkpoint): NonNullable<PlanRunInfo["lastRun"]> {
  const { run } = metadata;
  return { runId: typeof run === "string" ? run : runId, metadata };
}

function refuseUnfinished(head: Checkpoint): void {
  if (head.status === "completed") return;
  const how = head.status === "paused" ? "waits for an answer" : `has not finished (${head.status})`;
  throw new ThreadError(
    "NG_THREAD_BUSY",
    head.threadId,
    `the last run of thread \`${head.threadId}\` ${how}: resume it, or start with \`abandon\` to abandon it`,
  );
}
