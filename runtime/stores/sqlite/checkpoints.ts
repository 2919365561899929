/** Lookup of checkpoints, with and without their values. */
import type { Checkpoint, ThreadId } from "../../interface/checkpoint.ts";
import type { BranchPoint } from "../contract/branches.ts";
import { encodeKey } from "../contract/key.ts";
import {
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  rowName,
  THREADS,
  type ThreadRow,
  verifyRow,
} from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import { checkCount } from "../contract/thread-row.ts";
import { checkpointsOf } from "../contract/values-at.ts";
import type { Connection } from "./connection.ts";

/** A checkpoint that other rows refer to; its absence is damage. */
export function checkpointAt(connection: Connection, thread: ThreadRow, ord: number): CheckpointRow {
  const row = connection.get<CheckpointRow>("SELECT * FROM checkpoints WHERE ord = ?", ord);
  if (row === undefined) throw corruptRecord(rowName(THREADS, thread), `its checkpoint no. ${ord} is missing`);
  return verifyRow(CHECKPOINTS, row, { ord, thread: thread.thread });
}

export function findCheckpoint(
  connection: Connection,
  thread: ThreadRow,
  checkpointId: string,
): CheckpointRow | undefined {
  const id = encodeKey(checkpointId);
  const row = connection.get<CheckpointRow>("SELECT * FROM checkpoints WHERE thread = ? AND id = ?", thread.thread, id);
  if (row !== undefined) return verifyRow(CHECKPOINTS, row, { thread: thread.thread, id });
  // Compares the rows themselves: the key in a damaged index may differ from the row.
  for (const other of checkpointsOfThread(connection, thread)) {
    if (other.id === id) throw corruptRecord(rowName(CHECKPOINTS, other), "index `checkpoints_by_id` is damaged");
  }
  return undefined;
}

export function findLabelled(connection: Connection, thread: ThreadRow, name: string): CheckpointRow | undefined {
  const label = encodeKey(name);
  const row = connection.get<CheckpointRow>(
    "SELECT * FROM checkpoints WHERE thread = ? AND label = ?",
    thread.thread,
    label,
  );
  if (row !== undefined) return verifyRow(CHECKPOINTS, row, { thread: thread.thread, label });
  for (const other of checkpointsOfThread(connection, thread)) {
    if (other.label === label)
      throw corruptRecord(rowName(CHECKPOINTS, other), "index `checkpoints_by_label` is damaged");
  }
  return undefined;
}

/** Ascending. */
export function checkpointsOfThread(connection: Connection, thread: ThreadRow): CheckpointRow[] {
  const rows = connection.all<CheckpointRow>(
    "SELECT * FROM checkpoints NOT INDEXED " +
      "WHERE ord IN (SELECT ord FROM checkpoints INDEXED BY checkpoints_by_id WHERE thread = ?) ORDER BY ord",
    thread.thread,
  );
  checkCount(thread, "checkpoints", rows.length);
  return rows.map((row) => verifyRow(CHECKPOINTS, row, { thread: thread.thread }));
}

/**
 * Refuses a thread of which checkpoints are missing, so that no run continues it. Counts an index, whose cost grows with the
 * thread; so each connection counts a thread once.
 */
export function expectAllCheckpoints(connection: Connection, thread: ThreadRow): void {
  const { counted } = connection;
  if (counted.has(thread.thread)) return;
  const { rows } = connection.get<{ rows: number }>(
    "SELECT count(*) AS rows FROM checkpoints INDEXED BY checkpoints_by_id WHERE thread = ?",
    thread.thread,
  )!;
  checkCount(thread, "checkpoints", rows);
  if (counted.size >= MAX_COUNTED) counted.clear();
  counted.add(thread.thread);
}

/** Threads that a connection remembers as counted. */
const MAX_COUNTED = 10_000;

/** The checkpoints of a namespace. */
export function branchPoints(connection: Connection, thread: ThreadRow, namespace: string): BranchPoint[] {
  return connection.all<CheckpointRow>(
    "SELECT ord, parent FROM checkpoints NOT INDEXED " +
      "WHERE ord IN (SELECT ord FROM checkpoints INDEXED BY checkpoints_by_id WHERE thread = ?) AND namespace = ?",
    thread.thread,
    namespace,
  );
}

/** From a checkpoint back along its parents, newest first. */
export function ancestors(
  connection: Connection,
  thread: ThreadRow,
  start: number | null,
  limit: number,
): CheckpointRow[] {
  const rows: CheckpointRow[] = [];
  for (let ord = start; ord !== null && rows.length < limit;) {
    const row = checkpointAt(connection, thread, ord);
    if (row.parent !== null && row.parent >= ord) throw corruptRecord(rowName(CHECKPOINTS, row), "its parent is newer");
    rows.push(row);
    ord = row.parent;
  }
  return rows;
}

/** Adds the values. Neighbours of one chain are read together, so that each cell is read once. */
export function withValues(
  connection: Connection,
  threadId: ThreadId,
  newestFirst: readonly CheckpointRow[],
): readonly Checkpoint[] {
  const result: Checkpoint[] = [];
  for (let start = 0; start < newestFirst.length;) {
    const { chain } = newestFirst[start]!;
    let end = start + 1;
    while (newestFirst[end]?.chain === chain) end++;
    const segment = newestFirst.slice(start, end).reverse();
    const cells = cellsOf(connection, chain, segment[0]!.ord, segment.at(-1)!.ord);
    for (const each of checkpointsOf(threadId, segment, cells).reverse()) result.push(each);
    start = end;
  }
  return result;
}

/** The cells of every channel that the checkpoints `oldest` to `newest` need. */
function cellsOf(
  connection: Connection,
  chain: number,
  oldest: number,
  newest: number,
): Map<string, readonly CellRow[]> {
  const cells = new Map<string, readonly CellRow[]>();
  for (let channel = nextChannel(connection, chain, undefined); channel !== undefined;) {
    const last = connection.get<{ base: number }>(
      "SELECT base FROM cells WHERE chain = ? AND channel = ? AND ord <= ? ORDER BY ord DESC LIMIT 1",
      chain,
      channel,
      oldest,
    );
    const found = connection.all<CellRow>(
      "SELECT * FROM cells WHERE chain = ? AND channel = ? AND ord BETWEEN ? AND ? ORDER BY ord",
      chain,
      channel,
      last?.base ?? 0,
      newest,
    );
    if (found.length > 0) cells.set(channel, found);
    channel = nextChannel(connection, chain, channel);
  }
  return cells;
}

/** The next channel of a chain by name: a skip scan on the index, whose cost does not depend on the number of cells. */
function nextChannel(connection: Connection, chain: number, after: string | undefined): string | undefined {
  const row =
    after === undefined
      ? connection.get<{ channel: string }>("SELECT channel FROM cells WHERE chain = ? ORDER BY channel LIMIT 1", chain)
      : connection.get<{ channel: string }>(
          "SELECT channel FROM cells WHERE chain = ? AND channel > ? ORDER BY channel LIMIT 1",
          chain,
          after,
        );
  return row?.channel;
}
