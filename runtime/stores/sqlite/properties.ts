import { StoreError } from "../../interface/errors.ts";
import { isBuiltin, loadSqlite } from "./driver.ts";
import { openDatabase, walIsSafe } from "./open-database.ts";

/** The SQLite that stores use on this system. Fields are `null` if there is none. */
export interface SqliteProperties {
  readonly driver: "node:sqlite" | "@photostructure/sqlite" | null;
  readonly version: string | null;
  /** The journal of a new store: a write-ahead log, or a rollback journal where the version of SQLite has a bug in its log. */
  readonly journal: "wal" | "rollback" | null;
  /** `full` is read back from an open database. */
  readonly synchronous: "full" | null;
  readonly problem: string | null;
}

export function sqliteProperties(): SqliteProperties {
  try {
    loadSqlite();
    // Opening a database checks that it keeps `synchronous = FULL`.
    const database = openDatabase(":memory:", { path: ":memory:" });
    try {
      const { version } = database.prepare("SELECT sqlite_version() AS version").get() as { version: string };
      return {
        driver: isBuiltin() ? "node:sqlite" : "@photostructure/sqlite",
        version,
        journal: walIsSafe(database) ? "wal" : "rollback",
        synchronous: "full",
        problem: null,
      };
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { driver: null, version: null, journal: null, synchronous: null, problem: error.message };
  }
}
