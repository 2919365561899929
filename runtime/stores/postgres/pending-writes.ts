import type { CheckpointId, PendingWrite, ThreadId } from "../../interface/checkpoint.ts";
import type { Claim } from "../../interface/store.ts";
import { encodeKey } from "../contract/key.ts";
import { addChecksum, verifyRow, WRITES, type WriteRow } from "../contract/rows.ts";
import { checkCount } from "../contract/thread-row.ts";
import { decodeWrite, encodeWrites } from "../contract/write-text.ts";
import type { Connection } from "./connection.ts";
import { takeSignals } from "./signals.ts";
import { claimedThread, findThread, updateThread } from "./thread.ts";

export function putWrites(
  connection: Connection,
  claim: Claim,
  checkpointId: CheckpointId,
  writes: readonly PendingWrite[],
  takenSignals?: readonly string[],
): Promise<void> {
  const checkpoint = encodeKey(checkpointId);
  const encoded = [...encodeWrites(writes)];
  return connection.write(async (transaction) => {
    const thread = await claimedThread(transaction, claim);
    const rows = encoded.map(([task, data]) => addChecksum(WRITES, { thread: thread.thread, checkpoint, task, data }));
    const stored = await transaction.all<{ added: boolean }>(
      "INSERT INTO @.writes (thread, checkpoint, task, data, v, sum) " +
        "SELECT $1, $2, task, data, v, sum FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[]) " +
        "WITH ORDINALITY AS given (task, data, v, sum, place) ORDER BY place " +
        // A second result of a task replaces the first in its place.
        "ON CONFLICT (thread, checkpoint, task) DO UPDATE SET data = excluded.data, v = excluded.v, sum = excluded.sum " +
        // `xmax` is 0 for an inserted row and not 0 for an updated one.
        "RETURNING xmax = 0 AS added",
      thread.thread,
      checkpoint,
      ...([rows.map(({ task }) => task), rows.map(({ data }) => data)] as const),
      ...([rows.map(({ v }) => v), rows.map(({ sum }) => sum)] as const),
    );
    const added = stored.filter((row) => row.added).length;
    if (added > 0) await updateThread(transaction, { ...thread, writes: thread.writes + added });
    await takeSignals(transaction, thread, takenSignals);
  });
}

export function getWrites(
  connection: Connection,
  threadId: ThreadId,
  checkpointId: CheckpointId,
): Promise<PendingWrite[]> {
  const checkpoint = encodeKey(checkpointId);
  return connection.read(async (transaction) => {
    const row = await findThread(transaction, threadId);
    if (row === undefined) return [];
    const { thread } = row;
    // Reads all pending writes of the thread (there are few) and counts them. A missing row would run its node again.
    const rows = await transaction.all<WriteRow>("SELECT * FROM @.writes WHERE thread = $1 ORDER BY write", thread);
    checkCount(row, "writes", rows.length);
    return rows
      .map((write) => verifyRow(WRITES, write, { thread }))
      .filter((write) => write.checkpoint === checkpoint)
      .map(decodeWrite);
  });
}

export function clearWrites(
  connection: Connection,
  claim: Claim,
  checkpointId: CheckpointId,
  taskIds: readonly string[] | undefined,
): Promise<void> {
  const checkpoint = encodeKey(checkpointId);
  const tasks = taskIds?.map(encodeKey) ?? null;
  return connection.write(async (transaction) => {
    const thread = await claimedThread(transaction, claim);
    const cleared = await transaction.run(
      "DELETE FROM @.writes WHERE thread = $1 AND checkpoint = $2 AND ($3::text[] IS NULL OR task = ANY($3::text[]))",
      ...([thread.thread, checkpoint, tasks] as const),
    );
    if (cleared > 0) await updateThread(transaction, { ...thread, writes: thread.writes - cleared });
  });
}
