/**
 * The long-term memory of a graph in several objects, so that writes do not wait for each other. All items of a namespace are in one
 * object; a list reads all objects.
 */
import type { StoredItem, StoredItemsOptions } from "../../../runtime/interface/memory.ts";
import { freezeDeep } from "../../../runtime/stores/contract/frozen-json.ts";
import { compareNames, encodeNamespace, nameOfItem } from "../../../runtime/stores/contract/item-names.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { CallItems } from "./restate-store.ts";

const PARTS = Array.from({ length: 16 }, (_, index) => String(index));

export class MemoryParts {
  readonly #call: CallItems;

  constructor(call: CallItems) {
    this.#call = call;
  }

  put(item: StoredItem): Promise<void> {
    return this.#call(partOf(item.namespace), "put", { item });
  }

  async get(namespace: readonly string[], key: string): Promise<StoredItem | undefined> {
    const item = await this.#call(partOf(namespace), "get", { namespace, key });
    return item && frozen(item);
  }

  delete(namespace: readonly string[], key: string): Promise<boolean> {
    return this.#call(partOf(namespace), "delete", { namespace, key });
  }

  async list(prefix: readonly string[], options: StoredItemsOptions): Promise<readonly StoredItem[]> {
    const { limit, after, now } = options;
    if (limit <= 0) return [];
    const call = { prefix, limit, now, ...(after && { after: { namespace: after.namespace, key: after.key } }) };
    const lists = await Promise.all(PARTS.map((part) => this.#call(part, "list", call)));
    const named = lists.flat().map((item) => ({ name: nameOfItem(item.namespace, item.key), item }));
    named.sort((a, b) => compareNames(a.name, b.name));
    return named.slice(0, limit).map(({ item }) => frozen(item));
  }

  async prune(now: number): Promise<number> {
    const counts = await Promise.all(PARTS.map((part) => this.#call(part, "prune", { now })));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

function frozen(item: StoredItem): StoredItem {
  return freezeDeep(item as unknown as Json) as unknown as StoredItem;
}

/** FNV-1a of the namespace. */
function partOf(namespace: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const unit of encodeNamespace(namespace)) hash = Math.imul(hash ^ unit.codePointAt(0)!, 0x01000193) >>> 0;
  return PARTS[hash % PARTS.length]!;
}
