/**
 * Removal of the pending writes of a checkpoint. Deleting the results of a long list takes longer than a turn of the event
 * loop, so the transaction that supersedes them adds one row, the mark, and the rows are deleted in parts afterwards.
 * A read of the writes of a marked checkpoint returns none, also when the process ends in between.
 */
import { systemClock } from "../../interface/clock.ts";
import { atNextTurn } from "../../run/next-turn.ts";
import { turnOf } from "../../run/take-turns.ts";
import { decodeKey } from "../contract/key.ts";
import { addChecksum, type ThreadRow, WRITES } from "../contract/rows.ts";
import type { Connection } from "./connection.ts";
import { findThread, updateThread } from "./thread.ts";

/** Task of the row that marks a checkpoint. No key of a task has a backslash before this letter. */
export const MARK = "\\cleared";

/** Rows that one turn deletes. SQLite deletes about one thousand of them in a millisecond. */
const ROWS_AT_ONCE = 3000;

/**
 * Removes all writes of a checkpoint, at once or by a mark. Must be called within a transaction.
 *
 * @param checkpoint a key
 * @returns by how much the writes that the row of the thread counts become fewer; negative for a mark
 */
export function removeWrites(connection: Connection, thread: ThreadRow, checkpoint: string): number {
  if (thread.writes === 0) return 0;
  if (thread.writes <= ROWS_AT_ONCE) return deleteAll(connection, thread, checkpoint);
  const first = connection.get("SELECT 1 FROM writes WHERE thread = ? AND checkpoint = ? LIMIT 1", thread.thread, checkpoint); // prettier-ignore
  if (first === undefined || isCleared(connection, thread, checkpoint)) return 0;
  const mark = addChecksum(WRITES, { thread: thread.thread, checkpoint, task: MARK, data: '["",null]' });
  connection.run(
    "INSERT INTO writes (thread, checkpoint, task, data, v, sum) VALUES (?, ?, ?, ?, ?, ?)",
    ...([mark.thread, mark.checkpoint, mark.task, mark.data, mark.v, mark.sum] as const),
  );
  clearLater(connection, thread, checkpoint);
  return -1;
}

/** Removes what a mark has left, before a checkpoint gets new writes. Returns the number of removed rows. */
export function removeRest(connection: Connection, thread: ThreadRow, checkpoint: string): number {
  return isCleared(connection, thread, checkpoint) ? deleteAll(connection, thread, checkpoint) : 0;
}

/** Continues the removal that an earlier process has left undone. Reads one row of each checkpoint that has writes, not all of them. */
export function continueRemoval(connection: Connection, thread: ThreadRow): void {
  for (let checkpoint = nextWithWrites(connection, thread, ""); checkpoint !== undefined;) {
    if (isCleared(connection, thread, checkpoint)) clearLater(connection, thread, checkpoint);
    checkpoint = nextWithWrites(connection, thread, checkpoint);
  }
}

/** The first checkpoint with writes after a key. */
function nextWithWrites(connection: Connection, thread: ThreadRow, after: string): string | undefined {
  const row = connection.get<{ checkpoint: string }>(
    "SELECT checkpoint FROM writes WHERE thread = ? AND checkpoint > ? ORDER BY checkpoint LIMIT 1",
    thread.thread,
    after,
  );
  return row?.checkpoint;
}

/** Deletes at once what this connection would delete in later turns. */
export function finishRemoval(connection: Connection): void {
  for (const key of connection.clearing) while (removePart(connection, key));
}

function isCleared(connection: Connection, thread: ThreadRow, checkpoint: string): boolean {
  const row = connection.get(
    "SELECT 1 FROM writes WHERE thread = ? AND checkpoint = ? AND task = ?",
    thread.thread,
    checkpoint,
    MARK,
  );
  return row !== undefined;
}

function deleteAll(connection: Connection, thread: ThreadRow, checkpoint: string): number {
  return connection.run("DELETE FROM writes WHERE thread = ? AND checkpoint = ?", thread.thread, checkpoint);
}

function clearLater(connection: Connection, thread: ThreadRow, checkpoint: string): void {
  const key = `${thread.name}\n${checkpoint}`;
  if (connection.clearing.has(key)) return;
  connection.clearing.add(key);
  removeInTurns(connection, key);
}

function removeInTurns(connection: Connection, key: string): void {
  atNextTurn(turnOf(systemClock), systemClock, () => {
    if (removePart(connection, key)) removeInTurns(connection, key);
  });
}

/** Returns whether rows remain. A failure leaves them to the next claim of the thread. */
function removePart(connection: Connection, key: string): boolean {
  let remains = false;
  try {
    remains = connection.clearing.has(key) && connection.writeCached(() => deletePart(connection, key));
  } catch {
    // No call waits for the removal, and the mark hides the rows.
  }
  if (!remains) connection.clearing.delete(key);
  return remains;
}

function deletePart(connection: Connection, key: string): boolean {
  const [name, checkpoint] = key.split("\n") as [string, string];
  const thread = connection.recent.thread(name) ?? findThread(connection, decodeKey(name));
  // The transaction of the mark may have been rolled back, and the thread may have been deleted.
  if (thread === undefined || !isCleared(connection, thread, checkpoint)) return false;
  const deleted = connection.run(
    "DELETE FROM writes WHERE write IN " +
      "(SELECT write FROM writes WHERE thread = ? AND checkpoint = ? AND task <> ? LIMIT ?)",
    ...([thread.thread, checkpoint, MARK, ROWS_AT_ONCE] as const),
  );
  const remains = deleted === ROWS_AT_ONCE;
  const rows = deleted + (remains ? 0 : deleteAll(connection, thread, checkpoint));
  updateThread(connection, { ...thread, writes: thread.writes - rows });
  return remains;
}
