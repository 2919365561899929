/** "NGRF": tells our databases from everybody else's. */
export const APPLICATION_ID = 0x4e475246;

/** One step a schema version: step i leads from version i to i + 1. Steps are never changed once released. */
export const MIGRATIONS: readonly string[] = [
  `
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
  `,
];

export const SCHEMA_VERSION = MIGRATIONS.length;
