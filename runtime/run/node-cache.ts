import { RunError } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import { shown } from "../value/shown.ts";

/**
 * The cache for results of nodes with a `cache` policy. A key contains the node, the digest of the table and the
 * arguments.
 */
export interface NodeCache {
  get(key: string): Json | undefined;
  /** @param ttlMs milliseconds that the entry is valid; `null` for no limit */
  set(key: string, value: Json, ttlMs: number | null): void;
  clear(): void;
}

/** A bounded cache in memory. It evicts the least recently used entry. */
export class MemoryNodeCache implements NodeCache {
  #capacity: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: Json; readonly expires: number }>();
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /**
   * @param options.capacity maximum number of entries (default 1,000); 0 stores nothing
   * @param options.now returns milliseconds
   * @throws RunError NG_BAD_INPUT if the capacity is not a whole number
   */
  constructor(options: { readonly capacity?: number; readonly now?: () => number } = {}) {
    this.#capacity = checkCapacity(options.capacity ?? 1000);
    this.#now = options.now ?? (() => Date.now());
  }

  get size(): number {
    return this.#entries.size;
  }
  /** Maximum number of entries. A lower value evicts entries at once. */
  get capacity(): number {
    return this.#capacity;
  }
  set capacity(entries: number) {
    this.#capacity = checkCapacity(entries);
    this.#evict();
  }
  /** Number of lookups with and without a result. */
  get hits(): number {
    return this.#hits;
  }
  get misses(): number {
    return this.#misses;
  }
  /** Number of entries evicted for lack of room. */
  get evictions(): number {
    return this.#evictions;
  }

  get(key: string): Json | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#entries.delete(key);
    if (entry === undefined || entry.expires <= this.#now()) {
      this.#misses++;
      return undefined;
    }
    this.#hits++;
    // A map keeps its keys in insertion order: the first key is the least recently used.
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Json, ttlMs: number | null): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: ttlMs === null ? Number.POSITIVE_INFINITY : this.#now() + ttlMs });
    this.#evict();
  }

  /** Removes all entries. The counters keep their values. */
  clear(): void {
    this.#entries.clear();
  }

  #evict(): void {
    while (this.#entries.size > this.#capacity) {
      const oldest = this.#entries.keys().next();
      if (oldest.done === true) return;
      this.#entries.delete(oldest.value);
      this.#evictions++;
    }
  }
}

function checkCapacity(entries: number): number {
  if (entries === Number.POSITIVE_INFINITY || (Number.isSafeInteger(entries) && entries >= 0)) return entries;
  throw new RunError("NG_BAD_INPUT", `the capacity of a cache is a whole number of entries, not ${shown(entries)}`);
}
