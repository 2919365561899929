import type { LastCell } from "../contract/cells.ts";
import type { CheckpointRow, ThreadRow } from "../contract/rows.ts";
import type { Tail } from "./staging-table.ts";

/** So many that a run with many channels fits, so few that they cost nothing. */
const MOST_ROWS = 2000;

/**
 * Rows as this connection wrote them last: a step then needs to read nothing before it writes. They hold as long
 * as nobody else has written to the file, which the connection checks under the lock of each transaction.
 */
export class RecentRows {
  /** Newest checkpoint of the whole file. */
  lastOrd: number | undefined;
  /** While it is known: then a channel whose newest cell stands there has it here too. */
  tail: Tail | undefined;
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
    if (this.#threads.size + this.#heads.size + this.#cells.size > MOST_ROWS) this.forget();
    this.#heads.set(`${row.thread}\n${row.namespace}`, row);
    this.lastOrd = row.ord;
  }

  rememberCell({ chain, channel, ord, kind, version, base, count, slack }: LastCell): void {
    this.#cells.set(`${chain}\n${channel}`, { chain, channel, ord, kind, version, base, count, slack });
  }

  forget(): void {
    this.lastOrd = undefined;
    this.tail = undefined;
    this.#threads.clear();
    this.#heads.clear();
    this.#cells.clear();
  }
}
