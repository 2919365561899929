/**
 * What a store has to do. Small on purpose: the engine decides what a checkpoint means, the store keeps it, atomically
 * and in order. `ngraph/stores/conformance` holds the suite that says whether a store does.
 *
 * Methods may return values or promises. A failure is thrown (or rejected) as `StoreError`, a lost race as `ThreadError`
 * NG_THREAD_CONFLICT. After an error the engine assumes neither success nor failure and reads again.
 */
import type {
  ChannelChange,
  Checkpoint,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  ThreadId,
} from "./checkpoint.ts";
import type { Json, MaybePromise } from "../value/json.ts";

/** Who runs a thread: the engine makes one a run. */
export interface Runner {
  /** Unique to this run of this process. */
  readonly owner: string;
  /** How long the claim holds without being renewed, in milliseconds; 0 holds until somebody else claims. */
  readonly leaseMs: number;
}

/** The right to write to a thread: every write carries it, and is refused once a newer one exists. */
export interface Claim {
  readonly threadId: ThreadId;
  readonly owner: string;
  /** Grows with every claim of the thread. */
  readonly epoch: number;
}

export interface SaveRequest {
  readonly header: CheckpointHeader;
  /** What differs from the parent checkpoint; everything, for a checkpoint without parent. */
  readonly changes: readonly ChannelChange[];
  /** All values and versions; costs O(state), so a store calls it only where it writes a snapshot. */
  readonly snapshot: () => {
    readonly values: Readonly<Record<string, Json>>;
    readonly versions: Readonly<Record<string, number>>;
  };
  /**
   * The namespace's head before this save (compare-and-set): `null` when it has none yet. The save fails with
   * NG_THREAD_CONFLICT when it is another one.
   */
  readonly expectedHead: CheckpointId | null;
  /** Pending writes of this checkpoint are removed in the same transaction. */
  readonly clearWritesOf?: CheckpointId;
  /** Give the claim back in the same transaction (the last save of a run). */
  readonly releaseClaim?: boolean;
}

export interface ListOptions {
  /** Default 100. Nothing is given at 0 or less; a fraction is cut off. */
  readonly limit?: number;
  /** Only checkpoints older than this one, along its parents. NG_UNKNOWN_CHECKPOINT when the namespace has no such. */
  readonly before?: CheckpointId;
  /** Default: the graph itself (`""`). */
  readonly namespace?: string;
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
}

/**
 * What goes and what stays. The head of each namespace always stays, and so do the checkpoints of called graphs that one of those
 * that stay goes on with.
 */
export interface PrunePolicy {
  /** Keep this many newest checkpoints of each namespace (at least 1). */
  readonly keepLast: number;
  /** Whether checkpoints with a label stay however old they are. Default true. */
  readonly keepLabelled?: boolean;
  /** Only checkpoints written before this time go, in milliseconds since 1970. Default: whenever written. */
  readonly olderThan?: number;
}

export interface Store {
  /**
   * Claims a thread, known or not. Free, expired, or the holder is known to be dead: a new epoch. Otherwise throws
   * `ThreadError` NG_THREAD_CONFLICT that names the holder. The same owner may claim again; epochs never repeat, not even when the
   * thread was deleted and made again.
   */
  claim(threadId: ThreadId, runner: Runner): MaybePromise<Claim>;
  /** Takes the lease anew, from now. Throws NG_THREAD_CONFLICT when a newer claim exists; an expired one that nobody took still holds. */
  renew(claim: Claim, leaseMs: number): MaybePromise<void>;
  /** Gives the claim back; harmless when it is gone. */
  release(claim: Claim): MaybePromise<void>;

  /**
   * Insert, move of the head, and clearing of writes: one transaction. A checkpoint id is never used twice (NG_STORE_FAILED);
   * a header with a label takes the label from whichever checkpoint had it. What JSON cannot hold is NG_STORE_FAILED. A call that fails
   * has changed nothing.
   */
  save(claim: Claim, request: SaveRequest): MaybePromise<void>;
  /** The head of a namespace. */
  loadLatest(threadId: ThreadId, namespace?: string): MaybePromise<Checkpoint | undefined>;
  loadById(threadId: ThreadId, id: CheckpointId): MaybePromise<Checkpoint | undefined>;
  /** The chain from the head back along the parents, newest first; it ends where a parent is in another namespace or thread, or was pruned. */
  list(threadId: ThreadId, options?: ListOptions): MaybePromise<readonly Checkpoint[]>;
  /** Removes everything of one thread, its claim too; nothing of it is there when the thread is made again. */
  deleteThread(threadId: ThreadId): MaybePromise<void>;

  /** Optional: without these a resume replays the whole step. All of `writes`, or none; a second of one task replaces the first in its place. */
  putWrites?(claim: Claim, checkpointId: CheckpointId, writes: readonly PendingWrite[]): MaybePromise<void>;
  /** In the order in which their tasks were first put. */
  getWrites?(threadId: ThreadId, checkpointId: CheckpointId): MaybePromise<readonly PendingWrite[]>;
  /** Those of the tasks that are named, none for an empty list; without a list, all of the checkpoint. */
  clearWrites?(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): MaybePromise<void>;

  /** Optional conveniences. A label names one checkpoint of a thread, a checkpoint has one at most; given again it moves. */
  label?(threadId: ThreadId, checkpointId: CheckpointId, label: string): MaybePromise<void>;
  loadByLabel?(threadId: ThreadId, label: string): MaybePromise<Checkpoint | undefined>;
  /** Threads that have a checkpoint of the graph itself, most recently written first. The limit is as in `list`. */
  threads?(options?: { readonly limit?: number }): MaybePromise<readonly ThreadInfo[]>;
  /** Returns how many checkpoints went. */
  prune?(threadId: ThreadId, policy: PrunePolicy): MaybePromise<number>;
  /** Later calls fail with NG_STORE_FAILED, but closing again is harmless. */
  close?(): MaybePromise<void>;
}
