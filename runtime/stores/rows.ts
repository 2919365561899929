/**
 * The rows that durable stores keep, the same in every database. Each carries the version of its layout and a checksum
 * over all of its columns; nothing is handed out before both were checked (5.11).
 *
 * Names in rows (threads, namespaces, checkpoint ids, channels, tasks, labels) are keys, see `encodeKey`.
 */
import { crc32 } from "node:zlib";
import { corruptRecord, unknownVersion } from "./store-error.ts";

/** Version of the row layouts below. A store refuses rows of a newer one. */
export const ROW_VERSION = 1;

interface Row {
  readonly v: number;
  readonly sum: number;
}

/** A thread: who holds it, and what it has. The counters unmask a lookup that misses because an index is damaged. */
export interface ThreadRow extends Row {
  readonly thread: number;
  readonly name: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly expires: number | null;
  readonly host: string | null;
  readonly pid: number | null;
  readonly started: string | null;
  /** Head of the graph itself; other namespaces have rows in `heads`. */
  readonly head: number | null;
  /** Newest checkpoint of any namespace; 0 when there is none. */
  readonly last: number;
  readonly checkpoints: number;
  /** Rows in `heads`. */
  readonly namespaces: number;
  /** Rows in `writes`. */
  readonly writes: number;
}

export interface HeadRow extends Row {
  readonly thread: number;
  readonly namespace: string;
  readonly ord: number;
}

export interface CheckpointRow extends Row {
  /** Grows with every checkpoint of the thread: the order in which they were written. */
  readonly ord: number;
  readonly thread: number;
  readonly id: string;
  readonly namespace: string;
  /** `ord` of the checkpoint that began the chain with a snapshot. */
  readonly chain: number;
  /** `ord` of the parent, while this thread has it. */
  readonly parent: number | null;
  /** Marks of the newest cells of all channels, combined: unmasks cells that are missing or stale. */
  readonly state: number;
  readonly label: string | null;
  readonly header: string;
}

/** Kinds of cells: a whole value, a whole list, what was appended to one, nothing. */
export const CELL_VALUE = 0;
export const CELL_LIST = 1;
export const CELL_APPEND = 2;
export const CELL_RESET = 3;

/** How a channel changed in one checkpoint of a chain. */
export interface CellRow extends Row {
  readonly chain: number;
  readonly channel: string;
  readonly ord: number;
  readonly kind: number;
  readonly version: number;
  /** `ord` of the cell that an append starts from: the newest one that stands alone. */
  readonly base: number;
  /** Appends since then, this one included. */
  readonly count: number;
  /** How much may still be appended before the next full value. */
  readonly slack: number;
  /** JSON: the value, or the list of what was appended; null after a reset. */
  readonly data: string | null;
}

export interface WriteRow extends Row {
  readonly thread: number;
  readonly checkpoint: string;
  readonly task: string;
  /** JSON: `[node, result]`. */
  readonly data: string;
}

/** A row as it is made, before it is sealed. */
export type Unsealed<R extends Row> = Omit<R, "v" | "sum">;

interface Table<R extends Row> {
  readonly name: string;
  /** What the checksum covers, in this order; the bulk column comes last and is not copied. */
  readonly columns: readonly (keyof R & string)[];
  readonly bulk?: keyof R & string;
  /** How errors call a row. */
  describe(row: R): string;
}

export const THREADS: Table<ThreadRow> = {
  name: "threads",
  columns: [
    ...(["thread", "name", "epoch", "owner", "expires", "host", "pid", "started", "head", "last"] as const),
    ...(["checkpoints", "namespaces", "writes"] as const),
  ],
  describe: (row) => `thread "${row.name}"`,
};

export const HEADS: Table<HeadRow> = {
  name: "heads",
  columns: ["thread", "namespace", "ord"],
  describe: (row) => `namespace "${row.namespace}" of thread no. ${row.thread}`,
};

export const CHECKPOINTS: Table<CheckpointRow> = {
  name: "checkpoints",
  columns: ["ord", "thread", "id", "namespace", "chain", "parent", "state", "label"],
  bulk: "header",
  describe: (row) => `checkpoint "${row.id}" (no. ${row.ord})`,
};

export const CELLS: Table<CellRow> = {
  name: "cells",
  columns: ["chain", "channel", "ord", "kind", "version", "base", "count", "slack"],
  bulk: "data",
  describe: (row) => `channel "${row.channel}" at checkpoint no. ${row.ord} of chain ${row.chain}`,
};

export const WRITES: Table<WriteRow> = {
  name: "writes",
  columns: ["thread", "checkpoint", "task"],
  bulk: "data",
  describe: (row) => `result of task "${row.task}" at checkpoint "${row.checkpoint}"`,
};

/** Completes a row, in place, with version and checksum. */
export function seal<R extends Row>(table: Table<R>, row: Unsealed<R>): R {
  const sealed = row as unknown as R & { v: number; sum: number };
  sealed.v = ROW_VERSION;
  sealed.sum = checksum(table, sealed);
  return sealed;
}

/**
 * The row, once it is known to be what was written.
 *
 * @param wanted columns that the lookup asked for: a damaged index leads to rows that nobody asked for
 * @throws StoreError NG_UNKNOWN_VERSION, NG_CORRUPT_RECORD
 */
export function unseal<R extends Row>(table: Table<R>, row: R, wanted: Partial<R> = {}): R {
  if (row.v !== ROW_VERSION) {
    const newer = Number.isSafeInteger(row.v) && row.v > ROW_VERSION;
    if (newer) throw unknownVersion(rowName(table, row), "record version", row.v, ROW_VERSION);
    throw corruptRecord(rowName(table, row), `its record version reads as ${String(row.v)}`);
  }
  const missing = table.columns.find((column) => row[column] === undefined);
  if (missing !== undefined)
    throw corruptRecord(rowName(table, row), `it has no column \`${missing}\`: the schema is damaged`);
  if (checksum(table, row) !== row.sum) throw corruptRecord(rowName(table, row), "its checksum does not match");
  for (const [column, value] of Object.entries(wanted)) {
    const found = row[column as keyof R];
    if (found !== value) {
      throw corruptRecord(
        rowName(table, row),
        `it was found under ${column} ${JSON.stringify(value)}: an index is damaged`,
      );
    }
  }
  return row;
}

/** How errors name a row: table and key. */
export function rowName<R extends Row>(table: Table<R>, row: R): string {
  return `${table.describe(row)} in table \`${table.name}\``;
}

/** What one cell contributes to the state of a checkpoint. */
export function cellMark(cell: Pick<CellRow, "channel" | "version" | "ord">): number {
  return crc32(`${cell.channel}\n${cell.version}\n${cell.ord}`);
}

/** Spreads names over the second index of a table of threads. */
export function keyHash(key: string): number {
  return crc32(key);
}

function checksum<R extends Row>(table: Table<R>, row: R): number {
  // Keys hold no control characters, so neither a line's end nor what stands for null is ambiguous.
  let text = `${table.name}\n${row.v}`;
  for (const column of table.columns) text += `\n${row[column] === null ? "\0" : String(row[column])}`;
  const small = crc32(text);
  const bulk = table.bulk === undefined ? null : row[table.bulk];
  return typeof bulk === "string" ? crc32(bulk, small) : small;
}
