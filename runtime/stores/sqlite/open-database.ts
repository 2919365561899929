import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../../interface/errors.ts";
import { unknownVersion } from "../contract/store-error.ts";
import type { ConnectionOptions } from "./connection.ts";
import { loadSqlite, type SqliteDatabase } from "./driver.ts";
import { isBusy, storeFailure } from "./failure.ts";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

/** Minimum time to wait for another process's migration, in milliseconds. */
const MIGRATION_MS = 60_000;

/** Opens a file of this application, chooses its journal mode, and migrates it to the newest schema. */
export function openDatabase(path: string, options: ConnectionOptions): SqliteDatabase {
  const { DatabaseSync } = loadSqlite();
  let database: SqliteDatabase | undefined;
  let version = SCHEMA_VERSION;
  try {
    if (path !== ":memory:") prepareFile(path);
    database = new DatabaseSync(path);
    const timeout = Math.max(0, Math.trunc(options.busyTimeout ?? 5000));
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
    // Checks the owner first: the file of another application is not changed.
    database.exec("BEGIN");
    version = checkOwner(database, path);
    database.exec("COMMIT");
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
    chooseJournal(database, path, options.journal ?? "auto");
    database.exec("PRAGMA synchronous = FULL");
    if (pragma(database, "synchronous") !== 2) {
      throw new StoreError(
        "NG_STORE_FAILED",
        `database ${path} does not keep \`synchronous = FULL\`: it cannot promise durability`,
      );
    }
    // A migration in another process takes longer than its steps.
    if (version !== SCHEMA_VERSION) database.exec(`PRAGMA busy_timeout = ${Math.max(timeout, MIGRATION_MS)}`);
    migrate(database, path);
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
    return database;
  } catch (error) {
    // Ends an open transaction. Some drivers keep the file open until its statements are collected, and the lock with
    // it.
    for (const end of [() => database?.exec("ROLLBACK"), () => database?.close()]) {
      try {
        end();
      } catch {
        // The first failure is the one to report.
      }
    }
    const failure = storeFailure(error, path);
    if (version === 0 || version === SCHEMA_VERSION || !(failure instanceof StoreError)) throw failure;
    const message =
      `database ${path} has schema version ${version} and could not be brought to ${SCHEMA_VERSION}, which this version of ngraph ` +
      `needs; it was not changed: ${failure.message}`;
    throw new StoreError(failure.code, message, { cause: error });
  }
}

function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  checkFile(path);
}

/** Refuses files that are not databases. SQLite treats a very short file as an empty database and would overwrite it. */
export function checkFile(path: string): void {
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
  if (Array.from({ length: LOG_CHECKS }, () => lacksLog(path)).every(Boolean)) {
    throw new StoreError(
      "NG_CORRUPT_RECORD",
      `database ${path} has lost its write-ahead log, and its newest changes may be lost with it: restore ${path}-wal, ` +
        `or delete ${path}-shm to continue without these changes`,
    );
  }
}

/** Another process may open or close the database between two looks at its files. */
const LOG_CHECKS = 3;

/**
 * Whether the index of the write-ahead log exists without the log. SQLite creates the log before its index, and deletes it
 * after its index, so another program has deleted it.
 */
function lacksLog(path: string): boolean {
  return existsSync(`${path}-shm`) && !existsSync(`${path}-wal`);
}

/** The schema version of the file; 0 when it is empty. */
export function checkOwner(database: SqliteDatabase, path: string): number {
  const owner = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
  if (owner === 0 && version === 0 && tables === 0) return 0;
  if (owner !== APPLICATION_ID) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `${path} is the database of another application: use another path; the file was left as it is`,
    );
  }
  return checkVersion(tables === 0 ? 0 : version, path, 1);
}

/**
 * @param version as read from the file
 * @throws StoreError NG_UNKNOWN_VERSION for a newer version, NG_CORRUPT_RECORD for a value that is not a version
 */
export function checkVersion(version: unknown, path: string, oldest = SCHEMA_VERSION): number {
  if (version === SCHEMA_VERSION) return version;
  if (typeof version === "number" && version > SCHEMA_VERSION) {
    throw unknownVersion(`database ${path}`, "schema version", version, SCHEMA_VERSION);
  }
  if (typeof version === "number" && version >= oldest) return version;
  throw new StoreError(
    "NG_CORRUPT_RECORD",
    `database ${path} is damaged: its schema version reads as ${String(version)}; restore it from a backup`,
  );
}

function chooseJournal(database: SqliteDatabase, path: string, wanted: "auto" | "wal" | "rollback"): void {
  const wal = wanted === "wal" || (wanted === "auto" && walIsSafe(database));
  // TRUNCATE, not DELETE: with `synchronous = FULL`, DELETE may return before the end of a transaction is durable.
  const mode = trySwitch(database, wal ? "WAL" : "TRUNCATE");
  if (mode === "memory" || mode === (wal ? "wal" : "truncate")) return;
  if (wal && mode !== undefined) {
    // Another process has the file open, or the file system has no shared memory. The rollback journal is as durable.
    if (trySwitch(database, "TRUNCATE") === "truncate") return;
  }
  throw new StoreError(
    "NG_STORE_FAILED",
    `database ${path} is kept in journal mode ${String(mode)} by another process with another version of SQLite: ` +
      "end that process, or run both with the same version of Node",
  );
}

/** Before SQLite 3.51.3, two connections that reset the write-ahead log at the same time could corrupt it. */
export function walIsSafe(database: SqliteDatabase): boolean {
  return versionOf(database) >= 3_051_003;
}

/** Whether SQLite knows `wal_checkpoint(NOOP)`. Older versions take it for `PASSIVE`. */
export function countsLog(database: SqliteDatabase): boolean {
  return versionOf(database) >= 3_051_000;
}

function versionOf(database: SqliteDatabase): number {
  const { version } = database.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 1e6 + minor * 1e3 + patch;
}

function trySwitch(database: SqliteDatabase, mode: "WAL" | "TRUNCATE"): unknown {
  try {
    return pragma(database, `journal_mode = ${mode}`);
  } catch (error) {
    if (isBusy(error)) return pragma(database, "journal_mode");
    throw error;
  }
}

/** All migration steps are one transaction: a process that is killed within it leaves the file unchanged. */
export function migrate(database: SqliteDatabase, path: string): void {
  if (pragma(database, "user_version") === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have migrated the file since the check above.
  const version = checkOwner(database, path);
  for (const step of MIGRATIONS.slice(version)) step(database);
  if (version < SCHEMA_VERSION) {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  }
  database.exec("COMMIT");
}

function pragma(database: SqliteDatabase, name: string): unknown {
  const row = database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, unknown>> | undefined;
  return row === undefined ? undefined : Object.values(row)[0];
}
