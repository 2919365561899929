import type { Pool, PoolClient } from "pg";
import { NgraphError, StoreError } from "../../interface/errors.ts";
import { CountedThreads, KnownThreads } from "./known-threads.ts";
import { KnownHeads } from "../contract/known-heads.ts";
import type { LostOwners } from "../contract/lost-owners.ts";
import { corruptRecord, storeIsClosed, unknownVersion } from "../contract/store-error.ts";
import { asNumbers, makePool } from "./driver.ts";
import { isConnectionLost, sqlState, storeFailure } from "./failure.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`. Default: the variables of `libpq` (PGHOST and so on). */
  readonly url?: string;
  /** The schema of the tables, which is created when it does not exist. Default `ngraph`. */
  readonly schema?: string;
  /** Maximum number of connections. Default 10. */
  readonly connections?: number;
  /** Time limit for making a connection, in milliseconds; 0 for no limit. Default 30,000. */
  readonly connectTimeoutMs?: number;
  /** An existing pool in place of `url`, `connections` and `connectTimeoutMs`. The store does not close it. */
  readonly pool?: PostgresPool;
}

/** A `Pool` of the package `pg`. Declared here, so that a project without `@types/pg` type-checks. */
export interface PostgresPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  connect(): Promise<object>;
  end(): Promise<void>;
}

type Value = string | number | null | readonly (string | number | null)[];

/** A single statement, in which `@.` is the prefix of the schema, and its values. */
export type Statement = readonly [sql: string, ...values: Value[]];

/** An open transaction. */
export interface Transaction {
  /** The rows of a statement, in which `@.` is the prefix of the schema. The caller states the row type. */
  all<T>(sql: string, ...values: readonly Value[]): Promise<T[]>;
  get<T>(sql: string, ...values: readonly Value[]): Promise<T | undefined>;
  /** The number of rows that a statement changed. */
  run(sql: string, ...values: readonly Value[]): Promise<number>;
  /** As `all`, and commits in the same message if the statement succeeds. The last call of a transaction. */
  commitWith<T>(sql: string, ...values: readonly Value[]): Promise<T[]>;
  readonly heads: KnownHeads;
  readonly counted: CountedThreads;
}

/** "ngraph" as bytes: key of the advisory lock that a migration holds exclusively and all other transactions share. */
const MIGRATION_LOCK = 0x6e67_7261_7068;

/** Sent in one message with BEGIN: excludes concurrent migrations and reads the schema version. */
const VERSION = `SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK}); SELECT value::int AS version FROM @.meta WHERE name = 'version'`;

/**
 * Settings of every write transaction, sent in one message with BEGIN. `synchronous_commit`: without it a power failure loses
 * commits. `lock_timeout`: a stopped process that holds a thread's lock must not block others forever.
 */
const SETTINGS =
  "SET LOCAL lock_timeout = '30s'; " +
  "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/** As `VERSION`, and numbers of new checkpoints. */
function versionAndOrds(count: number): string {
  const ords = `array(SELECT nextval('@.ords')::float8 FROM generate_series(1, ${count}))`;
  return VERSION.replace(" AS version", ` AS version, ${ords} AS ords`);
}

const WRITING = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${SETTINGS}`;
const READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** A pool of connections to a database. The first transaction creates or migrates the tables. */
export class Connection {
  readonly #pool: Pool;
  readonly #isOwnPool: boolean;
  readonly #schema: string;
  readonly #prefix: () => string;
  /** The database in error messages, without a password. */
  readonly #place: string;
  readonly #sql = new Map<string, string>();
  /** Owners as keys, see `encodeKey`. */
  readonly lost: LostOwners = new Set();
  readonly #heads = new KnownHeads();
  /** Threads whose checkpoints have been counted. */
  readonly counted = new CountedThreads();
  readonly known = new KnownThreads();
  #migrated: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    const { url, schema = "ngraph", connections = 10, connectTimeoutMs = 30_000, pool } = options;
    if (!/^[\p{L}_][\p{L}\p{N}_$-]*$/u.test(schema) || Buffer.byteLength(schema) > 63) {
      const given = JSON.stringify(schema.slice(0, 80));
      throw new StoreError(
        "NG_STORE_FAILED",
        `${given} is not a valid name for a schema: use letters, digits and _, at most 63 bytes`,
      );
    }
    if (url !== undefined && !URL.canParse(url)) {
      // No cause: it would show the password.
      throw new StoreError(
        "NG_STORE_FAILED",
        "the URL of the database is not valid: use the form postgres://user:password@host:5432/name",
      );
    }
    this.#schema = schema;
    // Valid names have no quotes. A `$` would be special in a replacement text.
    this.#prefix = () => `"${schema}".`;
    this.#isOwnPool = pool === undefined;
    const config = { max: connections, ...(url === undefined ? {} : { connectionString: url }) };
    this.#pool = pool === undefined ? makePool(config, connectTimeoutMs) : (pool as Pool);
    this.#place = placeOf(url, this.#pool);
    // An idle connection may end. The pool drops it, and the next query reports the failure. Without a listener the event
    // would end the process.
    if (this.#isOwnPool) this.#pool.on("error", () => {});
  }

  /** A write transaction. */
  write<T>(body: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(`${WRITING}; ${VERSION}`, body);
  }

  /** A write transaction with the numbers of new checkpoints, which cost no round trip of their own. */
  writeNumbered<T>(count: number, body: (transaction: Transaction, ords: readonly number[]) => Promise<T>): Promise<T> {
    return this.#transaction(`${WRITING}; ${versionAndOrds(count)}`, (transaction, { ords = [] }) =>
      body(transaction, ords),
    );
  }

  /** A write transaction with the rows of its first statement, which costs no round trip of its own. */
  writeAfter<Row, T>(
    first: Statement,
    body: (transaction: Transaction, rows: readonly Row[]) => Promise<T>,
  ): Promise<T> {
    return this.#transaction(
      `${WRITING}; ${VERSION}`,
      (transaction, { rows: [rows = []] }) => body(transaction, rows as readonly Row[]),
      [first],
    );
  }

  /** A read transaction: all reads see one state of the database. */
  read<T>(body: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(`${READING}; ${VERSION}`, body);
  }

  /** A read transaction in one message. Returns the rows of each statement. */
  readAtOnce(statements: readonly Statement[]): Promise<readonly (readonly unknown[])[]> {
    return this.#usable(async () => {
      const { client, lost, begun } = await this.#begin(`${READING}; ${VERSION}`, [...statements, ["COMMIT"]]);
      releaseClient(client, lost);
      this.#checkVersion(begun.version);
      return begun.rows.slice(0, -1);
    });
  }

  /** A read transaction that never creates or migrates tables. The body gets the schema version; 0 when there are no tables. */
  async inspect<T>(body: (transaction: Transaction, version: number, place: string) => Promise<T>): Promise<T> {
    if (this.#closed) throw storeIsClosed();
    try {
      return await this.#within(READING, async (transaction) => {
        const version = await this.#version(transaction);
        if (version !== 0) this.#checkVersion(version, 1);
        return body(transaction, version, `schema ${this.#schema} of database ${this.#place}`);
      });
    } catch (error) {
      throw storeFailure(error, this.#place);
    }
  }

  /** The schema of the tables. */
  get schema(): string {
    return this.#schema;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#isOwnPool) await this.#pool.end();
  }

  #transaction<T>(
    begin: string,
    body: (transaction: Transaction, begun: Begun) => Promise<T>,
    first: readonly Statement[] = [],
  ): Promise<T> {
    return this.#usable(() =>
      this.#within(
        begin,
        (transaction, begun) => {
          this.#checkVersion(begun.version);
          return body(transaction, begun);
        },
        first,
      ),
    );
  }

  /** Runs a transaction on tables of the current version. */
  async #usable<T>(transact: () => Promise<T>): Promise<T> {
    if (this.#closed) throw storeIsClosed();
    try {
      // The next caller retries a failed migration.
      this.#migrated ??= this.#migrate().catch((error: unknown) => {
        this.#migrated = undefined;
        throw error;
      });
      await this.#migrated;
      return await transact();
    } catch (error) {
      throw storeFailure(error, this.#place);
    }
  }

  /**
   * @param begin may end with `VERSION` or `versionAndOrds`, whose result is passed to the body
   * @param first statements in the same message, whose rows are passed to the body
   */
  async #within<T>(
    begin: string,
    body: (transaction: Transaction, begun: Begun) => Promise<T>,
    first: readonly Statement[] = [],
  ): Promise<T> {
    const { client, lost, begun } = await this.#begin(begin, first);
    try {
      const transaction = this.#transactionOn(client);
      const result = await body(transaction, begun);
      if (!transaction.isCommitted) await client.query("COMMIT");
      releaseClient(client, lost);
      return result;
    } catch (error) {
      this.#heads.forget();
      // A connection that cannot roll back is not used again.
      const isUsable = await client.query("ROLLBACK").then(
        () => true,
        () => false,
      );
      releaseClient(client, lost, !isUsable);
      // The server's reason for ending the connection is more precise than the error of the query.
      throw lost.reason !== undefined && sqlState(error) === "" && !(error instanceof NgraphError)
        ? lost.reason
        : error;
    }
  }

  /** After a restart of the server the idle connections of the pool are dead, which only a query shows: tries the next one. */
  async #begin(
    begin: string,
    first: readonly Statement[],
  ): Promise<{ client: PoolClient; lost: LossListener; begun: Begun }> {
    for (let idle = this.#pool.idleCount; ; idle--) {
      const client = await this.#pool.connect();
      const lost = listenForLoss(client);
      try {
        const texts = first.map(([sql, ...values]) => this.#textWith(sql, values, client));
        const text = [this.#text(begin), ...texts].join("; ");
        // One result for each statement; the version, when requested, is the last of `begin`.
        const results: unknown = await client.query({ text, types: asNumbers });
        const rows = (Array.isArray(results) ? results : [results]).map((result: { rows: unknown[] }) => result.rows);
        const own = rows.length - first.length;
        return { client, lost, begun: { ...(rows[own - 1]![0] as object | undefined), rows: rows.slice(own) } };
      } catch (error) {
        releaseClient(client, lost, true);
        if (idle <= 0 || !isConnectionLost(error)) throw error;
      }
    }
  }

  #transactionOn(client: PoolClient): Transaction & { readonly isCommitted: boolean } {
    const query = (sql: string, values: readonly Value[]) =>
      client.query({ text: this.#text(sql), values: values as Value[], types: asNumbers });
    let isCommitted = false;
    return {
      get isCommitted() {
        return isCommitted;
      },
      commitWith: async <T>(sql: string, ...values: readonly Value[]) => {
        // The server skips the statements that follow a failed one, so it does not reach COMMIT.
        const text = `${this.#textWith(sql, values, client)}; COMMIT`;
        const results: unknown = await client.query({ text, types: asNumbers });
        isCommitted = true;
        return (results as readonly { readonly rows: T[] }[])[0]!.rows;
      },
      all: async <T>(sql: string, ...values: readonly Value[]) => (await query(sql, values)).rows as T[],
      get: async <T>(sql: string, ...values: readonly Value[]) => (await query(sql, values)).rows[0] as T | undefined,
      run: async (sql, ...values) => (await query(sql, values)).rowCount ?? 0,
      heads: this.#heads,
      counted: this.counted,
    };
  }

  #text(sql: string): string {
    let text = this.#sql.get(sql);
    if (text === undefined) {
      text = sql.replaceAll("@.", this.#prefix);
      // The texts with a number of checkpoints differ; there are a few hundred of them at most.
      this.#sql.set(sql, text);
    }
    return text;
  }

  /** The text of a statement with its values as literals: a message with several statements has no parameters. */
  #textWith(sql: string, values: readonly Value[], client: PoolClient): string {
    return sql.replaceAll(/@\.|\$(\d+)/g, (_, number: string | undefined) =>
      number === undefined ? this.#prefix() : literal(values[Number(number) - 1]!, client),
    );
  }

  async #migrate(): Promise<void> {
    // Reads first: a read-only role or a standby can use existing tables.
    const found = await this.#within(READING, (transaction) => this.#version(transaction));
    if (found === SCHEMA_VERSION) return;
    await this.#within(WRITING, async (transaction) => {
      // One process at a time migrates, and no other transaction runs meanwhile.
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

  /** Detects a migration by another program while this one has the schema open. */
  #checkVersion(version: unknown, oldest = SCHEMA_VERSION): void {
    if (version === SCHEMA_VERSION) return;
    const what = `schema ${this.#schema} of database ${this.#place}`;
    if (typeof version === "number" && version > SCHEMA_VERSION) {
      throw unknownVersion(what, "schema version", version, SCHEMA_VERSION);
    }
    if (typeof version === "number" && version >= oldest) return;
    throw corruptRecord(what, `its schema version reads as ${String(version)}`);
  }

  /** The schema version; 0 when there are no tables. */
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

function literal(value: Value, client: PoolClient): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return client.escapeLiteral(value);
  return `ARRAY[${value.map((item) => literal(item, client)).join(",")}]`;
}

/** What the message that begins a transaction has returned. */
interface Begun {
  readonly version?: unknown;
  readonly ords?: readonly number[];
  /** Of the first statements of the transaction. */
  readonly rows: readonly (readonly unknown[])[];
}

/** Records the error of a connection that ends between two queries. */
interface LossListener {
  reason?: Error;
  readonly onError: (error: Error) => void;
}

/**
 * A connection may end between two queries of a transaction. The error then is an event, which ends the process unless there is
 * a listener.
 */
function listenForLoss(client: PoolClient): LossListener {
  const listener: LossListener = { onError: (error) => void (listener.reason ??= error) };
  client.on("error", listener.onError);
  return listener;
}

function releaseClient(client: PoolClient, { onError }: LossListener, isBroken = false): void {
  client.off("error", onError);
  client.release(isBroken);
}

function placeOf(url: string | undefined, pool: Pool): string {
  const { host, database } = pool.options;
  if (url === undefined)
    return `${database ?? process.env["PGDATABASE"] ?? "(default)"} on ${host ?? process.env["PGHOST"] ?? "localhost"}`;
  const { pathname, host: authority, searchParams } = new URL(url);
  return `${pathname.slice(1)} on ${authority || (searchParams.get("host") ?? "localhost")}`;
}
