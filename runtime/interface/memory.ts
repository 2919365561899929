import type { Json, JsonObject, MaybePromise } from "../value/json.ts";

/** Where items belong: `["users", "42"]`. A string is a namespace of one part. */
export type Namespace = string | readonly string[];

/** An item of the long-term memory. */
export interface MemoryItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: Json;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
  /** When the item expires; `null`: never. */
  readonly expires: number | null;
}

export interface ScoredItem extends MemoryItem {
  /** The cosine of the angle between the vectors of the query and of the item; `null` for a search without a query. */
  readonly score: number | null;
}

export interface PutOptions {
  /** Milliseconds until the item expires; `null`: never. Default: `ttl` of the engine's `memory`, else never. */
  readonly ttl?: number | null;
  /** The text that the vector of the item is made from; `false`: none. Default: the value if it is a string, else its JSON. */
  readonly text?: string | false;
}

export interface MemoryListOptions {
  /** At most this many items (default 100, at most 1,000). */
  readonly limit?: number;
  /** The last item of a page: the list continues behind it. */
  readonly after?: Pick<MemoryItem, "namespace" | "key">;
  /** Fields that the value contains, with equal values. */
  readonly filter?: JsonObject;
}

export interface SearchOptions {
  /** The text to compare with. Without it, all items match equally. */
  readonly query?: string;
  readonly filter?: JsonObject;
  /** At most this many items (default 10, at most 1,000). */
  readonly limit?: number;
  /** Only items with at least this score. */
  readonly minScore?: number;
}

/**
 * The long-term memory of an engine: items that outlive threads, in the engine's store. Nodes reach it as `context.memory`.
 *
 * Writes are not part of a step: they are durable at once, also if the step fails, and are made again when a body runs again.
 *
 * Every method rejects with StoreError NG_NO_STORE without a store, NG_STORE_FAILED if the store has no memory, and RunError
 * NG_BAD_INPUT for arguments that are not valid.
 *
 * @example
 * await engine.memory.put(["users", "42"], "language", "Portuguese");
 * const item = await engine.memory.get(["users", "42"], "language");
 */
export interface LongTermMemory {
  /** Stores a value in place of the former one of the key. */
  put(namespace: Namespace, key: string, value: Json, options?: PutOptions): Promise<void>;
  /** `undefined` if there is no such item, or it has expired. */
  get(namespace: Namespace, key: string): Promise<MemoryItem | undefined>;
  /** Returns whether there was such an item. */
  delete(namespace: Namespace, key: string): Promise<boolean>;
  /** Items whose namespace begins with the prefix, by namespace and key. An empty prefix lists all. */
  list(prefix?: Namespace, options?: MemoryListOptions): Promise<readonly MemoryItem[]>;
  /**
   * Items whose namespace begins with the prefix, the best match for a query first. It reads all of them, so a prefix should
   * be narrow. A query needs `memory: { vectors }` in the options of the engine.
   */
  search(prefix: Namespace, options?: SearchOptions | string): Promise<readonly ScoredItem[]>;
  /** Removes the items that have expired. Returns their number. */
  prune(): Promise<number>;
}

/** Options of an engine for its long-term memory. */
export interface MemoryOptions {
  /** Returns the vector of each text, all of the same length: the embeddings of a model. */
  readonly vectors?: (texts: readonly string[]) => MaybePromise<readonly (readonly number[])[]>;
  /** Milliseconds until an item expires, unless `put` says otherwise. */
  readonly ttl?: number | null;
}

/** An item as a store keeps it. */
export interface StoredItem extends MemoryItem {
  /** The vector as text, which only the engine reads. */
  readonly vector: string | null;
}

export interface StoredItemsOptions {
  readonly limit: number;
  readonly after?: Pick<MemoryItem, "namespace" | "key">;
  /** Items that have expired at this time are left out. */
  readonly now: number;
}
