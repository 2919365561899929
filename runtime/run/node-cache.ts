import { RunError } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";

/** Where results of nodes with a `cache` policy are kept. Keys say which node, which code and which arguments. */
export interface NodeCache {
  get(key: string): Json | undefined;
  /** `ttlMs`: `null` for as long as there is room. */
  set(key: string, value: Json, ttlMs: number | null): void;
  clear(): void;
}

/** A cache in memory: bounded, the least recently used entry goes first. */
export class MemoryNodeCache implements NodeCache {
  #capacity: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: Json; readonly expires: number }>();
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /**
   * @param options.capacity entries at most (default 1,000); 0 keeps nothing
   * @param options.now milliseconds
   * @throws RunError NG_BAD_INPUT for a capacity that is no whole number
   */
  constructor(options: { readonly capacity?: number; readonly now?: () => number } = {}) {
    this.#capacity = checkCapacity(options.capacity ?? 1000);
    this.#now = options.now ?? (() => Date.now());
  }

  get size(): number {
    return this.#entries.size;
  }
  /** Entries at most. Lowered, what no longer fits goes at once. */
  get capacity(): number {
    return this.#capacity;
  }
  set capacity(entries: number) {
    this.#capacity = checkCapacity(entries);
    this.#evict();
  }
  /** Lookups that found something, and those that did not. */
  get hits(): number {
    return this.#hits;
  }
  get misses(): number {
    return this.#misses;
  }
  /** Entries that went because there was no room. */
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
    // A map keeps its keys in the order of insertion: the first is the least recently used.
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Json, ttlMs: number | null): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: ttlMs === null ? Number.POSITIVE_INFINITY : this.#now() + ttlMs });
    this.#evict();
  }

  /** Forgets all entries; what was counted stays. */
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
  throw new RunError("NG_BAD_INPUT", `the capacity of a cache is a whole number of entries, not ${String(entries)}`);
}
