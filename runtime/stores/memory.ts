import {
  CHECKPOINT_SCHEMA_VERSION,
  type Checkpoint,
  type CheckpointHeader,
  type CheckpointId,
  type PendingWrite,
  type Signal,
  type ThreadId,
} from "../interface/checkpoint.ts";
import { refuseUnknown } from "../interface/known-phase.ts";
import type {
  Claim,
  ListOptions,
  ThreadsOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
} from "../interface/store.ts";
import type { StoredItem, StoredItemsOptions } from "../interface/memory.ts";
import { checkOptions, type OptionNames } from "../run/option-names.ts";
import { LongMap } from "../value/long-map.ts";
import { noteClaimedHead } from "../interface/claimed-heads.ts";
import { registerRunView } from "../interface/run-view.ts";
import { pageOfBranches, withAbandoned } from "./contract/branches.ts";
import { frozenJson } from "./contract/frozen-json.ts";
import { checkName, checkNames } from "./contract/key.ts";
import { checkPrunePolicy, rowLimit } from "./contract/limits.ts";
import {
  checkpointExists,
  claimIsLost,
  headHasMoved,
  quote,
  storeIsClosed,
  threadIsHeld,
  unknownCheckpoint,
  unknownThread,
  unknownVersion,
} from "./contract/store-error.ts";
import { expiryOf, isListed } from "./contract/listed-thread.ts";
import { keptCheckpoints } from "./contract/retention.ts";
import { Chain, frozenChanges, snapshotChanges } from "./memory/chain.ts";
import { baseOf, frozenHeader, frozenMetadata, headerOf, keptFieldsOf, ownHeader } from "./memory/header.ts";
import { Items } from "./memory/items.ts";
import { memoryRunView } from "./memory/run-view.ts";
import { ThreadOrder } from "./memory/thread-order.ts";
import { ThreadRecord, type Holder, type Stored } from "./memory/thread-record.ts";

export interface MemoryStoreOptions {
  /** Clock for leases, in milliseconds. The default is monotonic. */
  readonly now?: () => number;
}

const OPTIONS: OptionNames<MemoryStoreOptions> = { now: "function" };

/**
 * A store that lives as long as the process: for tests, for the browser, and for graphs that pause but need not outlive
 * their process. It keeps only what changed from checkpoint to checkpoint. The values that it returns are frozen.
 *
 * @example
 * const engine = createEngine(table, { store: new MemoryStore() });
 */
export class MemoryStore implements Store {
  readonly acceptsSplices = true;
  readonly #threads = new Map<ThreadId, ThreadRecord>();
  #order = new ThreadOrder();
  /** The thread of the last call: a look into a map of many threads costs a good part of a save. */
  #last: ThreadRecord | undefined;
  readonly #items = new Items();
  readonly #now: () => number;
  /** Both count over the whole store: a thread that is deleted and created again never reuses a number. */
  #epoch = 0;
  #ord = 0;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    checkOptions("a store in memory", options, OPTIONS);
    this.#now = options.now ?? (() => performance.now());
    // A subclass may override methods, which the view would not call as a run does.
    if (new.target === MemoryStore)
      registerRunView(
        this,
        memoryRunView(this, {
          save: (claim, request) => this.#save(claim, request, true),
          putWrites: (claim, id, writes, taken) => this.#putWrites(claim, id, writes, taken, true),
        }),
      );
  }

  claim(threadId: ThreadId, runner: Runner): Claim {
    this.#checkOpen();
    checkName(runner.owner);
    const known = this.#find(threadId);
    const holder = known?.holder;
    const now = this.#now();
    if (holder !== undefined && holder.owner !== runner.owner && holder.expiresAt > now) {
      throw threadIsHeld(threadId, holder.owner);
    }
    const thread = known ?? this.#create(threadId);
    thread.holder = { owner: runner.owner, epoch: ++this.#epoch, expiresAt: now + runner.leaseMs };
    const claim = Object.freeze({ threadId, owner: runner.owner, epoch: thread.holder.epoch });
    // Entries of a weak map slow garbage collections down, and looking for the head of a new thread is cheap here.
    if (thread.head !== undefined && this.loadLatest === MemoryStore.prototype.loadLatest)
      noteClaimedHead(this, claim, thread.head.id);
    return claim;
  }

  renew(claim: Claim, leaseMs: number): void {
    const { holder } = this.#claimed(claim);
    holder.expiresAt = this.#now() + leaseMs;
  }

  release(claim: Claim): void {
    this.#checkOpen();
    const thread = this.#find(claim.threadId);
    if (thread?.holder === undefined || !holds(thread.holder, claim)) return;
    thread.holder = undefined;
    if (thread.size === 0 && (thread.writes?.size ?? 0) === 0) this.#delete(claim.threadId);
  }

  save(claim: Claim, request: SaveRequest): void {
    this.#save(claim, request, false);
  }

  /** @param isOwn the request comes from a run: its parts are frozen or never change, so they are kept without a copy */
  #save(claim: Claim, request: SaveRequest, isOwn: boolean): void {
    const { thread } = this.#claimed(claim);
    const { header } = request;
    checkName(header.id);
    checkName(header.namespace);
    checkName(header.label);
    const head = thread.headOf(header.namespace);
    // Mutation point: expected-head
    if ((head?.id ?? null) !== request.expectedHead) {
      throw headHasMoved(claim.threadId, header.namespace, request.expectedHead, head?.id ?? null);
    }
    if (thread.get(header.id) !== undefined) throw checkpointExists(claim.threadId, header.id);
    refuseUnknown(header);

    const ord = this.#ord + 1;
    // Mutation point: continued-branch
    const continues = head !== undefined && header.parentId === head.id;
    const chain = continues ? head.chain : new Chain(thread);
    // A save is atomic: everything that can fail comes before the first change.
    const given = continues ? request.changes : snapshotChanges(request.snapshot());
    const changes = isOwn ? given : frozenChanges(given);
    if (!isOwn) chain.check(changes);
    const kept = isOwn ? ownHeader(header) : frozenHeader(header);
    const fields = isOwn ? keptFieldsOf(header) : "frozen";
    const stored: Stored = {
      id: kept.id,
      step: kept.step,
      phase: kept.phase,
      currentNodes: kept.currentNodes,
      nextNodes: kept.nextNodes,
      status: kept.status,
      timestamp: kept.timestamp,
      parent: parentOf(thread, header, head),
      base: baseOf(kept, fields, head),
      fields,
      ord,
      chain,
      changes: changes.length === 1 ? changes[0] : changes,
      older: undefined,
      label: undefined,
    };

    const returned = request.returnedSignals?.map((signal) => copyOfSignal(signal));
    this.#ord = ord;
    thread.add(stored);
    if (header.label !== null) moveLabel(thread, stored, header.label);
    if (request.clearWritesOf !== undefined) thread.writes?.delete(request.clearWritesOf);
    if (request.takenSignals !== undefined) takeSignals(thread, request.takenSignals);
    if (returned !== undefined) returnSignals(thread, returned);
    if (request.releaseClaim === true) thread.holder = undefined;
  }

  loadLatest(threadId: ThreadId, namespace = ""): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(namespace);
    const thread = this.#find(threadId);
    return read(thread && thread.headOf(namespace));
  }

  loadById(threadId: ThreadId, id: CheckpointId): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(id);
    return read(this.#find(threadId)?.get(id));
  }

  list(threadId: ThreadId, options: ListOptions = {}): readonly Checkpoint[] {
    this.#checkOpen();
    const { namespace = "", before } = options;
    checkNames(namespace, before);
    const limit = rowLimit(options.limit);
    const thread = this.#find(threadId);
    const head = thread && thread.headOf(namespace);
    let next = head;
    let start: Stored | undefined;
    if (before !== undefined) {
      start = thread?.get(before);
      if (start === undefined || start.base.namespace !== namespace) throw unknownCheckpoint(threadId, before);
      next = storedParent(start);
    }
    if (options.all === true) return thread && head ? allBranches(thread, head, start?.ord, limit) : [];
    const found: Checkpoint[] = [];
    for (; next !== undefined && found.length < limit; next = storedParent(next)) found.push(read(next));
    return found;
  }

  deleteThread(threadId: ThreadId): void {
    this.#checkOpen();
    checkNames(threadId);
    this.#delete(threadId);
  }

  putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ): void {
    this.#putWrites(claim, checkpointId, writes, takenSignals, false);
  }

  /** @param isOwn the writes come from a run: results of which no part changes are kept without a copy */
  #putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals: readonly string[] | undefined,
    isOwn: boolean,
  ): void {
    const { thread } = this.#claimed(claim);
    checkName(checkpointId);
    for (const { taskId } of writes) checkName(taskId);
    const copies = writes.map((write) => (isOwn && isPlainResult(write) ? write : frozenWrite(write)));
    const all = (thread.writes ??= new Map());
    let pending = all.get(checkpointId);
    if (pending === undefined) all.set(checkpointId, (pending = new LongMap()));
    for (const write of copies) pending.set(write.taskId, write);
    if (takenSignals !== undefined) takeSignals(thread, takenSignals);
  }

  getWrites(threadId: ThreadId, checkpointId: CheckpointId): readonly PendingWrite[] {
    this.#checkOpen();
    checkNames(checkpointId);
    return this.#find(threadId)?.writes?.get(checkpointId)?.values().map(readWrite) ?? [];
  }

  clearWrites(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]): void {
    const { thread } = this.#claimed(claim);
    checkNames(checkpointId, ...(taskIds ?? []));
    const pending = thread.writes?.get(checkpointId);
    if (pending === undefined) return;
    if (taskIds === undefined) pending.clear();
    else for (const taskId of taskIds) pending.delete(taskId);
    if (pending.size === 0) thread.writes?.delete(checkpointId);
  }

  putSignal(threadId: ThreadId, signal: Signal): boolean {
    this.#checkOpen();
    const thread = this.#find(threadId);
    checkNames(signal.id);
    const copy = copyOfSignal(signal);
    if (thread === undefined || thread.size === 0) throw unknownThread(threadId);
    const signals = (thread.signals ??= new Map());
    if (signals.has(signal.id)) return false;
    signals.set(signal.id, copy);
    return true;
  }

  getSignals(threadId: ThreadId): readonly Signal[] {
    this.#checkOpen();
    return waitingSignals(this.#find(threadId)?.signals);
  }

  label(threadId: ThreadId, checkpointId: CheckpointId, label: string): void {
    this.#checkOpen();
    const thread = this.#find(threadId);
    checkNames(checkpointId, label);
    const stored = thread?.get(checkpointId);
    if (thread === undefined || stored === undefined) throw unknownCheckpoint(threadId, checkpointId);
    moveLabel(thread, stored, label);
  }

  loadByLabel(threadId: ThreadId, label: string): Checkpoint | undefined {
    this.#checkOpen();
    checkNames(label);
    return read(this.#find(threadId)?.labels?.get(label));
  }

  threads(options: ThreadsOptions = {}): readonly ThreadInfo[] {
    this.#checkOpen();
    const limit = rowLimit(options.limit);
    const { after = Number.POSITIVE_INFINITY } = options;
    const found: ThreadInfo[] = [];
    for (const thread of this.#order.before(this.#threads.values(), this.#ord, after)) {
      if (found.length >= limit) break;
      const info = this.#info(thread);
      if (isListed(info, options)) found.push(info);
    }
    return found;
  }

  #info({ threadId, head, size, written, holder, signals }: ThreadRecord): ThreadInfo {
    const header = headerOf(readable(head!));
    const { id, status, step, timestamp, graph, prepared, due } = header;
    const waiting = waitingSignals(signals).length;
    return {
      threadId,
      headId: id,
      status,
      step,
      checkpoints: size,
      timestamp,
      metadata: head!.fields === "frozen" ? header.metadata : frozenMetadata(header),
      label: head!.label ?? null,
      ...(graph === undefined ? {} : { graph }),
      position: written,
      held: holder !== undefined && holder.expiresAt > this.#now(),
      ...(prepared === true ? { prepared } : {}),
      ...(due === undefined ? {} : { due }),
      ...expiryOf(header),
      ...(waiting === 0 ? {} : { signals: waiting }),
    };
  }

  putItem(item: StoredItem): void {
    this.#checkOpen();
    this.#items.put(item);
  }

  getItem(namespace: readonly string[], key: string): StoredItem | undefined {
    this.#checkOpen();
    return this.#items.get(namespace, key);
  }

  deleteItem(namespace: readonly string[], key: string): boolean {
    this.#checkOpen();
    return this.#items.delete(namespace, key);
  }

  listItems(prefix: readonly string[], options: StoredItemsOptions): readonly StoredItem[] {
    this.#checkOpen();
    return this.#items.list(prefix, options);
  }

  pruneItems(now: number): number {
    this.#checkOpen();
    return this.#items.prune(now);
  }

  prune(threadId: ThreadId, policy: PrunePolicy): number {
    this.#checkOpen();
    checkPrunePolicy(policy);
    const thread = this.#find(threadId);
    if (thread === undefined) return 0;
    const before = thread.size;
    const all = [...thread.all()];
    const points = all.map((stored) => ({
      ord: stored.ord,
      id: stored.id,
      namespace: stored.base.namespace,
      label: stored.label ?? null,
      header: () => headerOf(stored),
    }));
    const kept = keptCheckpoints(points, policy);
    for (const stored of all) if (!kept.has(stored.ord)) thread.remove(stored);
    if (thread.size < before) dropUnread(thread);
    return before - thread.size;
  }

  close(): void {
    this.#closed = true;
    this.#threads.clear();
    this.#order = new ThreadOrder();
    this.#last = undefined;
  }

  #claimed(claim: Claim): { thread: ThreadRecord; holder: Holder } {
    this.#checkOpen();
    const thread = this.#find(claim.threadId);
    const holder = thread?.holder;
    if (thread === undefined || holder === undefined || !holds(holder, claim)) throw claimIsLost(claim);
    return { thread, holder };
  }

  #find(threadId: ThreadId): ThreadRecord | undefined {
    if (this.#last?.threadId === threadId) return this.#last;
    checkName(threadId);
    const thread = this.#threads.get(threadId);
    if (thread !== undefined) this.#last = thread;
    return thread;
  }

  #create(threadId: ThreadId): ThreadRecord {
    const thread = new ThreadRecord(threadId);
    this.#threads.set(threadId, thread);
    this.#last = thread;
    return thread;
  }

  #delete(threadId: ThreadId): void {
    this.#threads.get(threadId)?.empty();
    this.#threads.delete(threadId);
    this.#last = undefined;
  }

  #checkOpen(): void {
    if (this.#closed) throw storeIsClosed();
  }
}

function frozenWrite(write: PendingWrite): PendingWrite {
  return frozenJson(write, () => `the result of task ${quote(write.taskId)}`);
}

/** A write that was kept without a copy is not frozen. */
function readWrite(write: PendingWrite): PendingWrite {
  return Object.isFrozen(write) ? write : frozenWrite(write);
}

/** Whether the write of a run is the result of a task that has nothing but updates, whose values are frozen. */
function isPlainResult({ result }: PendingWrite): boolean {
  // An answer of any kind. A loop over a long text would first make a name of each character.
  if (typeof result !== "object" || result === null || Array.isArray(result)) return false;
  for (const name in result) if (name !== "item" && name !== "updates") return false;
  return "updates" in result;
}

/** The parent that `list` continues with: one in the same namespace of this thread. */
function parentOf(
  thread: ThreadRecord,
  { parentId, namespace }: CheckpointHeader,
  head: Stored | undefined,
): Stored["parent"] {
  if (head?.id === parentId) return head;
  const parent = parentId === null ? undefined : thread.get(parentId);
  return parent?.base.namespace === namespace ? parent : parentId;
}

function storedParent({ parent }: Stored): Stored | undefined {
  return typeof parent === "string" || parent === null ? undefined : parent;
}

/** All checkpoints of the namespace of a head. */
function allBranches(
  thread: ThreadRecord,
  head: Stored,
  before: number | undefined,
  limit: number,
): readonly Checkpoint[] {
  const { namespace } = head.base;
  const byOrd = new Map<number, Stored>();
  for (const stored of thread.all()) if (stored.base.namespace === namespace) byOrd.set(stored.ord, stored);
  const points = [...byOrd.values()].map((stored) => ({ ord: stored.ord, parent: storedParent(stored)?.ord ?? null }));
  const { page, abandoned } = pageOfBranches(points, { head: head.ord, before, limit });
  const found = page.map((ord) => read(byOrd.get(ord)!));
  return withAbandoned(found, page, abandoned);
}

function copyOfSignal(signal: Signal): Signal {
  return frozenJson(signal, () => `the value of signal ${quote(signal.id)}`);
}

function waitingSignals(signals: ThreadRecord["signals"]): readonly Signal[] {
  return [...(signals?.values() ?? [])].filter((signal) => signal !== undefined);
}

function takeSignals({ signals }: ThreadRecord, ids: readonly string[]): void {
  for (const id of ids) if (signals?.has(id) === true) signals.set(id, undefined);
}

function returnSignals(thread: ThreadRecord, returned: readonly Signal[]): void {
  const signals = (thread.signals ??= new Map());
  for (const signal of returned) if (signals.get(signal.id) === undefined) signals.set(signal.id, signal);
}

function holds(holder: Holder, claim: Claim): boolean {
  return holder.owner === claim.owner && holder.epoch === claim.epoch;
}

function moveLabel(thread: ThreadRecord, stored: Stored, label: string): void {
  const labels = (thread.labels ??= new Map());
  const former = labels.get(label);
  if (former !== undefined) former.label = undefined;
  if (stored.label !== undefined) labels.delete(stored.label);
  stored.label = label;
  labels.set(label, stored);
}

function read(stored: Stored): Checkpoint;
function read(stored: Stored | undefined): Checkpoint | undefined;
function read(stored: Stored | undefined): Checkpoint | undefined {
  if (stored === undefined) return undefined;
  const { fields, chain, ord, label } = readable(stored);
  const header = headerOf(stored);
  return Object.freeze({
    ...(fields === "frozen" ? header : frozenHeader(header)),
    label: label ?? null,
    ...chain.at(ord),
  });
}

function readable(stored: Stored): Stored {
  const { id, base } = stored;
  const { schemaVersion } = base;
  if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 0 || schemaVersion > CHECKPOINT_SCHEMA_VERSION) {
    throw unknownVersion(`checkpoint ${quote(id)}`, "schema version", schemaVersion, CHECKPOINT_SCHEMA_VERSION);
  }
  return stored;
}

/** Removes the parents and cells that only removed checkpoints needed. */
function dropUnread(thread: ThreadRecord): void {
  const kept = new Map<Chain, number[]>();
  for (const stored of thread.all()) {
    const parent = storedParent(stored);
    if (parent !== undefined && thread.get(parent.id) === undefined) stored.parent = parent.id;
    const ords = kept.get(stored.chain);
    if (ords === undefined) kept.set(stored.chain, [stored.ord]);
    else ords.push(stored.ord);
  }
  for (const [chain, ords] of kept) chain.keep(ords);
}
