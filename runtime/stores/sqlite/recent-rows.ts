import type { LastCell } from "../contract/cells.ts";
import type { CheckpointRow, ThreadRow } from "../contract/rows.ts";
import type { StagedRows } from "./staging-table.ts";

/** Rows of one kind in one generation of the cache: enough for several hundred concurrent runs. */
const MAX_ROWS = 1000;

/**
 * Cache of the newest rows that this connection has written: threads, heads, and the last cell of each channel. With it a
 * save reads nothing before it writes, and steps can be staged. Measured for a save with two changed channels: 1.5 pages of
 * the write-ahead log in place of 3.8 without the cache.
 *
 * Invariant: a cached row equals the stored one. The connection compares `data_version` after it has taken the write lock,
 * drops the cache when another connection has written, and drops it after a rollback.
 */
export class RecentRows {
  /** `ord` of the newest checkpoint of the whole file. */
  lastOrd: number | undefined;
  /** The staged rows; undefined while they are unknown. Each channel with a staged cell has its last cell in this cache. */
  staging: StagedRows | undefined;
  readonly #threads = new Generations<ThreadRow>();
  readonly #heads = new Generations<CheckpointRow>();
  readonly #cells = new Generations<LastCell>();

  thread(name: string): ThreadRow | undefined {
    return this.#threads.get(name);
  }

  head(thread: number, namespace: string): CheckpointRow | undefined {
    return this.#heads.get(`${thread}\n${namespace}`);
  }

  lastCell(chain: number, channel: string): LastCell | undefined {
    return this.#cells.get(`${chain}\n${channel}`);
  }

  rememberThread(row: ThreadRow): void {
    this.#threads.set(row.name, row, ({ last }) => this.#isStaged(last));
  }

  forgetThread(name: string): void {
    this.#threads.delete(name);
  }

  rememberHead(row: CheckpointRow): void {
    this.#heads.set(`${row.thread}\n${row.namespace}`, row, ({ ord }) => this.#isStaged(ord));
    this.lastOrd = row.ord;
  }

  rememberCell({ chain, channel, ord, kind, version, base, count, slack }: LastCell): void {
    const cell = { chain, channel, ord, kind, version, base, count, slack };
    this.#cells.set(`${chain}\n${channel}`, cell, (known) => this.#isStaged(known.ord));
  }

  forget(): void {
    this.lastOrd = undefined;
    this.staging = undefined;
    this.#threads.clear();
    this.#heads.clear();
    this.#cells.clear();
  }

  /** Rows of staged steps must stay: the tables do not have them, or have older ones. */
  #isStaged(ord: number): boolean {
    const { staging } = this;
    return staging !== undefined && staging.rows > 0 && ord >= staging.firstOrd;
  }
}

/** A cache in two generations: when the young one is full, the old one is dropped. */
class Generations<T> {
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** @param mustStay keeps an entry when its generation is dropped */
  set(key: string, value: T, mustStay: (value: T) => boolean): void {
    if (this.#young.size >= MAX_ROWS && !this.#young.has(key)) {
      const dropped = this.#old;
      this.#old = this.#young;
      this.#young = new Map();
      for (const [known, row] of dropped) if (!this.#old.has(known) && mustStay(row)) this.#young.set(known, row);
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
