import { closeSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StoreError } from "../../errors.ts";
import type { LostOwners } from "../lost-owners.ts";
import { storeIsClosed, unknownVersion } from "../store-error.ts";
import { loadSqlite, type SqliteDatabase, type SqliteStatement, type SqliteValue } from "./driver.ts";
import { isBusy, storeFailure } from "./failure.ts";
import { RecentRows } from "./recent-rows.ts";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

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
    this.#database = open(path === ":memory:" ? path : resolve(path), options);
  }

  /** Changes that happen together or not at all. Locked at once, so that what it reads stays true. */
  write<T>(body: () => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      this.recent.forget();
      return body();
    });
  }

  /** The same for what keeps `recent` up to date, and may rely on it. */
  writeOn<T>(body: () => T): T {
    return this.#transaction("BEGIN IMMEDIATE", () => {
      // Differs when another connection has written since.
      const version = this.get<{ data_version: number }>("PRAGMA data_version")?.data_version;
      if (version !== this.#version) this.recent.forget();
      this.#version = version;
      return body();
    });
  }

  /** Reads that see one moment of the database. */
  read<T>(body: () => T): T {
    return this.#transaction("BEGIN", body);
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
      // The driver for older Nodes keeps the file open until its statements are collected: the log goes back now.
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // Everything is durable in the log already.
    }
    this.#statements.clear();
    this.#database.close();
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
      try {
        this.#database.exec("ROLLBACK");
      } catch {
        // Some failures have rolled back already: then there is no transaction to end.
      }
      throw storeFailure(error, this.path);
    }
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

function open(path: string, options: ConnectionOptions): SqliteDatabase {
  const { DatabaseSync } = loadSqlite();
  let database: SqliteDatabase | undefined;
  try {
    if (path !== ":memory:") prepareFile(path);
    database = new DatabaseSync(path);
    database.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.trunc(options.busyTimeout ?? 5000))}`);
    // Nothing is changed before it is known whose file this is.
    checkOwner(database, path);
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
    chooseJournal(database, path, options.journal ?? "auto");
    database.exec("PRAGMA synchronous = FULL");
    if (pragma(database, "synchronous") !== 2) {
      throw new StoreError(
        "NG_STORE_FAILED",
        `database ${path} does not keep \`synchronous = FULL\`: it cannot promise durability`,
      );
    }
    migrate(database, path);
    return database;
  } catch (error) {
    try {
      database?.close();
    } catch {
      // The first failure is the one to tell.
    }
    throw storeFailure(error, path);
  }
}

/** SQLite takes a very short file for an empty one, and would overwrite it. */
function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) throw new StoreError("NG_STORE_FAILED", `${path} is not a file: use another path`);
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(16);
    const length = readSync(file, start, 0, 16, 0);
    if (length > 0 && start.toString("latin1") !== "SQLite format 3\0") {
      throw new StoreError(
        "NG_CORRUPT_RECORD",
        `${path} is not an SQLite database, or its beginning is damaged: use another path; the file was left as it is`,
      );
    }
  } finally {
    closeSync(file);
  }
}

function checkOwner(database: SqliteDatabase, path: string): void {
  const owner = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
  if (owner === 0 && version === 0 && tables === 0) return;
  if (owner !== APPLICATION_ID) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `${path} is the database of another application: use another path; the file was left as it is`,
    );
  }
  if (typeof version === "number" && version > SCHEMA_VERSION) {
    throw unknownVersion(`database ${path}`, "schema version", version, SCHEMA_VERSION);
  }
  if (typeof version !== "number" || version < 1 || tables === 0) {
    throw new StoreError(
      "NG_CORRUPT_RECORD",
      `database ${path} is damaged: its schema version reads as ${String(version)}; restore it from a backup`,
    );
  }
}

function chooseJournal(database: SqliteDatabase, path: string, wanted: "auto" | "wal" | "rollback"): void {
  const wal = wanted === "wal" || (wanted === "auto" && walIsSafe(database));
  // TRUNCATE, not DELETE: with synchronous FULL only it makes the end of a transaction durable before it returns.
  const mode = trySwitch(database, wal ? "WAL" : "TRUNCATE");
  if (mode === "memory" || mode === (wal ? "wal" : "truncate")) return;
  if (wal && mode !== undefined) {
    // Another process has it open, or the file system has no shared memory: the older journal is as durable.
    if (trySwitch(database, "TRUNCATE") === "truncate") return;
  }
  throw new StoreError(
    "NG_STORE_FAILED",
    `database ${path} is kept in journal mode ${String(mode)} by another process with another version of SQLite: ` +
      "end that process, or run both with the same version of Node",
  );
}

/** Before 3.51.3, two connections could corrupt a write-ahead log while it is restarted. */
function walIsSafe(database: SqliteDatabase): boolean {
  const { version } = database.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch >= 3_051_003;
}

function trySwitch(database: SqliteDatabase, mode: "WAL" | "TRUNCATE"): unknown {
  try {
    return pragma(database, `journal_mode = ${mode}`);
  } catch (error) {
    if (isBusy(error)) return pragma(database, "journal_mode");
    throw error;
  }
}

function migrate(database: SqliteDatabase, path: string): void {
  if (pragma(database, "user_version") === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have been faster.
  checkOwner(database, path);
  const version = Number(pragma(database, "user_version"));
  for (const step of MIGRATIONS.slice(version)) database.exec(step);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

function pragma(database: SqliteDatabase, name: string): unknown {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, unknown>> | undefined;
  return row === undefined ? undefined : Object.values(row)[0];
}
