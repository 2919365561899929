import type { Claim, SaveRequest } from "../../interface/store.ts";
import { continuesChain, encodeChanges, type LastCell, listText, nextCell, nextState } from "../contract/cells.ts";
import { encodeHeader } from "../contract/header-text.ts";
import { decodeKey, encodeKey } from "../contract/key.ts";
import {
  CELLS,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  addChecksum,
  type ThreadRow,
  verifyRow,
} from "../contract/rows.ts";
import { checkpointExists, headHasMoved } from "../contract/store-error.ts";
import { encodeSignals, mayBeDue } from "../contract/signal-text.ts";
import { UNCLAIMED } from "../contract/thread-row.ts";
import { checkpointAt, findCheckpoint } from "./checkpoints.ts";
import { continueRemoval, removeWrites } from "./clear-writes.ts";
import type { Connection } from "./connection.ts";
import { changeWait, returnSignals, takeSignals } from "./signals.ts";
import { resultCode } from "./failure.ts";
import { stageStep, flushStaging, fitsStaging, type StagedRows } from "./staging-table.ts";
import { claimedThread, headOf, setHead, updateThread, withStep } from "./thread.ts";

const UNIQUE_VIOLATED = 2067;

/**
 * Saves a checkpoint in one transaction: its row, cells, head and label, the removal of pending writes, and the release
 * of the claim.
 */
export function save(connection: Connection, claim: Claim, request: SaveRequest): void {
  const { header, expectedHead } = request;
  // Encoding needs no lock, so it comes before the transaction.
  const changes = encodeChanges(request);
  const text = encodeHeader(header);
  const returned = encodeSignals(request.returnedSignals);
  const [id, namespace] = [encodeKey(header.id), encodeKey(header.namespace)];
  const label = header.label === null ? null : encodeKey(header.label);

  connection.writeCached((flushedOthers) => {
    const thread = claimedThread(connection, claim);
    const head = headRow(connection, thread, namespace);
    const headId = head === undefined ? null : decodeKey(head.id);
    if (headId !== expectedHead) throw headHasMoved(claim.threadId, header.namespace, expectedHead, headId);
    const continues = head !== undefined && continuesChain(request);

    let staging = connection.recent.staging;
    // A label and a parent other than the head are searched in the table `checkpoints`, so nothing may be staged. If
    // another process has staged steps, it probably continues, and its next step would flush a step that is staged
    // here.
    const isOrdinary = label === null && (continues || header.parentId === null);
    if (flushedOthers || !isOrdinary || staging === undefined || !fitsStaging(staging, text, changes)) {
      flushStaging(connection);
      staging = undefined;
    }
    const parent = continues ? head : parentOf(connection, thread, header.parentId, namespace);

    const ord = (connection.recent.lastOrd ?? lastOrd(connection)) + 1;
    const place = { chain: continues ? head.chain : ord, ord };
    let state = continues ? head.state : 0;
    const cells = changes.map((change) => {
      const last = continues ? lastCell(connection, place.chain, change.channel) : undefined;
      const cell = nextCell(claim.threadId, place, change, last, (from) => {
        staging = undefined;
        flushStaging(connection);
        return currentList(connection, from);
      });
      state = nextState(state, last, cell);
      return cell;
    });

    if (label !== null) takeLabel(connection, thread, label);
    const row = addChecksum(CHECKPOINTS, {
      ord,
      thread: thread.thread,
      id,
      namespace,
      chain: place.chain,
      parent: parent?.ord ?? null,
      state,
      label,
      header: text,
      v: 0,
      sum: 0,
    });
    insertStep(connection, claim, staging, row, cells);
    if (namespace !== "") setHead(connection, thread.thread, namespace, ord);
    else if (header.due !== undefined || mayBeDue(head?.header ?? "")) {
      changeWait(connection, thread, (wait) => ({ ...wait, due: header.due ?? null }));
    }
    takeSignals(connection, thread, request.takenSignals);
    returnSignals(connection, thread, returned);
    const next = withStep(thread, ord, namespace);
    const cleared = clearedWrites(connection, thread, request.clearWritesOf);
    if (request.releaseClaim === true && thread.writes > cleared) continueRemoval(connection, thread);
    const isNewNamespace = namespace !== "" && head === undefined;
    if (staging !== undefined && cleared === 0 && !isNewNamespace && request.releaseClaim !== true) {
      connection.recent.rememberThread(next);
    } else {
      const content = {
        ...next,
        namespaces: thread.namespaces + (isNewNamespace ? 1 : 0),
        writes: thread.writes - cleared,
      };
      updateThread(connection, request.releaseClaim === true ? { ...content, ...UNCLAIMED } : content);
    }
  });
}

function headRow(connection: Connection, thread: ThreadRow, namespace: string): CheckpointRow | undefined {
  const recent = connection.recent.head(thread.thread, namespace);
  if (recent !== undefined) return recent;
  const ord = headOf(connection, thread, namespace);
  return ord === undefined ? undefined : checkpointAt(connection, thread, ord);
}

function lastOrd(connection: Connection): number {
  return connection.get<{ last: number }>("SELECT coalesce(max(ord), 0) AS last FROM checkpoints")!.last;
}

/** Removes a label from the checkpoint that has it, before another checkpoint gets it. */
export function takeLabel(connection: Connection, thread: ThreadRow, label: string): void {
  const row = connection.get<CheckpointRow>(
    "SELECT * FROM checkpoints WHERE thread = ? AND label = ?",
    thread.thread,
    label,
  );
  if (row !== undefined) relabel(connection, verifyRow(CHECKPOINTS, row), null);
}

export function relabel(connection: Connection, row: CheckpointRow, label: string | null): void {
  const complete = addChecksum(CHECKPOINTS, { ...row, label });
  connection.run(
    "UPDATE checkpoints SET label = ?, v = ?, sum = ? WHERE ord = ?",
    label,
    complete.v,
    complete.sum,
    row.ord,
  );
}

/** The parent that `list` continues with after a fork: one in the same namespace of this thread. */
function parentOf(connection: Connection, thread: ThreadRow, id: string | null, namespace: string) {
  const row = id === null ? undefined : findCheckpoint(connection, thread, id);
  return row?.namespace === namespace ? row : undefined;
}

function lastCell(connection: Connection, chain: number, channel: string): LastCell | undefined {
  const recent = connection.recent.lastCell(chain, channel);
  if (recent !== undefined) return recent;
  const row = connection.get<CellRow>(
    "SELECT * FROM cells WHERE chain = ? AND channel = ? ORDER BY ord DESC LIMIT 1",
    chain,
    channel,
  );
  return row && verifyRow(CELLS, row, { chain, channel });
}

function currentList(connection: Connection, last: LastCell): string {
  const cells = connection.all<CellRow>(
    "SELECT * FROM cells WHERE chain = ? AND channel = ? AND ord BETWEEN ? AND ? ORDER BY ord",
    last.chain,
    last.channel,
    last.base,
    last.ord,
  );
  return listText(
    cells.map((cell) => verifyRow(CELLS, cell)),
    last,
  );
}

function insertStep(
  connection: Connection,
  claim: Claim,
  staging: StagedRows | undefined,
  row: CheckpointRow,
  cells: readonly CellRow[],
): void {
  if (staging === undefined) {
    insertCheckpoint(connection, claim, row);
    for (const cell of cells) insertCell(connection, cell);
  } else if (!stageStep(connection, staging, row, cells)) {
    throw checkpointExists(claim.threadId, decodeKey(row.id));
  }
  connection.recent.rememberHead(row);
  for (const cell of cells) connection.recent.rememberCell(cell);
}

function insertCheckpoint(connection: Connection, claim: Claim, row: CheckpointRow): void {
  try {
    connection.run(
      "INSERT INTO checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...([row.ord, row.thread, row.id, row.namespace, row.chain, row.parent] as const),
      ...([row.state, row.label, row.header, row.v, row.sum] as const),
    );
  } catch (error) {
    if (resultCode(error) === UNIQUE_VIOLATED) throw checkpointExists(claim.threadId, decodeKey(row.id));
    throw error;
  }
}

function insertCell(connection: Connection, row: CellRow): void {
  connection.run(
    "INSERT INTO cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...([row.chain, row.channel, row.ord, row.kind, row.version, row.base] as const),
    ...([row.count, row.slack, row.data, row.v, row.sum] as const),
  );
}

function clearedWrites(connection: Connection, thread: ThreadRow, checkpointId: string | undefined): number {
  return checkpointId === undefined ? 0 : removeWrites(connection, thread, encodeKey(checkpointId));
}
