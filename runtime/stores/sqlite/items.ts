/** The long-term memory. Its table is created with the first item. */
import type { StoredItem, StoredItemsOptions } from "../../interface/memory.ts";
import { encodeNamespace } from "../contract/item-names.ts";
import { decodeItem, endOfPrefix, itemRow } from "../contract/items.ts";
import { encodeKey } from "../contract/key.ts";
import { addChecksum, type ItemRow, ITEMS, verifyRow } from "../contract/rows.ts";
import type { Connection } from "./connection.ts";

/** The statements that create the table and its indexes. */
export const ITEMS_TABLE = [
  "CREATE TABLE IF NOT EXISTS items (item INTEGER PRIMARY KEY, namespace TEXT NOT NULL, key TEXT NOT NULL, " +
    "created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER, data TEXT NOT NULL, " +
    "v INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT",
  "CREATE UNIQUE INDEX IF NOT EXISTS items_by_name ON items (namespace, key)",
  "CREATE INDEX IF NOT EXISTS items_by_expiry ON items (expires) WHERE expires IS NOT NULL",
];

export function putItem(connection: Connection, item: StoredItem): void {
  const namespace = encodeNamespace(item.namespace);
  const key = encodeKey(item.key);
  connection.writeCached(() => {
    for (const statement of ITEMS_TABLE) connection.run(statement);
    const row = addChecksum(ITEMS, itemRow(item, findItem(connection, namespace, key)));
    connection.run(
      "INSERT INTO items (namespace, key, created, updated, expires, data, v, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT (namespace, key) DO UPDATE SET created = excluded.created, updated = excluded.updated, " +
        "expires = excluded.expires, data = excluded.data, v = excluded.v, sum = excluded.sum",
      ...([row.namespace, row.key, row.created, row.updated, row.expires, row.data, row.v, row.sum] as const),
    );
  });
}

export function getItem(connection: Connection, namespace: readonly string[], key: string): StoredItem | undefined {
  const [place, name] = [encodeNamespace(namespace), encodeKey(key)];
  return connection.read(() => {
    const row = hasItems(connection) ? findItem(connection, place, name) : undefined;
    return row && decodeItem(row);
  });
}

export function deleteItem(connection: Connection, namespace: readonly string[], key: string): boolean {
  const [place, name] = [encodeNamespace(namespace), encodeKey(key)];
  return connection.writeCached(
    () => hasItems(connection) && connection.run("DELETE FROM items WHERE namespace = ? AND key = ?", place, name) > 0,
  );
}

export function listItems(
  connection: Connection,
  prefix: readonly string[],
  { limit, after, now }: StoredItemsOptions,
): readonly StoredItem[] {
  const from = encodeNamespace(prefix);
  // No text of a namespace comes behind the last code point.
  const to = endOfPrefix(from) ?? "\u{10ffff}";
  const [namespace, key] = after === undefined ? ["", ""] : [encodeNamespace(after.namespace), encodeKey(after.key)];
  return connection.read(() => {
    if (!hasItems(connection)) return [];
    const rows = connection.all<ItemRow>(
      "SELECT namespace, key, created, updated, expires, data, v, sum FROM items " +
        "WHERE namespace >= ? AND namespace < ? AND (namespace, key) > (?, ?) AND (expires IS NULL OR expires > ?) " +
        "ORDER BY namespace, key LIMIT ?",
      ...([from, to, namespace, key, now, limit] as const),
    );
    return rows.map((row) => decodeItem(verifyRow(ITEMS, row)));
  });
}

export function pruneItems(connection: Connection, now: number): number {
  return connection.writeCached(() =>
    hasItems(connection) ? connection.run("DELETE FROM items WHERE expires <= ?", now) : 0,
  );
}

function hasItems(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'items'") !== undefined;
}

function findItem(connection: Connection, namespace: string, key: string): ItemRow | undefined {
  const row = connection.get<ItemRow>(
    "SELECT namespace, key, created, updated, expires, data, v, sum FROM items WHERE namespace = ? AND key = ?",
    namespace,
    key,
  );
  return row && verifyRow(ITEMS, row, { namespace, key });
}
