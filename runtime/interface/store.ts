/**
 * The interface of a store. It is small: the engine interprets checkpoints, the store keeps them, atomically and in
 * order. `ngraph/stores/conformance` contains the test suite for stores.
 *
 * Methods may return values or promises. A failure throws (or rejects with) `StoreError`, a lost race `ThreadError`
 * NG_THREAD_CONFLICT. After an error the engine assumes neither success nor failure, and reads again.
 */
import type {
  ChannelChange,
  Checkpoint,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  Signal,
  ThreadId,
} from "./checkpoint.ts";
import type { StoredItem, StoredItemsOptions } from "./memory.ts";
import type { Json, MaybePromise } from "../value/json.ts";

/** The owner of a claim. The engine generates one for each run. */
export interface Runner {
  /** Unique to this run of this process. */
  readonly owner: string;
  /** How long the claim is valid without renewal, in milliseconds. 0: until another owner claims the thread. */
  readonly leaseMs: number;
}

/**
 * The right to write to a thread, with a fencing token: every write carries the epoch, and is refused if a newer one
 * exists.
 */
export interface Claim {
  readonly threadId: ThreadId;
  readonly owner: string;
  /** The fencing token. It grows with every claim of the thread. */
  readonly epoch: number;
}

export interface SaveRequest {
  readonly header: CheckpointHeader;
  /** The difference from the parent checkpoint. Without a parent: all values. */
  readonly changes: readonly ChannelChange[];
  /** All values and versions. It costs O(state): a store calls it only to write a snapshot. */
  readonly snapshot: () => {
    readonly values: Readonly<Record<string, Json>>;
    readonly versions: Readonly<Record<string, number>>;
  };
  /**
   * The head of the namespace before this save (compare-and-set); `null` if there is none yet. The save fails with
   * NG_THREAD_CONFLICT if the head is another checkpoint.
   */
  readonly expectedHead: CheckpointId | null;
  /** The store removes the pending writes of this checkpoint in the same transaction. */
  readonly clearWritesOf?: CheckpointId;
  /** Ids of signals that the store removes from the inbox of the thread in the same transaction. */
  readonly takenSignals?: readonly string[];
  /**
   * Signals that the store puts into the inbox in the same transaction, after the others were taken. One that the thread has
   * had returns to its former place, one that is in the inbox stays, and the others come last, in this order.
   */
  readonly returnedSignals?: readonly Signal[];
  /** Releases the claim in the same transaction (the last save of a run). */
  readonly releaseClaim?: boolean;
}

export interface ListOptions {
  /** Default 100. 0 or less returns nothing; a fraction is truncated. */
  readonly limit?: number;
  /**
   * Only checkpoints older than this one, along its parents. NG_UNKNOWN_CHECKPOINT if the namespace does not contain
   * it.
   */
  readonly before?: CheckpointId;
  /** Default: the graph itself (`""`). */
  readonly namespace?: string;
  /**
   * Includes the checkpoints of abandoned branches, which are not ancestors of the head. These have `abandoned`. The
   * order is then that of the saves, newest first, and `before` selects checkpoints that were saved earlier. A store
   * that does not support this option returns the chain.
   */
  readonly all?: boolean;
}

export interface ThreadInfo {
  readonly threadId: ThreadId;
  readonly headId: CheckpointId;
  readonly status: CheckpointHeader["status"];
  readonly step: number;
  /** Of all namespaces. */
  readonly checkpoints: number;
  /** Of the head, in milliseconds since 1970. */
  readonly timestamp: number;
  readonly metadata: CheckpointHeader["metadata"];
  /** Of the head. Absent in listings of older stores. */
  readonly label?: string | null;
  /** The graph that wrote the head. Absent for checkpoints of older versions. */
  readonly graph?: string;
  /**
   * The place in the listing: falls from each thread to the next, and rises when the thread is written again. A store that sets
   * it supports all of `ThreadsOptions`; other stores support `limit` alone.
   */
  readonly position?: number;
  /** Whether a runner holds the claim: its lease has not ended, and it is not known to be dead. */
  readonly held?: boolean;
  /** As in the header of the head. */
  readonly prepared?: true;
  /** As in the header of the head: when the thread can continue without an answer, in milliseconds since 1970. */
  readonly due?: number;
  /** When the thread expires, in milliseconds since 1970: `timestamp` and `ttl` of the head. Absent: it does not expire. */
  readonly expires?: number;
  /** Number of signals in the inbox. Absent for 0, and for stores without an inbox. */
  readonly signals?: number;
}

/** Which threads a listing contains: those that have all of the given properties. */
export interface ThreadsOptions {
  /** Default 100. 0 or less returns nothing; a fraction is truncated. */
  readonly limit?: number;
  /** Only threads behind this `position` of the listing: the last one of a page continues with the next page. */
  readonly after?: number;
  readonly status?: CheckpointHeader["status"];
  /** The graph that wrote the head. */
  readonly graph?: string;
  /** The label of the head. */
  readonly label?: string;
  /** Fields that the metadata of the head contains, with equal values. */
  readonly metadata?: CheckpointHeader["metadata"];
  /** Only paused threads that may continue at this time: their `due` is not later, or there are signals in their inbox. */
  readonly due?: number;
  /** Only threads that have expired at this time, in milliseconds since 1970. */
  readonly expiredAt?: number;
  /**
   * Called for each damaged thread, which the list then leaves out. Without it, a damaged thread fails the call with
   * NG_CORRUPT_RECORD. The id is undefined if the damage hides it.
   */
  readonly onCorrupt?: (error: Error, threadId: ThreadId | undefined) => void;
}

/**
 * Which checkpoints a prune removes. It never removes the head of a namespace, or a checkpoint of a called graph that a
 * remaining checkpoint continues.
 */
export interface PrunePolicy {
  /** Keeps this many of the newest checkpoints of each namespace (at least 1). */
  readonly keepLast: number;
  /** Keeps all checkpoints with a label. Default true. */
  readonly keepLabelled?: boolean;
  /** Removes only checkpoints written before this time, in milliseconds since 1970. Default: no limit. */
  readonly olderThan?: number;
}

export interface Store {
  /** Whether changes may be of the kind `splice`. A store without it gets whole lists in place of them. */
  readonly acceptsSplices?: boolean;

  /**
   * Claims a thread; the thread need not exist. If it is free, its claim has expired, or its holder is known to be
   * dead, the claim gets a new epoch. Otherwise throws `ThreadError` NG_THREAD_CONFLICT with the name of the holder.
   * The same owner may claim again. Epochs never repeat, even if the thread was deleted and created again.
   */
  claim(threadId: ThreadId, runner: Runner): MaybePromise<Claim>;
  /**
   * Restarts the lease from now. Throws NG_THREAD_CONFLICT if a newer claim exists. An expired claim without a
   * successor is still valid.
   */
  renew(claim: Claim, leaseMs: number): MaybePromise<void>;
  /** Releases the claim. It has no effect if the claim no longer exists. */
  release(claim: Claim): MaybePromise<void>;

  /**
   * Inserts the checkpoint, moves the head and clears the writes in one transaction. A checkpoint id is never used
   * twice (NG_STORE_FAILED). A header with a label takes the label from the checkpoint that had it. Values that JSON
   * cannot represent fail with NG_STORE_FAILED. A failed call changes nothing.
   */
  save(claim: Claim, request: SaveRequest): MaybePromise<void>;
  /** The head of a namespace. */
  loadLatest(threadId: ThreadId, namespace?: string): MaybePromise<Checkpoint | undefined>;
  loadById(threadId: ThreadId, id: CheckpointId): MaybePromise<Checkpoint | undefined>;
  /**
   * The chain from the head back along the parents, newest first. It ends where a parent is in another namespace or
   * thread, or was pruned.
   */
  list(threadId: ThreadId, options?: ListOptions): MaybePromise<readonly Checkpoint[]>;
  /** Removes all data of one thread, its claim included. None of it reappears if the thread is created again. */
  deleteThread(threadId: ThreadId): MaybePromise<void>;

  /**
   * Optional: without these methods a resume runs the whole step again. Stores all of `writes`, or none. A second write
   * of a task replaces the first one in its position.
   *
   * @param takenSignals ids of signals that the store removes from the inbox in the same transaction
   */
  putWrites?(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ): MaybePromise<void>;
  /** In the order in which their tasks were first written. */
  getWrites?(threadId: ThreadId, checkpointId: CheckpointId): MaybePromise<readonly PendingWrite[]>;
  /**
   * Removes the writes of the named tasks; an empty list removes none. Without a list, removes all writes of the
   * checkpoint.
   */
  clearWrites?(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): MaybePromise<void>;

  /**
   * Optional, with `getSignals`: the inbox of a thread. Adds a signal at its end. It needs no claim, and works while a runner
   * holds the thread. Returns false, and adds nothing, if the thread has had a signal with this id: the id of a signal that
   * was taken stays known as long as the thread exists. Throws NG_UNKNOWN_THREAD for a thread without checkpoints.
   */
  putSignal?(threadId: ThreadId, signal: Signal): MaybePromise<boolean>;
  /** The signals that no save and no result has taken, in the order in which they were added. */
  getSignals?(threadId: ThreadId): MaybePromise<readonly Signal[]>;

  /**
   * Optional. A label belongs to one checkpoint of a thread, a checkpoint has at most one label, and labelling another
   * checkpoint moves the label.
   */
  label?(threadId: ThreadId, checkpointId: CheckpointId, label: string): MaybePromise<void>;
  loadByLabel?(threadId: ThreadId, label: string): MaybePromise<Checkpoint | undefined>;
  /** Threads that have a checkpoint of the outermost graph, most recently written first. The limit is as in `list`. */
  threads?(options?: ThreadsOptions): MaybePromise<readonly ThreadInfo[]>;
  /**
   * Optional, all five or none: the items of the long-term memory, which belong to no thread. Stores an item in place of the
   * one with its name. It keeps `created` of that one, unless it had expired at `updated`.
   */
  putItem?(item: StoredItem): MaybePromise<void>;
  /** Expired items included. */
  getItem?(namespace: readonly string[], key: string): MaybePromise<StoredItem | undefined>;
  /** Returns whether there was such an item. */
  deleteItem?(namespace: readonly string[], key: string): MaybePromise<boolean>;
  /** Items whose namespace begins with the parts of the prefix, in an order that stays. */
  listItems?(prefix: readonly string[], options: StoredItemsOptions): MaybePromise<readonly StoredItem[]>;
  /** Removes the items that have expired at a time. Returns their number. */
  pruneItems?(now: number): MaybePromise<number>;
  /** Returns the number of removed checkpoints. */
  prune?(threadId: ThreadId, policy: PrunePolicy): MaybePromise<number>;
  /** Later calls fail with NG_STORE_FAILED. Closing again has no effect. */
  close?(): MaybePromise<void>;
}
