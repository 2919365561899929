/** An empty store of each kind, for tests that all stores must pass. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { MaybePromise } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";

export interface OpenStore {
  readonly store: Store;
  /** Closes the store and opens it again on the same data. */
  reopen(): MaybePromise<Store>;
  /** Another store on the same data, which the caller closes. Absent for a store in memory. */
  openOther?(): Store;
  dispose(): MaybePromise<void>;
}

export function inMemory(): OpenStore {
  const store = new MemoryStore();
  return { store, reopen: () => store, dispose: () => store.close() };
}

export function inFile(): OpenStore {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-each-"));
  const path = join(directory, "runs.db");
  let store = new SqliteStore(path);
  return {
    store,
    reopen: () => {
      store.close();
      return (store = new SqliteStore(path));
    },
    openOther: () => new SqliteStore(path),
    dispose: () => {
      store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

let schemas = 0;

export function inPostgres(server: PostgresServer): OpenStore {
  const schema = `each_${++schemas}`;
  const open = () => new PostgresStore({ url: server.url, schema, connections: 2 });
  let store = open();
  return {
    store,
    reopen: async () => {
      await store.close();
      return (store = open());
    },
    openOther: open,
    dispose: async () => {
      await store.close();
      await server.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    },
  };
}
