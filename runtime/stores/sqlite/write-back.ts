/**
 * Writes the write-ahead log back to the database in a turn of the event loop of its own. SQLite does it within a commit when the log
 * has 1,000 pages: then the calls of a group, their commit and the write-back keep the event loop together.
 */
import { systemClock } from "../../interface/clock.ts";
import { atNextTurn } from "../../run/next-turn.ts";
import { turnOf } from "../../run/take-turns.ts";
import type { Connection } from "./connection.ts";

/** Pages of the log that are written back together: fewer than SQLite waits for, as transactions differ in length. */
const PAGES = 500;

/** Transactions before the first write-back, which counts their pages; and the fewest between two. */
const FEWEST = 8;

/** The length of the log is known only after it was written back. Until then it is estimated by the transactions. */
export class WriteBack {
  readonly #connection: Connection;
  #transactions = 0;
  #limit = FEWEST;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** To be called after each transaction of a group. */
  count(): void {
    if (++this.#transactions < this.#limit) return;
    const transactions = this.#transactions;
    this.#transactions = 0;
    atNextTurn(turnOf(systemClock), systemClock, () => {
      const pages = this.#write();
      if (pages === undefined) return;
      // A commit writes a long log back, and the log begins again: then it is longer than it looks, so the limit grows slowly.
      const wanted = Math.min((transactions * PAGES) / Math.max(pages, 1), this.#limit * 1.25);
      this.#limit = pages >= 1.5 * PAGES ? FEWEST : Math.max(FEWEST, Math.round(wanted));
    });
  }

  /** Returns the number of pages in the log. */
  #write(): number | undefined {
    try {
      return this.#connection.get<{ log: number }>("PRAGMA wal_checkpoint(PASSIVE)")?.log;
    } catch {
      // The log keeps its pages until the next write-back, or until the connection is closed.
      return undefined;
    }
  }
}
