import type { Checkpoint, ThreadId } from "../interface/checkpoint.ts";
import type { RollbackOptions, RunResult } from "../interface/engine-options.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { isInFinally, restoreRun } from "../checkpoint/restore-run.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { snapshotOptions } from "../run/copy-arguments.ts";
import { executeRun, orCancelled } from "../run/execute-run.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { checkExecuteOptions } from "../run/check-execute-options.ts";
import { checkOptions } from "../run/option-names.ts";
import { ROLLBACK_OPTIONS } from "../run/thread-option-names.ts";
import { saveBetweenSteps } from "../run/run-end.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import { Run, type RunEnd } from "../run/run.ts";
import { NO_ENTRIES, openUndos, setUndos, undoLog } from "../checkpoint/undo-log.ts";
import type { Durable } from "../run/shared.ts";
import { continueRun } from "../step/continue-run.ts";
import { continueRollback } from "../step/run-loop.ts";
import { undosOfRun } from "./thread-undos.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { asRunner, beforeClaim, storeOf } from "./thread-access.ts";
import { refuseMissingSecrets, type MissingSecrets } from "../table/missing-secrets.ts";
import { secretsIn } from "../expression/secret-arguments.ts";
import type { UndoEntry } from "../interface/undo.ts";

/** Rolls back the last run of a thread (R4). */
export async function rollbackThread(core: EngineCore, thread: ThreadId, given: RollbackOptions): Promise<RunResult> {
  const options = snapshotOptions(given);
  checkOptions("a rollback", options, ROLLBACK_OPTIONS);
  checkExecuteOptions(options);
  core.drain.refuseNewRun();
  // The `finally` part reads secrets as a run does.
  if (core.program.table.finally !== undefined) refuseMissingSecrets(core.missingSecrets);
  storeOf(core, "a thread can only be rolled back in a store");
  const threadId = checkThreadId(thread);
  return orCancelled(core, { ...options, thread: threadId }, async () => {
    refuseCompleted(await beforeClaim(core, options, (store) => loadHead(store, threadId)));
    return asRunner(core, threadId, options, (durable, cancellation) =>
      rollbackClaimed(core, durable, cancellation, options),
    );
  });
}

async function rollbackClaimed(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  options: RollbackOptions,
): Promise<RunResult> {
  const { store, threadId } = durable;
  const latest = await loadHead(store, threadId);
  refuseCompleted(latest);
  const { head, writes, moved } = await refuseDrift(
    core.program,
    store,
    latest,
    await loadWrites(store, threadId, latest.id),
  );
  const metadata = { ...head.metadata, ...options.metadata };
  const shared = createShared(core, options, { threadId, runId: head.runId, ttl: head.ttl, durable, metadata });
  const run = new Run(core.program, shared, { cancellation, limits: NO_LIMITS });
  restoreRun(run, head, writes, moved);
  run.children = head.children ?? {};
  return executeRun(run, true, async (restored) => {
    if (head.status === "rolled_back") return { ...ROLLED_BACK, rollback: { undone: [], open: [] } };
    // It has rolled back, and its `finally` part has not ended.
    if (restored.rollsBack && isInFinally(head)) return continueRun(restored, head);
    const all = await undosOfRun(restored, durable, head);
    refuseMissingSecrets(secretsOfUndos(openUndos(all), core.missingSecrets));
    if (!restored.rollsBack) await beginRollback(restored, all);
    return continueRollback(restored);
  });
}

/** Stores that the thread rolls back, with all that is to be undone, before the first undo runs. */
async function beginRollback(run: Run, all: readonly UndoEntry[]): Promise<void> {
  setUndos(run, openUndos(all).length === 0 && undoLog(run).length === 0 ? NO_ENTRIES : all);
  run.rollsBack = true;
  run.ready = [];
  run.sends = [];
  run.unrouted = [];
  run.errors = undefined;
  run.stored = undefined;
  run.waiting = undefined;
  run.dues = undefined;
  run.parts = undefined;
  run.itemRecords = undefined;
  run.unapplied = NO_ENTRIES;
  run.children = {};
  run.outcome = undefined;
  run.barriers.clearAll();
  run.writer?.results.clear();
  // Mutation point: durable-rollback
  const saved = saveBetweenSteps(run, "completed", run.step - 1, [], undefined);
  if (saved !== undefined) await saved;
}

/** The missing secrets that undos read. Other nodes of the graph do not run. */
function secretsOfUndos(entries: readonly UndoEntry[], missing: MissingSecrets): MissingSecrets {
  if (missing.size === 0) return missing;
  const args = entries.flatMap((entry) => entry.args ?? []);
  const read = secretsIn(args.flatMap((arg) => ("expression" in arg ? [arg.expression] : [])));
  return new Map([...missing].filter(([name]) => read.has(name)));
}

function refuseCompleted(head: Checkpoint): void {
  const { threadId } = head;
  const status = isInFinally(head) ? head.outcome!.status : head.status;
  if (status !== "completed" && status !== "incomplete") return;
  throw new ThreadError(
    "NG_NOT_PAUSED",
    threadId,
    `the last run of thread \`${threadId}\` is ${status}: only a run that has not ended can be rolled back`,
  );
}

const ROLLED_BACK: RunEnd = Object.freeze({
  status: "rolled_back",
  pauses: Object.freeze([]),
  incompleteBarriers: Object.freeze([]),
  error: null,
});
