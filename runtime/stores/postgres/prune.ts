import type { ThreadId } from "../../interface/checkpoint.ts";
import type { PrunePolicy } from "../../interface/store.ts";
import { encodeKey } from "../contract/key.ts";
import { prunePoint } from "../contract/prune-point.ts";
import { keptByChain, keptCheckpoints, supersededByChannel } from "../contract/retention.ts";
import {
  CELL_APPEND,
  CELL_SPLICE,
  CHECKPOINTS,
  type CheckpointRow,
  addChecksum,
  type ThreadRow,
  verifyRow,
} from "../contract/rows.ts";
import { checkCount } from "../contract/thread-row.ts";
import type { Connection, Transaction } from "./connection.ts";
import { lockThread, updateThread } from "./thread.ts";

/** Removes old checkpoints and the cells that no remaining checkpoint reads. Returns the number of removed checkpoints. */
export function prune(connection: Connection, threadId: ThreadId, policy: PrunePolicy): Promise<number> {
  return connection.write(async (transaction) => {
    const thread = await lockThread(transaction, threadId);
    if (thread === undefined) return 0;
    const rows = await transaction.all<CheckpointRow>(
      "SELECT * FROM @.checkpoints WHERE thread = $1 ORDER BY ord",
      thread.thread,
    );
    checkCount(thread, "checkpoints", rows.length);
    const points = rows.map((row) => prunePoint(verifyRow(CHECKPOINTS, row, { thread: thread.thread }), threadId));
    const kept = keptCheckpoints(points, policy);
    if (kept.size === rows.length) return 0;
    const gone = rows.filter(({ ord }) => !kept.has(ord)).map(({ ord }) => ord);
    const writes = await transaction.run(
      "DELETE FROM @.writes w USING @.checkpoints c WHERE c.ord = ANY($2::bigint[]) AND w.thread = $1 AND w.checkpoint = c.id",
      thread.thread,
      gone,
    );
    await detachFrom(transaction, thread, gone);
    await transaction.run("DELETE FROM @.checkpoints WHERE ord = ANY($1::bigint[])", gone);
    for (const [chain, ords] of keptByChain(rows, kept)) await dropUnread(transaction, chain, ords);
    await updateThread(transaction, { ...thread, checkpoints: kept.size, writes: thread.writes - writes });
    return gone.length;
  });
}

/** Removes a thread with everything that belongs to it, including its claim. */
export function removeThread(connection: Connection, threadId: ThreadId): Promise<void> {
  return connection.write(async (transaction) => {
    // A damaged row is removed too: deleting the thread is the way out that its error names.
    const thread = await transaction.get<{ readonly thread: number }>(
      "SELECT thread FROM @.threads WHERE name = $1 FOR UPDATE",
      encodeKey(threadId),
    );
    if (thread === undefined) return;
    await transaction.run(
      "DELETE FROM @.cells WHERE chain IN (SELECT DISTINCT chain FROM @.checkpoints WHERE thread = $1)",
      thread.thread,
    );
    for (const table of ["checkpoints", "heads", "writes", "signals", "waits", "threads"]) {
      await transaction.run(`DELETE FROM @.${table} WHERE thread = $1`, thread.thread);
    }
    transaction.heads.forget();
  });
}

/** Sets the parent of kept checkpoints to null when it is removed: their history ends there. */
async function detachFrom(transaction: Transaction, thread: ThreadRow, gone: readonly number[]): Promise<void> {
  const rows = await transaction.all<CheckpointRow>(
    "SELECT * FROM @.checkpoints WHERE thread = $1 AND parent = ANY($2::bigint[]) AND NOT ord = ANY($2::bigint[])",
    thread.thread,
    gone,
  );
  for (const row of rows) {
    const { v, sum } = addChecksum(CHECKPOINTS, { ...verifyRow(CHECKPOINTS, row), parent: null });
    await transaction.run("UPDATE @.checkpoints SET parent = NULL, v = $2, sum = $3 WHERE ord = $1", row.ord, v, sum);
  }
}

async function dropUnread(transaction: Transaction, chain: number, kept: readonly number[]): Promise<void> {
  const changes = await transaction.all<{ channel: string; ord: number; full: boolean }>(
    "SELECT channel, ord, kind NOT IN ($2, $3) AS full FROM @.cells WHERE chain = $1 ORDER BY channel, ord",
    chain,
    CELL_APPEND,
    CELL_SPLICE,
  );
  const gone = supersededByChannel(changes, kept);
  if (gone.length === 0) return;
  await transaction.run(
    "DELETE FROM @.cells c USING unnest($2::text[], $3::bigint[]) AS gone (channel, ord) " +
      "WHERE c.chain = $1 AND c.channel = gone.channel AND c.ord = gone.ord",
    chain,
    gone.map(({ channel }) => channel),
    gone.map(({ ord }) => ord),
  );
}
