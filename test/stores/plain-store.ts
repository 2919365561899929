/**
 * A store as somebody else would write it, with all optional methods, over a disk that outlives it. `planted-faults.ts` plants
 * mistakes into its text.
 */
import {
  CHECKPOINT_SCHEMA_VERSION,
  type Checkpoint,
  type CheckpointHeader,
  type PendingWrite,
} from "../../runtime/interface/checkpoint.ts";
import { StoreError, ThreadError } from "../../runtime/interface/errors.ts";
import type {
  Claim,
  ListOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
} from "../../runtime/interface/store.ts";
import { type Cells, changedCells, type Disk, jsonText, readCells, snapshotCells, type Thread } from "./plain-disk.ts";

export class PlainStore implements Store {
  readonly #disk: Disk;
  #closed = false;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  claim(threadId: string, { owner, leaseMs }: Runner): Claim {
    const thread = this.#find(threadId) ?? newThread(threadId);
    const { holder } = thread;
    if (holder !== undefined && holder.owner !== owner && holder.until > Date.now()) {
      throw conflict(threadId, `is being run by ${holder.owner}`);
    }
    const epoch = ++this.#disk.epoch;
    thread.holder = { owner, epoch, until: Date.now() + leaseMs };
    this.#disk.threads.set(keyOf(threadId), thread);
    return { threadId, owner, epoch };
  }

  renew(claim: Claim, leaseMs: number): void {
    const thread = this.#claimed(claim);
    thread.holder = { ...claim, until: Date.now() + leaseMs };
  }

  release({ threadId, epoch }: Claim): void {
    const thread = this.#find(threadId);
    if (thread?.holder?.epoch === epoch) thread.holder = undefined;
  }

  save(claim: Claim, request: SaveRequest): void {
    const thread = this.#claimed(claim);
    const { header, expectedHead, clearWritesOf, releaseClaim } = request;
    const head = thread.heads.get(header.namespace) ?? null;
    if (head !== expectedHead) throw conflict(claim.threadId, `stands at ${head}, not at ${expectedHead}`);
    if (thread.checkpoints.has(header.id)) throw failed(`there is a checkpoint ${header.id} already`);
    const text = jsonText({ ...header, label: null });
    const parent = head !== null && header.parentId === head ? thread.checkpoints.get(head) : undefined;
    const cells: Cells =
      parent === undefined ? snapshotCells(request.snapshot()) : changedCells(parent.cells, request.changes);

    thread.checkpoints.set(header.id, { header: text, cells });
    thread.heads.set(header.namespace, header.id);
    thread.written = ++this.#disk.written;
    if (header.label !== null) thread.labels.set(header.label, header.id);
    if (clearWritesOf !== undefined) thread.writes.delete(clearWritesOf);
    if (releaseClaim === true) thread.holder = undefined;
  }

  loadLatest(threadId: string, namespace = ""): Checkpoint | undefined {
    const id = this.#find(threadId)?.heads.get(namespace);
    return id === undefined ? undefined : this.loadById(threadId, id);
  }

  loadById(threadId: string, id: string): Checkpoint | undefined {
    const thread = this.#find(threadId);
    const stored = thread?.checkpoints.get(id);
    if (thread === undefined || stored === undefined) return undefined;
    const header = JSON.parse(stored.header) as CheckpointHeader;
    const { schemaVersion } = header;
    if (!Number.isInteger(schemaVersion) || schemaVersion < 0 || schemaVersion > CHECKPOINT_SCHEMA_VERSION) {
      const problem = `checkpoint ${id} has schema version ${schemaVersion}: update ngraph`;
      throw new StoreError("NG_UNKNOWN_VERSION", problem);
    }
    return { ...header, label: labelOf(thread, id), ...readCells(stored.cells) };
  }

  list(threadId: string, { namespace = "", before, limit = 100 }: ListOptions = {}): readonly Checkpoint[] {
    const from = before === undefined ? undefined : this.loadById(threadId, before);
    if (before !== undefined && from?.namespace !== namespace) throw unknown(threadId, before);
    const parentOf = ({ parentId }: Checkpoint) => (parentId === null ? undefined : this.loadById(threadId, parentId));
    const found: Checkpoint[] = [];
    let next = from === undefined ? this.loadLatest(threadId, namespace) : parentOf(from);
    for (; next?.namespace === namespace && found.length < limit; next = parentOf(next)) found.push(next);
    return found;
  }

  deleteThread(threadId: string): void {
    this.#disk.threads.delete(keyOf(threadId));
  }

  putWrites(claim: Claim, checkpointId: string, writes: readonly PendingWrite[]): void {
    const thread = this.#claimed(claim);
    const texts = writes.map((write) => [write.taskId, jsonText(write)] as const);
    const pending = thread.writes.get(checkpointId) ?? new Map<string, string>();
    thread.writes.set(checkpointId, pending);
    for (const [taskId, text] of texts) pending.set(taskId, text);
  }

  getWrites(threadId: string, checkpointId: string): readonly PendingWrite[] {
    const pending = this.#find(threadId)?.writes.get(checkpointId)?.values() ?? [];
    return [...pending].map((text) => JSON.parse(text) as PendingWrite);
  }

  clearWrites(claim: Claim, checkpointId: string, taskIds?: readonly string[]): void {
    const { writes } = this.#claimed(claim);
    if (taskIds === undefined) writes.delete(checkpointId);
    else for (const taskId of taskIds) writes.get(checkpointId)?.delete(taskId);
  }

  label(threadId: string, checkpointId: string, label: string): void {
    const thread = this.#find(threadId);
    if (thread === undefined || !thread.checkpoints.has(checkpointId)) throw unknown(threadId, checkpointId);
    const former = labelOf(thread, checkpointId);
    if (former !== null) thread.labels.delete(former);
    thread.labels.set(label, checkpointId);
  }

  loadByLabel(threadId: string, label: string): Checkpoint | undefined {
    const id = this.#find(threadId)?.labels.get(label);
    return id === undefined ? undefined : this.loadById(threadId, id);
  }

  threads({ limit = 100 }: { readonly limit?: number } = {}): readonly ThreadInfo[] {
    this.#checkOpen();
    return [...this.#disk.threads.values()]
      .filter(({ heads }) => heads.has(""))
      .sort((a, b) => b.written - a.written)
      .slice(0, Math.max(0, limit))
      .map(({ threadId, checkpoints }) => {
        const { id: headId, status, step, timestamp, metadata } = this.loadLatest(threadId)!;
        return { threadId, headId, status, step, checkpoints: checkpoints.size, timestamp, metadata };
      });
  }

  prune(threadId: string, { keepLast, keepLabelled = true, olderThan = Infinity }: PrunePolicy): number {
    if (!Number.isSafeInteger(keepLast) || keepLast < 1)
      throw failed("`keepLast` must be a whole number of at least 1");
    if (Number.isNaN(olderThan)) throw failed("`olderThan` must be a time");
    const thread = this.#find(threadId);
    if (thread === undefined) return 0;
    const kept = new Set<string>();
    const keep = (id: string): void => {
      const stored = thread.checkpoints.get(id);
      if (stored === undefined || kept.has(id)) return;
      kept.add(id);
      const { children = {} } = JSON.parse(stored.header) as CheckpointHeader;
      for (const child of Object.values(children)) keep(child);
    };
    const newer = new Map<string, number>();
    for (const [id, stored] of [...thread.checkpoints].reverse()) {
      const { namespace, timestamp } = JSON.parse(stored.header) as CheckpointHeader;
      const count = newer.get(namespace) ?? 0;
      newer.set(namespace, count + 1);
      const isLabelled = keepLabelled && labelOf(thread, id) !== null;
      if (count < keepLast || isLabelled || timestamp >= olderThan) keep(id);
    }
    const gone = [...thread.checkpoints.keys()].filter((id) => !kept.has(id));
    for (const id of gone) {
      const label = labelOf(thread, id);
      if (label !== null) thread.labels.delete(label);
      thread.checkpoints.delete(id);
      thread.writes.delete(id);
    }
    return gone.length;
  }

  close(): void {
    this.#closed = true;
  }

  #find(threadId: string): Thread | undefined {
    this.#checkOpen();
    return this.#disk.threads.get(keyOf(threadId));
  }

  /** The thread, while the claim is the newest. */
  #claimed({ threadId, owner, epoch }: Claim): Thread {
    const thread = this.#find(threadId);
    if (thread?.holder?.epoch === epoch) return thread;
    throw conflict(threadId, `is no longer held by ${owner}: nothing was written`);
  }

  #checkOpen(): void {
    if (this.#closed) throw failed("the store is closed");
  }
}

function newThread(threadId: string): Thread {
  const maps = { heads: new Map(), checkpoints: new Map(), labels: new Map(), writes: new Map() };
  return { threadId, holder: undefined, written: 0, ...maps };
}

function keyOf(threadId: string): string {
  return threadId;
}

function labelOf({ labels }: Thread, id: string): string | null {
  for (const [label, named] of labels) if (named === id) return label;
  return null;
}

function conflict(threadId: string, problem: string): ThreadError {
  return new ThreadError("NG_THREAD_CONFLICT", threadId, `thread ${JSON.stringify(threadId)} ${problem}`);
}

function unknown(threadId: string, id: string): ThreadError {
  return new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, `there is no checkpoint ${JSON.stringify(id)}`);
}

function failed(problem: string): StoreError {
  return new StoreError("NG_STORE_FAILED", problem);
}
