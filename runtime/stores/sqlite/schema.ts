import { THREADS, type ThreadRow, withNextVersion } from "../contract/rows.ts";
import type { SqliteDatabase, SqliteStatement } from "./driver.ts";

/** "NGRF" in ASCII: marks the file as a database of this application. */
export const APPLICATION_ID = 0x4e475246;

/**
 * One step for each schema version: step i migrates version i to i + 1, within the caller's transaction. A released step
 * never changes.
 */
export const MIGRATIONS: readonly ((database: SqliteDatabase) => void)[] = [makeTables, addStagingTable, addInbox];

export const SCHEMA_VERSION = MIGRATIONS.length;

function makeTables(database: SqliteDatabase): void {
  database.exec(`
  CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta (name, value) VALUES ('epoch', 0);

  CREATE TABLE threads (
    thread INTEGER PRIMARY KEY, name TEXT NOT NULL, hash INTEGER NOT NULL,
    epoch INTEGER NOT NULL, owner TEXT, expires INTEGER, host TEXT, pid INTEGER, started TEXT,
    head INTEGER, last INTEGER NOT NULL,
    checkpoints INTEGER NOT NULL, namespaces INTEGER NOT NULL, writes INTEGER NOT NULL,
    v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX threads_by_name ON threads (name);
  CREATE INDEX threads_by_hash ON threads (hash);

  CREATE TABLE heads (
    thread INTEGER NOT NULL, namespace TEXT NOT NULL, ord INTEGER NOT NULL,
    v INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (thread, namespace)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE checkpoints (
    ord INTEGER PRIMARY KEY, thread INTEGER NOT NULL, id TEXT NOT NULL, namespace TEXT NOT NULL,
    chain INTEGER NOT NULL, parent INTEGER, state INTEGER NOT NULL, label TEXT, header TEXT NOT NULL,
    v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints (thread, id);
  CREATE UNIQUE INDEX checkpoints_by_label ON checkpoints (thread, label) WHERE label IS NOT NULL;

  CREATE TABLE cells (
    cell INTEGER PRIMARY KEY, chain INTEGER NOT NULL, channel TEXT NOT NULL, ord INTEGER NOT NULL,
    kind INTEGER NOT NULL, version INTEGER NOT NULL, base INTEGER NOT NULL, count INTEGER NOT NULL,
    slack INTEGER NOT NULL, data TEXT, v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX cells_by_place ON cells (chain, channel, ord);

  CREATE TABLE writes (
    write INTEGER PRIMARY KEY, thread INTEGER NOT NULL, checkpoint TEXT NOT NULL, task TEXT NOT NULL,
    data TEXT NOT NULL, v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX writes_by_task ON writes (thread, checkpoint, task);
  `);
}

/**
 * Version 2 adds the staging table (`tail` in SQL; see `staging-table.ts`). A program of version 1 that has the file open
 * does not know the staging table, so the row version of threads is raised too: such a program can no longer read or create
 * a thread.
 */
function addStagingTable(database: SqliteDatabase): void {
  database.exec(`
  CREATE TABLE tail (
    place INTEGER PRIMARY KEY, chain INTEGER NOT NULL, ord INTEGER NOT NULL,
    thread INTEGER, id TEXT, namespace TEXT, parent INTEGER, state INTEGER, header TEXT, v INTEGER, sum INTEGER,
    channel TEXT, kind INTEGER, version INTEGER, base INTEGER, count INTEGER, slack INTEGER, data TEXT,
    cell_v INTEGER, cell_sum INTEGER
  ) STRICT;

  CREATE TABLE threads_2 (
    thread INTEGER PRIMARY KEY, name TEXT NOT NULL, hash INTEGER NOT NULL,
    epoch INTEGER NOT NULL, owner TEXT, expires INTEGER, host TEXT, pid INTEGER, started TEXT,
    head INTEGER, last INTEGER NOT NULL,
    checkpoints INTEGER NOT NULL, namespaces INTEGER NOT NULL, writes INTEGER NOT NULL,
    v INTEGER NOT NULL CHECK (v >= 2), sum INTEGER NOT NULL
  ) STRICT;
  `);
  const select = database.prepare("SELECT * FROM threads WHERE thread > ? ORDER BY thread LIMIT 1000");
  const insert = database.prepare(
    "INSERT INTO threads_2 (thread, name, hash, epoch, owner, expires, host, pid, started, head, last, checkpoints, " +
      "namespaces, writes, v, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (
    let rows = threadsAfter(select, Number.MIN_SAFE_INTEGER);
    rows.length > 0;
    rows = threadsAfter(select, rows.at(-1)!.thread)
  ) {
    for (const old of rows) {
      const row = withNextVersion(THREADS, old);
      insert.run(
        ...([row.thread, row.name, old.hash, row.epoch, row.owner, row.expires, row.host, row.pid] as const),
        ...([row.started, row.head, row.last, row.checkpoints, row.namespaces, row.writes, row.v, row.sum] as const),
      );
    }
  }
  database.exec(`
  DROP TABLE threads;
  ALTER TABLE threads_2 RENAME TO threads;
  CREATE UNIQUE INDEX threads_by_name ON threads (name);
  CREATE INDEX threads_by_hash ON threads (hash);
  `);
}

function threadsAfter(select: SqliteStatement, thread: number): (ThreadRow & { readonly hash: number })[] {
  return select.all(thread) as (ThreadRow & { readonly hash: number })[];
}

/** Version 3 adds the inboxes of threads, and a table of due times and signals with which paused threads continue. */
function addInbox(database: SqliteDatabase): void {
  database.exec(`
  CREATE TABLE signals (
    signal INTEGER PRIMARY KEY, thread INTEGER NOT NULL, id TEXT NOT NULL, data TEXT,
    v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX signals_by_id ON signals (thread, id);
  CREATE INDEX signals_waiting ON signals (thread) WHERE data IS NOT NULL;

  CREATE TABLE waits (
    thread INTEGER PRIMARY KEY, due INTEGER, signals INTEGER NOT NULL, v INTEGER NOT NULL, sum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX waits_by_due ON waits (due) WHERE due IS NOT NULL;
  CREATE INDEX waits_with_signals ON waits (thread) WHERE signals > 0;
  `);
}
