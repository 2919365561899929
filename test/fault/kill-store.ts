import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";

/**
 * Opens the store of a place: a file with the journal mode as its fragment (default `auto`), or the URL of a database
 * with the schema as its fragment.
 */
export function openStore(place: string): SqliteStore | PostgresStore {
  const [url, fragment] = place.split("#") as [string, string | undefined];
  if (!place.startsWith("postgres:"))
    return new SqliteStore({ path: url, journal: (fragment ?? "auto") as "auto" | "wal" | "rollback" });
  return new PostgresStore({ url, ...(fragment === undefined ? {} : { schema: fragment }), connections: 3 });
}

/** The files of SQLite, except the shared memory, which does not outlive its processes. */
export const DATABASE_FILES = ["", "-wal", "-journal"];
