/**
 * The declarations of the optional peer packages `@langchain/langgraph-checkpoint` and `@langchain/core` that this
 * folder uses, so that the project builds without the packages. In a user's project, the declarations of the packages
 * replace them. test/peers verifies that both agree.
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

  export interface Item {
    value: Record<string, unknown>;
    key: string;
    namespace: string[];
    createdAt: Date;
    updatedAt: Date;
  }

  export interface SearchItem extends Item {
    score?: number;
  }

  export interface GetOperation {
    namespace: string[];
    key: string;
  }

  export interface PutOperation extends GetOperation {
    value: Record<string, unknown> | null;
    index?: false | string[];
  }

  export interface SearchOperation {
    namespacePrefix: string[];
    filter?: Record<string, unknown>;
    limit?: number;
    offset?: number;
    query?: string;
  }

  export interface MatchCondition {
    matchType: "prefix" | "suffix";
    path: string[];
  }

  export interface ListNamespacesOperation {
    matchConditions?: MatchCondition[];
    maxDepth?: number;
    limit: number;
    offset: number;
  }

  export type Operation = GetOperation | SearchOperation | PutOperation | ListNamespacesOperation;

  export type OperationResults<Tuple extends readonly Operation[]> = {
    [K in keyof Tuple]: Tuple[K] extends PutOperation
      ? void
      : Tuple[K] extends SearchOperation
        ? SearchItem[]
        : Tuple[K] extends GetOperation
          ? Item | null
          : Tuple[K] extends ListNamespacesOperation
            ? string[][]
            : never;
  };

  export function getTextAtPath(value: unknown, path: string): string[];

  export abstract class BaseStore {
    abstract batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>>;
  }

  export const TASKS: string;
  export const WRITES_IDX_MAP: Record<string, number>;
  export function maxChannelVersion(...versions: (number | string)[]): number | string;
}
