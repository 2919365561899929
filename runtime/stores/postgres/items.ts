/** The long-term memory. Its table is created with the first item. */
import type { StoredItem, StoredItemsOptions } from "../../interface/memory.ts";
import { encodeNamespace } from "../contract/item-names.ts";
import { decodeItem, endOfPrefix, itemRow } from "../contract/items.ts";
import { encodeKey } from "../contract/key.ts";
import { addChecksum, type ItemRow, ITEMS, verifyRow } from "../contract/rows.ts";
import type { Connection, Transaction } from "./connection.ts";

/** "items" as bytes: key of the advisory lock of the transaction that creates the table. */
const TABLE_LOCK = 0x69_7465_6d73;

export function putItem(connection: Connection, item: StoredItem): Promise<void> {
  const namespace = encodeNamespace(item.namespace);
  const key = encodeKey(item.key);
  return connection.write(async (transaction) => {
    if (!(await hasItems(transaction))) await makeTable(transaction);
    const former = await findItem(transaction, namespace, key, "FOR UPDATE");
    const row = addChecksum(ITEMS, itemRow(item, former));
    await transaction.run(
      "INSERT INTO @.items (namespace, key, created, updated, expires, data, v, sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) " +
        "ON CONFLICT (namespace, key) DO UPDATE SET created = excluded.created, updated = excluded.updated, " +
        "expires = excluded.expires, data = excluded.data, v = excluded.v, sum = excluded.sum",
      ...([row.namespace, row.key, row.created, row.updated, row.expires, row.data, row.v, row.sum] as const),
    );
  });
}

export function getItem(
  connection: Connection,
  namespace: readonly string[],
  key: string,
): Promise<StoredItem | undefined> {
  const [place, name] = [encodeNamespace(namespace), encodeKey(key)];
  return connection.read(async (transaction) => {
    const row = (await hasItems(transaction)) ? await findItem(transaction, place, name) : undefined;
    return row && decodeItem(row);
  });
}

export function deleteItem(connection: Connection, namespace: readonly string[], key: string): Promise<boolean> {
  const [place, name] = [encodeNamespace(namespace), encodeKey(key)];
  return connection.write(async (transaction) => {
    if (!(await hasItems(transaction))) return false;
    return (await transaction.run("DELETE FROM @.items WHERE namespace = $1 AND key = $2", place, name)) > 0;
  });
}

export function listItems(
  connection: Connection,
  prefix: readonly string[],
  { limit, after, now }: StoredItemsOptions,
): Promise<readonly StoredItem[]> {
  const from = encodeNamespace(prefix);
  const to = endOfPrefix(from) ?? null;
  const [namespace, key] = after === undefined ? ["", ""] : [encodeNamespace(after.namespace), encodeKey(after.key)];
  return connection.read(async (transaction) => {
    if (!(await hasItems(transaction))) return [];
    const rows = await transaction.all<ItemRow>(
      "SELECT * FROM @.items WHERE namespace >= $1 AND ($2::text IS NULL OR namespace < $2) AND (namespace, key) > ($3, $4) " +
        "AND (expires IS NULL OR expires > $5) ORDER BY namespace, key LIMIT $6",
      ...([from, to, namespace, key, now, limit] as const),
    );
    return rows.map((row) => decodeItem(verifyRow(ITEMS, row)));
  });
}

export function pruneItems(connection: Connection, now: number): Promise<number> {
  return connection.write(async (transaction) =>
    (await hasItems(transaction)) ? transaction.run("DELETE FROM @.items WHERE expires <= $1", now) : 0,
  );
}

async function hasItems(transaction: Transaction): Promise<boolean> {
  const found = await transaction.get<{ found: boolean }>("SELECT to_regclass('@.items') IS NOT NULL AS found");
  return found?.found === true;
}

/** Of two transactions that create the table, the second waits for the first. */
async function makeTable(transaction: Transaction): Promise<void> {
  await transaction.run("SELECT pg_advisory_xact_lock($1)", TABLE_LOCK);
  await transaction.run(`
  CREATE TABLE IF NOT EXISTS @.items (
    namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, created bigint NOT NULL, updated bigint NOT NULL,
    expires bigint, data text NOT NULL, v bigint NOT NULL, sum bigint NOT NULL, PRIMARY KEY (namespace, key)
  )`);
  await transaction.run("CREATE INDEX IF NOT EXISTS items_by_expiry ON @.items (expires) WHERE expires IS NOT NULL");
}

async function findItem(
  transaction: Transaction,
  namespace: string,
  key: string,
  lock: "" | "FOR UPDATE" = "",
): Promise<ItemRow | undefined> {
  const sql = `SELECT * FROM @.items WHERE namespace = $1 AND key = $2 ${lock}`;
  const row = await transaction.get<ItemRow>(sql, namespace, key);
  return row && verifyRow(ITEMS, row, { namespace, key });
}
