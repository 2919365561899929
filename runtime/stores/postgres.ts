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
import { noteClaimedHead } from "../interface/claimed-heads.ts";
import { checkNames, encodeKey } from "./contract/key.ts";
import { checkPrunePolicy, rowLimit } from "./contract/limits.ts";
import { recordLost } from "./contract/lost-owners.ts";
import {
  ancestors,
  branchPoints,
  checkpointAt,
  checkpointsAt,
  expectAllCheckpoints,
  findCheckpoint,
  findLabelled,
  loadHead,
  withValues,
} from "./postgres/checkpoints.ts";
import { CallGroups } from "./postgres/call-groups.ts";
import { Connection, type ConnectionOptions, type Transaction } from "./postgres/connection.ts";
import { type ClaimRequest, takeClaims } from "./postgres/claims.ts";
import { clearWrites, getWrites, putWrites } from "./postgres/pending-writes.ts";
import { deleteItem, getItem, listItems, pruneItems, putItem } from "./postgres/items.ts";
import { prune, removeThread } from "./postgres/prune.ts";
import { encodeLong } from "./contract/encode-long.ts";
import { commitSaves, type KnownSaves } from "./postgres/save-known.ts";
import { relabel, save, takeLabel } from "./postgres/save.ts";
import { getSignals, putSignal } from "./postgres/signals.ts";
import { findThread, headOf, lockThread, releaseClaim, renewClaim } from "./postgres/thread.ts";
import { listThreads } from "./postgres/threads.ts";
import type { CheckpointRow, ThreadRow } from "./contract/rows.ts";
import { unknownCheckpoint } from "./contract/store-error.ts";

export type PostgresStoreOptions = ConnectionOptions;
const OPTIONS: OptionNames<PostgresStoreOptions> = {
  url: "text",
  schema: "text",
  connections: "count",
  connectTimeoutMs: "number",
  pool: "record",
};

/**
 * A store in a schema of a Postgres database (version 13 or later), shared by any number of processes and machines. The
 * first call creates the tables. Needs the package `pg`.
 *
 * Every call may reject with StoreError: NG_STORE_FAILED when the database does not answer or refuses the call,
 * NG_UNKNOWN_VERSION when a newer version of ngraph has written its schema. After an outage the next call connects again.
 *
 * @throws StoreError NG_STORE_FAILED when `pg` is not installed, or an option is invalid
 * @example
 * const store = new PostgresStore("postgres://user:password@host/database");
 * const engine = createEngine(table, { store });
 */
export class PostgresStore implements Store {
  readonly acceptsSplices = true;
  readonly #connection: Connection;
  readonly #claims = new CallGroups((requests: readonly ClaimRequest[]) => takeClaims(this.#connection, requests));
  readonly #saves: KnownSaves = new CallGroups((saves) => commitSaves(this.#connection, saves));

  constructor(options: string | PostgresStoreOptions = {}) {
    const given = typeof options === "string" ? { url: options } : options;
    checkOptions("a Postgres store", given, OPTIONS);
    this.#connection = new Connection(given);
  }

  async claim(threadId: ThreadId, runner: Runner): Promise<Claim> {
    const owner = encodeKey(runner.owner);
    const { claim, head } = await this.#recordLost(owner, () => this.#claims.run({ threadId, runner }, 0));
    if (head !== undefined && this.loadLatest === PostgresStore.prototype.loadLatest)
      noteClaimedHead(this, claim, head);
    return claim;
  }

  async renew(claim: Claim, leaseMs: number): Promise<void> {
    await renewClaim(this.#connection, claim, leaseMs);
  }

  async release(claim: Claim): Promise<void> {
    await this.#recordLost(encodeKey(claim.owner), () => releaseClaim(this.#connection, claim));
  }

  async save(claim: Claim, request: SaveRequest): Promise<void> {
    const encoded = encodeLong(request);
    if (encoded !== undefined) await encoded;
    await save(this.#connection, this.#saves, claim, request);
  }

  async loadLatest(threadId: ThreadId, namespace = ""): Promise<Checkpoint | undefined> {
    if (namespace === "") return loadHead(this.#connection, threadId);
    return this.#load(threadId, async (transaction, thread) => {
      const head = await headOf(transaction, thread, encodeKey(namespace));
      const row = head === undefined ? undefined : await checkpointAt(transaction, thread, head);
      await expectAllCheckpoints(transaction, thread);
      return row;
    });
  }

  async loadById(threadId: ThreadId, id: CheckpointId): Promise<Checkpoint | undefined> {
    return this.#load(threadId, (transaction, thread) => findCheckpoint(transaction, thread, id));
  }

  async list(threadId: ThreadId, options: ListOptions = {}): Promise<readonly Checkpoint[]> {
    const { namespace = "", before } = options;
    checkNames(namespace, before);
    return this.#connection.read(async (transaction) => {
      const thread = await findThread(transaction, threadId);
      const key = encodeKey(namespace);
      const row = before === undefined ? undefined : thread && (await findCheckpoint(transaction, thread, before));
      if (before !== undefined && row?.namespace !== key) throw unknownCheckpoint(threadId, before);
      if (thread === undefined) return [];
      const isWhole = options.all === true;
      const head = row === undefined || isWhole ? ((await headOf(transaction, thread, key)) ?? null) : null;
      if (isWhole && head !== null) {
        const points = await branchPoints(transaction, thread, key);
        const { page, abandoned } = pageOfBranches(points, { head, before: row?.ord, limit: rowLimit(options.limit) });
        const rows = await checkpointsAt(transaction, thread, page);
        return withAbandoned(await withValues(transaction, threadId, rows), page, abandoned);
      }
      const start = row === undefined ? head : row.parent;
      const rows = await ancestors(transaction, thread, start, rowLimit(options.limit));
      return withValues(transaction, threadId, rows);
    });
  }

  async deleteThread(threadId: ThreadId): Promise<void> {
    await removeThread(this.#connection, threadId);
  }

  async putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ): Promise<void> {
    await putWrites(this.#connection, claim, checkpointId, writes, takenSignals);
  }

  async getWrites(threadId: ThreadId, checkpointId: CheckpointId): Promise<readonly PendingWrite[]> {
    return getWrites(this.#connection, threadId, checkpointId);
  }

  async clearWrites(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): Promise<void> {
    await clearWrites(this.#connection, claim, checkpointId, taskIds);
  }

  async putSignal(threadId: ThreadId, signal: Signal): Promise<boolean> {
    return putSignal(this.#connection, threadId, signal);
  }

  async getSignals(threadId: ThreadId): Promise<readonly Signal[]> {
    return getSignals(this.#connection, threadId);
  }

  async label(threadId: ThreadId, checkpointId: CheckpointId, label: string): Promise<void> {
    await this.#connection.write(async (transaction) => {
      const thread = await lockThread(transaction, threadId);
      const row = thread && (await findCheckpoint(transaction, thread, checkpointId));
      if (thread === undefined || row === undefined) throw unknownCheckpoint(threadId, checkpointId);
      await takeLabel(transaction, thread, encodeKey(label));
      await relabel(transaction, row, encodeKey(label));
    });
  }

  async loadByLabel(threadId: ThreadId, label: string): Promise<Checkpoint | undefined> {
    return this.#load(threadId, (transaction, thread) => findLabelled(transaction, thread, label));
  }

  async threads(options: ThreadsOptions = {}): Promise<readonly ThreadInfo[]> {
    return listThreads(this.#connection, options);
  }

  async putItem(item: StoredItem): Promise<void> {
    await putItem(this.#connection, item);
  }

  async getItem(namespace: readonly string[], key: string): Promise<StoredItem | undefined> {
    return getItem(this.#connection, namespace, key);
  }

  async deleteItem(namespace: readonly string[], key: string): Promise<boolean> {
    return deleteItem(this.#connection, namespace, key);
  }

  async listItems(prefix: readonly string[], options: StoredItemsOptions): Promise<readonly StoredItem[]> {
    return listItems(this.#connection, prefix, options);
  }

  async pruneItems(now: number): Promise<number> {
    return pruneItems(this.#connection, now);
  }

  async prune(threadId: ThreadId, policy: PrunePolicy): Promise<number> {
    checkPrunePolicy(policy);
    return prune(this.#connection, threadId, policy);
  }

  /** Waits for calls under way. Further calls fail. Closing twice is harmless. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #recordLost<T>(owner: string, call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      this.#connection.lost.delete(owner);
      return result;
    } catch (error) {
      recordLost(this.#connection.lost, owner, error);
      throw error;
    }
  }

  #load(
    threadId: ThreadId,
    find: (transaction: Transaction, thread: ThreadRow) => Promise<CheckpointRow | undefined>,
  ): Promise<Checkpoint | undefined> {
    return this.#connection.read(async (transaction) => {
      const thread = await findThread(transaction, threadId);
      const row = thread && (await find(transaction, thread));
      return row && (await withValues(transaction, threadId, [row]))[0];
    });
  }
}
