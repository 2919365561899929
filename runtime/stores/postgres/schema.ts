/**
 * One step a schema version: step i leads from version i to i + 1. Steps are never changed once released. `@.` stands for
 * the schema's name. Keys compare by bytes: with a collation of the system, its next update could damage the indexes.
 */
export const MIGRATIONS: readonly string[] = [
  `
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
  `,
];

export const SCHEMA_VERSION = MIGRATIONS.length;
