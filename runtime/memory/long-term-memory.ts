import { equal } from "../expression/equal.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { RunError, StoreError } from "../interface/errors.ts";
import type {
  LongTermMemory,
  MemoryItem,
  MemoryListOptions,
  MemoryOptions,
  Namespace,
  PutOptions,
  ScoredItem,
  SearchOptions,
  StoredItem,
} from "../interface/memory.ts";
import { runViewOf } from "../interface/run-view.ts";
import type { Store } from "../interface/store.ts";
import { checkOptions } from "../run/option-names.ts";
import { MEMORY_LIST_OPTIONS, PUT_OPTIONS, SEARCH_OPTIONS } from "../run/thread-option-names.ts";
import { ENCODED, keyOfEncoded } from "../stores/contract/encoded-text.ts";
import type { Json, JsonObject, MaybePromise } from "../value/json.ts";
import { admitJson } from "../value/admit.ts";
import { Mismatch } from "../value/mismatch.ts";
import { readRecord } from "../value/read-record.ts";
import { shown } from "../value/shown.ts";
import { similarity, vectorOfText, vectorText } from "./vectors.ts";

/** Parts of a namespace. */
const MAX_PARTS = 16;
/** The first part of the namespaces that the project keeps for itself, such as the events of webhooks. Runs neither read nor write them. */
const RESERVED = "ngraph";
/** Characters of a namespace and a key together: an index entry of every database can hold them. */
const MAX_NAME_LENGTH = 500;
/** Characters of a value as JSON. */
const MAX_VALUE_LENGTH = 1_000_000;
/** Items that a list or a search returns at most. */
const MAX_LIMIT = 1000;
/** Numbers of a vector. */
const MAX_DIMENSIONS = 65_536;
/** Items that a search reads at a time. */
const PAGE = 500;

/** What a memory needs of its engine. */
export interface MemorySettings {
  readonly store: Store | undefined;
  readonly now: () => number;
  readonly options: MemoryOptions;
}

type ItemStore = Required<Pick<Store, "putItem" | "getItem" | "deleteItem" | "listItems" | "pruneItems">>;

/** The long-term memory in a store. */
export class StoreMemory implements LongTermMemory {
  readonly #settings: MemorySettings;

  constructor(settings: MemorySettings) {
    this.#settings = settings;
  }

  async put(namespace: Namespace, key: string, value: Json, options: PutOptions = {}): Promise<void> {
    checkOptions("an item of the memory", options, PUT_OPTIONS);
    const store = this.#store();
    const { now, options: defaults } = this.#settings;
    const parts = partsOf(namespace, key ?? "");
    if (parts.length === 0) throw bad("the namespace of an item has at least one part");
    const admitted = admitValue(value);
    const time = now();
    const expires = expiryOf(time, options.ttl === undefined ? defaults.ttl : options.ttl);
    const text = options.text ?? (typeof admitted === "string" ? admitted : JSON.stringify(admitted));
    if (typeof text !== "string" && text !== false) throw bad("`text` is a string, or `false`");
    const isCompared = defaults.vectors !== undefined && text !== false;
    const vector = isCompared ? vectorText((await this.#vectors([text]))[0]!) : null;
    const item = { namespace: parts, key, value: admitted, created: time, updated: time, expires, vector };
    await asStoreError(() => store.putItem(item));
  }

  async get(namespace: Namespace, key: string): Promise<MemoryItem | undefined> {
    const store = this.#store();
    const parts = partsOf(namespace, key ?? "");
    const item = await asStoreError(() => store.getItem(parts, key));
    return item === undefined || isExpired(item, this.#settings.now()) ? undefined : withoutVector(item);
  }

  async delete(namespace: Namespace, key: string): Promise<boolean> {
    const store = this.#store();
    const parts = partsOf(namespace, key ?? "");
    return asStoreError(() => store.deleteItem(parts, key));
  }

  async list(prefix: Namespace = [], options: MemoryListOptions = {}): Promise<readonly MemoryItem[]> {
    checkOptions("a list of the memory", options, MEMORY_LIST_OPTIONS);
    const limit = checkLimit(options.limit, 100);
    const { filter, after } = options;
    if (after !== undefined) partsOf(after?.namespace, after?.key ?? "");
    checkFilter(filter);
    const found: MemoryItem[] = [];
    for await (const item of this.#items(prefix, filter, after, filter === undefined ? limit : PAGE)) {
      if (found.length >= limit) break;
      found.push(withoutVector(item));
    }
    return found;
  }

  async search(prefix: Namespace, given: SearchOptions | string = {}): Promise<readonly ScoredItem[]> {
    const options = typeof given === "string" ? { query: given } : given;
    checkOptions("a search of the memory", options, SEARCH_OPTIONS);
    const { query, filter, minScore } = options;
    const limit = checkLimit(options.limit, 10);
    checkFilter(filter);
    if (query !== undefined && typeof query !== "string") throw bad("`query` is a string");
    if (minScore !== undefined && !Number.isFinite(minScore)) throw bad("`minScore` is a number");
    const wanted = query === undefined ? undefined : (await this.#vectors([query]))[0]!;
    const found: ScoredItem[] = [];
    for await (const item of this.#items(prefix, filter, undefined, PAGE)) {
      if (wanted === undefined) {
        if (found.length >= limit) break;
        found.push({ ...withoutVector(item), score: null });
        continue;
      }
      if (item.vector === null) continue;
      const score = similarity(wanted, vectorOfText(item.vector));
      if (minScore !== undefined && score < minScore) continue;
      // Few items match best, so the list stays short.
      const place = found.findIndex((other) => other.score! < score);
      if (place === -1 && found.length >= limit) continue;
      found.splice(place === -1 ? found.length : place, 0, { ...withoutVector(item), score });
      if (found.length > limit) found.pop();
    }
    return found;
  }

  async prune(): Promise<number> {
    const store = this.#store();
    return asStoreError(() => store.pruneItems(this.#settings.now()));
  }

  /** The items under a prefix that a filter accepts, in pages. */
  async *#items(
    prefix: Namespace,
    filter: JsonObject | undefined,
    start: MemoryListOptions["after"],
    page: number,
  ): AsyncGenerator<StoredItem> {
    const store = this.#store();
    const parts = partsOf(prefix);
    const now = this.#settings.now();
    let after = start;
    for (;;) {
      const options = { limit: page, now, ...(after === undefined ? {} : { after }) };
      const items: readonly StoredItem[] = await asStoreError(() => store.listItems(parts, options));
      for (const item of items) {
        if (item.namespace[0] !== RESERVED && (filter === undefined || fits(item.value, filter))) yield item;
      }
      after = items.at(-1);
      if (items.length < page || after === undefined) return;
    }
  }

  async #vectors(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    const { vectors } = this.#settings.options;
    if (vectors === undefined) {
      throw bad(
        "a search with a query compares vectors: give the engine `memory: { vectors }`, a function that returns them",
      );
    }
    const found: MaybePromise<unknown> = await vectors(texts);
    const isList = Array.isArray(found) && found.length === texts.length;
    if (isList && found.every(isVector)) return found as readonly (readonly number[])[];
    throw bad(`\`vectors\` returns a list of 1 to ${MAX_DIMENSIONS} finite 32-bit numbers for each text`);
  }

  #store(): ItemStore {
    const { store: given } = this.#settings;
    if (given === undefined) {
      throw new StoreError("NG_NO_STORE", "the long-term memory is kept in a store: give the engine a `store`");
    }
    const store = runViewOf(given);
    const methods = ["putItem", "getItem", "deleteItem", "listItems", "pruneItems"] as const;
    const missing = methods.find((name) => typeof store[name] !== "function");
    if (missing === undefined) return store as ItemStore;
    throw new StoreError("NG_STORE_FAILED", `this store has no long-term memory: it lacks \`${missing}\``);
  }
}

export const openMemory = (settings: MemorySettings): LongTermMemory => new StoreMemory(settings);

function bad(message: string): RunError {
  return new RunError("NG_BAD_INPUT", message);
}

function partsOf(namespace: Namespace, key?: string): readonly string[] {
  const parts: readonly unknown[] = typeof namespace === "string" ? [namespace] : namespace;
  const isName = (part: unknown): boolean => typeof part === "string" && part !== "";
  if (!Array.isArray(parts) || parts.length > MAX_PARTS || !parts.every(isName)) {
    throw bad(`a namespace is a list of at most ${MAX_PARTS} strings of at least one character`);
  }
  if (parts[0] === RESERVED) throw bad(`namespaces that begin with \`${RESERVED}\` are reserved`);
  if (key !== undefined && !isName(key)) throw bad("the key of an item is a string of at least one character");
  const length = [...(parts as readonly string[]), key ?? ""].reduce((sum, part) => sum + part.length, 0);
  if (length > MAX_NAME_LENGTH) {
    throw bad(`a namespace and a key have at most ${MAX_NAME_LENGTH} characters together, not ${length}`);
  }
  return Object.freeze([...(parts as readonly string[])]);
}

function admitValue(value: Json): Json {
  const admitted = admitJson(value);
  if (admitted instanceof Mismatch) throw bad(`the value of an item is not plain JSON: ${admitted.describe()}`);
  // A memory without the codec could not tell it from an encoded value.
  if (keyOfEncoded(admitted) !== undefined) throw bad(`the value of an item does not begin with \`${ENCODED}\``);
  const { length } = JSON.stringify(admitted);
  if (length <= MAX_VALUE_LENGTH) return admitted;
  throw bad(`the value of an item has at most ${MAX_VALUE_LENGTH} characters as JSON, not ${length}`);
}

/** The last time of ECMAScript, in milliseconds since 1970. */
const LAST_TIME = 8.64e15;

/** The time at which an item that is written now expires. */
function expiryOf(now: number, ttl: number | null | undefined): number | null {
  if (ttl === undefined || ttl === null) return null;
  if (typeof ttl !== "number" || !(ttl > 0) || ttl === Infinity) {
    throw bad(`\`ttl\` is a number of milliseconds above 0, not ${shown(ttl)}`);
  }
  const expires = Math.ceil(now + ttl);
  if (expires <= LAST_TIME) return expires;
  throw bad(`\`ttl\` is too large: the item would expire after the year 275760; \`null\` means no expiry`);
}

function checkLimit(limit: number | undefined, usual: number): number {
  if (limit === undefined) return usual;
  if (Number.isSafeInteger(limit) && limit >= 0 && limit <= MAX_LIMIT) return limit;
  throw bad(`\`limit\` is a whole number up to ${MAX_LIMIT}, not ${shown(limit)}`);
}

function checkFilter(filter: unknown): void {
  if (filter === undefined) return;
  const record = readRecord(filter);
  const admitted = record instanceof Mismatch ? record : admitJson(record);
  if (admitted instanceof Mismatch) throw bad(`\`filter\` is a record of fields and values: ${admitted.describe()}`);
}

function fits(value: Json, filter: JsonObject): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return Object.keys(filter).length === 0;
  const record = value as JsonObject;
  return Object.entries(filter).every(([name, wanted]) => Object.hasOwn(record, name) && equal(record[name]!, wanted));
}

function isVector(vector: unknown): boolean {
  if (!Array.isArray(vector) || vector.length === 0 || vector.length > MAX_DIMENSIONS) return false;
  // Vectors are stored as 32-bit floats. `Array.from` shows the holes of a sparse list.
  return Array.from(vector).every((number) => typeof number === "number" && Number.isFinite(Math.fround(number)));
}

function isExpired({ expires }: StoredItem, now: number): boolean {
  return expires !== null && expires <= now;
}

function withoutVector({ namespace, key, value, created, updated, expires }: StoredItem): MemoryItem {
  const codecKey = keyOfEncoded(value);
  if (codecKey !== undefined) {
    const message = `item ${JSON.stringify(key)} of the memory is encoded with the key ${JSON.stringify(codecKey)}: open its store with the codec (\`withCodec\`)`;
    throw new StoreError("NG_STORE_FAILED", message);
  }
  return { namespace, key, value, created, updated, expires };
}
