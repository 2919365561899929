/**
 * Requests to cancel runs of other processes. They wait in the long-term memory of the store, under the name of the thread; the
 * process that executes the run looks for them, and takes them out.
 */
import { newId } from "../checkpoint/ids.ts";
import type { Checkpoint, ThreadId } from "../interface/checkpoint.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Store } from "../interface/store.ts";
import type { Json } from "../value/json.ts";

const PLACE = ["ngraph", "cancellations"] as const;
/** A request that no process has honoured by then concerns no run any more. */
const VALID_MS = 60_000;
const LOOK_EVERY_MS = 1_000;
const FREE_EVERY_MS = 200;
const FREE_EVERY_MOST_MS = 1_000;
const PAGE = 100;

/** Whether a runner, of this process or another one, holds a thread. A holder that is known to be dead holds nothing. */
export async function isHeld(store: Store, thread: ThreadId): Promise<boolean> {
  try {
    // A lease of no time keeps no other runner away.
    await store.release(await store.claim(thread, { owner: newId(), leaseMs: 0 }));
    return false;
  } catch (error) {
    if (error instanceof ThreadError && error.code === "NG_THREAD_CONFLICT") return true;
    throw error;
  }
}

/** Whether a store can hold requests. */
export function keepsCancelRequests(store: Store): boolean {
  return store.putItem !== undefined && store.listItems !== undefined && store.deleteItem !== undefined;
}

/** Asks the process that executes the run of a thread to cancel it. The request is for this run, if its first checkpoint is there. */
export async function requestCancel(store: Store, thread: ThreadId): Promise<void> {
  const head = await store.loadLatest(thread);
  const now = Date.now();
  const times = { created: now, updated: now, expires: now + VALID_MS };
  const value = { run: head !== undefined && isUnderWay(head) ? head.runId : null };
  await store.putItem!({ namespace: PLACE, key: thread, value, ...times, vector: null });
}

/** Whether the newest checkpoint belongs to a run that has not ended. */
function isUnderWay({ status, prepared }: Checkpoint): boolean {
  return status === "running" && prepared !== true;
}

/**
 * Waits until no runner holds the thread, and takes the request out then: another process may have ended the run by itself, and the
 * request must not meet the next one.
 *
 * @returns false if the request has expired before, or the signal has aborted
 */
export async function untilFree(store: Store, thread: ThreadId, signal: AbortSignal): Promise<boolean> {
  const end = performance.now() + VALID_MS;
  let pause = FREE_EVERY_MS;
  while (!signal.aborted) {
    if (!(await isHeld(store, thread))) {
      await store.deleteItem?.(PLACE, thread);
      return true;
    }
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(FREE_EVERY_MOST_MS, pause * 1.1);
  }
  return false;
}

export interface CancelWatchOptions {
  readonly store: Store;
  /** Cancels the run of a thread. @returns whether this process executes it */
  readonly cancel: (thread: ThreadId) => Promise<boolean>;
  /** The store has failed: the next look may succeed. */
  readonly onFailure: (error: unknown) => void;
  readonly everyMs?: number;
}

/** Looks for requests of other processes. Its timer does not keep the process alive. */
export class CancelWatch {
  readonly #options: CancelWatchOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: CancelWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const isOn = this.#timer !== undefined || this.#isStopped;
    if (!isOn && keepsCancelRequests(this.#options.store)) this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(
      () =>
        void this.#look()
          .catch((error: unknown) => {
            // A store that was closed meanwhile.
            if (!this.#isStopped) this.#options.onFailure(error);
          })
          .finally(() => this.#schedule()),
      this.#options.everyMs ?? LOOK_EVERY_MS,
    );
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #look(): Promise<void> {
    const { store, cancel } = this.#options;
    let after: { readonly namespace: readonly string[]; readonly key: string } | undefined;
    for (;;) {
      const settings = { limit: PAGE, now: Date.now(), ...(after === undefined ? {} : { after }) };
      const page = await store.listItems!(PLACE, settings);
      for (const { key, value } of page) {
        const isMeant = await this.#isMeant(key, value);
        if (!isMeant || (await cancel(key))) await store.deleteItem!(PLACE, key);
      }
      if (page.length < PAGE) return;
      after = page.at(-1);
    }
  }

  /** Whether the run that a request names is still the one of the thread. */
  async #isMeant(thread: ThreadId, value: Json): Promise<boolean> {
    const run = typeof value === "object" && value !== null && "run" in value ? value.run : null;
    if (typeof run !== "string") return true;
    const head = await this.#options.store.loadLatest(thread);
    return head !== undefined && head.runId === run && isUnderWay(head);
  }
}
