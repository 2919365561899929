import type { Json } from "./json.ts";

/** Where results of nodes with a `cache` policy are kept. Keys say which node, which code and which arguments. */
export interface NodeCache {
  get(key: string): Json | undefined;
  /** `ttlMs`: `null` for as long as there is room. */
  set(key: string, value: Json, ttlMs: number | null): void;
  clear(): void;
}

/** A cache in memory: bounded, the least recently used entry goes first. */
export class MemoryNodeCache implements NodeCache {
  readonly #capacity: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: Json; readonly expires: number }>();

  constructor(options: { readonly capacity?: number; readonly now?: () => number } = {}) {
    this.#capacity = options.capacity ?? 1000;
    this.#now = options.now ?? (() => Date.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Json | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expires <= this.#now()) return undefined;
    // A map keeps its keys in the order of insertion: the first is the least recently used.
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Json, ttlMs: number | null): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: ttlMs === null ? Number.POSITIVE_INFINITY : this.#now() + ttlMs });
    while (this.#entries.size > this.#capacity) {
      const oldest = this.#entries.keys().next();
      if (oldest.done === true) return;
      this.#entries.delete(oldest.value);
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
