/**
 * The newest checkpoints and cells. A save puts both into one row at the end of one table, where it costs one page; in
 * their own tables, with the indexes, they would cost four. Once there are many they move on together, and share pages.
 *
 * Only savers know of it: whoever reads, or writes anything else, moves it on first. Until then the row of its thread
 * need not know of a step either.
 */
import type { EncodedChange } from "../contract/cells.ts";
import type { CellRow, CheckpointRow } from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import type { Connection } from "./connection.ts";
import { threadAt, updateThread } from "./thread.ts";

/** So many that moving them on costs little each, so few that a reader need not wait for it. */
const MOST_ROWS = 256;
/** Characters of a row: longer ones cost more to write twice than they save. */
const LONGEST_ROW = 4000;
const MOST_CELLS = 8;

/** What this connection knows to stand in the table: all of it. */
export interface Tail {
  rows: number;
  /** Thread and id of each checkpoint. */
  readonly ids: Set<string>;
}

/** Whether there is room for a step with these changes. */
export function fitsTail(tail: Tail, header: string, changes: readonly EncodedChange[]): boolean {
  if (tail.rows >= MOST_ROWS || changes.length > MOST_CELLS) return false;
  let length = header.length;
  for (const { text } of changes) length += text?.length ?? 0;
  return length <= LONGEST_ROW;
}

/**
 * @param row has no label
 * @returns false when its thread has a checkpoint of that id already: then nothing was put in
 */
export function appendToTail(
  connection: Connection,
  tail: Tail,
  row: CheckpointRow,
  cells: readonly CellRow[],
): boolean {
  const checkpoint = `${row.thread}\n${row.id}`;
  if (tail.ids.has(checkpoint)) return false;
  const first = cells[0] ?? NO_CELL;
  const { channel, kind, version, base, count, slack, data, v, sum } = first;
  const added = connection.run(
    "INSERT INTO tail (chain, ord, thread, id, namespace, parent, state, header, v, sum, " +
      "channel, kind, version, base, count, slack, data, cell_v, cell_sum) " +
      "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19 " +
      "WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE thread = ?3 AND id = ?4)",
    // In one piece: each step does this, and spreading parts takes as long as binding them.
    // prettier-ignore
    row.chain,
    row.ord,
    row.thread,
    row.id,
    row.namespace,
    row.parent,
    row.state,
    row.header,
    row.v,
    row.sum,
    // prettier-ignore
    channel,
    kind,
    version,
    base,
    count,
    slack,
    data,
    v,
    sum,
  );
  if (added === 0) return false;
  for (let index = 1; index < cells.length; index++) appendCell(connection, cells[index]!);
  tail.rows += Math.max(1, cells.length);
  tail.ids.add(checkpoint);
  return true;
}

function appendCell(connection: Connection, cell: CellRow): void {
  connection.run(
    "INSERT INTO tail (chain, ord, channel, kind, version, base, count, slack, data, cell_v, cell_sum) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...([cell.chain, cell.ord, cell.channel, cell.kind, cell.version, cell.base] as const),
    ...([cell.count, cell.slack, cell.data, cell.v, cell.sum] as const),
  );
}

/**
 * Moves all of it to where it belongs, and counts it in its threads. Says whether there was any. Within a transaction that holds
 * the lock.
 */
export function emptyTail(connection: Connection): boolean {
  const { recent } = connection;
  const isOwn = recent.tail !== undefined;
  if (recent.tail?.rows === 0) return false;
  if (!hasTail(connection)) {
    recent.tail = { rows: 0, ids: new Set() };
    return false;
  }
  if (!isOwn) checkTail(connection);
  connection.run(
    "INSERT INTO checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) " +
      "SELECT ord, thread, id, namespace, chain, parent, state, NULL, header, v, sum FROM tail " +
      "WHERE id IS NOT NULL ORDER BY place",
  );
  connection.run(
    "INSERT INTO cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) " +
      "SELECT chain, channel, ord, kind, version, base, count, slack, data, cell_v, cell_sum FROM tail " +
      "WHERE channel IS NOT NULL ORDER BY place",
  );
  countTail(connection);
  connection.run("DELETE FROM tail");
  recent.tail = { rows: 0, ids: new Set() };
  return true;
}

export function hasTail(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM tail LIMIT 1") !== undefined;
}

/**
 * What somebody else has left. Nothing else says how many rows there should be: of a page that is damaged so that some cannot be
 * seen, the rest would look like all.
 */
function checkTail(connection: Connection): void {
  const found = connection.all<Readonly<Record<string, unknown>>>("PRAGMA quick_check('tail')");
  const first = found[0] && Object.values(found[0])[0];
  if (first !== "ok") throw corruptRecord("table `tail`", String(first));
}

/** Threads are told of their steps now; of some they have been told when these were saved. */
function countTail(connection: Connection): void {
  const found = connection.all<{ thread: number; steps: number; last: number; head: number | null }>(
    "SELECT tail.thread, count(*) AS steps, max(ord) AS last, max(ord) FILTER (WHERE namespace = '') AS head " +
      "FROM tail JOIN threads USING (thread) WHERE ord > threads.last GROUP BY tail.thread",
  );
  for (const { thread, steps, last, head } of found) {
    const row = threadAt(connection, thread);
    updateThread(connection, { ...row, head: head ?? row.head, last, checkpoints: row.checkpoints + steps });
  }
}

const NO_CELL = {
  channel: null,
  kind: null,
  version: null,
  base: null,
  count: null,
  slack: null,
  data: null,
  v: null,
  sum: null,
};
