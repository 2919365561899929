import { StoreError } from "../../runtime/interface/errors.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";
import type { ChannelChange, Checkpoint, CheckpointId, PendingWrite } from "../../runtime/interface/checkpoint.ts";
import type { Json } from "../../runtime/value/json.ts";
import type {
  Claim,
  ListOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
} from "../../runtime/interface/store.ts";

/** The simplest store: it keeps every checkpoint whole, and every read is a linear search. */
export class ModelStore implements Store {
  readonly acceptsSplices = true;
  #threads: ModelThread[] = [];
  #epoch = 0;

  claim(threadId: string, { owner, leaseMs }: Runner): Claim {
    const thread = this.#find(threadId) ?? {
      threadId,
      checkpoints: [],
      heads: new Map(),
      writes: [],
      holder: undefined,
    };
    const { holder } = thread;
    if (holder !== undefined && holder.owner !== owner && holder.held) throw conflict(threadId);
    thread.holder = { owner, epoch: ++this.#epoch, held: leaseMs > 0 };
    if (!this.#threads.includes(thread)) this.#threads.push(thread);
    return { threadId, owner, epoch: thread.holder.epoch };
  }

  renew(claim: Claim, leaseMs: number): void {
    this.#claimed(claim).holder!.held = leaseMs > 0;
  }

  release(claim: Claim): void {
    const thread = this.#find(claim.threadId);
    if (thread?.holder?.epoch === claim.epoch) thread.holder = undefined;
  }

  save(claim: Claim, { header, changes, snapshot, expectedHead, clearWritesOf, releaseClaim }: SaveRequest): void {
    const thread = this.#claimed(claim);
    const headId = thread.heads.get(header.namespace) ?? null;
    if (headId !== expectedHead) throw conflict(claim.threadId);
    if (thread.checkpoints.some(({ id }) => id === header.id)) throw new StoreError("NG_STORE_FAILED", "twice");
    const parent = thread.checkpoints.find(({ id }) => id === header.parentId);
    const continues = headId !== null && header.parentId === headId;
    const { values, versions } = continues ? applied(parent!, changes) : snapshot();
    if (header.label !== null) this.#unlabel(thread, header.label);
    thread.checkpoints.push(structuredClone({ ...header, values, versions }));
    thread.heads.set(header.namespace, header.id);
    thread.writes = thread.writes.filter(({ of }) => of !== clearWritesOf);
    this.#threads = [...this.#threads.filter((other) => other !== thread), thread];
    if (releaseClaim === true) thread.holder = undefined;
  }

  loadLatest(threadId: string, namespace = ""): Checkpoint | undefined {
    const thread = this.#find(threadId);
    return thread?.checkpoints.find(({ id }) => id === thread.heads.get(namespace));
  }

  loadById(threadId: string, id: CheckpointId): Checkpoint | undefined {
    return this.#find(threadId)?.checkpoints.find((checkpoint) => checkpoint.id === id);
  }

  list(threadId: string, { limit = 100, before, namespace = "" }: ListOptions = {}): readonly Checkpoint[] {
    const inNamespace = (checkpoint?: Checkpoint) => (checkpoint?.namespace === namespace ? checkpoint : undefined);
    let next = this.loadLatest(threadId, namespace);
    if (before !== undefined) {
      const start = inNamespace(this.loadById(threadId, before));
      if (start === undefined) throw unknown(threadId);
      next = inNamespace(this.loadById(threadId, start.parentId ?? ""));
    }
    const chain: Checkpoint[] = [];
    for (; next !== undefined; next = inNamespace(this.loadById(threadId, next.parentId ?? ""))) chain.push(next);
    return chain.slice(0, limit);
  }

  deleteThread(threadId: string): void {
    this.#threads = this.#threads.filter((thread) => thread.threadId !== threadId);
  }

  putWrites(claim: Claim, of: CheckpointId, writes: readonly PendingWrite[]): void {
    const thread = this.#claimed(claim);
    for (const write of structuredClone(writes)) {
      const index = thread.writes.findIndex((other) => other.of === of && other.write.taskId === write.taskId);
      if (index === -1) thread.writes.push({ of, write });
      else thread.writes[index] = { of, write };
    }
  }

  getWrites(threadId: string, of: CheckpointId): readonly PendingWrite[] {
    return (this.#find(threadId)?.writes ?? []).filter((entry) => entry.of === of).map(({ write }) => write);
  }

  clearWrites(claim: Claim, of: CheckpointId, taskIds?: readonly string[]): void {
    const thread = this.#claimed(claim);
    const goes = ({ of: its, write }: ModelWrite) => its === of && (taskIds?.includes(write.taskId) ?? true);
    thread.writes = thread.writes.filter((entry) => !goes(entry));
  }

  label(threadId: string, id: CheckpointId, label: string): void {
    const thread = this.#find(threadId);
    if (thread === undefined || this.loadById(threadId, id) === undefined) throw unknown(threadId);
    this.#unlabel(thread, label);
    thread.checkpoints = thread.checkpoints.map((checkpoint) =>
      checkpoint.id === id ? { ...checkpoint, label } : checkpoint,
    );
  }

  loadByLabel(threadId: string, label: string): Checkpoint | undefined {
    return this.#find(threadId)?.checkpoints.find((checkpoint) => checkpoint.label === label);
  }

  threads({ limit = 100 }: { readonly limit?: number } = {}): readonly ThreadInfo[] {
    const written = this.#threads.filter(({ heads }) => heads.has("")).reverse();
    return written.slice(0, limit).map(({ threadId, checkpoints }) => {
      const { id: headId, status, step, timestamp, metadata, label, graph } = this.loadLatest(threadId)!;
      return {
        threadId,
        headId,
        status,
        step,
        checkpoints: checkpoints.length,
        timestamp,
        metadata,
        label,
        ...(graph === undefined ? {} : { graph }),
        position: 0,
        held: false,
      };
    });
  }

  prune(threadId: string, { keepLast, keepLabelled = true, olderThan = Infinity }: PrunePolicy): number {
    const thread = this.#find(threadId);
    if (thread === undefined) return 0;
    const all = thread.checkpoints;
    let stays = all.filter(({ namespace, label, timestamp }, index) => {
      const newer = all.slice(index + 1).filter((other) => other.namespace === namespace);
      return newer.length < keepLast || (keepLabelled && label !== null) || timestamp >= olderThan;
    });
    // Each checkpoint that stays keeps those of called graphs that it continues from, transitively.
    for (let before = -1; before !== stays.length;) {
      before = stays.length;
      const children = new Set(stays.flatMap((checkpoint) => Object.values(checkpoint.children ?? {})));
      stays = all.filter((checkpoint) => stays.includes(checkpoint) || children.has(checkpoint.id));
    }
    const gone = thread.checkpoints.filter((checkpoint) => !stays.includes(checkpoint));
    thread.checkpoints = stays;
    thread.writes = thread.writes.filter(({ of }) => !gone.some(({ id }) => id === of));
    return gone.length;
  }

  #find(threadId: string): ModelThread | undefined {
    return this.#threads.find((thread) => thread.threadId === threadId);
  }

  #claimed(claim: Claim): ModelThread {
    const thread = this.#find(claim.threadId);
    if (thread?.holder === undefined || thread.holder.epoch !== claim.epoch) throw conflict(claim.threadId);
    return thread;
  }

  #unlabel(thread: ModelThread, label: string): void {
    thread.checkpoints = thread.checkpoints.map((checkpoint) =>
      checkpoint.label === label ? { ...checkpoint, label: null } : checkpoint,
    );
  }
}

interface ModelThread {
  readonly threadId: string;
  checkpoints: Checkpoint[];
  readonly heads: Map<string, CheckpointId>;
  writes: ModelWrite[];
  holder: { readonly owner: string; readonly epoch: number; held: boolean } | undefined;
}

interface ModelWrite {
  readonly of: CheckpointId;
  readonly write: PendingWrite;
}

function applied(parent: Checkpoint, changes: readonly ChannelChange[]): Pick<Checkpoint, "values" | "versions"> {
  const values: Record<string, Json> = { ...parent.values };
  const versions = { ...parent.versions };
  for (const change of changes) {
    versions[change.channel] = change.version;
    if (change.kind === "set") values[change.channel] = change.value;
    else if (change.kind === "reset") delete values[change.channel];
    else if (change.kind === "splice") {
      const list = [...((values[change.channel] ?? []) as readonly Json[])];
      for (const { at, remove, items } of [...change.edits].reverse()) list.splice(at, remove, ...items);
      values[change.channel] = list;
    } else values[change.channel] = [...((values[change.channel] ?? []) as readonly Json[]), ...change.items];
  }
  return { values, versions };
}

function conflict(threadId: string): ThreadError {
  return new ThreadError("NG_THREAD_CONFLICT", threadId, "conflict");
}

function unknown(threadId: string): ThreadError {
  return new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, "unknown");
}
