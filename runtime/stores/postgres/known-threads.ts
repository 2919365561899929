import type { LastCell } from "../contract/cells.ts";
import type { CheckpointRow, ThreadRow } from "../contract/rows.ts";

/** Threads that are remembered: enough for several hundred concurrent runs. */
const MAX_THREADS = 1000;

/** What this process knows about a thread that one of its runs has claimed. */
export interface KnownThread {
  readonly thread: ThreadRow;
  /** The head of the outermost graph; `undefined` if the thread has no checkpoint. */
  readonly head: Pick<CheckpointRow, "ord" | "id" | "chain" | "state"> | undefined;
  /** The last cells of channels in the chain of the head. */
  readonly cells: ReadonlyMap<string, LastCell>;
  /** Whether `cells` has all channels of the chain. */
  readonly isComplete: boolean;
}

/**
 * Rows of claimed threads, so that a save need not read them. They may be out of date: a save compares the row of the thread with
 * the stored one when it writes (optimistic concurrency control). Every write that changes a thread changes its row.
 */
export class KnownThreads {
  readonly #threads = new Map<string, KnownThread>();

  get(threadKey: string): KnownThread | undefined {
    return this.#threads.get(threadKey);
  }

  set(threadKey: string, known: KnownThread): void {
    if (this.#threads.size >= MAX_THREADS && !this.#threads.has(threadKey)) {
      const oldest = this.#threads.keys().next();
      if (oldest.done !== true) this.#threads.delete(oldest.value);
    }
    this.#threads.set(threadKey, known);
  }

  forget(threadKey: string): void {
    this.#threads.delete(threadKey);
  }
}
