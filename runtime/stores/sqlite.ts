import { checkOptions, type OptionNames } from "../run/option-names.ts";
import type { Checkpoint, CheckpointId, PendingWrite, Signal, ThreadId } from "../interface/checkpoint.ts";
import type { StoredItem, StoredItemsOptions } from "../interface/memory.ts";
import type {
  Claim,
  ListOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
  ThreadsOptions,
} from "../interface/store.ts";
import { pageOfBranches, withAbandoned } from "./contract/branches.ts";
import { checkNames, encodeKey } from "./contract/key.ts";
import { checkPrunePolicy, rowLimit } from "./contract/limits.ts";
import { noteClaimedHead } from "../interface/claimed-heads.ts";
import { registerRunView } from "../interface/run-view.ts";
import type { ThreadRow } from "./contract/rows.ts";
import { recordLost } from "./contract/lost-owners.ts";
import {
  ancestors,
  branchPoints,
  checkpointAt,
  expectAllCheckpoints,
  findCheckpoint,
  findLabelled,
  withValues,
} from "./sqlite/checkpoints.ts";
import { Connection, type ConnectionOptions } from "./sqlite/connection.ts";
import { GroupCommit } from "./sqlite/group-commit.ts";
import { finishRemoval } from "./sqlite/clear-writes.ts";
import { clearWrites, getWrites, putWrites } from "./sqlite/pending-writes.ts";
import { deleteItem, getItem, listItems, pruneItems, putItem } from "./sqlite/items.ts";
import { prune, removeThread } from "./sqlite/prune.ts";
import { sqliteRunView } from "./sqlite/run-view.ts";
import { relabel, save, takeLabel } from "./sqlite/save.ts";
import { getSignals, putSignal } from "./sqlite/signals.ts";
import { findThread, headOf, releaseClaim, renewClaim, takeClaim } from "./sqlite/thread.ts";
import { listThreads } from "./sqlite/threads.ts";
import { unknownCheckpoint } from "./contract/store-error.ts";

export interface SqliteStoreOptions extends ConnectionOptions {
  /** Clock for leases, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionNames<SqliteStoreOptions> = {
  path: true,
  busyTimeout: "number",
  journal: "text",
  now: "function",
};

/**
 * A store in one SQLite file. A call is durable when it returns, and several processes may use the file at the same time.
 * All methods are synchronous.
 *
 * Uses the SQLite that is built into Node (22.13 and later), otherwise the package `@photostructure/sqlite`.
 *
 * @throws StoreError NG_STORE_FAILED, NG_CORRUPT_RECORD or NG_UNKNOWN_VERSION when the file cannot be used. The file is
 *   not changed in that case.
 * @example
 * const engine = createEngine(table, { store: new SqliteStore("runs.db") });
 */
export class SqliteStore implements Store {
  readonly acceptsSplices = true;
  readonly #connection: Connection;
  readonly #now: () => number;
  readonly #group: GroupCommit;

  constructor(path: string | SqliteStoreOptions) {
    const options = typeof path === "string" ? { path } : path;
    checkOptions("an SQLite store", options, OPTIONS);
    this.#connection = new Connection(options);
    this.#group = new GroupCommit(this.#connection);
    this.#now = options.now ?? Date.now;
    // A subclass may override methods, which the view would not call as a run does.
    if (new.target === SqliteStore) registerRunView(this, sqliteRunView(this, this.#group));
  }

  claim(threadId: ThreadId, runner: Runner): Claim {
    const owner = encodeKey(runner.owner);
    const { claim, head } = this.#recordLost(owner, () => takeClaim(this.#connection, threadId, runner, this.#now()));
    if (head !== undefined && this.loadLatest === SqliteStore.prototype.loadLatest) noteClaimedHead(this, claim, head);
    return claim;
  }

  renew(claim: Claim, leaseMs: number): void {
    renewClaim(this.#connection, claim, leaseMs, this.#now());
  }

  release(claim: Claim): void {
    this.#recordLost(encodeKey(claim.owner), () => releaseClaim(this.#connection, claim));
  }

  save(claim: Claim, request: SaveRequest): void {
    save(this.#connection, claim, request);
  }

  loadLatest(threadId: ThreadId, namespace = ""): Checkpoint | undefined {
    // A run loads the head after it has claimed the thread. Reading a thread without checkpoints needs no flush.
    if (this.#connection.hasNoCheckpoints(encodeKey(threadId))) return undefined;
    return this.#load(threadId, (thread) => {
      const head = headOf(this.#connection, thread, encodeKey(namespace));
      const row = head === undefined ? undefined : checkpointAt(this.#connection, thread, head);
      expectAllCheckpoints(this.#connection, thread);
      return row;
    });
  }

  loadById(threadId: ThreadId, id: CheckpointId): Checkpoint | undefined {
    return this.#load(threadId, (thread) => findCheckpoint(this.#connection, thread, id));
  }

  list(threadId: ThreadId, options: ListOptions = {}): readonly Checkpoint[] {
    const { namespace = "", before } = options;
    const connection = this.#connection;
    checkNames(namespace, before);
    return connection.read(() => {
      const thread = findThread(connection, threadId);
      const key = encodeKey(namespace);
      const head = (thread && headOf(connection, thread, key)) ?? null;
      const row = before === undefined ? undefined : thread && findCheckpoint(connection, thread, before);
      if (before !== undefined && row?.namespace !== key) throw unknownCheckpoint(threadId, before);
      if (options.all === true && thread !== undefined && head !== null) {
        const points = branchPoints(connection, thread, key);
        const { page, abandoned } = pageOfBranches(points, { head, before: row?.ord, limit: rowLimit(options.limit) });
        const rows = page.map((ord) => checkpointAt(connection, thread, ord));
        return withAbandoned(withValues(connection, threadId, rows), page, abandoned);
      }
      const start = row === undefined ? head : row.parent;
      if (thread === undefined || start === null) return [];
      return withValues(connection, threadId, ancestors(connection, thread, start, rowLimit(options.limit)));
    });
  }

  deleteThread(threadId: ThreadId): void {
    removeThread(this.#connection, threadId);
  }

  putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ): void {
    putWrites(this.#connection, claim, checkpointId, writes, takenSignals);
  }

  getWrites(threadId: ThreadId, checkpointId: CheckpointId): readonly PendingWrite[] {
    return getWrites(this.#connection, threadId, checkpointId);
  }

  clearWrites(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): void {
    clearWrites(this.#connection, claim, checkpointId, taskIds);
  }

  putSignal(threadId: ThreadId, signal: Signal): boolean {
    return putSignal(this.#connection, threadId, signal);
  }

  getSignals(threadId: ThreadId): readonly Signal[] {
    return getSignals(this.#connection, threadId);
  }

  label(threadId: ThreadId, checkpointId: CheckpointId, label: string): void {
    const connection = this.#connection;
    connection.write(() => {
      const thread = findThread(connection, threadId);
      const row = thread && findCheckpoint(connection, thread, checkpointId);
      if (thread === undefined || row === undefined) throw unknownCheckpoint(threadId, checkpointId);
      takeLabel(connection, thread, encodeKey(label));
      relabel(connection, row, encodeKey(label));
    });
  }

  loadByLabel(threadId: ThreadId, label: string): Checkpoint | undefined {
    return this.#load(threadId, (thread) => findLabelled(this.#connection, thread, label));
  }

  threads(options: ThreadsOptions = {}): readonly ThreadInfo[] {
    return listThreads(this.#connection, options, this.#now());
  }

  putItem(item: StoredItem): void {
    putItem(this.#connection, item);
  }

  getItem(namespace: readonly string[], key: string): StoredItem | undefined {
    return getItem(this.#connection, namespace, key);
  }

  deleteItem(namespace: readonly string[], key: string): boolean {
    return deleteItem(this.#connection, namespace, key);
  }

  listItems(prefix: readonly string[], options: StoredItemsOptions): readonly StoredItem[] {
    return listItems(this.#connection, prefix, options);
  }

  pruneItems(now: number): number {
    return pruneItems(this.#connection, now);
  }

  prune(threadId: ThreadId, policy: PrunePolicy): number {
    checkPrunePolicy(policy);
    return prune(this.#connection, threadId, policy);
  }

  /** Further calls fail. Closing twice is harmless. */
  close(): void {
    this.#group.flush();
    try {
      finishRemoval(this.#connection);
    } finally {
      this.#connection.close();
    }
  }

  #recordLost<T>(owner: string, call: () => T): T {
    try {
      const result = call();
      this.#connection.lost.delete(owner);
      return result;
    } catch (error) {
      recordLost(this.#connection.lost, owner, error);
      throw error;
    }
  }

  #load(threadId: ThreadId, find: (thread: ThreadRow) => Parameters<typeof withValues>[2][number] | undefined) {
    return this.#connection.read(() => {
      const thread = findThread(this.#connection, threadId);
      const row = thread && find(thread);
      return row && withValues(this.#connection, threadId, [row])[0];
    });
  }
}
