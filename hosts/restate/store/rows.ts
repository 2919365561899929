/**
 * The rows of a thread in the state of its virtual object. Each row is text: the version of its layout, a CRC-32 checksum, and
 * JSON. Both are verified before the content is used (5.11).
 *
 * | key | content |
 * |---|---|
 * | `thread` | claim, fencing token, counters |
 * | `h/<namespace>` | head of a namespace |
 * | `c/<chain>/<position>` | checkpoint: header and changes, or all values |
 * | `k/<length>/<namespace>/<channel>` | whether the value of a channel is a list |
 * | `i/<id>` | place of a checkpoint |
 * | `l/<label>`, `n/<id>` | checkpoint of a label, label of a checkpoint |
 * | `wn/<id>`, `w/<number>/<id>` | pending writes of a checkpoint: their number of batches, one batch |
 * | `s`, `s/<id>`, `q/<place>` | inbox: its range of places, place of a signal that the thread has had, signal that waits |
 * | `o/<number>` | what was saved, in its order: the place of a checkpoint, or a label that was moved |
 * | `o` | numbers before the first one of the row `thread` that prunes have kept, ascending |
 *
 * The row `thread` begins with its place in the listing of threads, as a number of fixed length. So the server of Restate sorts it
 * as text.
 */
import { crc32 } from "node:zlib";
import type {
  ChannelChange,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  Signal,
} from "../../../runtime/interface/checkpoint.ts";
import { encodeKey } from "../../../runtime/stores/contract/key.ts";
import { corruptRecord, quote, unknownVersion } from "../../../runtime/stores/contract/store-error.ts";

const VERSION = 1;

export interface ThreadRow {
  readonly epoch: number;
  readonly owner: string | null;
  /** When the claim ends, in milliseconds since 1970. */
  readonly expires: number;
  /** Number of the next chain. Never repeats within the thread, even if the thread was deleted. */
  readonly chains: number;
  readonly checkpoints: number;
  /** The invocation that has written to the thread last. */
  readonly tag: string | null;
  /** The invocation that drives the thread, or the last one that did, and the head that its first attempt has found. */
  readonly begun?: { readonly by: string; readonly head: CheckpointId | null };
  /**
   * All rows `o/…` from the number `first` on are there, up to `next`, the number of the next one. Numbers never repeat, even if the
   * thread was deleted.
   */
  readonly first: number;
  readonly next: number;
  /** How often the thread was deleted. */
  readonly deletions: number;
  /** The place in the listing of threads: rises with each checkpoint. 0: the thread is not listed. */
  readonly position: number;
  /** Number of signals in the inbox. */
  readonly signals: number;
  /** The head, as the listing shows it. */
  readonly listed: ListedHead | null;
}

export type ListedHead = Pick<
  CheckpointHeader,
  "id" | "status" | "step" | "timestamp" | "metadata" | "label" | "graph" | "prepared" | "due" | "ttl"
>;

export const NEW_THREAD: ThreadRow = {
  ...{ epoch: 0, owner: null, expires: 0, chains: 0, checkpoints: 0, tag: null },
  ...{ first: 0, next: 0, deletions: 0, position: 0, signals: 0, listed: null },
};

/** The place of a checkpoint: chains start with all values, positions in a chain are contiguous. */
export type Place = readonly [chain: number, position: number];

export interface HeadRow {
  readonly id: CheckpointId;
  readonly place: Place;
  /** Position of the newest row with all values. */
  readonly full: number;
  /** Length of that row, and of the rows after it, as JSON text. */
  readonly fullWeight: number;
  readonly weight: number;
}

export interface CheckpointRow {
  readonly header: CheckpointHeader;
  /** The checkpoint before it in the same namespace of the thread. */
  readonly parent: Place | null;
  /** Position of the newest row with all values, up to this one. */
  readonly full: number;
  readonly changes: readonly ChannelChange[];
}

/** What was saved: a checkpoint, or a label. */
export type SavedRow = { readonly place: Place } | { readonly id: CheckpointId; readonly label: string };

export interface KindRow {
  readonly chain: number;
  readonly isList: boolean;
}

/** Results, or the removal of results of some tasks. */
export interface WritesRow {
  readonly put?: readonly PendingWrite[];
  readonly clear?: readonly string[];
}

export interface InboxRow {
  readonly first: number;
  readonly next: number;
}

export type SignalRow = Signal;

export const keyOf = {
  thread: "thread",
  head: (namespace: string): string => `h/${encodeKey(namespace)}`,
  checkpoint: ([chain, position]: Place): string => `c/${chain}/${position}`,
  kind: (namespace: string, channel: string): string =>
    `k/${namespace.length}/${encodeKey(namespace)}/${encodeKey(channel)}`,
  id: (id: CheckpointId): string => `i/${encodeKey(id)}`,
  label: (label: string): string => `l/${encodeKey(label)}`,
  labelOf: (id: CheckpointId): string => `n/${encodeKey(id)}`,
  batches: (id: CheckpointId): string => `wn/${encodeKey(id)}`,
  batch: (id: CheckpointId, index: number): string => `w/${index}/${encodeKey(id)}`,
  inbox: "s",
  signal: (id: string): string => `s/${encodeKey(id)}`,
  place: (place: number): string => `q/${place}`,
  kept: "o",
  saved: (number: number): string => `o/${number}`,
} as const;

export function encodeRow(key: string, content: object | string | number): string {
  const json = JSON.stringify(content);
  return `${VERSION}:${checksum(key, json)}:${json}`;
}

/** Digits of the place in the listing. The largest safe integer has 16. */
export const PLACE_DIGITS = 16;

export function encodePlace(position: number): string {
  return String(position).padStart(PLACE_DIGITS, "0");
}

/** The place of a row `thread`, as `encodePlace` writes it. */
export function placeOf(text: string): string {
  return text.slice(0, PLACE_DIGITS);
}

export function encodeThread(row: ThreadRow): string {
  return `${encodePlace(row.position)}:${encodeRow(keyOf.thread, row)}`;
}

export function decodeThread(text: string): ThreadRow {
  return decodeRow<ThreadRow>(keyOf.thread, text.slice(PLACE_DIGITS + 1));
}

/** @throws StoreError NG_UNKNOWN_VERSION, NG_CORRUPT_RECORD */
export function decodeRow<T>(key: string, text: string): T {
  const [, version, sum, json] = /^(\d+):([0-9a-f]+):(.*)$/s.exec(text) ?? [];
  const row = `row ${quote(key)} of the thread in Restate`;
  if (json === undefined) throw corruptRecord(row, "it is not a row of this store");
  if (Number(version) !== VERSION) throw unknownVersion(row, "record version", version, VERSION);
  if (checksum(key, json) !== sum) throw corruptRecord(row, "its checksum does not match");
  return JSON.parse(json) as T;
}

function checksum(key: string, json: string): string {
  return crc32(json, crc32(key)).toString(16);
}
