/** Lookup of checkpoints, with and without their values. */
import type { Checkpoint, ThreadId } from "../../interface/checkpoint.ts";
import type { StoreError } from "../../interface/errors.ts";
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
import type { Connection, Transaction } from "./connection.ts";

/** A checkpoint that other rows refer to; its absence is damage. */
export async function checkpointAt(transaction: Transaction, thread: ThreadRow, ord: number): Promise<CheckpointRow> {
  const row = await transaction.get<CheckpointRow>("SELECT * FROM @.checkpoints WHERE ord = $1", ord);
  if (row === undefined) throw missingCheckpoint(thread, ord);
  return verifyRow(CHECKPOINTS, row, { ord, thread: thread.thread });
}

export function missingCheckpoint(thread: ThreadRow, ord: number): StoreError {
  return corruptRecord(rowName(THREADS, thread), `its checkpoint no. ${ord} is missing`);
}

export async function findCheckpoint(
  transaction: Transaction,
  thread: ThreadRow,
  checkpointId: string,
): Promise<CheckpointRow | undefined> {
  const id = encodeKey(checkpointId);
  const sql = "SELECT * FROM @.checkpoints WHERE thread = $1 AND id = $2";
  const row = await transaction.get<CheckpointRow>(sql, thread.thread, id);
  if (row === undefined) await expectAll(transaction, thread);
  return row && verifyRow(CHECKPOINTS, row, { thread: thread.thread, id });
}

export async function findLabelled(
  transaction: Transaction,
  thread: ThreadRow,
  name: string,
): Promise<CheckpointRow | undefined> {
  const label = encodeKey(name);
  const sql = "SELECT * FROM @.checkpoints WHERE thread = $1 AND label = $2";
  const row = await transaction.get<CheckpointRow>(sql, thread.thread, label);
  if (row === undefined) await expectAll(transaction, thread);
  return row && verifyRow(CHECKPOINTS, row, { thread: thread.thread, label });
}

/** Called after a lookup that found nothing: verifies all checkpoints of the thread, so that damage is not taken for absence. */
async function expectAll(transaction: Transaction, thread: ThreadRow): Promise<void> {
  const sql = "SELECT * FROM @.checkpoints WHERE thread = $1";
  const rows = await transaction.all<CheckpointRow>(sql, thread.thread);
  checkCount(thread, "checkpoints", rows.length);
  for (const row of rows) verifyRow(CHECKPOINTS, row);
}

/**
 * Refuses a thread of which checkpoints are missing, so that no run continues it. Counts an index, whose cost grows with the
 * thread; so each process counts a thread once.
 */
export async function expectAllCheckpoints(transaction: Transaction, thread: ThreadRow): Promise<void> {
  const { counted } = transaction;
  if (counted.has(thread)) return;
  const sql = "SELECT count(*) AS rows FROM @.checkpoints WHERE thread = $1";
  const { rows } = (await transaction.get<{ rows: number }>(sql, thread.thread))!;
  checkCount(thread, "checkpoints", rows);
  counted.add(thread);
}

/** The checkpoints of a namespace. */
export function branchPoints(
  transaction: Transaction,
  thread: ThreadRow,
  namespace: string,
): Promise<readonly BranchPoint[]> {
  return transaction.all<CheckpointRow>(
    "SELECT ord, parent FROM @.checkpoints WHERE thread = $1 AND namespace = $2",
    thread.thread,
    namespace,
  );
}

/** The checkpoints with these numbers, in this order. */
export async function checkpointsAt(
  transaction: Transaction,
  thread: ThreadRow,
  ords: readonly number[],
): Promise<CheckpointRow[]> {
  const rows = await transaction.all<CheckpointRow>("SELECT * FROM @.checkpoints WHERE ord = ANY($1::bigint[])", ords);
  const byOrd = new Map(rows.map((row) => [row.ord, verifyRow(CHECKPOINTS, row, { thread: thread.thread })]));
  return ords.map((ord) => {
    const row = byOrd.get(ord);
    if (row === undefined) throw missingCheckpoint(thread, ord);
    return row;
  });
}

/** From a checkpoint back along its parents, newest first. */
export async function ancestors(
  transaction: Transaction,
  thread: ThreadRow,
  start: number | null,
  limit: number,
): Promise<CheckpointRow[]> {
  if (start === null || limit === 0) return [];
  const rows = await transaction.all<CheckpointRow>(
    "WITH RECURSIVE past AS (" +
      "SELECT *, 1::bigint AS depth FROM @.checkpoints WHERE ord = $1 " +
      "UNION ALL SELECT c.*, past.depth + 1 FROM past JOIN @.checkpoints c ON c.ord = past.parent " +
      // A parent is older than its child. The check keeps damaged rows from forming a cycle.
      "WHERE past.depth < $2 AND past.parent < past.ord" +
      ") SELECT * FROM past ORDER BY depth",
    start,
    limit,
  );
  let expected: number | null = start;
  for (const row of rows) {
    if (row.ord !== expected) break;
    expected = verifyRow(CHECKPOINTS, row, { thread: thread.thread }).parent;
  }
  if (expected !== null && rows.length < limit) {
    throw corruptRecord(
      rowName(THREADS, thread),
      `its checkpoint no. ${expected} is missing, or older than its parent`,
    );
  }
  return rows;
}

/** Adds the values. Neighbours of one chain are read together, so that each cell is read once. */
export async function withValues(
  transaction: Transaction,
  threadId: ThreadId,
  newestFirst: readonly CheckpointRow[],
): Promise<readonly Checkpoint[]> {
  const result: Checkpoint[] = [];
  for (let start = 0; start < newestFirst.length;) {
    const { chain } = newestFirst[start]!;
    let end = start + 1;
    while (newestFirst[end]?.chain === chain) end++;
    const segment = newestFirst.slice(start, end).reverse();
    const cells = byChannel(
      await transaction.all<CellRow>(CELLS_OF_CHAIN, chain, segment[0]!.ord, segment.at(-1)!.ord),
    );
    for (const each of checkpointsOf(threadId, segment, cells).reverse()) result.push(each);
    start = end;
  }
  return result;
}

/**
 * Selects the cells of every channel that the checkpoints `oldest` to `newest` of a chain need.
 *
 * @param place selects `chain`, `oldest` and `newest`; it is evaluated once
 */
function cellsOf(place: string): string {
  const [chain, oldest, newest] = ["chain", "oldest", "newest"].map((column) => `(SELECT ${column} FROM place)`);
  return (
    `WITH RECURSIVE place AS MATERIALIZED (${place}), ` +
    // A skip scan on the index, from channel to channel: its cost does not depend on the number of cells of each.
    "channels AS (" +
    `(SELECT channel FROM @.cells WHERE chain = ${chain} ORDER BY channel LIMIT 1) ` +
    `UNION ALL SELECT (SELECT c.channel FROM @.cells c WHERE c.chain = ${chain} AND c.channel > channels.channel ` +
    "ORDER BY c.channel LIMIT 1) FROM channels WHERE channels.channel IS NOT NULL" +
    // Materialized, and joined to a subquery that has an OFFSET: the planner must not look for the start again for each cell of the chain.
    "), starts AS MATERIALIZED (SELECT channel, coalesce((" +
    `SELECT l.base FROM @.cells l WHERE l.chain = ${chain} AND l.channel = channels.channel AND l.ord <= ${oldest} ` +
    "ORDER BY l.ord DESC LIMIT 1), 0) AS base FROM channels WHERE channel IS NOT NULL) " +
    "SELECT c.* FROM starts CROSS JOIN LATERAL (" +
    `SELECT * FROM @.cells WHERE chain = ${chain} AND channel = starts.channel AND ord BETWEEN starts.base AND ${newest} ` +
    "ORDER BY ord OFFSET 0) c ORDER BY c.channel, c.ord"
  );
}

function byChannel(rows: readonly CellRow[]): Map<string, CellRow[]> {
  const cells = new Map<string, CellRow[]>();
  for (const row of rows) {
    const history = cells.get(row.channel);
    if (history === undefined) cells.set(row.channel, [row]);
    else history.push(row);
  }
  return cells;
}

const HEAD = "FROM @.threads t JOIN @.checkpoints c ON c.ord = t.head WHERE t.name = $1";
const CELLS_OF_HEAD = cellsOf(`SELECT c.chain, c.ord AS oldest, c.ord AS newest ${HEAD}`);
const CELLS_OF_CHAIN = cellsOf("SELECT $1::bigint AS chain, $2::bigint AS oldest, $3::bigint AS newest");
const COUNT_OF_NAME =
  "SELECT count(*) AS rows FROM @.checkpoints WHERE thread = (SELECT thread FROM @.threads WHERE name = $1)";

/** The head of the outermost graph of a thread, in one message. */
export async function loadHead(connection: Connection, threadId: ThreadId): Promise<Checkpoint | undefined> {
  const name = encodeKey(threadId);
  const { counted } = connection;
  for (;;) {
    const isCounted = counted.hasName(name);
    const [threads, heads, cells, counts] = (await connection.readAtOnce([
      ["SELECT * FROM @.threads WHERE name = $1", name],
      [`SELECT c.* ${HEAD}`, name],
      [CELLS_OF_HEAD, name],
      ...(isCounted ? [] : [[COUNT_OF_NAME, name] as const]),
    ])) as [ThreadRow[], CheckpointRow[], CellRow[], { readonly rows: number }[]?];
    if (threads[0] === undefined) return undefined;
    const thread = verifyRow(THREADS, threads[0], { name });
    const ord = thread.head;
    if (ord !== null && heads[0] === undefined) throw missingCheckpoint(thread, ord);
    const head = ord === null ? undefined : verifyRow(CHECKPOINTS, heads[0]!, { ord, thread: thread.thread });
    if (counts !== undefined) {
      checkCount(thread, "checkpoints", counts[0]!.rows);
      counted.add(thread);
    } else if (!counted.has(thread)) {
      // It was deleted, and created again.
      counted.forget(name);
      continue;
    }
    return head && checkpointsOf(threadId, [head], byChannel(cells))[0];
  }
}
