-- What a store of schema version 2 had made of `fillStore` (test/stores/content.ts) and two steps more when that version was new. Never written again.
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

INSERT INTO golden.meta (name, value) VALUES
  ('version', 2);

INSERT INTO golden.threads (thread, name, epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum) VALUES
  (1, 'first', 1, NULL, NULL, NULL, NULL, NULL, 11, 11, 8, 1, 0, 2, 2876992792),
  (2, 'second', 4, 'b', 1795250880471, 'vm f4709047-a534-4cd3-9f47-3e4ffdae49fe pid:[4026531836]', 563, '2864911', 13, 13, 4, 0, 1, 2, 3965567904),
  (3, 'only claimed', 3, 'c', 1795250880443, 'vm f4709047-a534-4cd3-9f47-3e4ffdae49fe pid:[4026531836]', 563, '2864911', NULL, 0, 0, 0, 0, 2, 87530129);

INSERT INTO golden.heads (thread, namespace, ord, v, sum) VALUES
  (1, 'sub/each[0]', 3, 1, 35864616);

INSERT INTO golden.checkpoints (ord, thread, id, namespace, chain, parent, state, label, header, v, sum) VALUES
  (1, 1, 'first/1', '', 1, NULL, 3807340622, NULL, '{"schemaVersion":1,"runId":"run","step":-1,"phase":"input","status":"running","metadata":{"by":"me"},"timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1673211937),
  (2, 1, 'first/2', '', 1, 1, 2040563629, 'bad', '{"schemaVersion":1,"runId":"run","parentId":"first/1","step":0,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 3120150209),
  (3, 1, 'first/3', 'sub/each[0]', 3, NULL, 3693178233, NULL, '{"schemaVersion":1,"runId":"run","step":-1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 255762500),
  (4, 1, 'first/4', '', 1, 2, 466296654, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/2","step":1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1428866843),
  (6, 1, 'first/5', '', 1, 4, 482523026, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/4","step":2,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 2982679488),
  (7, 2, 'second/2', '', 5, NULL, 407882528, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/1","step":0,"phase":"completed","nextNodes":["a","b"],"barrierState":{"join":["a"]},"status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 4012591061),
  (8, 1, 'first/6', '', 1, 6, 482523026, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/5","step":3,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1803264316),
  (9, 2, 'second/3', '', 5, 7, 407882528, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/2","step":1,"phase":"completed","nextNodes":["a","b"],"barrierState":{"join":["a"]},"status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1273232113),
  (10, 1, 'first/7', '', 10, 2, 700694765, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/2","step":1,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 3978087576),
  (11, 1, 'first/8', '', 10, 10, 3866662686, NULL, '{"schemaVersion":1,"runId":"run","parentId":"first/7","step":2,"phase":"completed","status":"completed","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 639287655),
  (12, 2, 'second/4', '', 5, 9, 997617411, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/3","step":2,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1707571670),
  (13, 2, 'second/5', '', 5, 12, 997617411, NULL, '{"schemaVersion":1,"runId":"run","parentId":"second/4","step":3,"phase":"completed","status":"running","timestamp":1700000000000,"digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}', 1, 1988973746);

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
  (5, 'log', 12, 2, 4, 5, 3, -436, '["tail 0"]', 1, 2013762405),
  (5, 'log', 13, 2, 5, 5, 4, -486, '["tail 1"]', 1, 300743496),
  (5, 'score', 7, 0, 2, 7, 0, 18, '0.3333333333333333', 1, 1638905400),
  (5, 'score', 9, 0, 3, 9, 0, 18, '0.6666666666666666', 1, 2119421145),
  (5, 'score', 12, 0, 4, 12, 0, 1, '0', 1, 1989689211),
  (5, 'score', 13, 0, 5, 13, 0, 1, '1', 1, 3019150),
  (10, 'log', 10, 1, 2, 10, 0, 11, '["start",1]', 1, 1033963308),
  (10, 'log', 11, 2, 3, 10, 1, -36, '["end"]', 1, 3975832146),
  (10, 'score', 10, 3, 1, 10, 0, 0, NULL, 1, 2375387675);

INSERT INTO golden.writes (write, thread, checkpoint, task, data, v, sum) OVERRIDING SYSTEM VALUE VALUES
  (3, 2, 'second/3', 'task', '["node",{"text":"result","list":[1,2,3]}]', 1, 2548745395);

SELECT setval('golden.thread_numbers', 3);
SELECT setval('golden.epochs', 4);
SELECT setval('golden.ords', 13);
SELECT setval('golden.writes_write_seq', 3);
