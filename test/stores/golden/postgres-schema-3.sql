-- What a store of schema version 3 had made of `fillStore` (test/stores/content.ts) and two steps more when that version was new. Never written again.
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
  (1, 'first', 1, NULL, NULL, NULL, NULL, NULL, 12, 12, 8, 1, 0, 2, 1906625670),
  (2, 'second', 2, 'b', 1795355318227, 'vm 97382816-8dd9-4010-8f91-c3fd05ef550f pid:[4026531836]', 19491, '1322438', 11, 11, 2, 0, 1, 2, 2421229977),
  (3, 'only claimed', 3, 'c', 1795355318466, 'vm 97382816-8dd9-4010-8f91-c3fd05ef550f pid:[4026531836]', 19491, '1322438', NULL, 0, 0, 0, 0, 2, 1475531928);

INSERT INTO golden.heads (thread, namespace, ord, v, sum) VALUES
  (1, 'sub/each[0]', 3, 1, 35864616);

INSERT INTO golden.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) VALUES
  (1, 1, 'first/1', '', 1, NULL, 3807340622, NULL, '{"schemaVersion":1,"runId":"run","step":-1,"phase":"input","status":"running","metadata":{"by":"me"},"timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1673211937),
  (2, 1, 'first/2', '', 1, 1, 2040563629, 'bad', '{"schemaVersion":1,"runId":"run","parentId":"first/1","step":0,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 3120150209),
  (3, 1, 'first/3', 'sub/each[0]', 3, NULL, 3693178233, NULL, '{"schemaVersion":1,"runId":"run","step":-1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 255762500),
  (4, 1, 'first/4', '', 1, 2, 466296654, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/2","step":1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1428866843),
  (6, 1, 'first/5', '', 1, 4, 482523026, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/4","step":2,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 2982679488),
  (8, 1, 'first/6', '', 1, 6, 482523026, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/5","step":3,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1803264316),
  (9, 2, 'second/3', '', 5, NULL, 407882528, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/2","step":1,"phase":"completed","nextNodes":["a","b"],"barrierState":{"join":["a"]},"status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 3309969202),
  (10, 1, 'first/7', '', 10, 2, 700694765, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/2","step":1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 3978087576),
  (11, 2, 'second/4', '', 5, 9, 407882528, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/3","step":2,"phase":"completed","status":"paused","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000","due":5000}', 1, 494497127),
  (12, 1, 'first/8', '', 10, 10, 2138162852, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/7","step":2,"phase":"completed","status":"completed","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 303382842);

INSERT INTO golden.cells (chain, channel, ord, kind, version, base, count, slack, data, v, sum) VALUES
  (1, 'log', 1, 1, 1, 1, 0, 9, '["start"]', 1, 3092861488),
  (1, 'log', 2, 2, 2, 1, 1, -34, '[1]', 1, 2223655059),
  (1, 'log', 4, 2, 3, 1, 2, -380, '[0,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 631497861),
  (1, 'log', 6, 2, 4, 1, 3, -726, '[1,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 1162959614),
  (1, 'log', 8, 2, 5, 1, 4, -1072, '[2,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 1897945917),
  (1, 'score', 4, 0, 1, 4, 0, 1, '0', 1, 577261961),
  (1, 'score', 6, 0, 2, 6, 0, 18, '0.3333333333333333', 1, 2270874972),
  (1, 'score', 8, 0, 3, 8, 0, 18, '0.6666666666666666', 1, 2561062845),
  (3, 'inner', 3, 0, 1, 3, 0, 15, '{"deep":[true]}', 1, 2415968466),
  (5, 'log', 5, 1, 1, 5, 0, 306, '[0,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 3764376699),
  (5, 'log', 7, 2, 2, 5, 1, -40, '[1,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 2285994189),
  (5, 'log', 9, 2, 3, 5, 2, -386, '[2,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]', 1, 1317022972),
  (5, 'score', 9, 0, 3, 9, 0, 18, '0.6666666666666666', 1, 2119421145),
  (10, 'log', 10, 1, 2, 10, 0, 11, '["start",1]', 1, 1033963308),
  (10, 'log', 12, 2, 3, 10, 1, -36, '["end"]', 1, 2548359345),
  (10, 'score', 10, 3, 1, 10, 0, 0, NULL, 1, 2375387675);

INSERT INTO golden.writes (write, thread, checkpoint, task, data, v, sum) OVERRIDING SYSTEM VALUE VALUES
  (3, 2, 'second/3', 'task', '["node",{"text":"result","list":[1,2,3]}]', 1, 2548745395);

INSERT INTO golden.signals (signal, thread, id, data, v, sum) OVERRIDING SYSTEM VALUE VALUES
  (1, 2, 'early', NULL, 1, 1495045944),
  (2, 2, 'late', '["parcel",{"weight":[1,2.5]}]', 1, 1452849098),
  (3, 2, 'last', '["parcel",{"weight":[1,2.5]}]', 1, 849605367);

INSERT INTO golden.waits (thread, due, signals, v, sum) VALUES
  (2, 5000, 2, 1, 3191148988);

SELECT setval('golden.thread_numbers', 3);
SELECT setval('golden.epochs', 3);
SELECT setval('golden.ords', 12);
SELECT setval('golden.writes_write_seq', 3);
SELECT setval('golden.signals_signal_seq', 3);
