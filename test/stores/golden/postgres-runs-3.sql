-- A run that schema version 3 left paused (its table: runs-table.json). Never written again.
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

ALTER TABLE golden.threads ADD CHECK (v >= 2);
ALTER TABLE golden.threads SET (fillfactor = 50);

CREATE TABLE golden.signals (
  signal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread bigint NOT NULL, id text COLLATE "C" NOT NULL, data text,
  v bigint NOT NULL, sum bigint NOT NULL, UNIQUE (thread, id)
);
CREATE INDEX signals_waiting ON golden.signals (thread) WHERE data IS NOT NULL;

CREATE TABLE golden.waits (
  thread bigint PRIMARY KEY, due bigint, signals bigint NOT NULL, v bigint NOT NULL, sum bigint NOT NULL
);
CREATE INDEX waits_by_due ON golden.waits (due) WHERE due IS NOT NULL;
CREATE INDEX waits_with_signals ON golden.waits (thread) WHERE signals > 0;

INSERT INTO golden.meta (name, value) VALUES
  ('version', 3);

INSERT INTO golden.threads (thread, name, epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum) VALUES
  (1, 'paused', 1, NULL, NULL, NULL, NULL, NULL, 7, 7, 7, 1, 0, 2, 3498789519);

INSERT INTO golden.heads (thread, namespace, ord, v, sum) VALUES
  (1, 'call', 5, 1, 4041764232);

INSERT INTO golden.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) VALUES
  (1, 1, 'd704e275-232c-4197-8da8-d35b72663d3b', '', 1, NULL, 0, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6","step":-1,"phase":"input","nextNodes":["a","b"],"status":"running","timestamp":1795250819719,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 2315649757),
  (2, 1, '130b0426-04f3-49f1-8ce2-205436f99994', '', 1, 1, 2078685684, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6","parentId":"d704e275-232c-4197-8da8-d35b72663d3b","step":0,"phase":"completed","currentNodes":["a","b"],"nextNodes":["call"],"status":"running","timestamp":1795250819757,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 967942076),
  (3, 1, 'ee9c4a1f-f307-4673-8ef1-b79072a577f0', 'call', 3, NULL, 0, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6/call@1","step":-1,"phase":"input","nextNodes":["c1"],"status":"running","timestamp":1795250819779,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 4178441040),
  (4, 1, '7ceeb399-38a9-4320-a684-5844b12b83fc', 'call', 3, 3, 1787093225, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6/call@1","parentId":"ee9c4a1f-f307-4673-8ef1-b79072a577f0","step":0,"phase":"completed","currentNodes":["c1"],"nextNodes":["c2"],"status":"running","timestamp":1795250819791,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 2937658800),
  (5, 1, '5b1d6249-7117-4cd6-b6c1-587abd0c0423', 'call', 3, 4, 533032486, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6/call@1","parentId":"7ceeb399-38a9-4320-a684-5844b12b83fc","step":1,"phase":"completed","currentNodes":["c2"],"status":"completed","timestamp":1795250819805,"digest":"sha256:84ff6a124333281331e9552beb1e9abae524ed989358fda113ffe3675ae2f226"}', 1, 405638709),
  (6, 1, 'f449be34-5849-4712-b39a-d65bf71ca54c', '', 1, 2, 4285315121, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6","parentId":"130b0426-04f3-49f1-8ce2-205436f99994","step":1,"phase":"completed","currentNodes":["call"],"nextNodes":["approve"],"status":"running","timestamp":1795250819827,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 1942203279),
  (7, 1, '3bd657d8-34b9-466a-b2e3-15085df94d61', '', 1, 6, 4285315121, NULL, '{"schemaVersion":1,"runId":"1870ced2-b301-4911-82f0-6cd2074d38d6","parentId":"f449be34-5849-4712-b39a-d65bf71ca54c","step":2,"phase":"interrupted","nextNodes":["approve"],"pauses":[{"id":"approve@2.6cd2074d38d6","node":"approve","kind":"interrupt","payload":{"ask":"may I?"},"namespace":[],"taskId":"approve"}],"status":"paused","timestamp":1795250819835,"digest":"sha256:05785d0eead2645ef437426e67cc0d0db9d34000d1d3d0e916901486afb66e08"}', 1, 3438744482);

INSERT INTO golden.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) VALUES
  (1, 'log', 2, 1, 1, 2, 0, 9, '["a","b"]', 1, 851579060),
  (1, 'trail', 6, 1, 1, 6, 0, 11, '["c1","c2"]', 1, 1373396889),
  (3, 'trail', 4, 1, 1, 4, 0, 6, '["c1"]', 1, 1947695739),
  (3, 'trail', 5, 2, 2, 4, 1, -40, '["c2"]', 1, 2742313840);

SELECT setval('golden.thread_numbers', 1);
SELECT setval('golden.epochs', 1);
SELECT setval('golden.ords', 7);
SELECT setval('golden.writes_write_seq', 2);
