import type { ExpectedType } from "./context.ts";
import type { Json } from "../value/json.ts";

/** The schema of checkpoint records. 0 is reserved for records from before versions existed. */
export const CHECKPOINT_SCHEMA_VERSION = 1;

/** UUID v4; says nothing about order (5.10). */
export type CheckpointId = string;
export type ThreadId = string;

/**
 * Why a checkpoint was written. `input`: before the first step; `completed`: after a step; `before` and `after`:
 * held by a `pause` policy; `interrupted`: a step was left unfinished, because a node waits for an answer, failed, or was
 * cancelled; `updated`: state was edited.
 */
export type Phase = "input" | "completed" | "before" | "after" | "interrupted" | "updated";

/** A task that is not a plain node of the next step: an item sent to a node. */
export interface PendingSend {
  /** Stable within the run: equal on every re-execution. */
  readonly taskId: string;
  readonly node: string;
  readonly item: Json;
}

/** Somebody's answer is awaited. */
export interface PauseItem {
  /** What an answer names. Stable on re-execution, different for every other pause of the thread. */
  readonly id: string;
  readonly node: string;
  readonly kind: "before" | "after" | "interrupt";
  /** What `interrupt(value)` or `ask(…)` was given; `null` at gates. */
  readonly payload: Json;
  /** Subgraph path, outermost first; empty in the graph itself. */
  readonly namespace: readonly string[];
  /** The task that waits; absent at gates. */
  readonly taskId?: string;
  /** What an answer must look like, where the node said so. */
  readonly expects?: ExpectedType;
}

export interface ConsumedAnswer {
  readonly id: string;
  readonly value: Json;
}

/** Everything of a checkpoint but the channel values. Plain JSON. */
export interface CheckpointHeader {
  readonly schemaVersion: number;
  readonly id: CheckpointId;
  readonly threadId: ThreadId;
  readonly runId: string;
  /** Subgraph path with item indexes (`review/each[3]`); empty for the graph itself. */
  readonly namespace: string;
  /** The checkpoint this one follows; `null` for the first of a chain. */
  readonly parentId: CheckpointId | null;
  /** Number of the super-step that wrote it; the input checkpoint of a run has -1. */
  readonly step: number;
  readonly phase: Phase;
  /** Nodes that ran in the step, in task order. */
  readonly currentNodes: readonly string[];
  /**
   * The last of them; in phase `interrupted` the first that waits, has failed, or has not finished. `null` where there is none, and
   * absent in old records.
   */
  readonly currentNode?: string | null;
  readonly nextNodes: readonly string[];
  readonly pendingSends: readonly PendingSend[];
  /** Barrier id -> names of the nodes that have signalled, sorted; barriers with none are left out. */
  readonly barrierState: Readonly<Record<string, readonly string[]>>;
  readonly pauses: readonly PauseItem[];
  /** Consumed since the last completed step; older ones stand in the checkpoints before. */
  readonly answers: readonly ConsumedAnswer[];
  /** Failure that error routes carry to the next step: node name -> what `error` reads as there. */
  readonly errors: Readonly<Record<string, Json>>;
  readonly status: "running" | "paused" | "completed" | "incomplete" | "failed" | "step_limit" | "cancelled";
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Milliseconds since 1970; for people, never for order. */
  readonly timestamp: number;
  /** Of the table that wrote it. */
  readonly digest: string;
  /** Results of the step that paused, failed or was cancelled: what a resume does not run again. */
  readonly finished?: readonly PendingWrite[];
  /** Why the run failed. */
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly node?: string;
    readonly attempts?: number;
  };
  /** Nodes that ran but whose edges led nowhere (NG_NO_ROUTE): a resume asks their edges again. */
  readonly unrouted?: readonly string[];
  /** Of a graph called as a node: which try of the caller this run of it is, from 2 on; absent for the first. */
  readonly attempt?: number;
  /** Of graphs called as nodes that have not finished: namespace -> their checkpoint at this moment. */
  readonly children?: Readonly<Record<string, CheckpointId>>;
}

/** A checkpoint as it is read back: the header with all channel values and versions. */
export interface Checkpoint extends CheckpointHeader {
  readonly values: Readonly<Record<string, Json>>;
  /** In how many steps (or edits) each channel was written since the chain began; absent is 0. */
  readonly versions: Readonly<Record<string, number>>;
}

/** How one channel differs from the parent checkpoint. */
export type ChannelChange =
  | { readonly channel: string; readonly version: number; readonly kind: "set"; readonly value: Json }
  /** The value is the parent's list with these items at its end. */
  | { readonly channel: string; readonly version: number; readonly kind: "append"; readonly items: readonly Json[] }
  /** The channel no longer exists or is back at its start (a new run on the thread). */
  | { readonly channel: string; readonly version: number; readonly kind: "reset" };

/** A finished task's result, stored before the checkpoint that supersedes it (5.3). */
export interface PendingWrite {
  /** Stable on re-execution; a second write of one task replaces the first. */
  readonly taskId: string;
  readonly node: string;
  /** Plain JSON; its inside is the engine's business. */
  readonly result: Json;
}
