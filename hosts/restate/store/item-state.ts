/**
 * A part of the long-term memory, over the state of its virtual object. The row `m/<name>` has an item, and the row `x/<time>/<name>`
 * the time at which it expires: a prune reads the keys alone.
 */
import type { StoredItem, StoredItemsOptions } from "../../../runtime/interface/memory.ts";
import { compareNames, createdOf, encodeNamespace, nameOfItem } from "../../../runtime/stores/contract/item-names.ts";
import type { KeyValues } from "./key-values.ts";
import { decodeRow, encodePlace, encodeRow } from "./rows.ts";

/** Names one item. */
export interface ItemName {
  readonly namespace: readonly string[];
  readonly key: string;
}

export class ItemState {
  readonly #state: KeyValues;

  constructor(state: KeyValues) {
    this.#state = state;
  }

  async put({ item }: { item: StoredItem }): Promise<void> {
    const name = nameOfItem(item.namespace, item.key);
    const former = await this.#read(name);
    if (former !== undefined) this.#clearExpiry(name, former);
    const created = createdOf(item.created, item.updated, former);
    this.#state.set(keyOf(name), encodeRow(keyOf(name), { ...item, created }));
    if (item.expires !== null) this.#state.set(expiryKey(name, item.expires), "1");
  }

  get({ namespace, key }: ItemName): Promise<StoredItem | undefined> {
    return this.#read(nameOfItem(namespace, key));
  }

  async delete({ namespace, key }: ItemName): Promise<boolean> {
    const name = nameOfItem(namespace, key);
    const item = await this.#read(name);
    if (item === undefined) return false;
    this.#clear(name, item);
    return true;
  }

  async list(call: { prefix: readonly string[] } & StoredItemsOptions): Promise<readonly StoredItem[]> {
    const { prefix, limit, after, now } = call;
    const start = keyOf(encodeNamespace(prefix));
    const last = after === undefined ? "" : nameOfItem(after.namespace, after.key);
    const names = (await this.#state.keys())
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(ITEM.length))
      .filter((name) => compareNames(name, last) > 0)
      .sort(compareNames);
    const found: StoredItem[] = [];
    for (let at = 0; at < names.length && found.length < limit; at += limit) {
      const page = await Promise.all(names.slice(at, at + limit).map((name) => this.#read(name)));
      for (const item of page) {
        if (item !== undefined && (item.expires === null || item.expires > now)) found.push(item);
      }
    }
    return found.slice(0, limit);
  }

  async prune({ now }: { now: number }): Promise<number> {
    // Times of expiry are whole milliseconds; a clock may give a part of one.
    const end = `${EXPIRY}${encodePlace(Math.floor(now) + 1)}`;
    const gone = (await this.#state.keys()).filter((key) => key.startsWith(EXPIRY) && key < end);
    for (const key of gone) {
      this.#state.clear(key);
      this.#state.clear(keyOf(key.slice(end.length + 1)));
    }
    return gone.length;
  }

  #clear(name: string, item: StoredItem): void {
    this.#state.clear(keyOf(name));
    this.#clearExpiry(name, item);
  }

  #clearExpiry(name: string, { expires }: StoredItem): void {
    if (expires !== null) this.#state.clear(expiryKey(name, expires));
  }

  async #read(name: string): Promise<StoredItem | undefined> {
    const text = await this.#state.get(keyOf(name));
    return text === undefined ? undefined : decodeRow<StoredItem>(keyOf(name), text);
  }
}

const ITEM = "m/";
const EXPIRY = "x/";

function keyOf(name: string): string {
  return `${ITEM}${name}`;
}

function expiryKey(name: string, expires: number): string {
  return `${EXPIRY}${encodePlace(expires)}/${name}`;
}
