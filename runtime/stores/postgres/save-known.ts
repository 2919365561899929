/** Saves of a thread whose rows this process knows: one statement, which writes nothing if they are out of date. */
import type { Claim, SaveRequest } from "../../interface/store.ts";
import { continuesChain, type EncodedChange, type LastCell, nextCell, nextState } from "../contract/cells.ts";
import { encodeKey } from "../contract/key.ts";
import {
  addChecksum,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  THREADS,
  type ThreadRow,
} from "../contract/rows.ts";
import { holds, UNCLAIMED } from "../contract/thread-row.ts";
import { checkpointExists } from "../contract/store-error.ts";
import type { Connection, Transaction } from "./connection.ts";
import { sqlState } from "./failure.ts";
import type { KnownThread } from "./known-threads.ts";

/** The parts of a request as text. */
export interface EncodedSave {
  readonly changes: readonly EncodedChange[];
  readonly header: string;
  readonly id: string;
}

/** @returns false if nothing was written: the request needs more than the known rows, or they are out of date */
export async function saveKnown(
  connection: Connection,
  claim: Claim,
  request: SaveRequest,
  encoded: EncodedSave,
): Promise<boolean> {
  const threadKey = encodeKey(claim.threadId);
  const known = connection.known.get(threadKey);
  if (known === undefined || !isOrdinary(known, claim, request, encoded)) return false;
  connection.known.forget(threadKey);
  const next = await connection.writeNumbered(async (transaction, ord) => {
    const written = rowsOf(known, claim, request, encoded, ord);
    if (written === undefined) return undefined;
    try {
      return (await writeKnown(transaction, known.thread, written)) ? written : undefined;
    } catch (error) {
      throw existsAlready(error) ? checkpointExists(claim.threadId, request.header.id) : error;
    }
  });
  if (next === undefined) return false;
  if (request.releaseClaim === true) return true;
  const cells = withCells(known.cells, next.cells);
  const { ord, id, chain, state } = next.checkpoint;
  connection.known.set(threadKey, {
    thread: next.thread,
    head: { ord, id, chain, state },
    cells,
    isComplete: known.isComplete,
  });
  return true;
}

/** Whether a statement failed because the thread has a checkpoint with this id. */
export function existsAlready(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATED;
}

const UNIQUE_VIOLATED = "23505";

/** The last cells of channels after others, without their data. */
export function withCells(known: ReadonlyMap<string, LastCell>, added: readonly CellRow[]): Map<string, LastCell> {
  const cells = new Map(known);
  for (const { chain, channel, ord, kind, version, base, count, slack } of added) {
    cells.set(channel, { chain, channel, ord, kind, version, base, count, slack });
  }
  return cells;
}

/** Whether the known rows are all that a save reads. */
function isOrdinary(
  { thread, head, cells, isComplete }: KnownThread,
  claim: Claim,
  request: SaveRequest,
  { changes }: EncodedSave,
): boolean {
  const { header, expectedHead, clearWritesOf, takenSignals, returnedSignals } = request;
  const hasSignals = takenSignals !== undefined || returnedSignals !== undefined;
  if (header.namespace !== "" || header.label !== null || header.due !== undefined || hasSignals) return false;
  if (!holds(thread, claim) || (clearWritesOf !== undefined && thread.writes > 0)) return false;
  if ((head === undefined ? null : head.id) !== (expectedHead === null ? null : encodeKey(expectedHead))) return false;
  if (head === undefined ? header.parentId !== null : !continuesChain(request)) return false;
  return isComplete || changes.every(({ channel }) => cells.has(channel));
}

interface WrittenRows {
  readonly thread: ThreadRow;
  readonly checkpoint: CheckpointRow;
  readonly cells: readonly CellRow[];
}

/** The rows that a save writes; `undefined` if a list is due to be written in full, which needs its cells. */
function rowsOf(
  { thread, head, cells: last }: KnownThread,
  claim: Claim,
  request: SaveRequest,
  { changes, header, id }: EncodedSave,
  ord: number,
): WrittenRows | undefined {
  const chain = head?.chain ?? ord;
  let state = head?.state ?? 0;
  let isDue = false;
  const cells = changes.map((change) => {
    const before: LastCell | undefined = last.get(change.channel);
    const cell = nextCell(claim.threadId, { chain, ord }, change, before, () => {
      isDue = true;
      return "[]";
    });
    state = nextState(state, before, cell);
    return cell;
  });
  if (isDue) return undefined;
  const claimed = request.releaseClaim === true ? UNCLAIMED : {};
  return {
    thread: addChecksum(THREADS, { ...thread, head: ord, last: ord, checkpoints: thread.checkpoints + 1, ...claimed }),
    checkpoint: addChecksum(CHECKPOINTS, {
      ...{ ord, thread: thread.thread, id, namespace: "", chain, parent: head?.ord ?? null },
      ...{ state, label: null, header },
    }),
    cells,
  };
}

/** Writes the rows if the stored row of the thread is the known one. */
async function writeKnown(
  transaction: Transaction,
  known: ThreadRow,
  { thread, checkpoint: row, cells }: WrittenRows,
): Promise<boolean> {
  const column = <K extends keyof CellRow>(name: K) => cells.map((cell) => cell[name]);
  const found = await transaction.get<{ moved: number }>(
    "WITH moved AS (" +
      "UPDATE @.threads SET owner = $1, expires = $2, host = $3, pid = $4, started = $5, head = $6, last = $6, " +
      "checkpoints = $7, v = $8, sum = $9 WHERE thread = $10 AND v = $11 AND sum = $12 AND epoch = $13 AND last = $14 " +
      "AND checkpoints = $15 AND namespaces = $16 AND writes = $17 RETURNING thread" +
      "), checkpoint AS (" +
      "INSERT INTO @.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) " +
      "SELECT $6::bigint, thread, $18::text, '', $19::bigint, $20::bigint, $21::bigint, NULL, $22::text, $23::bigint, $24::bigint " +
      "FROM moved" +
      "), cells AS (" +
      "INSERT INTO @.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) SELECT cell.* FROM moved, unnest(" +
      "$25::bigint[], $26::text[], $27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[], $31::bigint[], " +
      "$32::bigint[], $33::text[], $34::bigint[], $35::bigint[]) AS cell" +
      ") SELECT count(*) AS moved FROM moved",
    ...([thread.owner, thread.expires, thread.host, thread.pid, thread.started, row.ord] as const),
    ...([thread.checkpoints, thread.v, thread.sum, thread.thread] as const),
    ...([known.v, known.sum, known.epoch, known.last, known.checkpoints, known.namespaces, known.writes] as const),
    ...([row.id, row.chain, row.parent, row.state, row.header, row.v, row.sum] as const),
    ...([column("chain"), column("channel"), column("ord"), column("kind"), column("version")] as const),
    ...([column("base"), column("count"), column("slack"), column("data"), column("v"), column("sum")] as const),
  );
  return found?.moved === 1;
}
