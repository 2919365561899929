import type { Pool, PoolClient } from "pg";
import { NgraphError, StoreError } from "../../interface/errors.ts";
import { KnownHeads } from "../contract/known-heads.ts";
import type { LostOwners } from "../contract/lost-owners.ts";
import { corruptRecord, storeIsClosed, unknownVersion } from "../contract/store-error.ts";
import { asNumbers, makePool } from "./driver.ts";
import { isConnectionLost, sqlState, storeFailure } from "./failure.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`. Without one, the variables of `libpq` (PGHOST and so on) count. */
  readonly url?: string;
  /** The schema that holds the tables; made when it is not there. Default `ngraph`. */
  readonly schema?: string;
  /** Most connections at once. Default 10. */
  readonly connections?: number;
  /** How long it may take to make a connection, in milliseconds; 0 for no limit. Default 30,000. */
  readonly connectTimeoutMs?: number;
  /** A pool of your own in place of `url`, `connections` and `connectTimeoutMs`. It is not closed with the store. */
  readonly pool?: Pool;
}

type Value = string | number | null | readonly (string | number | null)[];

/** A transaction that has begun. */
export interface Transaction {
  /** Rows of a statement in which `@.` stands for the schema. The caller knows what it selects. */
  all<T>(sql: string, ...values: readonly Value[]): Promise<T[]>;
  get<T>(sql: string, ...values: readonly Value[]): Promise<T | undefined>;
  /** How many rows a statement changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  readonly heads: KnownHeads;
}

/** "ngraph" as bytes: names the lock that a migration holds alone, and all others together. */
const MIGRATION_LOCK = 0x6e67_7261_7068;

/** In the same message as the beginning of a transaction: no migration runs beside it, nor has one changed what it relies on. */
const VERSION = `SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK}); SELECT value::int AS version FROM @.meta WHERE name = 'version'`;

/**
 * Of every writing transaction, in the same message as its beginning. A commit that the server only remembers is lost with
 * its power; a process that was stopped while it held a thread must not stop the others for ever.
 */
const SETTINGS =
  "SET LOCAL lock_timeout = '30s'; " +
  "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

const WRITING = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${SETTINGS}`;
const READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** A pool of connections to a database whose tables are there. */
export class Connection {
  readonly #pool: Pool;
  readonly #isOwnPool: boolean;
  readonly #schema: string;
  /** As errors show it: never with a password. */
  readonly #place: string;
  readonly #sql = new Map<string, string>();
  /** Keys. */
  readonly lost: LostOwners = new Set();
  readonly #heads = new KnownHeads();
  #migrated: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    const { url, schema = "ngraph", connections = 10, connectTimeoutMs = 30_000, pool } = options;
    if (!/^[\p{L}_][\p{L}\p{N}_$-]*$/u.test(schema) || Buffer.byteLength(schema) > 63) {
      const given = JSON.stringify(schema.slice(0, 80));
      throw new StoreError(
        "NG_STORE_FAILED",
        `${given} is no name for a schema: use letters, digits and _, at most 63 bytes`,
      );
    }
    if (url !== undefined && !URL.canParse(url)) {
      // Without a cause, which would show the password.
      throw new StoreError(
        "NG_STORE_FAILED",
        "not a URL of a database: it looks like postgres://user:password@host:5432/name",
      );
    }
    this.#schema = schema;
    this.#isOwnPool = pool === undefined;
    const config = { max: connections, ...(url === undefined ? {} : { connectionString: url }) };
    this.#pool = pool ?? makePool(config, connectTimeoutMs);
    this.#place = placeOf(url, this.#pool);
    // The server may go while nothing is asked of it: the pool then drops the connection, and the next question tells.
    if (this.#isOwnPool) this.#pool.on("error", () => {});
  }

  /** Changes that happen together or not at all. */
  write<T>(body: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(`${WRITING}; ${VERSION}`, body);
  }

  /** Reads that see one moment of the database. */
  read<T>(body: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(`${READING}; ${VERSION}`, body);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#isOwnPool) await this.#pool.end();
  }

  async #transaction<T>(begin: string, body: (transaction: Transaction) => Promise<T>): Promise<T> {
    if (this.#closed) throw storeIsClosed();
    try {
      // A failed migration is tried again by the next caller.
      this.#migrated ??= this.#migrate().catch((error: unknown) => {
        this.#migrated = undefined;
        throw error;
      });
      await this.#migrated;
      return await this.#within(begin, (transaction, version) => {
        this.#checkVersion(version);
        return body(transaction);
      });
    } catch (error) {
      throw storeFailure(error, this.#place);
    }
  }

  /** @param begin may end with `VERSION`: its answer goes to the body */
  async #within<T>(begin: string, body: (transaction: Transaction, version: unknown) => Promise<T>): Promise<T> {
    const { client, lost, version } = await this.#begin(this.#text(begin));
    try {
      const result = await body(this.#transactionOn(client), version);
      await client.query("COMMIT");
      giveBack(client, lost);
      return result;
    } catch (error) {
      this.#heads.forget();
      // Whatever state the connection is in: when it cannot roll back, it is not used again.
      const isUsable = await client.query("ROLLBACK").then(
        () => true,
        () => false,
      );
      giveBack(client, lost, !isUsable);
      // Why the server ended the connection says more than that it is gone.
      throw lost.reason !== undefined && sqlState(error) === "" && !(error instanceof NgraphError)
        ? lost.reason
        : error;
    }
  }

  /** After a restart of the server, the pool may hold connections that are dead and do not know: nothing was asked of them yet. */
  async #begin(begin: string): Promise<{ client: PoolClient; lost: Listener; version: unknown }> {
    for (let idle = this.#pool.idleCount; ; idle--) {
      const client = await this.#pool.connect();
      const lost = hearLoss(client);
      try {
        // One result a statement; that of the version is the last, where it is asked for.
        const results: unknown = await client.query(begin);
        const last = (Array.isArray(results) ? results.at(-1) : results) as { readonly rows: readonly unknown[] };
        const row = last.rows[0] as { readonly version?: unknown } | undefined;
        return { client, lost, version: row?.version };
      } catch (error) {
        giveBack(client, lost, true);
        if (idle <= 0 || !isConnectionLost(error)) throw error;
      }
    }
  }

  #transactionOn(client: PoolClient): Transaction {
    const query = (sql: string, values: readonly Value[]) =>
      client.query({ text: this.#text(sql), values: values as Value[], types: asNumbers });
    return {
      all: async <T>(sql: string, ...values: readonly Value[]) => (await query(sql, values)).rows as T[],
      get: async <T>(sql: string, ...values: readonly Value[]) => (await query(sql, values)).rows[0] as T | undefined,
      run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
      heads: this.#heads,
    };
  }

  #text(sql: string): string {
    let text = this.#sql.get(sql);
    if (text === undefined) {
      text = sql.replaceAll("@.", () => `"${this.#schema.replaceAll('"', '""')}".`);
      this.#sql.set(sql, text);
    }
    return text;
  }

  async #migrate(): Promise<void> {
    // Who may only read, or asks a server that may only be read, finds tables that are there already.
    const found = await this.#within(READING, (transaction) => this.#version(transaction));
    if (found === SCHEMA_VERSION) return;
    await this.#within(WRITING, async (transaction) => {
      // One process at a time migrates, and none while another writes.
      await transaction.run("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK);
      const version = await this.#version(transaction);
      if (version === SCHEMA_VERSION) return;
      if (version !== 0) this.#checkVersion(version, 1);
      else await transaction.run(this.#text("CREATE SCHEMA IF NOT EXISTS @.").replace(/\.$/, ""));
      for (const step of MIGRATIONS.slice(version)) await step(transaction);
      await transaction.run(
        "INSERT INTO @.meta (name, value) VALUES ('version', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        SCHEMA_VERSION,
      );
    });
  }

  /** Another program may have migrated the schema while this one had it open. */
  #checkVersion(version: unknown, oldest = SCHEMA_VERSION): void {
    if (version === SCHEMA_VERSION) return;
    const what = `schema ${this.#schema} of database ${this.#place}`;
    if (typeof version === "number" && version > SCHEMA_VERSION) {
      throw unknownVersion(what, "schema version", version, SCHEMA_VERSION);
    }
    if (typeof version === "number" && version >= oldest) return;
    throw corruptRecord(what, `its schema version reads as ${String(version)}`);
  }

  /** 0 where there is nothing yet. */
  async #version(transaction: Transaction): Promise<number> {
    const found = await transaction.all<{ name: string }>(
      "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1",
      this.#schema,
    );
    if (found.length === 0) return 0;
    const names = new Set(found.map(({ name }) => name));
    const isOurs = names.has("meta") && names.has("checkpoints") && names.has("cells");
    const row = isOurs
      ? await transaction.get<{ value: number }>("SELECT value FROM @.meta WHERE name = 'version'")
      : undefined;
    if (row !== undefined) return row.value;
    throw new StoreError(
      "NG_STORE_FAILED",
      `schema ${this.#schema} of database ${this.#place} holds tables of another application: use another schema`,
    );
  }
}

/** Hears of the end of a connection while nothing is asked on it. */
interface Listener {
  reason?: Error;
  readonly hear: (error: Error) => void;
}

/**
 * A connection may end between two questions of a transaction: then nobody waits for an answer that could be the error, and an
 * event that nobody hears ends the process.
 */
function hearLoss(client: PoolClient): Listener {
  const listener: Listener = { hear: (error) => void (listener.reason ??= error) };
  client.on("error", listener.hear);
  return listener;
}

function giveBack(client: PoolClient, { hear }: Listener, isBroken = false): void {
  client.off("error", hear);
  client.release(isBroken);
}

function placeOf(url: string | undefined, pool: Pool): string {
  const { host, database } = pool.options;
  if (url === undefined)
    return `${database ?? process.env["PGDATABASE"] ?? "(default)"} on ${host ?? process.env["PGHOST"] ?? "localhost"}`;
  const { pathname, host: authority, searchParams } = new URL(url);
  return `${pathname.slice(1)} on ${authority || (searchParams.get("host") ?? "localhost")}`;
}
