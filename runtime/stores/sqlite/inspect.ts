import { StoreError } from "../../interface/errors.ts";
import { compareSchema, type SchemaObject } from "../contract/compare-schema.ts";
import { inspectRows, Problems, type RowReader, type StoreReport } from "../contract/inspect-rows.ts";
import type { CellRow, CheckpointRow, HeadRow, ThreadRow, WriteRow } from "../contract/rows.ts";
import { loadSqlite, type SqliteDatabase, type SqliteValue } from "./driver.ts";
import { resultCode, storeFailure } from "./failure.ts";
import { ITEMS_TABLE } from "./items.ts";
import { checkFile, checkOwner, openDatabase } from "./open-database.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";
import { copySnapshot } from "./snapshot-copy.ts";

/**
 * Verifies a whole database: the file, its schema and all rows. Does not write to it. The inspection reads one state of the
 * database, also while other processes use it.
 *
 * @param path an absolute path
 * @throws StoreError when the file cannot be read, or is not a database of this application
 */
export async function inspectSqlite(path: string): Promise<StoreReport> {
  checkFile(path);
  try {
    const report = await inspectReadOnly(path);
    if (report !== undefined) return report;
  } catch (error) {
    if (!needsCopy(error)) throw storeFailure(error, path);
  }
  const copy = copySnapshot(path);
  try {
    const database = openDatabase(copy.path, { path: copy.path });
    try {
      return await inspectDatabase(database, path);
    } finally {
      database.close();
    }
  } catch (error) {
    throw storeFailure(error, path);
  } finally {
    copy.remove();
  }
}

/** Returns undefined for a database of an older schema: only a migrated copy of it can be inspected. */
async function inspectReadOnly(path: string): Promise<StoreReport | undefined> {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN");
    const version = checkOwner(database, path);
    if (version === 0) return { place: path, threads: 0, checkpoints: 0, problems: [] };
    return version === SCHEMA_VERSION ? await inspectDatabase(database, path) : undefined;
  } finally {
    database.close();
  }
}

const READONLY = 8;
const CANTOPEN = 14;

/** Whether SQLite must write before it can read: a process has left the database in a transaction, or a log without its index. */
function needsCopy(error: unknown): boolean {
  const primary = resultCode(error) & 0xff;
  return primary === READONLY || primary === CANTOPEN;
}

async function inspectDatabase(database: SqliteDatabase, path: string): Promise<StoreReport> {
  const problems = new Problems();
  for (const error of fileErrors(database, path)) problems.add(null, error);
  const found = schemaOf(database);
  for (const error of compareSchema(`database ${path}`, expectedSchema(found), found)) problems.add(null, error);
  return { place: path, ...(await inspectRows(new SqliteReader(database, path), problems)), problems: problems.list };
}

/** Errors of pages and indexes. */
function fileErrors(database: SqliteDatabase, path: string): StoreError[] {
  let rows: readonly Readonly<Record<string, unknown>>[];
  try {
    rows = rowsOf(database, path, "PRAGMA integrity_check(20)");
  } catch (error) {
    if (error instanceof StoreError) return [error];
    throw error;
  }
  return rows
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok")
    .map((text) => {
      const message = `database ${path} is damaged: ${text.replaceAll("\n", "; ")}: restore it from a backup`;
      return new StoreError("NG_CORRUPT_RECORD", message);
    });
}

/** The schema that the migrations create, and the long-term memory where there is one. */
function expectedSchema(found: readonly SchemaObject[]): readonly SchemaObject[] {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(":memory:");
  try {
    for (const step of MIGRATIONS) step(database);
    if (found.some(({ kind, name }) => kind === "table" && name === "items")) {
      for (const statement of ITEMS_TABLE) database.exec(statement);
    }
    return schemaOf(database);
  } finally {
    database.close();
  }
}

function schemaOf(database: SqliteDatabase): readonly SchemaObject[] {
  const rows = database
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
    .all() as { type: string; name: string; sql: string | null }[];
  return rows.map(({ type, name, sql }) => {
    const text = (sql ?? "").replace(/\s+/g, " ");
    return {
      kind: type,
      name,
      // SQLite quotes the name of a table that was renamed.
      definition: text.replaceAll('"', ""),
      ...(type === "index" ? { create: text } : {}),
    };
  });
}

/** Runs a query; its errors become StoreErrors. */
function rowsOf<R>(database: SqliteDatabase, path: string, sql: string, ...values: readonly SqliteValue[]): R[] {
  try {
    return database.prepare(sql).all(...values) as R[];
  } catch (error) {
    throw storeFailure(error, path);
  }
}

const PAGE = 1000;

/** Reads the checkpoint tables together with the staging table, as if it had been flushed. */
class SqliteReader implements RowReader {
  readonly #database: SqliteDatabase;
  readonly #path: string;

  constructor(database: SqliteDatabase, path: string) {
    this.#database = database;
    this.#path = path;
  }

  *threads(): Iterable<ThreadRow> {
    yield* this.#pages<ThreadRow>(
      "SELECT * FROM threads WHERE thread > ? ORDER BY thread LIMIT ?",
      [Number.MIN_SAFE_INTEGER],
      ({ thread }) => [thread],
    );
  }

  heads(thread: number): HeadRow[] {
    return this.#all("SELECT * FROM heads WHERE thread = ?", thread);
  }

  *checkpoints(thread: number): Iterable<CheckpointRow> {
    const columns = "ord, thread, id, namespace, chain, parent, state";
    yield* this.#pages<CheckpointRow>(
      `SELECT ${columns}, label, header, v, sum FROM checkpoints WHERE thread = ?1 AND ord > ?2 ` +
        `UNION ALL SELECT ${columns}, NULL, header, v, sum FROM tail WHERE id IS NOT NULL AND thread = ?1 AND ord > ?2 ` +
        "ORDER BY ord LIMIT ?3",
      [thread, Number.MIN_SAFE_INTEGER],
      ({ ord }) => [thread, ord],
    );
  }

  *cells(chain: number): Iterable<CellRow> {
    const columns = "chain, channel, ord, kind, version, base, count, slack, data";
    const place = "chain = ?1 AND (channel, ord) > (?2, ?3)";
    yield* this.#pages<CellRow>(
      `SELECT ${columns}, v, sum FROM cells WHERE ${place} ` +
        `UNION ALL SELECT ${columns}, cell_v, cell_sum FROM tail WHERE channel IS NOT NULL AND ${place} ` +
        "ORDER BY channel, ord LIMIT ?4",
      [chain, "", Number.MIN_SAFE_INTEGER],
      ({ channel, ord }) => [chain, channel, ord],
    );
  }

  writes(thread: number): WriteRow[] {
    return this.#all("SELECT * FROM writes WHERE thread = ?", thread);
  }

  uncounted({ thread, last }: ThreadRow): number {
    const [found] = this.#all<{ steps: number }>(
      "SELECT count(*) AS steps FROM tail WHERE id IS NOT NULL AND thread = ? AND ord > ?",
      thread,
      last,
    );
    return found?.steps ?? 0;
  }

  orphans(): { name: string; owner: number; rows: number }[] {
    const orphansOf = (table: string, rows = table): string =>
      `SELECT '${table}' AS name, thread AS owner, count(*) AS rows FROM ${rows} ` +
      "WHERE thread NOT IN (SELECT thread FROM threads) GROUP BY thread";
    const checkpoints =
      "(SELECT thread, chain FROM checkpoints UNION ALL SELECT thread, chain FROM tail WHERE id IS NOT NULL)";
    return [
      ...this.#all<{ name: string; owner: number; rows: number }>(orphansOf("checkpoints", checkpoints)),
      ...this.#all<{ name: string; owner: number; rows: number }>(orphansOf("heads")),
      ...this.#all<{ name: string; owner: number; rows: number }>(orphansOf("writes")),
      ...this.#all<{ name: string; owner: number; rows: number }>(
        "SELECT 'cells' AS name, chain AS owner, count(*) AS rows " +
          "FROM (SELECT chain FROM cells UNION ALL SELECT chain FROM tail WHERE channel IS NOT NULL) " +
          `WHERE chain NOT IN (SELECT chain FROM ${checkpoints}) GROUP BY chain`,
      ),
    ];
  }

  epoch(): number | undefined {
    return this.#all<{ value: number }>("SELECT value FROM meta WHERE name = 'epoch'")[0]?.value;
  }

  /** All rows of a query that takes the key of the last row and a limit. */
  *#pages<R>(sql: string, start: readonly SqliteValue[], keyOf: (row: R) => readonly SqliteValue[]): Iterable<R> {
    for (let key = start; ;) {
      const rows = this.#all<R>(sql, ...key, PAGE);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      key = keyOf(last);
    }
  }

  #all<R>(sql: string, ...values: readonly SqliteValue[]): R[] {
    return rowsOf(this.#database, this.#path, sql, ...values);
  }
}
