/** Writes checkpoints as the engine does, and knows what must be read back. */
import {
  CHECKPOINT_SCHEMA_VERSION,
  type ChannelChange,
  type Checkpoint,
  type CheckpointHeader,
  type CheckpointId,
  type ListEdit,
} from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import type { Claim, SaveRequest, Store } from "../../interface/store.ts";

/** A change without its version, which the run counts. */
export type Change =
  | { readonly channel: string; readonly set: Json }
  | { readonly channel: string; readonly append: readonly Json[] }
  | { readonly channel: string; readonly edits: readonly ListEdit[] }
  | { readonly channel: string; readonly reset: true };

export const LEASE = 60_000;

export class SampleRun {
  readonly store: Store;
  readonly threadId: string;
  claim: Claim;
  /** Number of calls of `snapshot` by the store. */
  snapshots = 0;
  readonly #heads = new Map<string, Checkpoint>();
  #count = 0;
  #prefix: string;

  private constructor(store: Store, claim: Claim) {
    this.store = store;
    this.threadId = claim.threadId;
    this.claim = claim;
    this.#prefix = claim.threadId;
  }

  static async start(store: Store, threadId = "thread", owner = "owner"): Promise<SampleRun> {
    return new SampleRun(store, await store.claim(threadId, { owner, leaseMs: LEASE }));
  }

  /** Claims a thread whose head is known, to continue from it. */
  static async resume(store: Store, head: Checkpoint, owner = "owner"): Promise<SampleRun> {
    const run = await SampleRun.start(store, head.threadId, owner);
    run.#heads.set(head.namespace, head);
    run.#prefix = `${owner} after ${head.id}`;
    return run;
  }

  head(namespace = ""): Checkpoint | undefined {
    return this.#heads.get(namespace);
  }

  /** Saves the next checkpoint. Returns what must be read back. */
  async save(
    changes: readonly Change[] = [],
    header: Partial<CheckpointHeader> = {},
    request: Partial<SaveRequest> = {},
    from: Checkpoint | undefined = this.head(header.namespace),
  ): Promise<Checkpoint> {
    const namespace = header.namespace ?? "";
    const { checkpoint, changes: versioned } = this.next(changes, { ...header, namespace }, from);
    const { values, versions, ...written } = checkpoint;
    const snapshot = () => {
      this.snapshots++;
      return { values, versions };
    };
    const expectedHead = this.head(namespace)?.id ?? null;
    await this.store.save(this.claim, { header: written, changes: versioned, snapshot, expectedHead, ...request });
    this.#heads.set(namespace, checkpoint);
    return checkpoint;
  }

  /** The next checkpoint after `from`, without saving it. */
  next(
    changes: readonly Change[],
    header: Partial<CheckpointHeader>,
    from: Checkpoint | undefined,
  ): { readonly checkpoint: Checkpoint; readonly changes: readonly ChannelChange[] } {
    const values = copyRecord(from?.values);
    const versions = copyRecord(from?.versions);
    const versioned = changes.map((change): ChannelChange => {
      const { channel } = change;
      const version = (versions[channel] ?? 0) + 1;
      versions[channel] = version;
      if ("set" in change) {
        values[channel] = change.set;
        return { channel, version, kind: "set", value: change.set };
      }
      if ("append" in change) {
        values[channel] = [...((values[channel] ?? []) as readonly Json[]), ...change.append];
        return { channel, version, kind: "append", items: change.append };
      }
      if ("edits" in change) {
        const { edits } = change;
        const list = [...((values[channel] ?? []) as readonly Json[])];
        // From the end on, so that the places of the other edits stay.
        for (const { at, remove, items } of [...edits].reverse()) list.splice(at, remove, ...items);
        values[channel] = list;
        // As the engine does for a store that does not accept splices.
        if (this.store.acceptsSplices !== true) return { channel, version, kind: "set", value: list };
        return { channel, version, kind: "splice", edits };
      }
      delete values[channel];
      return { channel, version, kind: "reset" };
    });
    const defaults = sampleHeader(this.threadId, `${this.#prefix}/${++this.#count}`, from?.id ?? null);
    const checkpoint = { ...defaults, step: (from?.step ?? -2) + 1, ...header, values, versions };
    return { checkpoint, changes: versioned };
  }
}

export function sampleHeader(threadId: string, id: CheckpointId, parentId: CheckpointId | null): CheckpointHeader {
  return {
    schemaVersion: CHECKPOINT_SCHEMA_VERSION,
    id,
    threadId,
    runId: "run",
    namespace: "",
    parentId,
    step: 0,
    phase: "completed",
    currentNodes: [],
    nextNodes: [],
    pendingSends: [],
    barrierState: {},
    pauses: [],
    answers: [],
    errors: {},
    status: "running",
    label: null,
    metadata: {},
    timestamp: 1_700_000_000_000,
    digest: `sha256:${"0".repeat(64)}`,
  };
}

function copyRecord<T>(record: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, record);
}
