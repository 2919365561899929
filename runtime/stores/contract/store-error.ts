/** The errors of stores: the same code and message in every store. */
import type { CheckpointId, ThreadId } from "../../interface/checkpoint.ts";
import { StoreError } from "../../interface/errors.ts";
import { ThreadError } from "../../interface/thread-error.ts";
import type { Claim } from "../../interface/store.ts";

/** Another runner holds the thread. `holder` describes it for the message. */
export function threadIsHeld(threadId: ThreadId, holder: string): ThreadError {
  return new ThreadError(
    "NG_THREAD_CONFLICT",
    threadId,
    `thread ${quote(threadId)} is being run by ${holder}: wait until that run ends, or use another thread`,
  );
}

/** A write with a claim that is not the newest of its thread (a stale fencing token), or was released. */
export function claimIsLost(claim: Claim): ThreadError {
  return new ThreadError(
    "NG_THREAD_CONFLICT",
    claim.threadId,
    `the claim of ${claim.owner} on thread ${quote(claim.threadId)} (epoch ${claim.epoch}) no longer holds: ` +
      "another run took the thread over, or the claim was released or the thread deleted; nothing was written",
  );
}

/** Compare-and-set failed: the namespace's head is not the one that the writer expects. */
export function headHasMoved(
  threadId: ThreadId,
  namespace: string,
  expected: CheckpointId | null,
  actual: CheckpointId | null,
): ThreadError {
  const where = namespace === "" ? "" : ` (${namespace})`;
  return new ThreadError(
    "NG_THREAD_CONFLICT",
    threadId,
    `the head of thread ${quote(threadId)}${where} is ${actual ?? "missing"}, but this run expected ` +
      `${expected ?? "none"}: another run has written to the thread; nothing was written`,
  );
}

export function unknownCheckpoint(threadId: ThreadId, id: CheckpointId): ThreadError {
  return new ThreadError(
    "NG_UNKNOWN_CHECKPOINT",
    threadId,
    `thread ${quote(threadId)} has no checkpoint ${quote(id)}: \`history\` lists its checkpoints`,
  );
}

export function unknownThread(threadId: ThreadId): ThreadError {
  const message = `there is no thread ${quote(threadId)} in this store: a signal needs a thread whose run has started`;
  return new ThreadError("NG_UNKNOWN_THREAD", threadId, message);
}

/** A checkpoint id is used twice: history is never rewritten. */
export function checkpointExists(threadId: ThreadId, id: CheckpointId): StoreError {
  return new StoreError(
    "NG_STORE_FAILED",
    `thread ${quote(threadId)} already has a checkpoint ${quote(id)}: a checkpoint is never replaced; give each its own id`,
  );
}

export function notAList(threadId: ThreadId, channel: string): StoreError {
  return new StoreError(
    "NG_STORE_FAILED",
    `cannot append to channel ${quote(channel)} of thread ${quote(threadId)}: its stored value is not a list`,
  );
}

/** A save has two changes of one channel. */
export function changedTwice(channel: string): StoreError {
  return new StoreError(
    "NG_STORE_FAILED",
    `channel ${quote(channel)} occurs twice among the changes of one checkpoint`,
  );
}

/** A record that is damaged. `row` names its table and key. */
export function corruptRecord(row: string, problem: string, cause?: unknown): StoreError {
  const message = `${row} cannot be trusted: ${problem}; restore the store from a backup, or delete the thread`;
  return new StoreError("NG_CORRUPT_RECORD", message, cause === undefined ? undefined : { cause });
}

/** @throws StoreError NG_CORRUPT_RECORD if the table `waits` does not match the tables `signals` and `threads` */
export function checkWaitCounts(counted: number, waiting: number, orphans: number): void {
  if (counted !== waiting) {
    throw corruptRecord("table `waits`", `it counts ${counted} signals, but ${waiting} wait in table \`signals\``);
  }
  if (orphans > 0) throw corruptRecord("table `waits`", `${orphans} of its rows belong to no thread`);
}

export function unknownVersion(row: string, what: string, version: unknown, newest: number): StoreError {
  return new StoreError(
    "NG_UNKNOWN_VERSION",
    `${row} has ${what} ${String(version)}; this version of ngraph reads up to ${newest}: update ngraph to read it`,
  );
}

export function storeIsClosed(): StoreError {
  return new StoreError("NG_STORE_FAILED", "the store is closed: open a new one");
}

/** An id for an error message: quoted, escaped and cut after 200 characters, since ids are arbitrary strings. */
export function quote(id: string): string {
  return JSON.stringify(id.length > 200 ? `${id.slice(0, 200)}…` : id);
}
