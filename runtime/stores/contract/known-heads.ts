import type { HeadRow, ThreadRow } from "./rows.ts";

/** Number of threads that are remembered; one process rarely runs more at a time. */
const MAX_THREADS = 100;

/**
 * Cache of the namespaces of each thread. When the head of a namespace is not found, the store must read all heads of the
 * thread to exclude damage. A run that calls a graph for each of many items does that for each item; this cache makes
 * it one
 * read. Invariant: heads are only added, and the thread's row counts them, so an equal count means that the cache is
 * complete.
 */
export class KnownHeads {
  readonly #threads = new Map<number, Set<string>>();

  /** Whether the thread certainly has no head of this namespace. */
  excludes({ thread, namespaces }: ThreadRow, namespace: string): boolean {
    const known = this.#threads.get(thread);
    return known !== undefined && known.size === namespaces && !known.has(namespace);
  }

  /** @param heads all heads of the thread, verified */
  note({ thread }: ThreadRow, heads: readonly HeadRow[]): void {
    if (this.#threads.size >= MAX_THREADS) this.#threads.clear();
    this.#threads.set(thread, new Set(heads.map(({ namespace }) => namespace)));
  }

  /** Adds a head that the current transaction writes; call `forget` if the transaction is rolled back. */
  add(thread: number, namespace: string): void {
    this.#threads.get(thread)?.add(namespace);
  }

  /** To be called when a transaction is rolled back, or a thread deleted (its number may be reused). */
  forget(): void {
    this.#threads.clear();
  }
}
