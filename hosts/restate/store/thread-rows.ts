/** Reads and writes the rows of a thread. */
import type { CheckpointId } from "../../../runtime/interface/checkpoint.ts";
import { corruptRecord, quote } from "../../../runtime/stores/contract/store-error.ts";
import type { KeyValues } from "./key-values.ts";
import {
  decodeRow,
  decodeThread,
  encodeRow,
  encodeThread,
  keyOf,
  NEW_THREAD,
  type CheckpointRow,
  type Place,
  type SavedRow,
  type ThreadRow,
} from "./rows.ts";

/** `end`: where the next page begins. */
export interface SavedPage {
  readonly found: readonly { readonly number: number; readonly row: SavedRow }[];
  readonly end: number;
  readonly isLast: boolean;
}

export class ThreadRows {
  readonly #state: KeyValues;

  constructor(state: KeyValues) {
    this.#state = state;
  }

  async thread(): Promise<ThreadRow> {
    const text = await this.#state.get(keyOf.thread);
    return text === undefined ? NEW_THREAD : decodeThread(text);
  }

  writeThread(row: ThreadRow): void {
    this.#state.set(keyOf.thread, encodeThread(row));
  }

  async checkpoint(place: Place): Promise<CheckpointRow> {
    const row = await this.checkpointIfAny(place);
    if (row === undefined) throw this.missing(place);
    return row;
  }

  /** `undefined` for a checkpoint that was pruned. */
  checkpointIfAny(place: Place): Promise<CheckpointRow | undefined> {
    return this.read<CheckpointRow>(keyOf.checkpoint(place));
  }

  missing(place: Place): Error {
    return corruptRecord(`row ${quote(keyOf.checkpoint(place))} of the thread in Restate`, "it is missing");
  }

  /** The rows of a chain from one position to another. */
  rows(chain: number, first: number, last: number): Promise<CheckpointRow[]> {
    return Promise.all(range(first, last + 1).map((position) => this.checkpoint([chain, position])));
  }

  /** What was saved from a number on, in its order. Reads only rows that are there. */
  async saved({ first, next }: ThreadRow, from: number, limit: number): Promise<SavedPage> {
    const earlier = (await this.kept()).filter((number) => number >= from).slice(0, limit);
    const start = Math.max(from, first);
    const numbers = [...earlier, ...range(start, Math.min(next, start + limit - earlier.length))];
    const rows = await Promise.all(numbers.map((number) => this.read<SavedRow>(keyOf.saved(number))));
    const found = numbers.flatMap((number, index) => {
      const row = rows[index];
      return row === undefined ? [] : [{ number, row }];
    });
    const end = numbers.length < limit ? next : numbers.at(-1)! + 1;
    return { found, end, isLast: end === next };
  }

  async kept(): Promise<readonly number[]> {
    return (await this.read<readonly number[]>(keyOf.kept)) ?? [];
  }

  async label(id: CheckpointId): Promise<string | null> {
    return (await this.read<string>(keyOf.labelOf(id))) ?? null;
  }

  clearBatches(checkpoint: CheckpointId, batches: number): void {
    if (batches === 0) return;
    this.clear(keyOf.batches(checkpoint));
    for (const index of range(0, batches)) this.clear(keyOf.batch(checkpoint, index));
  }

  async read<T>(key: string): Promise<T | undefined> {
    const text = await this.#state.get(key);
    return text === undefined ? undefined : decodeRow<T>(key, text);
  }

  write(key: string, content: object | string | number): void {
    this.#state.set(key, encodeRow(key, content));
  }

  clear(key: string): void {
    this.#state.clear(key);
  }

  keys(): Promise<readonly string[]> {
    return this.#state.keys();
  }
}

export function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
}
