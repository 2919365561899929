/**
 * Writes the write-ahead log back to the database in a turn of the event loop of its own. SQLite does it within a commit when the log
 * has 1,000 pages: then a transaction, its commit and the write-back keep the event loop together.
 */
import { systemClock } from "../../interface/clock.ts";
import { atNextTurn } from "../../run/next-turn.ts";
import { turnOf } from "../../run/take-turns.ts";
import type { Connection } from "./connection.ts";

/** Pages of the log that are written back together: fewer than SQLite waits for, as transactions differ in length. */
const PAGES = 500;

/** The pages of a log; -1 without one. */
interface LogLength {
  readonly log: number;
  readonly checkpointed: number;
}

export class WriteBack {
  readonly #connection: Connection;
  #isActive: boolean;
  #waits = false;

  /** @param canCount SQLite reports the length of the log without writing it back, which takes about 2 µs */
  constructor(connection: Connection, canCount: boolean) {
    this.#connection = connection;
    this.#isActive = canCount;
  }

  /** To be called after each write transaction. */
  afterCommit(): void {
    if (!this.#isActive || this.#waits) return;
    const length = this.#checkpoint("NOOP");
    if (length === undefined) return;
    if (length.log < 0) this.#isActive = false;
    if (length.log - length.checkpointed < PAGES) return;
    this.#waits = true;
    atNextTurn(turnOf(systemClock), systemClock, () => {
      this.#waits = false;
      this.#checkpoint("PASSIVE");
    });
  }

  /** A failure leaves the pages in the log until the next write-back, or until the connection is closed. */
  #checkpoint(mode: "NOOP" | "PASSIVE"): LogLength | undefined {
    try {
      return this.#connection.get<LogLength>(`PRAGMA wal_checkpoint(${mode})`);
    } catch {
      return undefined;
    }
  }
}
