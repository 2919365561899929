import { StoreError } from "../../interface/errors.ts";
import { compareSchema } from "../contract/compare-schema.ts";
import { inspectRows, Problems, type RowReader, type StoreReport } from "../contract/inspect-rows.ts";
import type { CellRow, CheckpointRow, HeadRow, ThreadRow, WriteRow } from "../contract/rows.ts";
import { Connection, type ConnectionOptions, type Transaction } from "./connection.ts";
import { storeFailure } from "./failure.ts";
import { expectedSchema, schemaOf } from "./expected-schema.ts";
import { SCHEMA_VERSION } from "./schema.ts";

/**
 * Verifies a whole schema: its objects and all rows. Does not write to it. The inspection reads one state of the database,
 * also while other processes use it.
 *
 * @throws StoreError when the database cannot be read, or the schema belongs to another application
 */
export async function inspectPostgres(options: ConnectionOptions): Promise<StoreReport> {
  const connection = new Connection(options);
  try {
    return await connection.inspect(async (transaction, version, place) => {
      const problems = new Problems();
      if (version === 0) return { place, threads: 0, checkpoints: 0, problems: [] };
      if (version !== SCHEMA_VERSION) {
        const message =
          `${place} has schema version ${version}: open it with this version of ngraph, which brings it to version ` +
          `${SCHEMA_VERSION}, and repeat the inspection`;
        problems.add(null, new StoreError("NG_UNKNOWN_VERSION", message));
        return { place, threads: 0, checkpoints: 0, problems: problems.list };
      }
      const found = await schemaOf(transaction, connection.schema);
      for (const error of compareSchema(place, expectedSchema(connection.schema, found), found))
        problems.add(null, error);
      return {
        place,
        ...(await inspectRows(new PostgresReader(transaction, place), problems)),
        problems: problems.list,
      };
    });
  } finally {
    await connection.close();
  }
}

const PAGE = 1000;

class PostgresReader implements RowReader {
  readonly #transaction: Transaction;
  readonly #place: string;

  constructor(transaction: Transaction, place: string) {
    this.#transaction = transaction;
    this.#place = place;
  }

  threads(): AsyncIterable<ThreadRow> {
    return this.#pages<ThreadRow>(
      "SELECT * FROM @.threads WHERE thread > $1 ORDER BY thread LIMIT $2",
      [Number.MIN_SAFE_INTEGER],
      ({ thread }) => [thread],
    );
  }

  heads(thread: number): AsyncIterable<HeadRow> {
    return this.#pages<HeadRow>(
      "SELECT * FROM @.heads WHERE thread = $1 AND namespace > $2 ORDER BY namespace LIMIT $3",
      [thread, ""],
      ({ namespace }) => [thread, namespace],
    );
  }

  checkpoints(thread: number): AsyncIterable<CheckpointRow> {
    return this.#pages<CheckpointRow>(
      "SELECT * FROM @.checkpoints WHERE thread = $1 AND ord > $2 ORDER BY ord LIMIT $3",
      [thread, Number.MIN_SAFE_INTEGER],
      ({ ord }) => [thread, ord],
    );
  }

  cells(chain: number): AsyncIterable<CellRow> {
    return this.#pages<CellRow>(
      "SELECT * FROM @.cells WHERE chain = $1 AND (channel, ord) > ($2, $3) ORDER BY channel, ord LIMIT $4",
      [chain, "", Number.MIN_SAFE_INTEGER],
      ({ channel, ord }) => [chain, channel, ord],
    );
  }

  writes(thread: number): AsyncIterable<WriteRow> {
    return this.#pages<WriteRow & { readonly write: number }>(
      "SELECT * FROM @.writes WHERE thread = $1 AND write > $2 ORDER BY write LIMIT $3",
      [thread, Number.MIN_SAFE_INTEGER],
      ({ write }) => [thread, write],
    );
  }

  /** There is no staging table. */
  uncounted(): number {
    return 0;
  }

  async *orphans(): AsyncIterable<{ name: string; owner: number; rows: number }> {
    for (const table of ["checkpoints", "heads", "writes"]) {
      yield* await this.#all<{ name: string; owner: number; rows: number }>(
        `SELECT '${table}' AS name, thread AS owner, count(*) AS rows FROM @.${table} ` +
          "WHERE thread NOT IN (SELECT thread FROM @.threads) GROUP BY thread",
      );
    }
    yield* await this.#all<{ name: string; owner: number; rows: number }>(
      "SELECT 'cells' AS name, chain AS owner, count(*) AS rows FROM @.cells " +
        "WHERE chain NOT IN (SELECT chain FROM @.checkpoints) GROUP BY chain",
    );
  }

  async epoch(): Promise<number | undefined> {
    const [row] = await this.#all<{ value: number }>("SELECT last_value AS value FROM @.epochs");
    return row?.value;
  }

  /** All rows of a query that takes the key of the last row and a limit. */
  async *#pages<R>(
    sql: string,
    start: readonly (string | number)[],
    keyOf: (row: R) => readonly (string | number)[],
  ): AsyncIterable<R> {
    for (let key = start; ;) {
      const rows = await this.#all<R>(sql, ...key, PAGE);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      key = keyOf(last);
    }
  }

  async #all<R>(sql: string, ...values: readonly (string | number)[]): Promise<R[]> {
    try {
      return await this.#transaction.all<R>(sql, ...values);
    } catch (error) {
      throw storeFailure(error, this.#place);
    }
  }
}
