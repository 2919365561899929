import type { LastCell } from "../contract/cells.ts";
import type { CheckpointRow, ThreadRow } from "../contract/rows.ts";
import type { StagedRows } from "./staging-table.ts";

/** Cached rows: enough for a run with many channels, and little memory. */
const MAX_ROWS = 2000;

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
  readonly #threads = new Map<string, ThreadRow>();
  readonly #heads = new Map<string, CheckpointRow>();
  readonly #cells = new Map<string, LastCell>();

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
    this.#threads.set(row.name, row);
  }

  rememberHead(row: CheckpointRow): void {
    if (this.#threads.size + this.#heads.size + this.#cells.size > MAX_ROWS) this.forget();
    this.#heads.set(`${row.thread}\n${row.namespace}`, row);
    this.lastOrd = row.ord;
  }

  rememberCell({ chain, channel, ord, kind, version, base, count, slack }: LastCell): void {
    this.#cells.set(`${chain}\n${channel}`, { chain, channel, ord, kind, version, base, count, slack });
  }

  forget(): void {
    this.lastOrd = undefined;
    this.staging = undefined;
    this.#threads.clear();
    this.#heads.clear();
    this.#cells.clear();
  }
}
