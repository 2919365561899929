/** What streams of the HTTP service learn of the runs of other processes, for all threads in one listing. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../runtime/index.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { RecentHeads } from "../../service/recent-heads.ts";
import { engineOf } from "../support/graph.ts";
import { inFile, inMemory, inPostgres, type OpenStore } from "./each-store.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { PostgresServer } from "./postgres-server.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

/** More than a look reads at a time. */
const MANY = 230;
const inDirectory = temporaryDirectory(FAST_DIRECTORY);

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const engineOn = (store: Store): Engine => engineOf("graph g { input n: int  start -> end }", {}, { store });
const run = (engine: Engine, thread: string): Promise<unknown> => engine.run({ n: 1 }, { thread });

/** The heads of two threads, after the first looks. */
async function watch(store: Store): Promise<RecentHeads> {
  const heads = new RecentHeads(store, 0);
  for (const thread of ["watched", "quiet"]) {
    heads.open(thread);
    await run(engineOn(store), thread);
    for (const isFirst of [true, false]) {
      expect(await heads.headOf(thread, isFirst)).toBe((await store.loadLatest(thread))?.id);
    }
  }
  return heads;
}

describe.each<[string, () => OpenStore]>([
  ["in memory", inMemory],
  ["SQLite", inFile],
  ["Postgres", () => inPostgres(server)],
])("%s", (_, open) => {
  it("finds a write behind those of many other threads, without a query for each thread", async () => {
    const opened = open();
    const { store } = opened;
    const other = opened.openOther?.() ?? store;
    const heads = await watch(store);
    const engine = engineOn(other);
    const quiet = await heads.headOf("quiet", false);
    await run(engine, "watched");
    await Promise.all(Array.from({ length: MANY }, (_each, n) => run(engine, `other ${n}`)));
    const { id } = (await other.loadLatest("watched"))!;
    const load = vi.spyOn(store, "loadLatest");
    const list = vi.spyOn(store as Required<Store>, "threads");
    expect(await heads.headOf("watched", false)).toBe(id);
    expect(await heads.headOf("quiet", false)).toBe(quiet);
    expect(load).not.toHaveBeenCalled();
    // Two pages in each look: the second one reads the new threads again, and the third one does not.
    expect(list).toHaveBeenCalledTimes(4);
    await heads.headOf("watched", false);
    list.mockClear();
    expect(await heads.headOf("watched", false)).toBe(id);
    expect(list).toHaveBeenCalledTimes(1);
    if (other !== store) await other.close?.();
    await opened.dispose();
  }, 300_000);

  it("reads on behind a page that damaged threads have made shorter", async () => {
    const opened = open();
    const { store } = opened;
    const heads = await watch(store);
    await run(engineOn(store), "watched");
    await Promise.all(Array.from({ length: MANY }, (_each, n) => run(engineOn(store), `other ${n}`)));
    const list = store.threads!.bind(store);
    store.threads = async (options) => {
      const page = await list(options);
      const left = page.filter(({ threadId }) => threadId !== `other ${MANY - 1}`);
      if (left.length < page.length) options?.onCorrupt?.(new Error("damaged"), `other ${MANY - 1}`);
      return left;
    };
    expect(await heads.headOf("watched", false)).toBe((await store.loadLatest("watched"))?.id);
    await opened.dispose();
  }, 300_000);

  it("a write that is committed after a later one is found", async () => {
    const opened = open();
    const { store } = opened;
    const heads = await watch(store);
    await run(engineOn(store), "watched");
    await run(engineOn(store), "other");
    const { id } = (await store.loadLatest("watched"))!;
    const before = (await store.threads!()).filter(({ threadId }) => threadId !== "watched");
    // The first of the looks does not see it.
    const list = vi.spyOn(store as Required<Store>, "threads").mockResolvedValueOnce(before);
    expect(await heads.headOf("watched", false)).not.toBe(id);
    expect(await heads.headOf("watched", false)).toBe(id);
    expect(list).toHaveBeenCalledTimes(2);
    await opened.dispose();
  });
});

describe("a damaged thread among those that were written last does not hide the others", () => {
  const check = async (store: Store, damage: () => unknown): Promise<void> => {
    const heads = await watch(store);
    await run(engineOn(store), "watched");
    await Promise.all(Array.from({ length: MANY }, (_each, n) => run(engineOn(store), `other ${n}`)));
    const { id } = (await store.loadLatest("watched"))!;
    await damage();
    expect(await heads.headOf("watched", false)).toBe(id);
    await expect((async () => store.threads!({ limit: 1000 }))()).rejects.toMatchObject({ code: "NG_CORRUPT_RECORD" });
    await store.close?.();
  };

  it("SQLite", async () => {
    const path = await inDirectory("damaged.db");
    await check(new SqliteStore(path), () => {
      const database = new (loadSqlite().DatabaseSync)(path);
      database.exec("UPDATE threads SET epoch = epoch + 1 WHERE name = 'other 7'");
      database.close();
    });
  }, 300_000);

  it(
    "Postgres",
    () =>
      check(new PostgresStore({ url: server.url, schema: "damaged" }), () =>
        server.query("UPDATE damaged.threads SET epoch = epoch + 1 WHERE name = 'other 7'"),
      ),
    300_000,
  );
});
