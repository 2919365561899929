-- A run that schema version 1 left paused (its table: runs-table.json). Never written again.
CREATE SCHEMA golden;
CREATE SEQUENCE golden.thread_numbers;
CREATE SEQUENCE golden.epochs;
CREATE SEQUENCE golden.ords;

CREATE TABLE golden.threads (
  thread bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
  epoch bigint NOT NULL, owner text COLLATE "C", expires bigint, host text COLLATE "C", pid bigint, started text COLLATE "C",
  head bigint, last bigint NOT NULL,
  checkpoints bigint NOT NULL, namespaces bigint NOT NULL, writes bigint NOT NULL,
  v bigint NOT NULL, sum bigint NOT NULL
);

CREATE TABLE golden.heads (
  thread bigint NOT NULL, namespace text COLLATE "C" NOT NULL, ord bigint NOT NULL,
  v bigint NOT NULL, sum bigint NOT NULL, PRIMARY KEY (thread, namespace)
);

CREATE TABLE golden.checkpoints (
  ord bigint PRIMARY KEY, thread bigint NOT NULL, id text COLLATE "C" NOT NULL, namespace text COLLATE "C" NOT NULL,
  chain bigint NOT NULL, parent bigint, state bigint NOT NULL, label text COLLATE "C", header text NOT NULL,
  v bigint NOT NULL, sum bigint NOT NULL, CONSTRAINT checkpoints_by_id UNIQUE (thread, id)
);
CREATE UNIQUE INDEX checkpoints_by_label ON golden.checkpoints (thread, label) WHERE label IS NOT NULL;

CREATE TABLE golden.cells (
  chain bigint NOT NULL, channel text COLLATE "C" NOT NULL, ord bigint NOT NULL,
  kind bigint NOT NULL, version bigint NOT NULL, base bigint NOT NULL, count bigint NOT NULL,
  slack bigint NOT NULL, data text, v bigint NOT NULL, sum bigint NOT NULL, PRIMARY KEY (chain, channel, ord)
);

CREATE TABLE golden.writes (
  write bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thread bigint NOT NULL, checkpoint text COLLATE "C" NOT NULL, task text COLLATE "C" NOT NULL,
  data text NOT NULL, v bigint NOT NULL, sum bigint NOT NULL, UNIQUE (thread, checkpoint, task)
);

CREATE TABLE golden.meta (name text PRIMARY KEY, value bigint NOT NULL);

INSERT INTO golden.meta (name, value) VALUES
  ('version', 1);

INSERT INTO golden.threads (thread, name, epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum) VALUES
  (1, 'paused', 1, NULL, NULL, NULL, NULL, NULL, 7, 7, 7, 1, 0, 1, 429146672);

INSERT INTO golden.heads (thread, namespace, ord, v, sum) VALUES
  (1, 'call', 5, 1, 4041764232);

INSERT INTO golden.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) VALUES
  (1, 1, '315b7484-0ccb-4d67-bc54-03c961671eb9', '', 1, NULL, 0, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c","step":-1,"phase":"input","nextNodes":["a","b"],"status":"running","timestamp":1795250819067,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 3722383886),
  (2, 1, '24b37dab-5845-48f3-b11f-d6e9b261d1fc', '', 1, 1, 2078685684, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c","parentId":"315b7484-0ccb-4d67-bc54-03c961671eb9","step":0,"phase":"completed","currentNodes":["a","b"],"nextNodes":["call"],"status":"running","timestamp":1795250819115,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 923957967),
  (3, 1, 'b8275dda-45ac-4157-a9f8-a70128efa448', 'call', 3, NULL, 0, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c/call@1","step":-1,"phase":"input","nextNodes":["c1"],"status":"running","timestamp":1795250819131,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 1259380888),
  (4, 1, '3fb056cc-e3dc-448c-bfd2-83a836f50f56', 'call', 3, 3, 1787093225, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c/call@1","parentId":"b8275dda-45ac-4157-a9f8-a70128efa448","step":0,"phase":"completed","currentNodes":["c1"],"nextNodes":["c2"],"status":"running","timestamp":1795250819159,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 305901160),
  (5, 1, 'a3ef2a82-2414-4fca-b755-2d9d59a006fa', 'call', 3, 4, 533032486, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c/call@1","parentId":"3fb056cc-e3dc-448c-bfd2-83a836f50f56","step":1,"phase":"completed","currentNodes":["c2"],"status":"completed","timestamp":1795250819176,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 1732133711),
  (6, 1, '4dd76a0e-b302-412b-85ba-642863eba5d9', '', 1, 2, 4285315121, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c","parentId":"24b37dab-5845-48f3-b11f-d6e9b261d1fc","step":1,"phase":"completed","currentNodes":["call"],"nextNodes":["approve"],"status":"running","timestamp":1795250819200,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 605580282),
  (7, 1, 'b799b106-48da-4028-9c6a-5657a1c8bee9', '', 1, 6, 4285315121, NULL, '{"schemaVersion":1,"runId":"b7b1274f-045d-4751-ae8f-638d91c0620c","parentId":"4dd76a0e-b302-412b-85ba-642863eba5d9","step":2,"phase":"interrupted","nextNodes":["approve"],"pauses":[{"id":"approve@2.638d91c0620c","node":"approve","kind":"interrupt","payload":{"ask":"may I?"},"namespace":[],"taskId":"approve"}],"status":"paused","timestamp":1795250819211,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 739158021);

INSERT INTO golden.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) VALUES
  (1, 'log', 2, 1, 1, 2, 0, 9, '["a","b"]', 1, 851579060),
  (1, 'trail', 6, 1, 1, 6, 0, 11, '["c1","c2"]', 1, 1373396889),
  (3, 'trail', 4, 1, 1, 4, 0, 6, '["c1"]', 1, 1947695739),
  (3, 'trail', 5, 2, 2, 4, 1, -40, '["c2"]', 1, 2742313840);

SELECT setval('golden.thread_numbers', 1);
SELECT setval('golden.epochs', 1);
SELECT setval('golden.ords', 7);
SELECT setval('golden.writes_write_seq', 2);
