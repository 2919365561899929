import type { Claim, SaveRequest } from "../../store.ts";
import {
  continuesChain,
  type EncodedChange,
  encodeChanges,
  type LastCell,
  listText,
  nextCell,
  nextState,
  type Place,
} from "../cells.ts";
import { encodeHeader } from "../header-text.ts";
import { decodeKey, encodeKey } from "../key.ts";
import { CELLS, type CellRow, CHECKPOINTS, type CheckpointRow, seal, type ThreadRow, unseal } from "../rows.ts";
import { checkpointExists, headHasMoved } from "../store-error.ts";
import { NOBODY } from "../thread-row.ts";
import { checkpointAt, findCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { resultCode } from "./failure.ts";
import { claimedThread, headOf, setHead, updateContent, updateThread } from "./thread.ts";

const UNIQUE_VIOLATED = 2067;

/** Checkpoint, cells, head, label, pending writes and claim: one transaction. */
export function save(connection: Connection, claim: Claim, request: SaveRequest): void {
  const { header, expectedHead } = request;
  // What can be prepared is prepared before the database is locked.
  const changes = encodeChanges(request);
  const text = encodeHeader(header);
  const [id, namespace] = [encodeKey(header.id), encodeKey(header.namespace)];
  const label = header.label === null ? null : encodeKey(header.label);

  connection.writeOn(() => {
    const thread = claimedThread(connection, claim);
    const head = headRow(connection, thread, namespace);
    const headId = head === undefined ? null : decodeKey(head.id);
    if (headId !== expectedHead) throw headHasMoved(claim.threadId, header.namespace, expectedHead, headId);

    const ord = (connection.recent.lastOrd ?? lastOrd(connection)) + 1;
    const goesOn = head !== undefined && continuesChain(request);
    const chain = goesOn ? head.chain : ord;
    const parent = goesOn ? head : parentOf(connection, thread, header.parentId, namespace);
    const { cells, state } = makeCells(connection, claim, { chain, ord }, goesOn ? head.state : 0, changes);

    if (label !== null) takeLabel(connection, thread, label);
    const at = { ord, thread: thread.thread, id, namespace, chain, parent: parent?.ord ?? null };
    insertCheckpoint(connection, claim, seal(CHECKPOINTS, Object.assign(at, { state, label, header: text })));
    for (const cell of cells) insertCell(connection, cell);
    if (namespace !== "") setHead(connection, thread.thread, namespace, ord);
    const content = {
      ...thread,
      head: namespace === "" ? ord : thread.head,
      last: ord,
      checkpoints: thread.checkpoints + 1,
      namespaces: thread.namespaces + (namespace !== "" && head === undefined ? 1 : 0),
      writes: thread.writes - clearedWrites(connection, thread, request.clearWritesOf),
    };
    if (request.releaseClaim === true) updateThread(connection, Object.assign(content, NOBODY));
    else updateContent(connection, content);
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

/** Before a label goes to another checkpoint. */
export function takeLabel(connection: Connection, thread: ThreadRow, label: string): void {
  const row = connection.get<CheckpointRow>(
    "SELECT * FROM checkpoints WHERE thread = ? AND label = ?",
    thread.thread,
    label,
  );
  if (row !== undefined) relabel(connection, unseal(CHECKPOINTS, row), null);
}

export function relabel(connection: Connection, row: CheckpointRow, label: string | null): void {
  const sealed = seal(CHECKPOINTS, { ...row, label });
  connection.run(
    "UPDATE checkpoints SET label = ?, v = ?, sum = ? WHERE ord = ?",
    label,
    sealed.v,
    sealed.sum,
    row.ord,
  );
}

/** What the history shows before a fork: the parent, where this thread has it. */
function parentOf(connection: Connection, thread: ThreadRow, id: string | null, namespace: string) {
  const row = id === null ? undefined : findCheckpoint(connection, thread, id);
  return row?.namespace === namespace ? row : undefined;
}

function makeCells(
  connection: Connection,
  claim: Claim,
  place: Place,
  before: number,
  changes: readonly EncodedChange[],
): { readonly cells: readonly CellRow[]; readonly state: number } {
  let state = before;
  const cells = changes.map((change) => {
    const last = place.chain === place.ord ? undefined : lastCell(connection, place.chain, change.channel);
    const cell = nextCell(claim.threadId, place, change, last, (from) => currentList(connection, from));
    state = nextState(state, last, cell);
    return cell;
  });
  return { cells, state };
}

function lastCell(connection: Connection, chain: number, channel: string): LastCell | undefined {
  const recent = connection.recent.lastCell(chain, channel);
  if (recent !== undefined) return recent;
  const row = connection.get<CellRow>(
    "SELECT * FROM cells WHERE chain = ? AND channel = ? ORDER BY ord DESC LIMIT 1",
    chain,
    channel,
  );
  return row && unseal(CELLS, row, { chain, channel });
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
    cells.map((cell) => unseal(CELLS, cell)),
    last,
  );
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
  connection.recent.rememberHead(row);
}

function insertCell(connection: Connection, row: CellRow): void {
  connection.run(
    "INSERT INTO cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) " +
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...([row.chain, row.channel, row.ord, row.kind, row.version, row.base] as const),
    ...([row.count, row.slack, row.data, row.v, row.sum] as const),
  );
  connection.recent.rememberCell(row);
}

function clearedWrites(connection: Connection, thread: ThreadRow, checkpointId: string | undefined): number {
  if (checkpointId === undefined || thread.writes === 0) return 0;
  return connection.run(
    "DELETE FROM writes WHERE thread = ? AND checkpoint = ?",
    thread.thread,
    encodeKey(checkpointId),
  );
}
