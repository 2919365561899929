import { resolve } from "node:path";
import { StoreError } from "../../interface/errors.ts";
import type { LostOwners } from "../contract/lost-owners.ts";
import { storeIsClosed } from "../contract/store-error.ts";
import { closesStatements, type SqliteDatabase, type SqliteStatement, type SqliteValue } from "./driver.ts";
import { storeFailure } from "./failure.ts";
import { checkVersion, openDatabase } from "./open-database.ts";
import { KnownHeads } from "../contract/known-heads.ts";
import { RecentRows } from "./recent-rows.ts";
import { emptyTail, hasTail } from "./staging-table.ts";

export interface ConnectionOptions {
  /** A file, which is made when it is not there, its directories too; or `:memory:`. */
  readonly path: string;
  /** How long a call waits for another process's transaction, in milliseconds. Default 5,000. */
  readonly busyTimeout?: number;
  /**
   * `auto` (default): a write-ahead log where SQLite is 3.51.3 or newer, which earlier ones may corrupt, else a rollback
   * journal. The other values force one.
   */
  readonly journal?: "auto" | "wal" | "rollback";
}

/** An open database, checked and migrated. */
export class Connection {
  /** As errors show it. */
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly recent = new RecentRows();
  readonly heads = new KnownHeads();
  /** Keys. */
  readonly lost: LostOwners = new Set();
  #version: number | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    const { path } = options;
    if (typeof path !== "string" || path === "" || path.includes("\0")) {
      throw new StoreError("NG_STORE_FAILED", "the path of an SQLite store must be the name of a file, or `:memory:`");
    }
    this.path = path;
    // An absolute path is never taken for a URI.
    this.#database = openDatabase(path === ":memory:" ? path : resolve(path), options);
  }

  /** Changes that happen together or not at all. Locked at once, so that what it reads stays true. */
  write<T>(body: () => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.recent.forget();
      this.heads.forget();
      this.#checkVersion();
      emptyTail(this);
      return body();
    });
  }

  /**
   * The same for what keeps `recent` up to date, and may rely on it. The tail holds nothing that is not in `recent`; the body is
   * told whether others have left steps there.
   */
  writeOn<T>(body: (foundSteps: boolean) => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.#compareRecent();
      return body(this.recent.tail === undefined && emptyTail(this));
    });
  }

  /** Reads that see one moment of the database. */
  read<T>(body: () => T): T {
    const result = this.#transaction("BEGIN", () => {
      this.#checkVersion();
      return hasTail(this) ? undefined : { value: body() };
    });
    if (result !== undefined) return result.value;
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.#compareRecent();
      emptyTail(this);
      return body();
    });
  }

  run(sql: string, ...parameters: readonly SqliteValue[]): number {
    return Number(this.#statement(sql).run(...parameters).changes);
  }

  /** The caller knows what the statement selects; `unseal` checks what comes. */
  get<T>(sql: string, ...parameters: readonly SqliteValue[]): T | undefined {
    return this.#statement(sql).get(...parameters) as T | undefined;
  }

  all<T>(sql: string, ...parameters: readonly SqliteValue[]): T[] {
    return this.#statement(sql).all(...parameters) as T[];
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      // The driver for older Nodes keeps the file open until its statements are collected: the log goes back now, and where
      // nobody else has the file open it goes altogether. Otherwise SQLite refuses, and it stays for them.
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      if (!closesStatements() && this.#isLogged()) {
        this.#database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      }
    } catch {
      // Everything is durable in the log already.
    }
    this.#statements.clear();
    this.#database.close();
  }

  #isLogged(): boolean {
    return this.get<{ journal_mode: string }>("PRAGMA journal_mode")?.journal_mode === "wal";
  }

  #transaction<T>(begin: string, body: () => T): T {
    if (this.#closed) throw storeIsClosed();
    try {
      this.run(begin);
      const result = body();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.recent.forget();
      this.heads.forget();
      try {
        this.#database.exec("ROLLBACK");
      } catch {
        // Some failures have rolled back already: then there is no transaction to end.
      }
      throw storeFailure(error, this.path);
    }
  }

  /** Whether other connections have written since the last look: then nothing is known of the file. */
  #compareRecent(): void {
    const version = this.get<{ data_version: number }>("PRAGMA data_version")?.data_version;
    if (version === this.#version) return;
    this.recent.forget();
    this.#checkVersion();
    this.#version = version;
  }

  /** Another program may have migrated the file while this one had it open. */
  #checkVersion(): void {
    checkVersion(this.get<{ user_version: unknown }>("PRAGMA user_version")?.user_version, this.path);
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}
