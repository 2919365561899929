import { type PendingWrite, type SerializerProtocol, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import type { Json } from "../../runtime/value/json.ts";
import type { Head, RecordDraft } from "./thread-records.ts";
import { reviveValue, type StoredValue, storeValue } from "./stored-value.ts";

interface StoredWrite {
  readonly task: string;
  /** Position in the task's writes; LangGraph's own channels (errors, interrupts) have fixed negative ones. */
  readonly index: number;
  readonly channel: string;
  readonly value: StoredValue;
}

/**
 * The writes of all checkpoints share a few namespaces, with one channel for each checkpoint. A namespace for each checkpoint
 * would leave as many heads in the store as there are checkpoints. A single namespace would be read as a whole for any of them.
 */
const BUCKETS = 128;

/** The namespace and channel of a checkpoint's writes. */
export function bucketOf(checkpointKey: string): string {
  let hash = 0;
  for (let index = 0; index < checkpointKey.length; index++) {
    hash = (Math.imul(hash, 31) + checkpointKey.charCodeAt(index)) >>> 0;
  }
  return JSON.stringify(["writes", hash % BUCKETS]);
}

/** A task's writes behind those stored already; `undefined` when all of them are. */
export async function draftWrites(
  serde: SerializerProtocol,
  head: Head | undefined,
  checkpointKey: string,
  taskId: string,
  writes: readonly PendingWrite[],
): Promise<RecordDraft | undefined> {
  const before = storedWrites(head?.values, checkpointKey);
  const known = new Set(before.map(keyOf));
  const added: StoredWrite[] = [];
  for (const [position, [channel, value]] of writes.entries()) {
    const special = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : undefined;
    const index = special ?? position;
    // A task that ran twice has the same writes; only LangGraph's own are replaced.
    if (index >= 0 && known.has(keyOf({ task: taskId, index }))) continue;
    added.push({ task: taskId, index, channel, value: await storeValue(serde, value) });
  }
  if (added.length === 0) return undefined;
  const all = [...before, ...added] as unknown as Json;
  const values = new Map([...Object.entries(head?.values ?? {}), [checkpointKey, all]] as const);
  return { id: globalThis.crypto.randomUUID(), values, metadata: {} };
}

/** In the order in which they came; of a write that was replaced, the last. */
export async function readWrites(
  serde: SerializerProtocol,
  values: Head["values"] | undefined,
  checkpointKey: string,
): Promise<[taskId: string, channel: string, value: unknown][]> {
  const latest = new Map<string, StoredWrite>();
  for (const write of storedWrites(values, checkpointKey)) latest.set(keyOf(write), write);
  return Promise.all(
    [...latest.values()].map(async ({ task, channel, value }): Promise<[string, string, unknown]> => [
      task,
      channel,
      await reviveValue(serde, value),
    ]),
  );
}

function storedWrites(values: Head["values"] | undefined, checkpointKey: string): readonly StoredWrite[] {
  return (values?.[checkpointKey] ?? []) as unknown as readonly StoredWrite[];
}

function keyOf(write: Pick<StoredWrite, "task" | "index">): string {
  return `${write.index} ${write.task}`;
}
