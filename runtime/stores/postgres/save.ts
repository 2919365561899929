import type { Claim, SaveRequest } from "../../interface/store.ts";
import {
  continuesChain,
  type EncodedChange,
  encodeChanges,
  type LastCell,
  listText,
  nextCell,
  nextState,
  type Place,
} from "../contract/cells.ts";
import { encodeHeader } from "../contract/header-text.ts";
import { decodeKey, encodeKey } from "../contract/key.ts";
import {
  CELLS,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  addChecksum,
  THREADS,
  type ThreadRow,
  verifyRow,
} from "../contract/rows.ts";
import { checkpointExists, headHasMoved } from "../contract/store-error.ts";
import { encodeSignals, mayBeDue } from "../contract/signal-text.ts";
import { UNCLAIMED } from "../contract/thread-row.ts";
import { findCheckpoint, missingCheckpoint } from "./checkpoints.ts";
import type { Connection, Transaction } from "./connection.ts";
import { changeWait, returnSignals, takeSignals } from "./signals.ts";
import type { KnownThread } from "./known-threads.ts";
import { existsAlready, type KnownSaves, saveKnown, withCells } from "./save-known.ts";
import { claimedThread, headOf, setHead } from "./thread.ts";

/** Checkpoint, cells, head, label, pending writes and claim: one transaction. */
export async function save(
  connection: Connection,
  saves: KnownSaves,
  claim: Claim,
  request: SaveRequest,
): Promise<void> {
  const { header, expectedHead } = request;
  // Encoding needs no lock, so it comes before the transaction.
  const changes = encodeChanges(request);
  const text = encodeHeader(header);
  const returned = encodeSignals(request.returnedSignals);
  const [id, namespace] = [encodeKey(header.id), encodeKey(header.namespace)];
  const label = header.label === null ? null : encodeKey(header.label);

  if (await saveKnown(connection, saves, claim, request, { changes, header: text, id })) return;
  const known = await connection.write(async (transaction): Promise<KnownThread | undefined> => {
    const thread = await claimedThread(transaction, claim);
    const { head, ord } = await headAndNumber(transaction, thread, namespace);
    const headId = head === undefined ? null : decodeKey(head.id);
    if (headId !== expectedHead) throw headHasMoved(claim.threadId, header.namespace, expectedHead, headId);

    const continues = head !== undefined && continuesChain(request);
    const chain = continues ? head.chain : ord;
    const parent = continues ? head : await parentOf(transaction, thread, header.parentId, namespace);
    const last = continues ? await lastCells(transaction, chain, changes) : new Map<string, CellRow>();
    const lists = await dueLists(transaction, claim, { chain, ord }, changes, last);
    let state = continues ? head.state : 0;
    const cells = changes.map((change) => {
      const before = last.get(change.channel);
      const cell = nextCell(claim.threadId, { chain, ord }, change, before, () => lists.get(change.channel)!);
      state = nextState(state, before, cell);
      return cell;
    });

    if (label !== null) await takeLabel(transaction, thread, label);
    const at = { ord, thread: thread.thread, id, namespace, chain, parent: parent?.ord ?? null };
    if (namespace !== "") await setHead(transaction, thread.thread, namespace, ord);
    else if (header.due !== undefined || mayBeDue(head?.header ?? "")) {
      await changeWait(transaction, thread, (wait) => ({ ...wait, due: header.due ?? null }));
    }
    await takeSignals(transaction, thread, request.takenSignals);
    await returnSignals(transaction, thread, returned);
    const content = {
      ...thread,
      head: namespace === "" ? ord : thread.head,
      last: ord,
      checkpoints: thread.checkpoints + 1,
      namespaces: thread.namespaces + (namespace !== "" && head === undefined ? 1 : 0),
      writes: thread.writes - (await clearedWrites(transaction, thread, request.clearWritesOf)),
    };
    if (request.releaseClaim === true) Object.assign(content, UNCLAIMED);
    const checkpoint = addChecksum(CHECKPOINTS, { ...at, state, label, header: text });
    const row = addChecksum(THREADS, content);
    await writeStep(transaction, claim, checkpoint, cells, row);
    if (namespace !== "" || header.due !== undefined) return undefined;
    const written = withCells(new Map(), [...last.values(), ...cells]);
    const newHead = { ord, id, chain, state };
    return { thread: row, head: newHead, cells: written, isComplete: !continues };
  });
  if (known !== undefined && request.releaseClaim === true) connection.known.release(known);
  else if (known === undefined) connection.known.forget(encodeKey(claim.threadId));
  else connection.known.set(encodeKey(claim.threadId), known);
}

/** The head, and the `ord` of the next checkpoint. It is drawn under the thread's lock, so it is the thread's largest. */
async function headAndNumber(transaction: Transaction, thread: ThreadRow, namespace: string) {
  const headOrd = await headOf(transaction, thread, namespace);
  const row = await transaction.get<CheckpointRow & { next: number; ord: number | null }>(
    "SELECT c.*, nextval('@.ords') AS next FROM (SELECT 1) AS one LEFT JOIN @.checkpoints c ON c.ord = $1",
    headOrd ?? null,
  );
  const { next, ...head } = row!;
  if (headOrd === undefined) return { head: undefined, ord: next };
  if (head.ord === null) throw missingCheckpoint(thread, headOrd);
  return { head: verifyRow(CHECKPOINTS, head, { ord: headOrd, thread: thread.thread }), ord: next };
}

/** Before a label goes to another checkpoint. */
export async function takeLabel(transaction: Transaction, { thread }: ThreadRow, label: string): Promise<void> {
  const sql = "SELECT * FROM @.checkpoints WHERE thread = $1 AND label = $2";
  const row = await transaction.get<CheckpointRow>(sql, thread, label);
  if (row !== undefined) await relabel(transaction, verifyRow(CHECKPOINTS, row), null);
}

export async function relabel(transaction: Transaction, row: CheckpointRow, label: string | null): Promise<void> {
  const { v, sum } = addChecksum(CHECKPOINTS, { ...row, label });
  await transaction.run("UPDATE @.checkpoints SET label = $2, v = $3, sum = $4 WHERE ord = $1", row.ord, label, v, sum);
}

/** The checkpoint that the history lists before a fork: the parent, if this thread has it. */
async function parentOf(transaction: Transaction, thread: ThreadRow, id: string | null, namespace: string) {
  const row = id === null ? undefined : await findCheckpoint(transaction, thread, id);
  return row?.namespace === namespace ? row : undefined;
}

async function lastCells(transaction: Transaction, chain: number, changes: readonly EncodedChange[]) {
  const rows = await transaction.all<CellRow>(
    "SELECT last.* FROM unnest($2::text[]) AS wanted (channel) CROSS JOIN LATERAL (" +
      "SELECT * FROM @.cells WHERE chain = $1 AND channel = wanted.channel ORDER BY ord DESC LIMIT 1) last",
    chain,
    changes.map(({ channel }) => channel),
  );
  return new Map(rows.map((row) => [row.channel, verifyRow(CELLS, row, { chain })]));
}

/** The lists of the channels for which a full value is due: found by trying, for rarely one is. */
async function dueLists(
  transaction: Transaction,
  claim: Claim,
  place: Place,
  changes: readonly EncodedChange[],
  last: ReadonlyMap<string, CellRow>,
): Promise<ReadonlyMap<string, string>> {
  const due: LastCell[] = [];
  for (const change of changes) {
    nextCell(claim.threadId, place, change, last.get(change.channel), (cell) => {
      due.push(cell);
      return "[]";
    });
  }
  const lists = new Map<string, string>();
  for (const cell of due) {
    const cells = await transaction.all<CellRow>(
      "SELECT * FROM @.cells WHERE chain = $1 AND channel = $2 AND ord BETWEEN $3 AND $4 ORDER BY ord",
      ...([cell.chain, cell.channel, cell.base, cell.ord] as const),
    );
    const verified = cells.map((row) => verifyRow(CELLS, row));
    lists.set(cell.channel, listText(verified, cell));
  }
  return lists;
}

/** Checkpoint, cells and thread in one message. */
async function writeStep(
  transaction: Transaction,
  claim: Claim,
  row: CheckpointRow,
  cells: readonly CellRow[],
  thread: ThreadRow,
): Promise<void> {
  const column = <K extends keyof CellRow>(name: K) => cells.map((cell) => cell[name]);
  try {
    await transaction.run(
      "WITH checkpoint AS (" +
        "INSERT INTO @.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) " +
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)" +
        "), cells AS (" +
        "INSERT INTO @.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) SELECT * FROM unnest(" +
        "$12::bigint[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], " +
        "$19::bigint[], $20::text[], $21::bigint[], $22::bigint[])" +
        ") UPDATE @.threads SET owner = $23, expires = $24, host = $25, pid = $26, started = $27, head = $28, last = $29, " +
        "checkpoints = $30, namespaces = $31, writes = $32, v = $33, sum = $34 WHERE thread = $2",
      ...([row.ord, row.thread, row.id, row.namespace, row.chain, row.parent] as const),
      ...([row.state, row.label, row.header, row.v, row.sum] as const),
      ...([column("chain"), column("channel"), column("ord"), column("kind"), column("version")] as const),
      ...([column("base"), column("count"), column("slack"), column("data"), column("v"), column("sum")] as const),
      ...([thread.owner, thread.expires, thread.host, thread.pid, thread.started, thread.head, thread.last] as const),
      ...([thread.checkpoints, thread.namespaces, thread.writes, thread.v, thread.sum] as const),
    );
  } catch (error) {
    throw existsAlready(error) ? checkpointExists(claim.threadId, decodeKey(row.id)) : error;
  }
}

async function clearedWrites(transaction: Transaction, thread: ThreadRow, id: string | undefined): Promise<number> {
  if (id === undefined || thread.writes === 0) return 0;
  const sql = "DELETE FROM @.writes WHERE thread = $1 AND checkpoint = $2";
  return transaction.run(sql, thread.thread, encodeKey(id));
}
