import type { StoredItem, StoredItemsOptions } from "../../interface/memory.ts";
import { frozenJson } from "../contract/frozen-json.ts";
import { createdOf, encodeNamespace } from "../contract/item-names.ts";
import { encodeKey } from "../contract/key.ts";
import { quote } from "../contract/store-error.ts";

/** The long-term memory of a store in memory. */
export class Items {
  /** By the text of the namespace and the key, as the other stores order them. */
  readonly #items = new Map<string, StoredItem>();

  put(item: StoredItem): void {
    const name = nameOf(item.namespace, item.key);
    const former = this.#items.get(name);
    const created = createdOf(item.created, item.updated, former);
    this.#items.set(
      name,
      frozenJson({ ...item, created }, () => `the item ${quote(item.key)}`),
    );
  }

  get(namespace: readonly string[], key: string): StoredItem | undefined {
    return this.#items.get(nameOf(namespace, key));
  }

  delete(namespace: readonly string[], key: string): boolean {
    return this.#items.delete(nameOf(namespace, key));
  }

  list(prefix: readonly string[], { limit, after, now }: StoredItemsOptions): readonly StoredItem[] {
    const start = encodeNamespace(prefix);
    const last = after === undefined ? "" : nameOf(after.namespace, after.key);
    const names = [...this.#items.keys()].filter((name) => name.startsWith(start) && compare(name, last) > 0);
    const items = names.sort(compare).map((name) => this.#items.get(name)!);
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

/** The separator comes before every character of a key, and before the line breaks within the text of a namespace. */
function nameOf(namespace: readonly string[], key: string): string {
  return `${encodeNamespace(namespace)}\t${encodeKey(key)}`;
}

/** The order of code points, which is that of the bytes of UTF-8. */
function compare(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left === right) continue;
    // A surrogate is a part of a code point above all others.
    const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
    if (isHigh(left) !== isHigh(right)) return isHigh(left) ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}
