import type { Checkpoint, CheckpointId, ThreadId } from "../interface/checkpoint.ts";
import type { Store } from "../interface/store.ts";
import type { Program } from "../program/program.ts";

/** Heads that are kept in any case, and heads that are kept until a garbage collection. */
const MAX_KEPT = 16;
const MAX_HEADS = 1000;

/** The last checkpoint of a run, and the program that its values have been admitted by. */
export interface RecentHead {
  readonly head: Checkpoint;
  readonly program: Program;
}

/**
 * The last checkpoints that runs of this process have saved on a store. With them, the next run of a chat need not read
 * its memory, which grows with every turn. A cached head is used only if the response to the claim confirms that it is
 * still the head.
 */
export class RecentHeads {
  readonly #heads = new Map<ThreadId, WeakRef<RecentHead>>();
  /** The newest ones, in a ring. */
  readonly #kept: RecentHead[] = [];
  #next = 0;

  set(threadId: ThreadId, recent: RecentHead): void {
    // A map keeps the order of insertion, so the first entry is the oldest.
    this.#heads.delete(threadId);
    this.#heads.set(threadId, new WeakRef(recent));
    if (this.#heads.size > MAX_HEADS) {
      const oldest = this.#heads.keys().next();
      if (oldest.done !== true) this.#heads.delete(oldest.value);
    }
    this.#kept[this.#next] = recent;
    this.#next = (this.#next + 1) % MAX_KEPT;
  }

  get(threadId: ThreadId, id: CheckpointId): RecentHead | undefined {
    const recent = this.#heads.get(threadId)?.deref();
    return recent?.head.id === id ? recent : undefined;
  }
}

const STORES = new WeakMap<Store, RecentHeads>();

export function recentHeadsOf(store: Store): RecentHeads {
  let heads = STORES.get(store);
  if (heads === undefined) STORES.set(store, (heads = new RecentHeads()));
  return heads;
}
