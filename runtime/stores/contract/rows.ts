/**
 * The rows that durable stores keep, the same in every database. Each carries the version of its layout and a checksum
 * over all of its columns; nothing is handed out before both were checked (5.11).
 *
 * Names in rows (threads, namespaces, checkpoint ids, channels, tasks, labels) are keys, see `encodeKey`.
 */
import { crc32 } from "node:zlib";
import { corruptRecord, unknownVersion } from "./store-error.ts";

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

/** A row as it is made, before it is sealed: version and checksum are whatever they are. */
export type Unsealed<R extends Row> = Omit<R, "v" | "sum"> & Partial<Row>;

export interface Table<R extends Row> {
  readonly name: string;
  /** Of the row's layout and of what it means. A store refuses rows of a newer one. */
  readonly version: number;
  /** What the checksum covers, in this order; the bulk column comes last. A function, for each step seals three rows. */
  values(row: R): readonly (string | number | null | undefined)[];
  bulk?(row: R): string | null;
  /** How errors call a row. */
  describe(row: R): string;
}

/** Version 2 has the same columns: it keeps programs away that know only schema version 1, where all writing begins here. */
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

/** Completes a row, in place, with version and checksum. Rows of every step come with places for both, which is quicker. */
export function seal<R extends Row>(table: Table<R>, row: Unsealed<R>): R {
  const sealed = row as unknown as R & { v: number; sum: number };
  sealed.v = table.version;
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

/** For migrations: a row whose columns stay as they are gets the next record version. A damaged row stays one. */
export function withNextVersion<R extends Row>(table: Table<R>, row: R): R {
  const isWhole = checksum(table, row) === row.sum;
  const next = { ...row, v: row.v + 1 };
  return isWhole ? { ...next, sum: checksum(table, next) } : next;
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
  for (const value of table.values(row)) text += value === null ? "\n\0" : `\n${value}`;
  const bulk = table.bulk?.(row);
  return crc32(typeof bulk === "string" ? text + bulk : text);
}
