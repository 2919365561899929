import type { LastCell } from "../contract/cells.ts";
import type { CheckpointRow, ThreadRow } from "../contract/rows.ts";

/** Threads that are remembered: enough for several hundred concurrent runs. */
const MAX_THREADS = 1000;

/** The cached rows of a thread that a run of this process has claimed. */
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
  readonly #released = new Map<string, KnownThread>();

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

  /** Remembers the rows of a thread as a runner has left them when it has released its claim. */
  release(known: KnownThread): void {
    const { name } = known.thread;
    this.#threads.delete(name);
    if (this.#released.size >= MAX_THREADS && !this.#released.has(name)) {
      const oldest = this.#released.keys().next();
      if (oldest.done !== true) this.#released.delete(oldest.value);
    }
    this.#released.set(name, known);
  }

  /** The rows of a thread, if its own row is unchanged since a runner of this process released it. */
  takeReleased(row: ThreadRow): KnownThread | undefined {
    const released = this.#released.get(row.name);
    this.#released.delete(row.name);
    return released !== undefined && isSame(released.thread, row) ? released : undefined;
  }
}

const COMPARED = ["v", "sum", "epoch", "last", "checkpoints", "namespaces", "writes"] as const;

/**
 * Whether a thread was not written between two reads of its row. A checksum of 32 bits alone would be the same by chance now and then:
 * each claim has an epoch of its own, and a prune changes the counts.
 */
function isSame(a: ThreadRow, b: ThreadRow): boolean {
  return COMPARED.every((column) => a[column] === b[column]);
}

/** Threads whose checkpoints are counted. */
const MAX_COUNTED = 10_000;

/** Threads whose checkpoints have been counted: that costs a scan of an index, so each process does it once. */
export class CountedThreads {
  /** The number of each thread, by name: a thread that is deleted and created again has another number. */
  readonly #numbers = new Map<string, number>();

  /** Whether a thread of this name has been counted. */
  hasName(name: string): boolean {
    return this.#numbers.has(name);
  }

  has({ name, thread }: ThreadRow): boolean {
    return this.#numbers.get(name) === thread;
  }

  add({ name, thread }: ThreadRow): void {
    if (this.#numbers.size >= MAX_COUNTED && !this.#numbers.has(name)) this.#numbers.clear();
    this.#numbers.set(name, thread);
  }

  forget(name: string): void {
    this.#numbers.delete(name);
  }
}
