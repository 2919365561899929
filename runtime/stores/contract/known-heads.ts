import type { HeadRow, ThreadRow } from "./rows.ts";

/** So many threads at once; more are rarely run by one process. */
const MOST_THREADS = 100;

/**
 * Namespaces whose heads have been read and verified. A namespace that is not found must be new, not damaged, which takes a look at all
 * heads of the thread; this remembers the look, for a run that calls a graph for each of many items asks after as many new namespaces.
 * Heads are only ever added, and the thread's row counts them: as many as are known here means that these are all.
 */
export class KnownHeads {
  readonly #threads = new Map<number, Set<string>>();

  /** Whether the thread can have no head of this namespace. */
  excludes({ thread, namespaces }: ThreadRow, namespace: string): boolean {
    const known = this.#threads.get(thread);
    return known !== undefined && known.size === namespaces && !known.has(namespace);
  }

  /** All heads of a thread, verified. */
  note({ thread }: ThreadRow, heads: readonly HeadRow[]): void {
    if (this.#threads.size >= MOST_THREADS) this.#threads.clear();
    this.#threads.set(thread, new Set(heads.map(({ namespace }) => namespace)));
  }

  /** One is being written: it stands here as long as its transaction is not undone. */
  add(thread: number, namespace: string): void {
    this.#threads.get(thread)?.add(namespace);
  }

  /** A transaction was undone, or a thread deleted, whose number may come again. */
  forget(): void {
    this.#threads.clear();
  }
}
