import { THREADS, type ThreadRow, withNextVersion } from "../contract/rows.ts";
import type { Transaction } from "./connection.ts";

/**
 * One step a schema version: step i leads from version i to i + 1, within a transaction that is not its own. Steps are never changed
 * once released. `@.` is the prefix of the schema.
 */
export const MIGRATIONS: readonly ((transaction: Transaction) => Promise<unknown>)[] = [
  makeTables,
  guardVersion,
  addInbox,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Keys compare by bytes: with a collation of the system, its next update could damage the indexes. */
function makeTables(transaction: Transaction): Promise<unknown> {
  return transaction.run(`
  CREATE SEQUENCE @.thread_numbers;
  CREATE SEQUENCE @.epochs;
  CREATE SEQUENCE @.ords;

  CREATE TABLE @.threads (
    thread bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL, owner text COLLATE "C", expires bigint, host text COLLATE "C", pid bigint, started text COLLATE "C",
    head bigint, last bigint NOT NULL,
    checkpoints bigint NOT NULL, namespaces bigint NOT NULL, writes bigint NOT NULL,
    v bigint NOT NULL, sum bigint NOT NULL
  );

  CREATE TABLE @.heads (
    thread bigint NOT NULL, namespace text COLLATE "C" NOT NULL, ord bigint NOT NULL,
    v bigint NOT NULL, sum bigint NOT NULL, PRIMARY KEY (thread, namespace)
  );

  CREATE TABLE @.checkpoints (
    ord bigint PRIMARY KEY, thread bigint NOT NULL, id text COLLATE "C" NOT NULL, namespace text COLLATE "C" NOT NULL,
    chain bigint NOT NULL, parent bigint, state bigint NOT NULL, label text COLLATE "C", header text NOT NULL,
    v bigint NOT NULL, sum bigint NOT NULL, CONSTRAINT checkpoints_by_id UNIQUE (thread, id)
  );
  CREATE UNIQUE INDEX checkpoints_by_label ON @.checkpoints (thread, label) WHERE label IS NOT NULL;

  CREATE TABLE @.cells (
    chain bigint NOT NULL, channel text COLLATE "C" NOT NULL, ord bigint NOT NULL,
    kind bigint NOT NULL, version bigint NOT NULL, base bigint NOT NULL, count bigint NOT NULL,
    slack bigint NOT NULL, data text, v bigint NOT NULL, sum bigint NOT NULL, PRIMARY KEY (chain, channel, ord)
  );

  CREATE TABLE @.writes (
    write bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread bigint NOT NULL, checkpoint text COLLATE "C" NOT NULL, task text COLLATE "C" NOT NULL,
    data text NOT NULL, v bigint NOT NULL, sum bigint NOT NULL, UNIQUE (thread, checkpoint, task)
  );

  CREATE TABLE @.meta (name text PRIMARY KEY, value bigint NOT NULL);
  `);
}

/**
 * Version 2: every write transaction takes a lock that excludes migrations and checks the schema version first. Programs of
 * version 1 do neither, so the row version of threads is raised: they can no longer read or create a thread. The fill factor
 * leaves room for the update of a thread's row on its page (a heap-only tuple), which leaves no dead index entries.
 */
async function guardVersion(transaction: Transaction): Promise<void> {
  await transaction.run("LOCK TABLE @.threads IN ACCESS EXCLUSIVE MODE");
  for (let last = 0, rows: ThreadRow[] = []; ; last = rows.at(-1)!.thread) {
    rows = await transaction.all<ThreadRow>(
      "SELECT * FROM @.threads WHERE thread > $1 ORDER BY thread LIMIT 1000",
      last,
    );
    if (rows.length === 0) break;
    const next = rows.map((row) => withNextVersion(THREADS, row));
    await transaction.run(
      "UPDATE @.threads t SET v = next.v, sum = next.sum " +
        "FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS next (thread, v, sum) WHERE t.thread = next.thread",
      next.map(({ thread }) => thread),
      next.map(({ v }) => v),
      next.map(({ sum }) => sum),
    );
  }
  await transaction.run("ALTER TABLE @.threads ADD CHECK (v >= 2)");
  await transaction.run("ALTER TABLE @.threads SET (fillfactor = 50)");
}

/** Version 3 adds the inboxes of threads, and an index of what lets paused threads continue. */
function addInbox(transaction: Transaction): Promise<unknown> {
  return transaction.run(`
  CREATE TABLE @.signals (
    signal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread bigint NOT NULL, id text COLLATE "C" NOT NULL, data text,
    v bigint NOT NULL, sum bigint NOT NULL, UNIQUE (thread, id)
  );
  CREATE INDEX signals_waiting ON @.signals (thread) WHERE data IS NOT NULL;

  CREATE TABLE @.waits (
    thread bigint PRIMARY KEY, due bigint, signals bigint NOT NULL, v bigint NOT NULL, sum bigint NOT NULL
  );
  CREATE INDEX waits_by_due ON @.waits (due) WHERE due IS NOT NULL;
  CREATE INDEX waits_with_signals ON @.waits (thread) WHERE signals > 0;
  `);
}
