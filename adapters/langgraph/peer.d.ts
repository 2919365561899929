/**
 * What this folder uses of the optional peer packages `@langchain/langgraph-checkpoint` and `@langchain/core`, so that the project builds without it. In a
 * user's project its own declarations take this place; test/peers checks that they agree.
 */
declare module "@langchain/core/runnables" {
  export interface RunnableConfig {
    configurable?: Record<string, unknown>;
  }
}

declare module "@langchain/langgraph-checkpoint" {
  import type { RunnableConfig } from "@langchain/core/runnables";

  export interface SerializerProtocol {
    dumpsTyped(data: unknown): Promise<[string, Uint8Array]>;
    loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
  }

  export type ChannelVersions = Record<string, number | string>;

  export interface Checkpoint {
    v: number;
    id: string;
    ts: string;
    channel_values: Record<string, unknown>;
    channel_versions: ChannelVersions;
    versions_seen: Record<string, ChannelVersions>;
  }

  export interface CheckpointMetadata {
    source: "input" | "loop" | "update" | "fork";
    step: number;
    parents: Record<string, string>;
  }

  export interface CheckpointTuple {
    config: RunnableConfig;
    checkpoint: Checkpoint;
    metadata?: CheckpointMetadata;
    parentConfig?: RunnableConfig;
    pendingWrites?: [taskId: string, channel: string, value: unknown][];
  }

  export interface CheckpointListOptions {
    limit?: number;
    before?: RunnableConfig;
    filter?: Record<string, unknown>;
  }

  export type PendingWrite = [channel: string, value: unknown];

  export abstract class BaseCheckpointSaver {
    serde: SerializerProtocol;
    constructor(serde?: SerializerProtocol);
    getNextVersion(current: number | undefined): number;
  }

  export const TASKS: string;
  export const WRITES_IDX_MAP: Record<string, number>;
  export function maxChannelVersion(...versions: (number | string)[]): number | string;
}
