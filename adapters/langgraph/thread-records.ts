import {
  type Checkpoint,
  CHECKPOINT_SCHEMA_VERSION,
  type ChannelChange,
  type Phase,
} from "../../runtime/interface/checkpoint.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Claim, Store } from "../../runtime/interface/store.ts";

/** The content of a record; the other fields of its header are equal in all records. */
export interface RecordDraft {
  readonly id: string;
  readonly values: ReadonlyMap<string, Json>;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly step?: number;
  readonly phase?: Phase;
}

/** The part of a namespace's head that the next record depends on. */
export interface Head {
  readonly id: string;
  readonly values: Readonly<Record<string, Json>>;
  readonly versions: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, Json>>;
}

/** Adds records to a thread's namespaces, each on top of the last, under a claim of the thread. */
export interface ThreadRecords {
  /**
   * Saves what `draft` returns for the head, or nothing if it returns `undefined`. Calls `draft` again when another
   * process was faster.
   */
  append(
    threadId: string,
    namespace: string,
    draft: (head: Head | undefined) => MaybeDraft | Promise<MaybeDraft>,
  ): Promise<void>;
  /** Waits for the pending operations of the thread, then removes its queue. */
  forget(threadId: string, body: () => Promise<void>): Promise<void>;
}

type MaybeDraft = RecordDraft | undefined;

/** Stored as the digest, so that an engine refuses these records as those of another graph. */
const FOREIGN_DIGEST = "langgraph";
const LEASE_MS = 30_000;
/** How long to wait for other processes that write to the thread. */
const PATIENCE_MS = 15_000;
/** Heads remembered, so that a checkpoint need not be read to be followed by the next. */
const REMEMBERED_HEADS = 64;

export function createThreadRecords(store: Store): ThreadRecords {
  const owner = globalThis.crypto.randomUUID();
  /** One write at a time on a thread: a claim is not shared. */
  const queues = new Map<string, Promise<void>>();
  const heads = new Map<string, Head>();

  return {
    append: (threadId, namespace, draft) => enqueue(threadId, () => append(threadId, namespace, draft)),
    forget: (threadId, body) =>
      enqueue(threadId, async () => {
        heads.clear();
        await body();
      }),
  };

  async function append(
    threadId: string,
    namespace: string,
    draft: Parameters<ThreadRecords["append"]>[2],
  ): Promise<void> {
    const key = JSON.stringify([threadId, namespace]);
    for (const end = Date.now() + PATIENCE_MS; ;) {
      try {
        const claim = await store.claim(threadId, { owner, leaseMs: LEASE_MS });
        let head = heads.get(key) ?? (await store.loadLatest(threadId, namespace));
        const next = await draft(head);
        head = next === undefined ? head : await save(claim, namespace, head, next);
        if (next === undefined) await store.release(claim);
        if (head !== undefined) remember(key, head);
        return;
      } catch (error) {
        heads.delete(key);
        // Another process writes to the thread. It ends soon, and this record follows its record.
        const isLate = error instanceof ThreadError && error.code === "NG_THREAD_CONFLICT";
        if (!isLate || Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 40));
      }
    }
  }

  async function save(claim: Claim, namespace: string, head: Head | undefined, next: RecordDraft): Promise<Head> {
    const { changes, values, versions } = changesBetween(head, next.values);
    await store.save(claim, {
      header: {
        ...{ schemaVersion: CHECKPOINT_SCHEMA_VERSION, id: next.id, threadId: claim.threadId, runId: FOREIGN_DIGEST },
        ...{ namespace, parentId: head?.id ?? null, step: next.step ?? 0, phase: next.phase ?? "completed" },
        ...{ currentNodes: [], nextNodes: [], pendingSends: [], barrierState: {}, pauses: [], answers: [], errors: {} },
        ...{ status: "running", label: null, metadata: next.metadata, timestamp: Date.now(), digest: FOREIGN_DIGEST },
      },
      changes,
      snapshot: () => ({ values, versions }),
      expectedHead: head?.id ?? null,
      releaseClaim: true,
    });
    return { id: next.id, values, versions, metadata: next.metadata };
  }

  function remember(key: string, head: Head): void {
    heads.delete(key);
    heads.set(key, head);
    for (const oldest of heads.keys()) {
      if (heads.size <= REMEMBERED_HEADS) break;
      heads.delete(oldest);
    }
  }

  function enqueue(threadId: string, body: () => Promise<void>): Promise<void> {
    const done = (queues.get(threadId) ?? Promise.resolve()).then(body);
    const settled = done.catch(() => undefined);
    queues.set(threadId, settled);
    void settled.then(() => queues.get(threadId) === settled && queues.delete(threadId));
    return done;
  }
}

/** The changes between two sets of values: for a list that has grown, its new items. */
function changesBetween(head: Pick<Checkpoint, "values" | "versions"> | undefined, next: ReadonlyMap<string, Json>) {
  const changes: ChannelChange[] = [];
  const values = Object.create(null) as Record<string, Json>;
  const versions = Object.assign(Object.create(null) as Record<string, number>, head?.versions);
  const before = new Map(Object.entries(head?.values ?? {}));
  for (const [channel, value] of next) {
    const old = before.get(channel);
    values[channel] = value;
    if (old === value && before.has(channel)) continue;
    const version = (versions[channel] ?? 0) + 1;
    const items = old !== undefined && Array.isArray(old) && Array.isArray(value) ? itemsAfter(old, value) : undefined;
    if (items?.length === 0) continue;
    versions[channel] = version;
    if (items === undefined) changes.push({ channel, version, kind: "set", value });
    else changes.push({ channel, version, kind: "append", items });
  }
  for (const channel of before.keys()) {
    if (next.has(channel)) continue;
    versions[channel] = (versions[channel] ?? 0) + 1;
    changes.push({ channel, version: versions[channel], kind: "reset" });
  }
  return { changes, values, versions };
}

/** The items of `list` after the prefix `start`; `undefined` if `list` does not start with it. */
function itemsAfter(start: readonly Json[], list: readonly Json[]): readonly Json[] | undefined {
  if (list.length < start.length) return undefined;
  // Compares from the end, where most lists differ.
  for (let index = start.length - 1; index >= 0; index--) {
    if (JSON.stringify(start[index]) !== JSON.stringify(list[index])) return undefined;
  }
  return list.slice(start.length);
}
