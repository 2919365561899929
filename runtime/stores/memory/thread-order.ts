import type { ThreadRecord } from "./thread-record.ts";

/**
 * The threads in the order of their newest checkpoints. It is made when it is read, from the order of the last reading: a save pays
 * nothing, and a page of a listing does not sort all threads. Deleted threads stay in it until the next change, without a head.
 */
export class ThreadOrder {
  /** The oldest first. */
  #threads: readonly ThreadRecord[] = [];
  /** The newest checkpoint in that order. */
  #newest = 0;

  /**
   * The threads with a head whose newest checkpoint is before `after`, the newest first.
   *
   * @param newest the newest checkpoint of all threads
   */
  *before(all: Iterable<ThreadRecord>, newest: number, after: number): Generator<ThreadRecord, void> {
    if (newest > this.#newest) this.#update(all, newest);
    const threads = this.#threads;
    let [from, to] = [0, threads.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (threads[middle]!.written < after) from = middle + 1;
      else to = middle;
    }
    while (from > 0) {
      const thread = threads[--from]!;
      if (thread.head !== undefined) yield thread;
    }
  }

  #update(all: Iterable<ThreadRecord>, newest: number): void {
    const last = this.#newest;
    const changed: ThreadRecord[] = [];
    for (const thread of all) if (thread.written > last) changed.push(thread);
    changed.sort((a, b) => a.written - b.written);
    const unchanged = this.#threads.filter(({ written, head }) => written <= last && head !== undefined);
    this.#threads = unchanged.concat(changed);
    this.#newest = newest;
  }
}
