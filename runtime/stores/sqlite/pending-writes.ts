import type { CheckpointId, PendingWrite, ThreadId } from "../../interface/checkpoint.ts";
import type { Claim } from "../../interface/store.ts";
import { encodeKey } from "../contract/key.ts";
import { addChecksum, verifyRow, WRITES, type WriteRow } from "../contract/rows.ts";
import { checkCount } from "../contract/thread-row.ts";
import { decodeWrite, encodeWrites } from "../contract/write-text.ts";
import { MARK, removeRest, removeWrites } from "./clear-writes.ts";
import type { Connection } from "./connection.ts";
import { takeSignals } from "./signals.ts";
import { claimedThread, findThread, updateThread } from "./thread.ts";

/** Rows of one statement: a call of the driver costs more than a row. */
const ROWS_AT_ONCE = 40;

export function putWrites(
  connection: Connection,
  claim: Claim,
  checkpointId: CheckpointId,
  writes: readonly PendingWrite[],
  takenSignals?: readonly string[],
): void {
  const checkpoint = encodeKey(checkpointId);
  const encoded = encodeWrites(writes);
  connection.writeCached(() => {
    const claimed = claimedThread(connection, claim);
    const rest = claimed.writes === 0 ? 0 : removeRest(connection, claimed, checkpoint);
    const thread = rest === 0 ? claimed : { ...claimed, writes: claimed.writes - rest };
    const rows = [...encoded].map(([task, data]) =>
      addChecksum(WRITES, { thread: thread.thread, checkpoint, task, data }),
    );
    let added = 0;
    for (let start = 0; start < rows.length;) {
      const count = rows.length - start >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
      added += putRows(connection, rows.slice(start, start + count));
      start += count;
    }
    if (added > 0 || rest > 0) updateThread(connection, { ...thread, writes: thread.writes + added });
    takeSignals(connection, thread, takenSignals);
  });
}

/**
 * A second result of a task replaces the first in its place.
 *
 * @param rows one, or `ROWS_AT_ONCE`: each count is a statement of its own
 * @returns the number of rows that are new
 */
function putRows(connection: Connection, rows: readonly WriteRow[]): number {
  const added = connection.run(
    `INSERT INTO writes (thread, checkpoint, task, data, v, sum) VALUES ${rows.map(() => "(?, ?, ?, ?, ?, ?)").join(", ")} ` +
      "ON CONFLICT (thread, checkpoint, task) DO NOTHING",
    ...rows.flatMap((row) => [row.thread, row.checkpoint, row.task, row.data, row.v, row.sum]),
  );
  if (added < rows.length) for (const row of rows) replaceWrite(connection, row);
  return added;
}

function replaceWrite(connection: Connection, row: WriteRow): void {
  connection.run(
    "UPDATE writes SET data = ?, v = ?, sum = ? WHERE thread = ? AND checkpoint = ? AND task = ?",
    ...([row.data, row.v, row.sum, row.thread, row.checkpoint, row.task] as const),
  );
}

export function getWrites(connection: Connection, threadId: ThreadId, checkpointId: CheckpointId): PendingWrite[] {
  const checkpoint = encodeKey(checkpointId);
  return connection.read(() => {
    const thread = findThread(connection, threadId);
    if (thread === undefined) return [];
    // Reads all pending writes of the thread (there are few) and counts them. A row that a damaged index hides would run
    // its node again.
    const rows = connection.all<WriteRow>(
      "SELECT * FROM writes NOT INDEXED " +
        "WHERE write IN (SELECT write FROM writes INDEXED BY writes_by_task WHERE thread = ?) ORDER BY write",
      thread.thread,
    );
    checkCount(thread, "writes", rows.length);
    const found = rows
      .map((row) => verifyRow(WRITES, row, { thread: thread.thread }))
      .filter((row) => row.checkpoint === checkpoint);
    return found.some(({ task }) => task === MARK) ? [] : found.map(decodeWrite);
  });
}

export function clearWrites(
  connection: Connection,
  claim: Claim,
  checkpointId: CheckpointId,
  taskIds: readonly string[] | undefined,
): void {
  const checkpoint = encodeKey(checkpointId);
  connection.writeCached(() => {
    const thread = claimedThread(connection, claim);
    let cleared = 0;
    if (taskIds === undefined) {
      cleared = removeWrites(connection, thread, checkpoint);
    } else {
      for (const taskId of taskIds) {
        cleared += connection.run(
          "DELETE FROM writes WHERE thread = ? AND checkpoint = ? AND task = ?",
          ...([thread.thread, checkpoint, encodeKey(taskId)] as const),
        );
      }
    }
    if (cleared !== 0) updateThread(connection, { ...thread, writes: thread.writes - cleared });
  });
}
