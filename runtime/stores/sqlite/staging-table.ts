/**
 * A write-ahead staging table (`tail` in SQL) for the newest checkpoints and cells.
 *
 * A save appends one row with the checkpoint and its first cell to this table. Every further cell is a row of its own.
 * In the tables `checkpoints` and `cells`, the same rows would also change three indexes. Measured for a save with two
 * changed channels: 1.5 pages of the write-ahead log instead of 5.3. A flush later moves all staged rows together, so
 * that they share pages.
 *
 * Invariants:
 * - A staged row is durable when the save returns: staging changes where rows are written, not when.
 * - Only `save` appends, and only with `StagedRows`: this connection then knows every staged row, and `RecentRows` has the
 *   newest cell of each staged channel.
 * - Every other transaction flushes first (`Connection.write`, `Connection.read`), so that readers need only the checkpoint
 *   tables.
 * - The counters of a thread may omit staged steps. A flush adds the steps above `threads.last`.
 * - A staged checkpoint has no label, and its parent is the head of its namespace.
 */
import type { EncodedChange } from "../contract/cells.ts";
import type { CellRow, CheckpointRow } from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import type { Connection } from "./connection.ts";
import { threadAt, updateThread } from "./thread.ts";

/** Rows before a flush: large enough that the flush costs little per row, small enough that a reader does not wait for it. */
const MAX_ROWS = 256;
/** Characters of a row. Staging writes content twice, which costs more than it saves for a longer row. */
const MAX_ROW_LENGTH = 4000;
const MAX_CELLS = 8;

/** The staged rows, known completely by this connection. */
export interface StagedRows {
  rows: number;
  /** `ord` of the oldest staged step; only valid while there are rows. */
  firstOrd: number;
  /** Thread and id of each checkpoint. */
  readonly ids: Set<string>;
}

/** Whether a step with these changes may be staged. */
export function fitsStaging(staging: StagedRows, header: string, changes: readonly EncodedChange[]): boolean {
  if (staging.rows >= MAX_ROWS || changes.length > MAX_CELLS) return false;
  let length = header.length;
  for (const { text } of changes) length += text?.length ?? 0;
  return length <= MAX_ROW_LENGTH;
}

/**
 * Appends a step.
 *
 * @param row without a label
 * @returns false, with nothing appended, when the thread already has a checkpoint of that id
 */
export function stageStep(
  connection: Connection,
  staging: StagedRows,
  row: CheckpointRow,
  cells: readonly CellRow[],
): boolean {
  const checkpoint = `${row.thread}\n${row.id}`;
  if (staging.ids.has(checkpoint)) return false;
  const first = cells[0] ?? NO_CELL;
  const { channel, kind, version, base, count, slack, data, v, sum } = first;
  const added = connection.run(
    "INSERT INTO tail (chain, ord, thread, id, namespace, parent, state, header, v, sum, " +
      "channel, kind, version, base, count, slack, data, cell_v, cell_sum) " +
      "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19 " +
      "WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE thread = ?3 AND id = ?4)",
    // Listed one by one because every step calls this: spreading parts takes as long as binding them.
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
  if (staging.rows === 0) staging.firstOrd = row.ord;
  staging.rows += Math.max(1, cells.length);
  staging.ids.add(checkpoint);
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
 * Moves all staged rows to their own tables and adds them to the counters of their threads. The caller's transaction must
 * hold the write lock.
 *
 * @returns whether there were staged rows
 */
export function flushStaging(connection: Connection): boolean {
  const { recent } = connection;
  const isOwn = recent.staging !== undefined;
  if (recent.staging?.rows === 0) return false;
  if (!hasStagedRows(connection)) {
    recent.staging = { rows: 0, firstOrd: 0, ids: new Set() };
    return false;
  }
  if (!isOwn) checkStaging(connection);
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
  countStagedSteps(connection, isOwn);
  connection.run("DELETE FROM tail");
  recent.staging = { rows: 0, firstOrd: 0, ids: new Set() };
  return true;
}

export function hasStagedRows(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM tail LIMIT 1") !== undefined;
}

/**
 * Checks rows that another connection has staged. No counter covers staged rows, so the rows that a damaged page hides would
 * be lost without this check.
 */
function checkStaging(connection: Connection): void {
  const found = connection.all<Readonly<Record<string, unknown>>>("PRAGMA quick_check('tail')");
  const first = found[0] && Object.values(found[0])[0];
  if (first !== "ok") throw corruptRecord("table `tail`", String(first));
}

/**
 * Adds the staged steps to the counters of their threads. Steps at or below `threads.last` are already counted. A missing parent
 * of a step that another connection has staged counts too: the counter then reveals the lost row.
 */
function countStagedSteps(connection: Connection, isOwn: boolean): void {
  const lost = isOwn
    ? "0"
    : "count(*) FILTER (WHERE parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.ord = tail.parent))";
  const found = connection.all<StagedSteps>(
    `SELECT tail.thread, threads.name, count(*) AS steps, ${lost} AS lost, max(ord) AS last, ` +
      "max(ord) FILTER (WHERE namespace = '') AS head " +
      "FROM tail JOIN threads USING (thread) WHERE ord > threads.last GROUP BY tail.thread",
  );
  for (const { thread, name, steps, lost: missing, last, head } of found) {
    // The cached row of a thread counts its staged steps.
    const known = isOwn ? connection.recent.thread(name) : undefined;
    if (known !== undefined) updateThread(connection, known);
    else {
      const row = threadAt(connection, thread);
      const checkpoints = row.checkpoints + steps + missing;
      updateThread(connection, { ...row, head: head ?? row.head, last, checkpoints });
    }
  }
}

interface StagedSteps {
  readonly thread: number;
  readonly name: string;
  readonly steps: number;
  readonly lost: number;
  readonly last: number;
  readonly head: number | null;
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
