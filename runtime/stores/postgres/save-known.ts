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
import type { CallGroups, Outcome } from "./call-groups.ts";
import type { Connection, Transaction } from "./connection.ts";
import { isRefusal, sqlState } from "./failure.ts";
import type { KnownThread } from "./known-threads.ts";

/** The parts of a request as text. */
export interface EncodedSave {
  readonly changes: readonly EncodedChange[];
  readonly header: string;
  readonly id: string;
}

/** A save whose rows are known. */
export interface KnownSave {
  readonly known: KnownThread;
  readonly claim: Claim;
  readonly request: SaveRequest;
  readonly encoded: EncodedSave;
}

/** Saves of this process share transactions. */
export type KnownSaves = CallGroups<KnownSave, WrittenRows | undefined>;

/** @returns false if nothing was written: the request needs more than the known rows, or they are out of date */
export async function saveKnown(
  connection: Connection,
  saves: KnownSaves,
  claim: Claim,
  request: SaveRequest,
  encoded: EncodedSave,
): Promise<boolean> {
  const threadKey = encodeKey(claim.threadId);
  const known = connection.known.get(threadKey);
  if (known === undefined || !isOrdinary(known, claim, request, encoded)) return false;
  connection.known.forget(threadKey);
  const size = encoded.changes.reduce((sum, { text }) => sum + (text?.length ?? 0), encoded.header.length);
  const next = await saves.run({ known, claim, request, encoded }, size);
  if (next === undefined) return false;
  const cells = withCells(known.cells, next.cells);
  const { ord, id, chain, state } = next.checkpoint;
  const written = { thread: next.thread, head: { ord, id, chain, state }, cells, isComplete: known.isComplete };
  if (request.releaseClaim === true) connection.known.release(written);
  else connection.known.set(threadKey, written);
  return true;
}

/** Saves in one transaction. If the server refuses it because of one of them, each is saved in a transaction of its own. */
export async function commitSaves(
  connection: Connection,
  saves: readonly KnownSave[],
): Promise<readonly Outcome<WrittenRows | undefined>[]> {
  try {
    return await commitTogether(connection, saves);
  } catch (error) {
    if (saves.length === 1 || !isRefusal(error)) throw error;
    return Promise.all(
      saves.map((save) =>
        commitTogether(connection, [save]).then(
          ([outcome]) => outcome!,
          (own: unknown) => ({ error: own }),
        ),
      ),
    );
  }
}

async function commitTogether(
  connection: Connection,
  saves: readonly KnownSave[],
): Promise<readonly Outcome<WrittenRows | undefined>[]> {
  return connection.writeNumbered(saves.length, async (transaction, ords) => {
    const outcomes = saves.map((save, index): Outcome<WrittenRows | undefined> => {
      try {
        return { value: rowsOf(save, ords[index]!) };
      } catch (error) {
        return { error };
      }
    });
    const written = outcomes.flatMap((outcome) => ("value" in outcome && outcome.value ? [outcome.value] : []));
    if (written.length === 0) return outcomes;
    try {
      const moved = await writeKnown(transaction, written);
      return outcomes.map((outcome) =>
        "value" in outcome && outcome.value && !moved.has(outcome.value.checkpoint.ord)
          ? { value: undefined }
          : outcome,
      );
    } catch (error) {
      const [first] = saves;
      if (saves.length > 1 || first === undefined || !existsAlready(error)) throw error;
      throw checkpointExists(first.claim.threadId, first.request.header.id);
    }
  });
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

export interface WrittenRows {
  readonly known: ThreadRow;
  readonly thread: ThreadRow;
  readonly checkpoint: CheckpointRow;
  readonly cells: readonly CellRow[];
}

/** The rows that a save writes; `undefined` if a list is due to be written in full, which needs its cells. */
function rowsOf({ known, claim, request, encoded }: KnownSave, ord: number): WrittenRows | undefined {
  const { thread, head, cells: last } = known;
  const { changes, header, id } = encoded;
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
    known: thread,
    thread: addChecksum(THREADS, { ...thread, head: ord, last: ord, checkpoints: thread.checkpoints + 1, ...claimed }),
    checkpoint: addChecksum(CHECKPOINTS, {
      ...{ ord, thread: thread.thread, id, namespace: "", chain, parent: head?.ord ?? null },
      ...{ state, label: null, header },
    }),
    cells,
  };
}

/**
 * Writes the rows of each thread whose stored row is the known one, and commits. A thread that another transaction has locked is
 * skipped: its lock must not delay the others. Returns the `ord`s of the checkpoints that are written.
 */
async function writeKnown(transaction: Transaction, written: readonly WrittenRows[]): Promise<ReadonlySet<number>> {
  const cells = written.flatMap((rows) => rows.cells);
  const column = <Row, Name extends keyof Row>(rows: readonly Row[], name: Name) => rows.map((row) => row[name]);
  const known = written.map((rows) => rows.known);
  const threads = written.map((rows) => rows.thread);
  const checkpoints = written.map((rows) => rows.checkpoint);
  const rows = await transaction.commitWith<{ ord: number }>(
    "WITH given AS (SELECT * FROM unnest(" +
      "$1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], " +
      "$9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], " +
      "$35::bigint[]) AS given (thread, owner, expires, host, pid, started, ord, checkpoints, v, sum, " +
      "known_v, known_sum, known_epoch, known_last, known_checkpoints, namespaces, writes)" +
      "), free AS (" +
      "SELECT thread FROM @.threads WHERE thread = ANY($1::bigint[]) FOR UPDATE SKIP LOCKED" +
      "), moved AS (" +
      "UPDATE @.threads t SET owner = g.owner, expires = g.expires, host = g.host, pid = g.pid, started = g.started, " +
      "head = g.ord, last = g.ord, checkpoints = g.checkpoints, v = g.v, sum = g.sum FROM given g JOIN free USING (thread) " +
      "WHERE t.thread = g.thread AND t.v = g.known_v AND t.sum = g.known_sum AND t.epoch = g.known_epoch " +
      "AND t.last = g.known_last AND t.checkpoints = g.known_checkpoints AND t.namespaces = g.namespaces AND t.writes = g.writes " +
      "RETURNING g.ord" +
      "), checkpoint AS (" +
      "INSERT INTO @.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) " +
      "SELECT c.ord, c.thread, c.id, '', c.chain, c.parent, c.state, NULL, c.header, c.v, c.sum FROM moved JOIN unnest(" +
      "$7::bigint[], $1::bigint[], $17::text[], $18::bigint[], $19::bigint[], $20::bigint[], $21::text[], $22::bigint[], " +
      "$23::bigint[]) AS c (ord, thread, id, chain, parent, state, header, v, sum) ON c.ord = moved.ord" +
      "), cells AS (" +
      "INSERT INTO @.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) " +
      "SELECT cell.* FROM moved JOIN unnest(" +
      "$24::bigint[], $25::text[], $26::bigint[], $27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[], " +
      "$31::bigint[], $32::text[], $33::bigint[], $34::bigint[]) " +
      "AS cell (chain, channel, ord, kind, version, base, count, slack, data, v, sum) ON cell.ord = moved.ord" +
      ") SELECT ord FROM moved",
    ...([column(threads, "thread"), column(threads, "owner"), column(threads, "expires")] as const),
    ...([column(threads, "host"), column(threads, "pid"), column(threads, "started")] as const),
    ...([column(checkpoints, "ord"), column(threads, "checkpoints")] as const),
    ...([column(threads, "v"), column(threads, "sum"), column(known, "v"), column(known, "sum")] as const),
    ...([column(known, "epoch"), column(known, "last"), column(known, "checkpoints")] as const),
    ...([column(known, "namespaces"), column(checkpoints, "id"), column(checkpoints, "chain")] as const),
    ...([column(checkpoints, "parent"), column(checkpoints, "state"), column(checkpoints, "header")] as const),
    ...([column(checkpoints, "v"), column(checkpoints, "sum")] as const),
    ...([column(cells, "chain"), column(cells, "channel"), column(cells, "ord"), column(cells, "kind")] as const),
    ...([column(cells, "version"), column(cells, "base"), column(cells, "count"), column(cells, "slack")] as const),
    ...([column(cells, "data"), column(cells, "v"), column(cells, "sum"), column(known, "writes")] as const),
  );
  return new Set(rows.map(({ ord }) => ord));
}
