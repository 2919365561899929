import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import type { Json } from "../../runtime/value/json.ts";
import type { Head, RecordDraft } from "./thread-records.ts";
import { reviveValue, type StoredValue, storeValue } from "./stored-value.ts";

/** The fields of a checkpoint that the header of its record contains. */
export interface RecordInfo {
  readonly id: string;
  /** LangGraph's parent, which need not be the record before this one. */
  readonly parent: string | null;
  /** Id of the record with the greatest checkpoint id so far: LangGraph's latest. */
  readonly latest: { readonly checkpoint: string; readonly record: string };
  /** The checkpoint without its channels. */
  readonly rest: StoredValue;
  readonly metadata: StoredValue;
  readonly channelVersions: Readonly<Record<string, number | string>>;
}

/** Where the values of unchanged channels come from. */
export type Base = Pick<Head, "values" | "metadata"> | undefined;

/** @param base the parent's record; where `newVersions` does not name a channel, its value is taken from there */
export async function draftRecord(
  serde: SerializerProtocol,
  recordId: string,
  put: {
    readonly checkpoint: Checkpoint;
    readonly metadata: CheckpointMetadata;
    readonly newVersions: ChannelVersions;
    readonly parent: string | null;
  },
  head: Head | undefined,
  base: Base,
): Promise<RecordDraft> {
  const { channel_values, channel_versions, ...rest } = put.checkpoint;
  const given = new Map(Object.entries(channel_values));
  const changed = new Map(Object.entries(put.newVersions));
  const inBase = new Map(Object.entries(base?.values ?? {}));
  const baseVersions = new Map(Object.entries(base === undefined ? {} : infoOf(base.metadata).channelVersions));
  const values = new Map<string, Json>();
  for (const [name, version] of Object.entries(channel_versions)) {
    // The parent is missing, for example pruned: all values count as new.
    if (changed.has(name) || (base === undefined && put.parent !== null)) {
      if (!given.has(name)) continue;
      const [channel, value] = toChannel(name, await storeValue(serde, given.get(name)));
      values.set(channel, value);
    } else if (baseVersions.get(name) === version) {
      for (const channel of [listChannel(name), valueChannel(name)]) {
        const value = inBase.get(channel);
        if (value !== undefined) values.set(channel, value);
      }
    }
  }
  const before = head === undefined ? undefined : infoOf(head.metadata).latest;
  const isLatest = before === undefined || put.checkpoint.id >= before.checkpoint;
  const info: RecordInfo = {
    id: put.checkpoint.id,
    parent: put.parent,
    latest: isLatest ? { checkpoint: put.checkpoint.id, record: recordId } : before,
    rest: await storeValue(serde, rest),
    metadata: await storeValue(serde, put.metadata),
    channelVersions: channel_versions,
  };
  const { source, step } = put.metadata;
  return {
    id: recordId,
    values,
    metadata: { langgraph: info as unknown as Json },
    step: Number.isSafeInteger(step) ? step : 0,
    phase: source === "input" ? "input" : source === "loop" ? "completed" : "updated",
  };
}

export function infoOf(metadata: Head["metadata"]): RecordInfo {
  return metadata["langgraph"] as unknown as RecordInfo;
}

export function holdsCheckpoint(metadata: Head["metadata"]): boolean {
  return Object.hasOwn(metadata, "langgraph");
}

export async function readCheckpoint(
  serde: SerializerProtocol,
  record: Pick<Head, "values" | "metadata">,
): Promise<{ readonly checkpoint: Checkpoint; readonly metadata: CheckpointMetadata }> {
  const info = infoOf(record.metadata);
  const values: [string, unknown][] = [];
  for (const [channel, value] of Object.entries(record.values)) {
    const stored = channel.startsWith(LIST) ? { json: value } : (value as unknown as StoredValue);
    values.push([channel.slice(LIST.length), await reviveValue(serde, stored)]);
  }
  const rest = (await reviveValue(serde, info.rest)) as Omit<Checkpoint, "channel_values" | "channel_versions">;
  return {
    checkpoint: {
      ...rest,
      channel_values: Object.fromEntries(values),
      channel_versions: { ...info.channelVersions },
    },
    metadata: (await reviveValue(serde, info.metadata)) as CheckpointMetadata,
  };
}

/** Lists are channels of their own, so that a store can keep their growth; both prefixes are equally long. */
const LIST = "list:";
const VALUE = "data:";
const listChannel = (name: string): string => LIST + name;
const valueChannel = (name: string): string => VALUE + name;

function toChannel(name: string, stored: StoredValue): [string, Json] {
  if ("json" in stored && Array.isArray(stored.json)) return [listChannel(name), stored.json as Json];
  return [valueChannel(name), stored as unknown as Json];
}
