/**
 * The rows of durable stores, the same in every database. Each row has the version of its layout and a CRC-32 checksum over
 * all of its columns. Both are verified before any content is returned (5.11).
 *
 * Names in rows (threads, namespaces, checkpoint ids, channels, tasks, labels) are keys, see `encodeKey`.
 */
import { crc32 } from "node:zlib";
import { corruptRecord, unknownVersion } from "./store-error.ts";

/** Columns that every row has. */
export interface Row {
  readonly v: number;
  readonly sum: number;
}

/** A thread: its claim and its counters. The counters reveal rows that a damaged index hides. */
export interface ThreadRow extends Row {
  readonly thread: number;
  readonly name: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly expires: number | null;
  readonly host: string | null;
  readonly pid: number | null;
  readonly started: string | null;
  /** Head of the root namespace; other namespaces have rows in `heads`. */
  readonly head: number | null;
  /** `ord` of the newest checkpoint of any namespace; 0 when there is none. */
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
  /** Order of writing: grows with every checkpoint of the thread. */
  readonly ord: number;
  readonly thread: number;
  readonly id: string;
  readonly namespace: string;
  /** `ord` of the checkpoint that started the chain with a snapshot. */
  readonly chain: number;
  /** `ord` of the parent; null when this thread does not have it. */
  readonly parent: number | null;
  /** XOR of the marks of all channels' newest cells: reveals cells that are missing or stale. */
  readonly state: number;
  readonly label: string | null;
  readonly header: string;
}

/** Kinds of cells: a whole value, a whole list, items appended to a list, no value, items of a list replaced. */
export const CELL_VALUE = 0;
export const CELL_LIST = 1;
export const CELL_APPEND = 2;
export const CELL_RESET = 3;
export const CELL_SPLICE = 4;

/** The change of a channel in one checkpoint of a chain. */
export interface CellRow extends Row {
  readonly chain: number;
  readonly channel: string;
  readonly ord: number;
  readonly kind: number;
  readonly version: number;
  /** `ord` of the newest cell with a full value, which an append starts from. */
  readonly base: number;
  /** Number of appends and splices since `base`, this one included. */
  readonly count: number;
  /** Weight that may still be appended before the next full value. */
  readonly slack: number;
  /** JSON: the value, the list of appended items, or the list of edits; null after a reset. */
  readonly data: string | null;
}

export interface WriteRow extends Row {
  readonly thread: number;
  readonly checkpoint: string;
  readonly task: string;
  /** JSON: `[node, result]`. */
  readonly data: string;
}

/** A signal in the inbox of a thread. After it was taken, the row keeps its id. */
export interface SignalRow extends Row {
  readonly thread: number;
  readonly id: string;
  /** JSON: `[name, value]`; null after the signal was taken. */
  readonly data: string | null;
}

/**
 * The due time or the signal with which a paused thread can continue without an answer. A thread without either has no
 * row.
 */
export interface WaitRow extends Row {
  readonly thread: number;
  /** `due` of the head. */
  readonly due: number | null;
  /** Rows of the thread in `signals` that were not taken. */
  readonly signals: number;
}

/** An item of the long-term memory. */
export interface ItemRow extends Row {
  readonly namespace: string;
  readonly key: string;
  readonly created: number;
  readonly updated: number;
  readonly expires: number | null;
  /** JSON: `[value, vector]`. */
  readonly data: string;
}

/** A row whose version and checksum are not filled in yet; existing values of both are ignored. */
export type RowContent<R extends Row> = Omit<R, "v" | "sum"> & Partial<Row>;

export interface Table<R extends Row> {
  readonly name: string;
  /** Version of the row's layout and meaning. A store refuses rows of a newer version. */
  readonly version: number;
  /** The columns that the checksum covers, in this order; the bulk column comes last. */
  values(row: R): readonly (string | number | null | undefined)[];
  bulk?(row: R): string | null;
  /** The row's name in error messages. */
  describe(row: R): string;
}

/** Version 2 has the same columns. It locks out programs of schema version 1, which read this row before they write. */
export const THREADS: Table<ThreadRow> = {
  name: "threads",
  version: 2,
  values: (row) => [
    ...([row.thread, row.name, row.epoch, row.owner, row.expires, row.host, row.pid, row.started] as const),
    ...([row.head, row.last, row.checkpoints, row.namespaces, row.writes] as const),
  ],
  describe: (row) => `thread "${row.name}"`,
};

export const HEADS: Table<HeadRow> = {
  name: "heads",
  version: 1,
  values: ({ thread, namespace, ord }) => [thread, namespace, ord],
  describe: (row) => `namespace "${row.namespace}" of thread no. ${row.thread}`,
};

export const CHECKPOINTS: Table<CheckpointRow> = {
  name: "checkpoints",
  version: 1,
  values: (row) => [row.ord, row.thread, row.id, row.namespace, row.chain, row.parent, row.state, row.label],
  bulk: ({ header }) => header,
  describe: (row) => `checkpoint "${row.id}" (no. ${row.ord})`,
};

export const CELLS: Table<CellRow> = {
  name: "cells",
  version: 1,
  values: (row) => [row.chain, row.channel, row.ord, row.kind, row.version, row.base, row.count, row.slack],
  bulk: ({ data }) => data,
  describe: (row) => `channel "${row.channel}" at checkpoint no. ${row.ord} of chain ${row.chain}`,
};

export const WRITES: Table<WriteRow> = {
  name: "writes",
  version: 1,
  values: ({ thread, checkpoint, task }) => [thread, checkpoint, task],
  bulk: ({ data }) => data,
  describe: (row) => `result of task "${row.task}" at checkpoint "${row.checkpoint}"`,
};

export const SIGNALS: Table<SignalRow> = {
  name: "signals",
  version: 1,
  values: ({ thread, id }) => [thread, id],
  bulk: ({ data }) => data,
  describe: (row) => `signal "${row.id}"`,
};

export const WAITS: Table<WaitRow> = {
  name: "waits",
  version: 1,
  values: ({ thread, due, signals }) => [thread, due, signals],
  describe: (row) => `the wait of thread no. ${row.thread}`,
};

export const ITEMS: Table<ItemRow> = {
  name: "items",
  version: 1,
  values: ({ namespace, key, created, updated, expires }) => [namespace, key, created, updated, expires],
  bulk: ({ data }) => data,
  describe: (row) => `item ${JSON.stringify(row.key)} of namespace ${JSON.stringify(row.namespace)}`,
};

/**
 * Fills in the row's version and checksum, in place. Rows that every step writes already have both properties (with any
 * value), which keeps the object's shape and is faster.
 */
export function addChecksum<R extends Row>(table: Table<R>, row: RowContent<R>): R {
  const complete = row as unknown as R & { v: number; sum: number };
  complete.v = table.version;
  complete.sum = checksum(table, complete);
  return complete;
}

/**
 * Returns the row if it is the one that was written.
 *
 * @param wanted the columns of the lookup: a damaged index may lead to other rows
 * @throws StoreError NG_UNKNOWN_VERSION, NG_CORRUPT_RECORD
 */
export function verifyRow<R extends Row>(table: Table<R>, row: R, wanted: Partial<R> = {}): R {
  if (row.v !== table.version) {
    const newer = Number.isSafeInteger(row.v) && row.v > table.version;
    if (newer) throw unknownVersion(rowName(table, row), "record version", row.v, table.version);
    throw corruptRecord(rowName(table, row), `its record version reads as ${String(row.v)}`);
  }
  if (table.values(row).includes(undefined)) {
    throw corruptRecord(rowName(table, row), "it lacks a column: the schema is damaged");
  }
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

/** Whether a row has a wrong version, checksum or column: `verifyRow` then refuses it for all expected values. */
export function isDamaged<R extends Row>(table: Table<R>, row: R): boolean {
  try {
    verifyRow(table, row);
    return false;
  } catch {
    return true;
  }
}

/** For migrations: raises the version of a row whose columns do not change. A damaged row stays damaged. */
export function withNextVersion<R extends Row>(table: Table<R>, row: R): R {
  const isWhole = checksum(table, row) === row.sum;
  const next = { ...row, v: row.v + 1 };
  return isWhole ? { ...next, sum: checksum(table, next) } : next;
}

/** The name of a row in error messages: key and table. */
export function rowName<R extends Row>(table: Table<R>, row: R): string {
  return `${table.describe(row)} in table \`${table.name}\``;
}

/** The contribution of one cell to `CheckpointRow.state`. */
export function cellMark(cell: Pick<CellRow, "channel" | "version" | "ord">): number {
  return crc32(`${cell.channel}\n${cell.version}\n${cell.ord}`);
}

/** Hash of a thread's name, for the second index of the table `threads`. */
export function keyHash(key: string): number {
  return crc32(key);
}

function checksum<R extends Row>(table: Table<R>, row: R): number {
  // Keys contain no control characters, so the separator and the marker of null are unambiguous.
  let text = `${table.name}\n${row.v}`;
  for (const value of table.values(row)) text += value === null ? "\n\0" : `\n${value}`;
  const bulk = table.bulk?.(row);
  return crc32(typeof bulk === "string" ? text + bulk : text);
}
