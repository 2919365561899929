import type { CheckpointId } from "../runtime/interface/checkpoint.ts";
import type { RunEvent } from "../runtime/interface/events.ts";

/** Events of one thread that are kept for readers that connect later. */
const EVENTS_OF_THREAD = 2_000;
/** Characters of JSON, of one thread and of all threads. */
const SIZE_OF_THREAD = 4 * 1024 * 1024;
const SIZE_OF_ALL = 64 * 1024 * 1024;
/** Of all threads that are read, when those of all threads are too many: the other half is for readers that connect again. */
const SIZE_OF_READ = SIZE_OF_ALL / 2;

/** Events of this time reach their readers together: a step has several, and each write to a connection costs more than they do. */
const GATHER_MS = 5;

/** An event with its place in the log of its thread. */
export interface LoggedEvent {
  /** `epoch.number`: the epoch names the process, so that a reader notices that the numbers began again. */
  readonly id: string;
  readonly number: number;
  readonly type: string;
  /** JSON. */
  readonly data: string;
}

/** What a reader finds at its position. */
export type Reading =
  | { readonly kind: "event"; readonly event: LoggedEvent }
  /** Events were removed before the reader came to them. It continues at the first one that is left. */
  | { readonly kind: "missed"; readonly count: number | undefined; readonly next: number };

interface ThreadLog {
  /** Number of the first event of `events`. */
  first: number;
  readonly events: LoggedEvent[];
  size: number;
  readers: number;
  /** Resolve functions of readers that wait. */
  readonly waiting: Set<() => void>;
}

/**
 * The newest events of the threads that run in this process. A reader holds a position and no events, so a slow reader costs no
 * memory: what it has missed is reported with its number. The logs are bounded: where they are too large together, those of threads without
 * readers are removed, least recently written first, and a log that is read keeps its share.
 */
export class EventLog {
  readonly #epoch = crypto.randomUUID().slice(0, 8);
  readonly #threads = new Map<string, ThreadLog>();
  /** Those without readers, in the order of their last events. */
  readonly #unread = new Map<string, ThreadLog>();
  /** Positions of removed logs would repeat: new logs begin here. */
  #next = 1;
  #size = 0;
  /** Logs with events that no reader has been woken for. */
  readonly #written = new Set<ThreadLog>();

  publish(event: RunEvent): void {
    const { thread } = event;
    if (thread === undefined) return;
    const log = this.#logOf(thread);
    if (log.readers === 0) {
      // The most recent log is the last one.
      this.#unread.delete(thread);
      this.#unread.set(thread, log);
    }
    const number = log.first + log.events.length;
    this.#next = Math.max(this.#next, number + 1);
    const data = JSON.stringify(event);
    log.events.push({ id: `${this.#epoch}.${number}`, number, type: event.type, data });
    this.#resize(log, data.length);
    const limit = this.#sizeFor(log);
    let removed = 0;
    while (log.events.length - removed > EVENTS_OF_THREAD || (log.size > limit && log.events.length - removed > 1)) {
      this.#resize(log, -log.events[removed]!.data.length);
      removed++;
    }
    if (removed > 0) {
      log.events.splice(0, removed);
      log.first += removed;
    }
    this.#removeOldLogs();
    if (log.waiting.size === 0) return;
    if (this.#written.size === 0) setTimeout(() => this.#wake(), GATHER_MS);
    this.#written.add(log);
  }

  /** Wakes the readers of the logs that were written. */
  #wake(): void {
    for (const { waiting } of this.#written) {
      for (const wake of waiting) wake();
      waiting.clear();
    }
    this.#written.clear();
  }

  /** The position behind the newest event of a thread. */
  end(thread: string): number {
    const log = this.#threads.get(thread);
    return log === undefined ? this.#next : log.first + log.events.length;
  }

  /** The position of the first event that is kept. */
  start(thread: string): number {
    return this.#threads.get(thread)?.first ?? this.#next;
  }

  /** Whether an event that is kept tells of a checkpoint: this process has written it. */
  hasCheckpoint(thread: string, id: CheckpointId): boolean {
    const text = JSON.stringify(id);
    const found = this.#threads
      .get(thread)
      ?.events.findLast(({ type, data }) => type === "checkpoint" && data.includes(text));
    return found !== undefined;
  }

  /** The position behind the event with this id; `undefined` for an id of another process, or of no event. */
  after(thread: string, id: string): number | undefined {
    const [, epoch, text] = /^([0-9a-f]{8})\.(\d{1,15})$/.exec(id) ?? [];
    if (epoch !== this.#epoch || text === undefined) return undefined;
    const position = Number(text) + 1;
    return position > this.end(thread) ? undefined : position;
  }

  /** The event at a position; `undefined` if it has not happened. */
  read(thread: string, position: number): Reading | undefined {
    const log = this.#threads.get(thread);
    if (log === undefined) return undefined;
    if (position < log.first) return { kind: "missed", count: log.first - position, next: log.first };
    const event = log.events[position - log.first];
    return event === undefined ? undefined : { kind: "event", event };
  }

  /** Counts a reader, so that the log of its thread stays. Returns the function that ends the reading. */
  open(thread: string): () => void {
    const log = this.#logOf(thread);
    log.readers++;
    this.#unread.delete(thread);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      log.readers--;
      if (log.readers > 0) return;
      if (log.events.length === 0) this.#threads.delete(thread);
      else this.#unread.set(thread, log);
    };
  }

  /** Resolves when the thread has another event, or after the time. */
  async wait(thread: string, position: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.read(thread, position) !== undefined) return;
    const { waiting } = this.#logOf(thread);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener("abort", done, { once: true });
      waiting.add(done);
    });
  }

  #logOf(thread: string): ThreadLog {
    let log = this.#threads.get(thread);
    if (log === undefined) {
      log = { first: this.#next, events: [], size: 0, readers: 0, waiting: new Set() };
      this.#threads.set(thread, log);
    }
    return log;
  }

  #resize(log: ThreadLog, by: number): void {
    log.size += by;
    this.#size += by;
  }

  /** The characters that a log may have now. */
  #sizeFor(log: ThreadLog): number {
    if (log.readers === 0 || this.#size <= SIZE_OF_ALL) return SIZE_OF_THREAD;
    return Math.min(SIZE_OF_THREAD, SIZE_OF_READ / (this.#threads.size - this.#unread.size));
  }

  #removeOldLogs(): void {
    for (const [thread, log] of this.#unread) {
      if (this.#size <= SIZE_OF_ALL) return;
      this.#unread.delete(thread);
      this.#threads.delete(thread);
      this.#size -= log.size;
    }
  }
}
