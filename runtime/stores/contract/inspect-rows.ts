/** Verifies all rows of a durable store. Reads each row once; the memory that it needs grows with the largest thread alone. */
import type { ThreadId } from "../../interface/checkpoint.ts";
import { StoreError } from "../../interface/errors.ts";
import { decodeHeader } from "./header-text.ts";
import { decodeKey } from "./key.ts";
import {
  CELL_APPEND,
  CELLS,
  cellMark,
  type CellRow,
  CHECKPOINTS,
  type CheckpointRow,
  HEADS,
  type HeadRow,
  type Row,
  rowName,
  type Table,
  THREADS,
  type ThreadRow,
  verifyRow,
  WRITES,
  type WriteRow,
} from "./rows.ts";
import { corruptRecord } from "./store-error.ts";
import { checkCount } from "./thread-row.ts";

export interface StoreProblem {
  /** The damaged thread; `null` for damage that belongs to no thread, or that hides the thread's id. */
  readonly thread: ThreadId | null;
  readonly code: StoreError["code"];
  /** What is wrong, where, and what to do. */
  readonly message: string;
}

/** The result of an inspection: the store is sound if there are no problems. */
export interface StoreReport {
  /** The database, without a password. */
  readonly place: string;
  readonly threads: number;
  readonly checkpoints: number;
  readonly problems: readonly StoreProblem[];
}

type Rows<R> = Iterable<R> | AsyncIterable<R>;

/** The tables of a store as its inspection reads them, in one state of the database. */
export interface RowReader {
  threads(): Rows<ThreadRow>;
  heads(thread: number): Rows<HeadRow>;
  /** Ascending by `ord`. */
  checkpoints(thread: number): Rows<CheckpointRow>;
  /** Ordered by channel, then by `ord`. */
  cells(chain: number): Rows<CellRow>;
  writes(thread: number): Rows<WriteRow>;
  /** Checkpoints of a thread that its counter does not include yet: those that a save has staged. */
  uncounted(thread: ThreadRow): number;
  /** Rows whose thread or chain does not exist, grouped by it. */
  orphans(): Rows<{ readonly name: string; readonly owner: number; readonly rows: number }>;
  /** The number of claims that the database has counted; undefined if the counter is missing. */
  epoch(): Promise<number | undefined> | number | undefined;
}

/** The most problems that a report contains. */
const MAX_PROBLEMS = 1000;

/** Problems in the order in which they are found. */
export class Problems {
  readonly list: StoreProblem[] = [];

  /** @returns false when the report is full */
  add(thread: ThreadId | null, error: unknown): boolean {
    if (!(error instanceof StoreError)) throw error;
    if (this.list.length < MAX_PROBLEMS) this.list.push({ thread, code: error.code, message: error.message });
    return this.list.length < MAX_PROBLEMS;
  }

  /** Runs a check, and records its StoreError. Any other error, such as a lost connection, is thrown. */
  check(thread: ThreadId | null, body: () => void): void {
    try {
      body();
    } catch (error) {
      this.add(thread, error);
    }
  }

  get isFull(): boolean {
    return this.list.length >= MAX_PROBLEMS;
  }
}

/** Verifies all rows: checksums, chains, heads, counters, and rows without an owner. */
export async function inspectRows(
  reader: RowReader,
  problems: Problems,
): Promise<{ readonly threads: number; readonly checkpoints: number }> {
  const counts = { threads: 0, checkpoints: 0 };
  try {
    await inspectAll(reader, problems, counts);
  } catch (error) {
    problems.add(null, error);
  }
  return counts;
}

async function inspectAll(
  reader: RowReader,
  problems: Problems,
  counts: { threads: number; checkpoints: number },
): Promise<void> {
  let newestClaim = 0;
  for await (const row of reader.threads()) {
    counts.threads++;
    newestClaim = Math.max(newestClaim, row.epoch);
    try {
      counts.checkpoints += await inspectThread(reader, row, problems);
    } catch (error) {
      // A database that cannot be read at all ends the inspection.
      if (!(error instanceof StoreError) || error.code === "NG_STORE_FAILED") throw error;
      problems.add(threadName(row), error);
    }
    if (problems.isFull) return;
  }
  const epoch = await reader.epoch();
  if (epoch === undefined || epoch < newestClaim) {
    problems.add(null, corruptRecord("the count of claims", "it is missing, or older than a claim"));
  }
  for await (const { name, owner, rows } of reader.orphans()) {
    const what = name === "cells" ? `chain ${owner}` : `thread no. ${owner}`;
    problems.add(
      null,
      new StoreError(
        "NG_CORRUPT_RECORD",
        `${rows} row(s) of table \`${name}\` belong to ${what}, which does not exist: if a thread is missing, ` +
          "restore the store from a backup; otherwise the rows have no effect",
      ),
    );
  }
}

/** Returns the number of checkpoints. */
async function inspectThread(reader: RowReader, row: ThreadRow, problems: Problems): Promise<number> {
  const thread = threadName(row);
  const verify = <R extends Row>(table: Table<R>, each: R): boolean => {
    const before = problems.list.length;
    problems.check(thread, () => verifyRow(table, each));
    return problems.list.length === before;
  };
  const isWhole = verify(THREADS, row);
  const found = await readCheckpoints(reader, row, thread, verify, problems);
  let writes = 0;
  for await (const write of reader.writes(row.thread)) {
    writes++;
    verify(WRITES, write);
  }
  const heads: HeadRow[] = [];
  for await (const head of reader.heads(row.thread)) if (verify(HEADS, head)) heads.push(head);
  if (isWhole) {
    const counted = found.total - reader.uncounted(row);
    problems.check(thread, () => checkCount(row, "checkpoints", counted));
    problems.check(thread, () => checkCount(row, "writes", writes));
    problems.check(thread, () => checkCount(row, "namespaces", heads.length));
    if (row.head !== null) checkHead(found.namespaces, row, "", row.head, thread, problems);
  }
  for (const head of heads) checkHead(found.namespaces, row, head.namespace, head.ord, thread, problems);
  for (const [chain, rows] of found.chains) await inspectChain(reader, chain, rows, thread, verify, problems);
  return found.total;
}

/** The checkpoints of a thread without their headers. */
interface FoundCheckpoints {
  readonly total: number;
  /** The namespace of each checkpoint. */
  readonly namespaces: ReadonlyMap<number, string>;
  /** The checkpoints of each chain, ascending. */
  readonly chains: ReadonlyMap<number, readonly ChainPoint[]>;
}

type ChainPoint = Pick<CheckpointRow, "ord" | "id" | "state">;

async function readCheckpoints(
  reader: RowReader,
  row: ThreadRow,
  thread: ThreadId | null,
  verify: (table: typeof CHECKPOINTS, each: CheckpointRow) => boolean,
  problems: Problems,
): Promise<FoundCheckpoints> {
  const namespaces = new Map<number, string>();
  const chains = new Map<number, ChainPoint[]>();
  for await (const checkpoint of reader.checkpoints(row.thread)) {
    const { ord, id, namespace, chain, parent, state } = checkpoint;
    namespaces.set(ord, namespace);
    if (!verify(CHECKPOINTS, checkpoint)) continue;
    problems.check(thread, () => {
      decodeHeader(checkpoint, thread ?? "");
      if (parent !== null && !(parent < ord && namespaces.has(parent))) {
        throw corruptRecord(rowName(CHECKPOINTS, checkpoint), `its parent, no. ${parent}, is missing`);
      }
    });
    const points = chains.get(chain);
    const point = { ord, id, state };
    if (points === undefined) chains.set(chain, [point]);
    else points.push(point);
  }
  return { total: namespaces.size, namespaces, chains };
}

function checkHead(
  namespaces: ReadonlyMap<number, string>,
  row: ThreadRow,
  namespace: string,
  ord: number,
  thread: ThreadId | null,
  problems: Problems,
): void {
  if (namespaces.get(ord) === namespace) return;
  const of = namespace === "" ? "" : ` of namespace "${namespace}"`;
  problems.add(thread, corruptRecord(rowName(THREADS, row), `its newest checkpoint${of}, no. ${ord}, is missing`));
}

/** Compares the marks of the newest cells at each checkpoint with the mark that the checkpoint has stored. */
async function inspectChain(
  reader: RowReader,
  chain: number,
  points: readonly ChainPoint[],
  thread: ThreadId | null,
  verify: (table: typeof CELLS, each: CellRow) => boolean,
  problems: Problems,
): Promise<void> {
  /** How the mark of all channels changes at an `ord`. */
  const changes = new Map<number, number>();
  let last: CellRow | undefined;
  for await (const cell of reader.cells(chain)) {
    if (last?.channel !== cell.channel) last = undefined;
    verify(CELLS, cell);
    const isContinued = last !== undefined && last.base === cell.base && last.count + 1 === cell.count;
    if (cell.kind === CELL_APPEND && !isContinued) {
      problems.add(thread, corruptRecord(rowName(CELLS, cell), "rows before it are missing"));
    }
    const change = cellMark(cell) ^ (last === undefined ? 0 : cellMark(last));
    changes.set(cell.ord, (changes.get(cell.ord) ?? 0) ^ change);
    last = cell;
  }
  const ords = [...changes.keys()].sort((a, b) => a - b);
  let state = 0;
  let next = 0;
  for (const { ord, id, state: stored } of points) {
    for (; next < ords.length && ords[next]! <= ord; next++) state = (state ^ changes.get(ords[next]!)!) >>> 0;
    if (state === stored) continue;
    const row = `checkpoint "${id}" (no. ${ord}) in table \`${CHECKPOINTS.name}\``;
    problems.add(thread, corruptRecord(row, "rows of its channels are missing in table `cells`"));
    // The same rows are missing at the checkpoints that follow.
    return;
  }
}

/** The id in a row that may be damaged. */
export function threadName(row: Pick<ThreadRow, "name">): ThreadId | null {
  try {
    return typeof row.name === "string" ? decodeKey(row.name) : null;
  } catch {
    return null;
  }
}
