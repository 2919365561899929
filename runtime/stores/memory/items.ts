import type { StoredItem, StoredItemsOptions } from "../../interface/memory.ts";
import { frozenJson } from "../contract/frozen-json.ts";
import { compareNames, createdOf, encodeNamespace, nameOfItem } from "../contract/item-names.ts";
import { quote } from "../contract/store-error.ts";

/** The long-term memory of a store in memory. */
export class Items {
  /** By the text of the namespace and the key, as the other stores order them. */
  readonly #items = new Map<string, StoredItem>();

  put(item: StoredItem): void {
    const name = nameOfItem(item.namespace, item.key);
    const former = this.#items.get(name);
    const created = createdOf(item.created, item.updated, former);
    this.#items.set(
      name,
      frozenJson({ ...item, created }, () => `the item ${quote(item.key)}`),
    );
  }

  get(namespace: readonly string[], key: string): StoredItem | undefined {
    return this.#items.get(nameOfItem(namespace, key));
  }

  delete(namespace: readonly string[], key: string): boolean {
    return this.#items.delete(nameOfItem(namespace, key));
  }

  list(prefix: readonly string[], { limit, after, now }: StoredItemsOptions): readonly StoredItem[] {
    const start = encodeNamespace(prefix);
    const last = after === undefined ? "" : nameOfItem(after.namespace, after.key);
    const names = [...this.#items.keys()].filter((name) => name.startsWith(start) && compareNames(name, last) > 0);
    const items = names.sort(compareNames).map((name) => this.#items.get(name)!);
    return items.filter((item) => !isExpired(item, now)).slice(0, limit);
  }

  prune(now: number): number {
    const gone = [...this.#items].filter(([, item]) => isExpired(item, now));
    for (const [name] of gone) this.#items.delete(name);
    return gone.length;
  }
}

function isExpired({ expires }: StoredItem, now: number): boolean {
  return expires !== null && expires <= now;
}
