/** The newest checkpoints of the threads that streams watch, read for all of them at once. */
import type { CheckpointId, ThreadId } from "../runtime/interface/checkpoint.ts";
import type { Store } from "../runtime/interface/store.ts";

const PAGE = 200;
/** A look reads from where so many looks before it began: a write that was committed late has a place behind the last one. */
const LOOKS = 2;

/**
 * What other processes do with the threads that this one watches. A look reads what was written since the one before it, whatever the
 * number of streams is: a query for each stream would take the store's connections from the runs.
 */
export class RecentHeads {
  readonly #store: Store;
  readonly #everyMs: number;
  /** The number of streams, and the newest checkpoint that a look has found; `undefined` if it was written before them. */
  readonly #watched = new Map<ThreadId, { streams: number; head: CheckpointId | undefined }>();
  /** The first positions of the last looks. */
  #tops: readonly number[] = [];
  #read = 0;
  /** A store whose listing has no places: each thread is read by itself. */
  #hasNoPlaces = false;
  #reading: Promise<void> | undefined;

  constructor(store: Store, everyMs: number) {
    this.#store = store;
    this.#everyMs = everyMs;
  }

  /** Watches a thread until the returned function is called. */
  open(thread: ThreadId): () => void {
    const entry = this.#watched.get(thread) ?? { streams: 0, head: undefined };
    this.#watched.set(thread, entry);
    entry.streams++;
    return () => {
      entry.streams--;
      if (entry.streams === 0) this.#watched.delete(thread);
      if (this.#watched.size === 0) this.#tops = [];
    };
  }

  /**
   * The newest checkpoint of a watched thread; `undefined` if nothing was written since the looks began.
   *
   * @param isFirst the thread is read by itself: it may have been written before the looks began
   */
  async headOf(thread: ThreadId, isFirst: boolean): Promise<CheckpointId | undefined> {
    if (this.#store.threads === undefined || this.#hasNoPlaces) return (await this.#store.loadLatest(thread))?.id;
    this.#reading ??= this.#look().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    // One look has no other behind it, so it tells nothing of writes that were committed late.
    if (isFirst || this.#tops.length < LOOKS) return (await this.#store.loadLatest(thread))?.id;
    return this.#watched.get(thread)?.head;
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#read < this.#everyMs / 2) return;
    const isFirst = this.#tops.length === 0;
    const until = this.#tops.at(-1) ?? 0;
    let after: number | undefined;
    let top: number | undefined;
    for (;;) {
      let omitted = 0;
      const page = await this.#store.threads!({
        // The first look only finds where the next one begins to read.
        limit: isFirst ? 1 : PAGE,
        ...(after === undefined ? {} : { after }),
        // A damaged thread is the matter of those who read it.
        onCorrupt: () => omitted++,
      });
      if (page[0] !== undefined && page[0].position === undefined) this.#hasNoPlaces = true;
      for (const { threadId, headId, position = 0 } of page) {
        top ??= position;
        if (position < until) continue;
        const entry = this.#watched.get(threadId);
        if (entry !== undefined) entry.head = headId;
      }
      const last = page.at(-1)?.position;
      // A page without its damaged threads is shorter than the others, and not the last one.
      const isLastPage = page.length < PAGE && omitted === 0;
      if (isFirst || isLastPage || last === undefined || last <= until) break;
      after = last;
    }
    this.#tops = [top ?? 0, ...this.#tops].slice(0, LOOKS);
    this.#read = performance.now();
  }
}
