/** Items of the long-term memory: their names as keys, and their content as text. */
import type { StoredItem } from "../../interface/memory.ts";
import type { Json } from "../../value/json.ts";
import { freezeDeep } from "./frozen-json.ts";
import { jsonText } from "./json-text.ts";
import { createdOf, encodeNamespace } from "./item-names.ts";
import { decodeKey, encodeKey } from "./key.ts";
import { type ItemRow, ITEMS, rowName, type RowContent } from "./rows.ts";
import { corruptRecord, quote } from "./store-error.ts";

function decodeNamespace(text: string): readonly string[] {
  return Object.freeze(text.split("\n").slice(0, -1).map(decodeKey));
}

/** The first text behind all texts with a prefix, in the order of bytes; `undefined` for the empty prefix. */
export function endOfPrefix(prefix: string): string | undefined {
  return prefix === "" ? undefined : `${prefix.slice(0, -1)}\u000b`;
}

/** @param former the item that this one replaces, if any: it determines `created`, unless it had expired */
export function itemRow(
  item: StoredItem,
  former: Pick<ItemRow, "created" | "expires"> | undefined,
): RowContent<ItemRow> {
  const { namespace, key, value, vector, created, updated, expires } = item;
  return {
    namespace: encodeNamespace(namespace),
    key: encodeKey(key),
    created: createdOf(created, updated, former),
    updated,
    expires,
    data: jsonText([value, vector], () => `the item ${quote(key)}`),
  };
}

/** @param row with a verified checksum */
export function decodeItem(row: ItemRow): StoredItem {
  let content: unknown;
  try {
    content = JSON.parse(row.data);
  } catch (error) {
    throw corruptRecord(rowName(ITEMS, row), "it is not JSON", error);
  }
  if (!Array.isArray(content) || content.length !== 2) {
    throw corruptRecord(rowName(ITEMS, row), "it is not a value and a vector");
  }
  const { created, updated, expires } = row;
  return Object.freeze({
    namespace: decodeNamespace(row.namespace),
    key: decodeKey(row.key),
    value: freezeDeep(content[0] as Json),
    created,
    updated,
    expires,
    vector: content[1] as string | null,
  });
}
