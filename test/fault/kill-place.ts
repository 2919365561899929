/** Where the kill sweep stores a run, and how to read what a killed process left without changing it. */
import { copyFileSync, existsSync, rmSync, statSync } from "node:fs";
import pg from "pg";
import type { Store } from "../../runtime/index.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import type { PostgresServer } from "../stores/postgres-server.ts";
import { DATABASE_FILES, openStore } from "./kill-store.ts";

export interface KillPlace {
  /** The place in the form that `kill-store.ts` opens. */
  readonly name: string;
  /**
   * Reads the current state without changing it: the next process must find what the killed one left.
   *
   * @returns a store to read, `undefined` if there are no tables yet; and everything else that a recovery can see
   */
  look(): Promise<{ readonly store: Store | undefined; readonly traces: string; close(): Promise<void> }>;
  /** A store for the recovery. */
  open(): Store;
  remove(): Promise<void>;
  /** The place of a copy, if the place consists of files. */
  readonly at?: (path: string) => KillPlace;
}

/** A database file, with a write-ahead log or a rollback journal. */
export function sqlitePlace(path: string, journal: "auto" | "rollback"): KillPlace {
  const name = journal === "auto" ? path : `${path}#${journal}`;
  const copy = `${path}.look`;
  return {
    name,
    // Opening the original would roll back an interrupted transaction and checkpoint the log: that is the recovery's
    // task.
    async look() {
      for (const end of DATABASE_FILES) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
      const traces = DATABASE_FILES.map((end) => (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0) > 0);
      const { made, owned } = existsSync(path) ? readRaw(copy) : { made: false, owned: false };
      const store = made ? openStore(name.replace(path, copy)) : undefined;
      return {
        store,
        traces: JSON.stringify([traces, made, owned]),
        async close() {
          await store?.close();
          removeDatabase(copy);
        },
      };
    },
    open: () => openStore(name),
    remove: async () => removeDatabase(path),
    at: (other) => sqlitePlace(other, journal),
  };
}

/** Whether the tables exist, and whether the thread is claimed. */
function readRaw(path: string): { readonly made: boolean; readonly owned: boolean } {
  const database = new (loadSqlite().DatabaseSync)(path);
  try {
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'threads'").get() !== undefined;
    const owned = made && database.prepare("SELECT 1 FROM threads WHERE owner IS NOT NULL").get() !== undefined;
    return { made, owned };
  } finally {
    database.close();
  }
}

function removeDatabase(path: string): void {
  for (const end of [...DATABASE_FILES, "-shm"]) rmSync(path + end, { force: true });
}

/** Schemas of a server, read through one set of connections. */
export class PostgresPlaces {
  readonly #server: PostgresServer;
  readonly #pool: pg.Pool;

  constructor(server: PostgresServer) {
    this.#server = server;
    this.#pool = new pg.Pool({ connectionString: server.url, max: 6 });
    // The pool counts as closed a little before its connections are, and the server may end them first.
    this.#pool.on("error", () => {});
  }

  place(schema: string): KillPlace {
    const pool = this.#pool;
    return {
      name: `${this.#server.url}?application_name=${schema}#${schema}`,
      look: async () => {
        // The server may still execute the last statement of a killed process.
        const busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1";
        while ((await pool.query(busy, [schema])).rows.length > 0);
        const { rows } = await pool.query("SELECT to_regclass($1) IS NOT NULL AS made", [`${schema}.threads`]);
        const { made } = rows[0] as { made: boolean };
        const owned = made
          ? (await pool.query(`SELECT 1 FROM ${schema}.threads WHERE owner IS NOT NULL`)).rows.length > 0
          : false;
        const store = made ? new PostgresStore({ pool, schema }) : undefined;
        return { store, traces: JSON.stringify([made, owned]), close: async () => store?.close() };
      },
      open: () => new PostgresStore({ pool, schema }),
      remove: async () => {
        await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      },
    };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
