/**
 * A simple store with all optional methods, written without code of the built-in stores. Its data is on a `Disk`, which
 * outlives the store. Each mutation point has a mutation in `planted-*-faults.ts`.
 */
import {
  CHECKPOINT_SCHEMA_VERSION,
  type Checkpoint,
  type CheckpointHeader,
  type PendingWrite,
  type Signal,
} from "../../runtime/interface/checkpoint.ts";
import type { StoredItem, StoredItemsOptions } from "../../runtime/interface/memory.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";
import type {
  Claim,
  ListOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
  ThreadsOptions,
} from "../../runtime/interface/store.ts";
import { type Cells, changedCells, type Disk, jsonText, readCells, snapshotCells, type Thread } from "./plain-disk.ts";

export class PlainStore implements Store {
  readonly acceptsSplices = true;
  readonly #disk: Disk;
  // Mutation point: fields
  #closed = false;

  constructor(disk: Disk) {
    // Mutation point: opened-disk
    this.#disk = disk;
  }

  // Mutation point: claim
  claim(threadId: string, { owner, leaseMs }: Runner): Claim {
    // Mutation point: claimed-thread
    const thread = this.#find(threadId) ?? newThread(threadId);
    const { holder } = thread;
    // Mutation point: live-holder
    if (holder !== undefined && holder.owner !== owner && holder.until > Date.now()) {
      // Mutation point: refused-claim
      throw conflict(threadId, `is being run by ${holder.owner}`);
    }
    // Mutation point: next-epoch
    const epoch = ++this.#disk.epoch;
    // Mutation point: lease
    thread.holder = { owner, epoch, until: Date.now() + leaseMs };
    this.#disk.threads.set(keyOf(threadId), thread);
    return { threadId, owner, epoch };
  }

  renew(claim: Claim, leaseMs: number): void {
    const thread = this.#claimed(claim);
    // Mutation point: renewed-lease
    thread.holder = { ...claim, until: Date.now() + leaseMs };
  }

  release({ threadId, epoch }: Claim): void {
    const thread = this.#find(threadId);
    // Mutation point: release
    if (thread?.holder?.epoch === epoch) thread.holder = undefined;
  }

  // Mutation point: save
  save(claim: Claim, request: SaveRequest): void {
    // Mutation point: claim-of-save
    const thread = this.#claimed(claim);
    const { header, expectedHead, clearWritesOf, releaseClaim } = request;
    // Mutation point: current-head
    const head = thread.heads.get(header.namespace) ?? null;
    // Mutation point: expected-head
    if (head !== expectedHead) throw conflict(claim.threadId, `stands at ${head}, not at ${expectedHead}`);
    // Mutation point: existing-checkpoint
    if (thread.checkpoints.has(header.id)) throw failed(`there is a checkpoint ${header.id} already`);
    // Mutation point: stored-header
    const text = jsonText({ ...header, label: null });
    // Mutation point: parent
    const parent = head !== null && header.parentId === head ? thread.checkpoints.get(head) : undefined;
    // Mutation point: stored-cells
    const cells: Cells =
      parent === undefined ? snapshotCells(request.snapshot()) : changedCells(parent.cells, request.changes);

    // Mutation point: stored-checkpoint
    thread.checkpoints.set(header.id, { header: text, cells });
    // Mutation point: new-head
    thread.heads.set(header.namespace, header.id);
    thread.written = ++this.#disk.written;
    // Mutation point: saved-label
    if (header.label !== null) thread.labels.set(header.label, header.id);
    // Mutation point: cleared-writes
    if (clearWritesOf !== undefined) thread.writes.delete(clearWritesOf);
    // Mutation point: signals-of-save
    takeSignals(thread, request.takenSignals);
    // Mutation point: returned-signals
    for (const signal of request.returnedSignals ?? []) {
      if (typeof thread.signals.get(signal.id) !== "string") thread.signals.set(signal.id, jsonText(signal));
    }
    // Mutation point: released-claim
    if (releaseClaim === true) thread.holder = undefined;
  }

  loadLatest(threadId: string, namespace = ""): Checkpoint | undefined {
    // Mutation point: head-of-namespace
    const id = this.#find(threadId)?.heads.get(namespace);
    // Mutation point: latest
    return id === undefined ? undefined : this.loadById(threadId, id);
  }

  loadById(threadId: string, id: string): Checkpoint | undefined {
    const thread = this.#find(threadId);
    // Mutation point: found-checkpoint
    const stored = thread?.checkpoints.get(id);
    if (thread === undefined || stored === undefined) return undefined;
    // Mutation point: read-header
    const header = JSON.parse(stored.header) as CheckpointHeader;
    const { schemaVersion } = header;
    // Mutation point: version-check
    if (!Number.isInteger(schemaVersion) || schemaVersion < 0 || schemaVersion > CHECKPOINT_SCHEMA_VERSION) {
      // Mutation point: version-problem
      const problem = `checkpoint ${id} has schema version ${schemaVersion}: update ngraph`;
      throw new StoreError("NG_UNKNOWN_VERSION", problem);
    }
    // Mutation point: returned-checkpoint
    return { ...header, label: labelOf(thread, id), ...readCells(stored.cells) };
  }

  // Mutation point: list
  list(threadId: string, { namespace = "", before, limit = 100 }: ListOptions = {}): readonly Checkpoint[] {
    const cursor = before === undefined ? undefined : this.loadById(threadId, before);
    // Mutation point: cursor-check
    if (before !== undefined && cursor?.namespace !== namespace) throw unknown(threadId, before);
    // Mutation point: parent-of
    const parentOf = ({ parentId }: Checkpoint) => (parentId === null ? undefined : this.loadById(threadId, parentId));
    const found: Checkpoint[] = [];
    // Mutation point: first-of-page
    let next = cursor === undefined ? this.loadLatest(threadId, namespace) : parentOf(cursor);
    // Mutation point: page
    for (; next?.namespace === namespace && found.length < limit; next = parentOf(next)) found.push(next);
    // Mutation point: returned-page
    return found;
  }

  deleteThread(threadId: string): void {
    // Mutation point: deleted-thread
    this.#disk.threads.delete(keyOf(threadId));
  }

  // Mutation point: put-writes
  putWrites(claim: Claim, checkpointId: string, writes: readonly PendingWrite[], taken?: readonly string[]): void {
    // Mutation point: claim-of-put
    const thread = this.#claimed(claim);
    // Mutation point: write-texts
    const texts = writes.map((write) => [write.taskId, jsonText(write)] as const);
    // Mutation point: writes-of-checkpoint
    const pending = thread.writes.get(checkpointId) ?? new Map<string, string>();
    // Mutation point: kept-writes
    thread.writes.set(checkpointId, pending);
    // Mutation point: stored-write
    for (const [taskId, text] of texts) pending.set(taskId, text);
    // Mutation point: signals-of-put
    takeSignals(thread, taken);
  }

  putSignal(threadId: string, signal: Signal): boolean {
    const text = jsonText(signal);
    const thread = this.#find(threadId);
    // Mutation point: thread-of-signal
    if (thread === undefined || thread.checkpoints.size === 0) throw noThread(threadId);
    // Mutation point: known-signal
    if (thread.signals.has(signal.id)) return false;
    thread.signals.set(signal.id, text);
    return true;
  }

  getSignals(threadId: string): readonly Signal[] {
    // Mutation point: inbox
    return [...(this.#find(threadId)?.signals.values() ?? [])].flatMap((text) =>
      text === null ? [] : [JSON.parse(text) as Signal],
    );
  }

  getWrites(threadId: string, checkpointId: string): readonly PendingWrite[] {
    // Mutation point: found-writes
    const pending = this.#find(threadId)?.writes.get(checkpointId)?.values() ?? [];
    // Mutation point: read-writes
    return [...pending].map((text) => JSON.parse(text) as PendingWrite);
  }

  clearWrites(claim: Claim, checkpointId: string, taskIds?: readonly string[]): void {
    // Mutation point: claim-of-clear
    const { writes } = this.#claimed(claim);
    // Mutation point: clear-writes
    if (taskIds === undefined) writes.delete(checkpointId);
    else for (const taskId of taskIds) writes.get(checkpointId)?.delete(taskId);
  }

  label(threadId: string, checkpointId: string, label: string): void {
    const thread = this.#find(threadId);
    // Mutation point: labelled-checkpoint
    if (thread === undefined || !thread.checkpoints.has(checkpointId)) throw unknown(threadId, checkpointId);
    const former = labelOf(thread, checkpointId);
    // Mutation point: former-label
    if (former !== null) thread.labels.delete(former);
    // Mutation point: new-label
    thread.labels.set(label, checkpointId);
  }

  loadByLabel(threadId: string, label: string): Checkpoint | undefined {
    const id = this.#find(threadId)?.labels.get(label);
    return id === undefined ? undefined : this.loadById(threadId, id);
  }

  putItem(item: StoredItem): void {
    const former = this.getItem(item.namespace, item.key);
    // Mutation point: created
    const isNew = former === undefined || (former.expires ?? Infinity) <= item.updated;
    // Mutation point: put-item
    const stored = { ...item, created: isNew ? item.created : former.created };
    this.#disk.items.set(itemName(item.namespace, item.key), jsonText(stored));
  }

  getItem(namespace: readonly string[], key: string): StoredItem | undefined {
    // Mutation point: get-item
    const text = this.#disk.items.get(itemName(namespace, key));
    return text === undefined ? undefined : (JSON.parse(text) as StoredItem);
  }

  deleteItem(namespace: readonly string[], key: string): boolean {
    return this.#disk.items.delete(itemName(namespace, key));
  }

  listItems(prefix: readonly string[], { limit, after, now }: StoredItemsOptions): readonly StoredItem[] {
    const name = after === undefined ? "" : itemName(after.namespace, after.key);
    // Mutation point: item-prefix
    const isBelow = ({ namespace }: StoredItem): boolean => prefix.every((part, index) => namespace[index] === part);
    // Mutation point: item-expiry
    const isLive = ({ expires }: StoredItem): boolean => expires === null || expires > now;
    // Mutation point: item-page
    const names = [...this.#disk.items.keys()].sort(byBytes).filter((other) => name === "" || byBytes(other, name) > 0);
    const items = names.map((one) => JSON.parse(this.#disk.items.get(one)!) as StoredItem);
    return items.filter((item) => isBelow(item) && isLive(item)).slice(0, limit);
  }

  pruneItems(now: number): number {
    let count = 0;
    for (const [name, text] of [...this.#disk.items]) {
      // Mutation point: pruned-items
      if (((JSON.parse(text) as StoredItem).expires ?? Infinity) > now) continue;
      this.#disk.items.delete(name);
      count++;
    }
    return count;
  }

  #info({ threadId, checkpoints, written, holder, signals: inbox }: Thread): ThreadInfo {
    const { id: headId, status, step, timestamp, metadata, label, graph, due, ttl } = this.loadLatest(threadId)!;
    const signals = [...inbox.values()].filter((text) => typeof text === "string").length;
    // Mutation point: held
    const held = holder !== undefined && holder.until > Date.now();
    const expires = ttl === undefined ? undefined : timestamp + ttl;
    const given = Object.entries({ graph, due, expires }).filter(([, value]) => value !== undefined);
    const more = { label, held, position: written, ...(signals > 0 ? { signals } : {}), ...Object.fromEntries(given) };
    // Mutation point: thread-info
    return { threadId, headId, status, step, checkpoints: checkpoints.size, timestamp, metadata, ...more };
  }

  // Mutation point: threads
  threads({ limit = 100, after = Infinity, ...filter }: ThreadsOptions = {}): readonly ThreadInfo[] {
    this.#checkOpen();
    let found = [...this.#disk.threads.values()];
    // Mutation point: threads-with-head
    found = found.filter(({ heads }) => heads.has(""));
    // Mutation point: thread-order
    found.sort((a, b) => b.written - a.written);
    // Mutation point: threads-behind
    found = found.filter(({ written }) => written < after);
    // Mutation point: threads-with-properties
    found = found.filter((thread) => hasProperties(this.#info(thread), filter));
    // Mutation point: thread-limit
    found = found.slice(0, Math.max(0, limit));
    return found.map((thread) => this.#info(thread));
  }

  prune(threadId: string, { keepLast, keepLabelled = true, olderThan = Infinity }: PrunePolicy): number {
    // Mutation point: keep-last-check
    if (!Number.isSafeInteger(keepLast) || keepLast < 1)
      throw failed("`keepLast` must be a whole number of at least 1");
    // Mutation point: older-than-check
    if (Number.isNaN(olderThan)) throw failed("`olderThan` must be a time");
    const thread = this.#find(threadId);
    if (thread === undefined) return 0;
    const kept = new Set<string>();
    const keep = (id: string): void => {
      const stored = thread.checkpoints.get(id);
      if (stored === undefined || kept.has(id)) return;
      kept.add(id);
      const { children = {} } = JSON.parse(stored.header) as CheckpointHeader;
      // Mutation point: kept-children
      for (const child of Object.values(children)) keep(child);
    };
    const newer = new Map<string, number>();
    for (const [id, stored] of [...thread.checkpoints].reverse()) {
      const { namespace, timestamp } = JSON.parse(stored.header) as CheckpointHeader;
      // Mutation point: newer-checkpoints
      const count = newer.get(namespace) ?? 0;
      // Mutation point: counted-checkpoint
      newer.set(namespace, count + 1);
      // Mutation point: is-labelled
      const isLabelled = keepLabelled && labelOf(thread, id) !== null;
      // Mutation point: kept-checkpoint
      if (count < keepLast || isLabelled || timestamp >= olderThan) keep(id);
    }
    const gone = [...thread.checkpoints.keys()].filter((id) => !kept.has(id));
    for (const id of gone) {
      const label = labelOf(thread, id);
      if (label !== null) thread.labels.delete(label);
      // Mutation point: pruned-checkpoint
      thread.checkpoints.delete(id);
      // Mutation point: pruned-writes
      thread.writes.delete(id);
    }
    // Mutation point: pruned-count
    return gone.length;
  }

  close(): void {
    // Mutation point: close
    this.#closed = true;
  }

  #find(threadId: string): Thread | undefined {
    this.#checkOpen();
    return this.#disk.threads.get(keyOf(threadId));
  }

  /** @throws ThreadError if a newer claim exists, or none */
  #claimed({ threadId, owner, epoch }: Claim): Thread {
    const thread = this.#find(threadId);
    // Mutation point: newest-claim
    if (thread?.holder?.epoch === epoch) return thread;
    throw conflict(threadId, `is no longer held by ${owner}: nothing was written`);
  }

  #checkOpen(): void {
    if (this.#closed) throw failed("the store is closed");
  }
}

function newThread(threadId: string): Thread {
  const maps = { heads: new Map(), checkpoints: new Map(), labels: new Map(), writes: new Map(), signals: new Map() };
  return { threadId, holder: undefined, written: 0, ...maps };
}

function takeSignals({ signals }: Thread, ids: readonly string[] = []): void {
  // Mutation point: taken-signal
  for (const id of ids) if (signals.has(id)) signals.set(id, null);
}

function keyOf(threadId: string): string {
  // Mutation point: thread-key
  return threadId;
}

function labelOf({ labels }: Thread, id: string): string | null {
  for (const [label, named] of labels) if (named === id) return label;
  return null;
}

function conflict(threadId: string, problem: string): ThreadError {
  // Mutation point: conflict
  return new ThreadError("NG_THREAD_CONFLICT", threadId, `thread ${JSON.stringify(threadId)} ${problem}`);
}

function unknown(threadId: string, id: string): ThreadError {
  return new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, `there is no checkpoint ${JSON.stringify(id)}`);
}

function noThread(threadId: string): ThreadError {
  return new ThreadError("NG_UNKNOWN_THREAD", threadId, `there is no thread ${JSON.stringify(threadId)}`);
}

function failed(problem: string): StoreError {
  return new StoreError("NG_STORE_FAILED", problem);
}

function hasProperties(info: ThreadInfo, options: ThreadsOptions): boolean {
  const { status, graph, label, metadata = {}, due, expiredAt } = options;
  const mayContinue = (info.due ?? Infinity) <= (due ?? Infinity) || (info.signals ?? 0) > 0;
  if (due !== undefined && !(info.status === "paused" && mayContinue)) return false;
  if (expiredAt !== undefined && !((info.expires ?? Infinity) <= expiredAt)) return false;
  const wanted = Object.entries({ status, graph, label }).filter(([, value]) => value !== undefined);
  const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  return (
    wanted.every(([name, value]) => info[name as "status" | "graph" | "label"] === value) &&
    Object.entries(metadata).every(([name, value]) => isEqual(info.metadata[name], value))
  );
}

/** Texts with control characters as separators: namespaces first, so that they sort before longer ones. */
function itemName(namespace: readonly string[], key: string): string {
  const escaped = (part: string): string => JSON.stringify(part).slice(1, -1);
  return `${namespace.map((part) => `${escaped(part)}\n`).join("")}\t${escaped(key)}`;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
