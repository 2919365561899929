import type {
  ChannelChange,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  Signal,
  ThreadId,
} from "../../interface/checkpoint.ts";
import type { LongMap } from "../../value/long-map.ts";
import type { Chain } from "./chain.ts";
import type { KeptFields } from "./header.ts";

/** A checkpoint. Threads keep many: what most checkpoints share with the one before them is in one header of both. */
export interface Stored extends Pick<
  CheckpointHeader,
  "id" | "step" | "phase" | "currentNodes" | "nextNodes" | "status" | "timestamp"
> {
  /**
   * The parent, if it is in this thread and namespace. Otherwise its id: after a fork from another thread, or when it was pruned.
   * `null` for the first checkpoint.
   */
  parent: Stored | CheckpointId | null;
  /** This header, or that of an earlier checkpoint with the same fields that are not here. */
  readonly base: CheckpointHeader;
  readonly fields: KeptFields;
  readonly ord: number;
  readonly chain: Chain;
  /** What the chain has not read yet. A list with one change is kept as the change. */
  changes: ChannelChange | readonly ChannelChange[] | undefined;
  /** The checkpoint of the thread before this one, among those that the chains have not read yet. */
  older: Stored | undefined;
  label: string | undefined;
}

/** The runner of a thread. */
export interface Holder {
  readonly owner: string;
  readonly epoch: number;
  expiresAt: number;
}

/** The number of checkpoints that are found by a look at each: a map costs more memory than they do. */
const FEW = 8;

/** What a store in memory knows of a thread. Collections are absent until there is something in them. */
export class ThreadRecord {
  readonly threadId: ThreadId;
  holder: Holder | undefined;
  /** Order of the newest checkpoint. */
  written = 0;
  head: Stored | undefined;
  /** Heads of called graphs, by namespace. */
  heads: Map<string, Stored> | undefined;
  labels: Map<string, Stored> | undefined;
  writes: Map<CheckpointId, LongMap<PendingWrite>> | undefined;
  /** By id, in the order of arrival; `undefined` for a signal that was taken. */
  signals: Map<string, Signal | undefined> | undefined;
  /** The newest checkpoint that no chain has read. All checkpoints are in this list until there is a map. */
  #unread: Stored | undefined;
  /** In the order of the saves. */
  #byId: Map<CheckpointId, Stored> | undefined;
  /** The number of checkpoints, while there is no map. */
  #few = 0;

  constructor(threadId: ThreadId) {
    this.threadId = threadId;
  }

  get size(): number {
    return this.#byId?.size ?? this.#few;
  }

  get(id: CheckpointId): Stored | undefined {
    if (this.#byId !== undefined) return this.#byId.get(id);
    let next = this.#unread;
    while (next !== undefined && next.id !== id) next = next.older;
    return next;
  }

  headOf(namespace: string): Stored | undefined {
    return namespace === "" ? this.head : this.heads?.get(namespace);
  }

  /** Adds the new head of its namespace. */
  add(stored: Stored): void {
    stored.older = this.#unread;
    this.#unread = stored;
    if (this.#byId !== undefined) this.#byId.set(stored.id, stored);
    else if (++this.#few > FEW) this.#map();
    const { namespace } = stored.base;
    if (namespace === "") this.head = stored;
    else (this.heads ??= new Map()).set(namespace, stored);
    this.written = stored.ord;
  }

  /** All checkpoints, oldest first. */
  all(): Iterable<Stored> {
    return this.#map().values();
  }

  /** Removes a checkpoint, and what belongs to it. */
  remove({ id, label }: Stored): void {
    this.readChanges();
    this.#map().delete(id);
    this.writes?.delete(id);
    if (label !== undefined) this.labels?.delete(label);
  }

  /** To be called when the thread is deleted: the order of the threads may keep the record for a while. */
  empty(): void {
    this.head = undefined;
    this.heads = undefined;
    this.labels = undefined;
    this.writes = undefined;
    this.signals = undefined;
    this.#unread = undefined;
    this.#byId = undefined;
    this.#few = 0;
  }

  /** Hands the changes of new checkpoints to their chains: many threads are written, and never read again. */
  readChanges(): void {
    if (this.#unread === undefined) return;
    this.#map();
    for (const stored of this.#list()) {
      const { chain, ord, changes } = stored;
      if (changes !== undefined) chain.add(ord, Array.isArray(changes) ? changes : [changes as ChannelChange]);
      stored.changes = undefined;
      stored.older = undefined;
    }
    this.#unread = undefined;
  }

  #map(): Map<CheckpointId, Stored> {
    return (this.#byId ??= new Map(this.#list().map((stored) => [stored.id, stored])));
  }

  /** The unread checkpoints, oldest first. */
  #list(): Stored[] {
    const list: Stored[] = [];
    for (let next = this.#unread; next !== undefined; next = next.older) list.push(next);
    return list.reverse();
  }
}
