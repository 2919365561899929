import type { ThreadId } from "../../interface/checkpoint.ts";
import type { PrunePolicy } from "../../interface/store.ts";
import { encodeKey } from "../contract/key.ts";
import {
  CELL_APPEND,
  CELL_SPLICE,
  CHECKPOINTS,
  type CheckpointRow,
  addChecksum,
  isDamaged,
  keyHash,
  THREADS,
  type ThreadRow,
} from "../contract/rows.ts";
import { prunePoint } from "../contract/prune-point.ts";
import { keptByChain, keptCheckpoints, supersededByChannel } from "../contract/retention.ts";
import { checkpointsOfThread } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { findThread, updateThread } from "./thread.ts";

/** Removes old checkpoints and the cells that no remaining checkpoint reads. Returns the number of removed checkpoints. */
export function prune(connection: Connection, threadId: ThreadId, policy: PrunePolicy): number {
  return connection.write(() => {
    const thread = findThread(connection, threadId);
    if (thread === undefined) return 0;
    const rows = checkpointsOfThread(connection, thread);
    const points = rows.map((row) => prunePoint(row, threadId));
    const kept = keptCheckpoints(points, policy);
    if (kept.size === rows.length) return 0;
    let writes = 0;
    for (const row of rows) {
      if (!kept.has(row.ord)) writes += removeCheckpoint(connection, row);
      else if (row.parent !== null && !kept.has(row.parent)) detach(connection, row);
    }
    for (const [chain, ords] of keptByChain(rows, kept)) dropUnread(connection, chain, ords);
    updateThread(connection, { ...thread, checkpoints: kept.size, writes: thread.writes - writes });
    return rows.length - kept.size;
  });
}

/** Removes a thread with everything that belongs to it, including its claim. */
export function removeThread(connection: Connection, threadId: ThreadId): void {
  connection.write(() => {
    const name = encodeKey(threadId);
    const rows = connection.all<ThreadRow>("SELECT * FROM threads WHERE name = ? OR hash = ?", name, keyHash(name));
    // Also removes damaged rows, because their errors recommend deleting the thread.
    for (const { thread } of rows.filter((row) => row.name === name || isDamaged(THREADS, row))) {
      removeCells(connection, thread);
      for (const table of ["checkpoints", "heads", "writes", "signals", "waits", "threads"]) {
        connection.run(`DELETE FROM ${table} WHERE thread = ?`, thread);
      }
    }
    // Flushing staged rows at the start of the transaction may have cached the thread.
    connection.recent.forget();
  });
}

function removeCells(connection: Connection, thread: number): void {
  connection.run("DELETE FROM cells WHERE chain IN (SELECT DISTINCT chain FROM checkpoints WHERE thread = ?)", thread);
}

function removeCheckpoint(connection: Connection, row: CheckpointRow): number {
  connection.run("DELETE FROM checkpoints WHERE ord = ?", row.ord);
  return connection.run("DELETE FROM writes WHERE thread = ? AND checkpoint = ?", row.thread, row.id);
}

function detach(connection: Connection, row: CheckpointRow): void {
  const complete = addChecksum(CHECKPOINTS, { ...row, parent: null });
  connection.run(
    "UPDATE checkpoints SET parent = NULL, v = ?, sum = ? WHERE ord = ?",
    complete.v,
    complete.sum,
    row.ord,
  );
}

function dropUnread(connection: Connection, chain: number, kept: readonly number[]): void {
  const cells = connection.all<{ cell: number; channel: string; ord: number; full: number }>(
    "SELECT cell, channel, ord, kind NOT IN (?, ?) AS full FROM cells WHERE chain = ? ORDER BY channel, ord",
    CELL_APPEND,
    CELL_SPLICE,
    chain,
  );
  const changes = cells.map((cell) => ({ ...cell, full: cell.full === 1 }));
  for (const { cell } of supersededByChannel(changes, kept)) connection.run("DELETE FROM cells WHERE cell = ?", cell);
}
