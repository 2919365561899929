import { statSync } from "node:fs";
import { resolve } from "node:path";
import { RunError, StoreError } from "../../interface/errors.ts";
import type { LostOwners } from "../contract/lost-owners.ts";
import { storeIsClosed } from "../contract/store-error.ts";
import { closesStatements, type SqliteDatabase, type SqliteStatement, type SqliteValue } from "./driver.ts";
import { fileHasMoved, storeFailure } from "./failure.ts";
import { checkVersion, countsLog, openDatabase } from "./open-database.ts";
import { KnownHeads } from "../contract/known-heads.ts";
import { RecentRows } from "./recent-rows.ts";
import { flushStaging, hasStagedRows } from "./staging-table.ts";
import { WriteBack } from "./write-back.ts";

export interface ConnectionOptions {
  /** The file, which is created with its directories when it does not exist; or `:memory:`. */
  readonly path: string;
  /** Maximum time a call waits for another process's transaction, in milliseconds. Default 5,000. */
  readonly busyTimeout?: number;
  /**
   * `auto` (default): a write-ahead log with SQLite 3.51.3 or newer (earlier versions may corrupt it), otherwise a rollback
   * journal. The other values force one of them.
   */
  readonly journal?: "auto" | "wal" | "rollback";
}

/** Staged rows that a group flushes before its calls. */
const FLUSHED_FIRST = 64;

const JOURNALS: ReadonlySet<string> = new Set(["auto", "wal", "rollback"]);

/** An open database, checked and migrated. */
export class Connection {
  /** The path as error messages show it. */
  readonly path: string;
  readonly #database: SqliteDatabase;
  /** The open file. `undefined` for a database in memory. */
  readonly #file: { readonly path: string; readonly id: string } | undefined;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #log: WriteBack;
  readonly recent = new RecentRows();
  readonly heads = new KnownHeads();
  /** Owners as keys, see `encodeKey`. */
  readonly lost: LostOwners = new Set();
  /** Threads whose checkpoints have been counted. */
  readonly counted = new Set<number>();
  /** Checkpoints whose superseded writes are still to be deleted: keys of thread and checkpoint. */
  readonly clearing = new Set<string>();
  #version: number | undefined;
  #closed = false;
  /** Whether a group is open, in which each transaction is a savepoint. */
  #inGroup = false;

  constructor(options: ConnectionOptions) {
    const { path } = options;
    if (typeof path !== "string" || path === "" || path.includes("\0")) {
      throw new StoreError("NG_STORE_FAILED", "the path of an SQLite store must be the name of a file, or `:memory:`");
    }
    const { busyTimeout = 0, journal = "auto" } = options;
    if (!(busyTimeout >= 0)) {
      throw new RunError("NG_BAD_INPUT", `\`busyTimeout\` is a number of milliseconds, at least 0, not ${busyTimeout}`);
    }
    if (!JOURNALS.has(journal)) {
      throw new RunError("NG_BAD_INPUT", "`journal` of an SQLite store is `auto`, `wal` or `rollback`");
    }
    this.path = path;
    // SQLite never interprets an absolute path as a URI.
    const file = path === ":memory:" ? path : resolve(path);
    this.#database = openDatabase(file, options);
    if (path !== ":memory:") this.#file = { path: file, id: fileAt(file) };
    this.#log = new WriteBack(this, countsLog(this.#database));
  }

  /**
   * A write transaction that bypasses the row cache and flushes the staging table first. It takes the write lock when it
   * begins, so its reads stay valid until the commit.
   */
  write<T>(body: () => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.recent.forget();
      this.heads.forget();
      this.#checkVersion();
      flushStaging(this);
      return body();
    });
  }

  /**
   * A write transaction that keeps the row cache (`recent`) and may read from it. The body must update the cache with
   * every row that it writes. Afterwards each staged row is in the cache too.
   *
   * @param body `flushedOthers`: another process had left steps in the staging table, and they have just been flushed
   */
  writeCached<T>(body: (flushedOthers: boolean) => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.#compareRecent();
      return body(this.recent.staging === undefined && flushStaging(this));
    });
  }

  /**
   * A read transaction: all reads see one state of the database. Readers use the checkpoint tables alone, so staged steps
   * are flushed first, which needs the write lock.
   */
  read<T>(body: () => T): T {
    if (this.#inGroup) return this.writeCached(() => (flushStaging(this), body()));
    const result = this.#transaction("BEGIN", () => {
      this.#checkVersion();
      return hasStagedRows(this) ? undefined : { value: body() };
    });
    if (result !== undefined) return result.value;
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.#compareRecent();
      flushStaging(this);
      return body();
    });
  }

  /**
   * One transaction for several calls of the methods above. Each of them becomes a savepoint, which a failure rolls back
   * alone. When this method throws, nothing of the group was committed.
   */
  group(body: () => void): void {
    this.#transaction("BEGIN IMMEDIATE", () => {
      this.#compareRecent();
      // Of a group that may fill the staging table, the flush is the first work, so that it counts as its time.
      if ((this.recent.staging?.rows ?? 0) >= FLUSHED_FIRST) flushStaging(this);
      this.#inGroup = true;
      try {
        body();
      } finally {
        this.#inGroup = false;
      }
    });
  }

  /** Whether a thread is known to have no checkpoint. Only within a group, whose transaction keeps the cache valid. */
  hasNoCheckpoints(threadKey: string): boolean {
    return this.#inGroup && this.recent.thread(threadKey)?.last === 0;
  }

  run(sql: string, ...parameters: readonly SqliteValue[]): number {
    return Number(this.#statement(sql).run(...parameters).changes);
  }

  /** The caller states the row type; `verifyRow` checks the rows of checksummed tables. */
  get<T>(sql: string, ...parameters: readonly SqliteValue[]): T | undefined {
    return this.#statement(sql).get(...parameters) as T | undefined;
  }

  all<T>(sql: string, ...parameters: readonly SqliteValue[]): T[] {
    return this.#statement(sql).all(...parameters) as T[];
  }

  close(): void {
    if (this.#closed) return;
    // Mutation point: close-database
    this.#closed = true;
    try {
      // The driver for older versions of Node keeps the file open until its statements are collected. So the log is
      // written back here, and removed when no other connection has the file open (otherwise SQLite refuses).
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      if (!closesStatements() && this.#isLogged()) {
        this.#database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      }
    } catch {
      // Everything is already durable in the log.
    }
    this.#statements.clear();
    this.#database.close();
  }

  #isLogged(): boolean {
    return this.get<{ journal_mode: string }>("PRAGMA journal_mode")?.journal_mode === "wal";
  }

  #transaction<T>(begin: string, body: () => T): T {
    if (this.#closed) throw storeIsClosed();
    if (this.#inGroup) return this.#savepoint(body);
    let result: T;
    try {
      // Mutation point: begin-transaction
      this.run(begin);
      result = body();
      if (begin !== "BEGIN") this.#checkFile();
      // Mutation point: commit-transaction
      this.run("COMMIT");
    } catch (error) {
      this.recent.forget();
      this.heads.forget();
      try {
        this.#database.exec("ROLLBACK");
      } catch {
        // SQLite has already rolled back after some failures.
      }
      throw storeFailure(error, this.path);
    }
    if (begin !== "BEGIN") this.#log.afterCommit();
    return result;
  }

  /** A transaction within a group. */
  #savepoint<T>(body: () => T): T {
    this.run("SAVEPOINT call");
    try {
      const result = body();
      this.run("RELEASE call");
      return result;
    } catch (error) {
      this.recent.forget();
      this.heads.forget();
      try {
        this.run("ROLLBACK TO call");
        this.run("RELEASE call");
      } catch {
        // SQLite has rolled back the whole group, so its commit fails.
      }
      throw storeFailure(error, this.path);
    }
  }

  /** Drops the row cache when another connection has written since the last transaction (`data_version` has changed). */
  #compareRecent(): void {
    const version = this.get<{ data_version: number }>("PRAGMA data_version")?.data_version;
    if (version === this.#version) return;
    this.recent.forget();
    this.#checkVersion();
    this.#version = version;
  }

  /** With a write-ahead log, SQLite would write to a deleted file without an error, and the run would be lost with the process. */
  #checkFile(): void {
    if (this.#file !== undefined && fileAt(this.#file.path) !== this.#file.id) throw fileHasMoved(this.path);
  }

  /** Detects a migration by another program while this one has the file open. */
  #checkVersion(): void {
    checkVersion(this.get<{ user_version: unknown }>("PRAGMA user_version")?.user_version, this.path);
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** Identifies the file at a path: another one has another number, also if it has the same content. */
function fileAt(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev} ${found.ino}`;
}
