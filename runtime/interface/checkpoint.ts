import type { ExpectedType } from "./context.ts";
import type { Usage } from "./usage.ts";
import type { Json } from "../value/json.ts";

/** The schema of checkpoint records. 0 is reserved for records without a version. */
export const CHECKPOINT_SCHEMA_VERSION = 1;

/** UUID v4. Ids have no order (5.10). */
export type CheckpointId = string;
export type ThreadId = string;

/**
 * Why a checkpoint was written. `input`: before the first step. `completed`: after a step. `before` and `after`: at a
 * `pause` policy. `interrupted`: inside a step, because a node waits for an answer, failed, or was cancelled.
 * `updated`: the state was edited.
 */
export type Phase = "input" | "completed" | "before" | "after" | "interrupted" | "updated";

/** A task that is not a plain node of the next step: an item sent to a node. */
export interface PendingSend {
  /** Stable within the run: equal on every re-execution. */
  readonly taskId: string;
  readonly node: string;
  readonly item: Json;
}

/**
 * What a pause waits for. `interrupt`: an answer. `before` and `after`: the answer `true` at a gate. `timer`: its due time.
 * `signal`: a signal from outside.
 */
export type PauseKind = "interrupt" | "before" | "after" | "timer" | "signal";

/** A pause: what the thread waits for. */
export interface PauseItem {
  /** The id that an answer names. Stable on re-execution, different for every other pause of the thread. */
  readonly id: string;
  readonly node: string;
  readonly kind: PauseKind;
  /** The argument of `interrupt(value)` or `ask(…)`; the name of the signal; `null` at gates and timers. */
  readonly payload: Json;
  /** When the timer ends, or the deadline of an answer or a signal passes, in milliseconds since 1970. */
  readonly due?: number;
  /** Subgraph path, outermost first; empty in the graph itself. */
  readonly namespace: readonly string[];
  /** The task that waits; absent at gates. */
  readonly taskId?: string;
  /** The type of the answer or the signal, if the node declares one. */
  readonly expects?: ExpectedType;
}

export interface ConsumedAnswer {
  readonly id: string;
  readonly value: Json;
}

/** A checkpoint without its channel values. Plain JSON. */
export interface CheckpointHeader {
  readonly schemaVersion: number;
  readonly id: CheckpointId;
  readonly threadId: ThreadId;
  readonly runId: string;
  /** Subgraph path with item indexes (`review/each[3]`); empty for the graph itself. */
  readonly namespace: string;
  /** The previous checkpoint of the chain; `null` for the first. */
  readonly parentId: CheckpointId | null;
  /** The super-step that wrote it; -1 for the input checkpoint of a run. */
  readonly step: number;
  readonly phase: Phase;
  /** Nodes that ran in the step, in task order. */
  readonly currentNodes: readonly string[];
  /**
   * The last of `currentNodes`. In phase `interrupted`: the first node that waits, has failed, or has not finished.
   * `null` if there is none. Absent in old records.
   */
  readonly currentNode?: string | null;
  readonly nextNodes: readonly string[];
  readonly pendingSends: readonly PendingSend[];
  /** Barrier id -> sorted names of the nodes that have signalled. Barriers without a signal are absent. */
  readonly barrierState: Readonly<Record<string, readonly string[]>>;
  readonly pauses: readonly PauseItem[];
  /** Answers consumed since the last completed step. Earlier checkpoints hold the older ones. */
  readonly answers: readonly ConsumedAnswer[];
  /** Node name -> the value of `error` in that node, for targets of error edges in the next step. */
  readonly errors: Readonly<Record<string, Json>>;
  readonly status: "running" | "paused" | "completed" | "incomplete" | "failed" | "limit" | "cancelled" | "rolled_back";
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Milliseconds since 1970, for display only: it never decides an order. */
  readonly timestamp: number;
  /** How long after `timestamp` the thread expires, in milliseconds. Absent: it does not expire. Checkpoints of the outermost graph. */
  readonly ttl?: number;
  /** The digest of the table that wrote it. */
  readonly digest: string;
  /**
   * Results of a step that paused, failed or was cancelled. A resume does not run these tasks again. An edit, a fork or a migration
   * inside such a step has this list, even if it is empty.
   */
  readonly finished?: readonly PendingWrite[];
  /** In phase `interrupted`: nodes of the step whose `pause before` has been released. Absent if the graph has no gates. */
  readonly passedGates?: readonly string[];
  /** The graph that wrote it; absent in records of older versions. */
  readonly graph?: string;
  /** The channels of that graph and the nature of each, in checkpoints at which a run starts or stops (`channelShapes`). */
  readonly channels?: Readonly<Record<string, string>>;
  /** Written by a fork or an edit of the state with work left: no run has been cut off, a resume is to come. */
  readonly prepared?: true;
  /** When the first of `pauses` becomes due, in milliseconds since 1970. Absent if none has a due time. */
  readonly due?: number;
  /** Due times of waits in an unfinished step, by pause id: those of `pauses`, and those of tasks that no longer wait. */
  readonly dues?: Readonly<Record<string, number>>;
  /** Signals that tasks have taken since the outermost graph's last completed step. A fork from before takes them again. */
  readonly taken?: readonly Signal[];
  /** What the run has used so far, in all attempts and called graphs. Absent if nothing was reported. */
  readonly usage?: Usage;
  /** Why the run failed. */
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly node?: string;
    readonly attempts?: number;
    /** The messages of the chain of causes that `message` does not have. */
    readonly causes?: readonly string[];
  };
  /**
   * How the run has ended, if its graph has a `finally` part. With status `running` or `paused`, this part runs or waits;
   * with the status of the end, it has ended.
   */
  readonly outcome?: RunOutcome;
  /** The number of ends of the run that its `finally` part has followed; absent for none. */
  readonly ends?: number;
  /** How the `finally` part has ended, and the values of the channels that it has written. */
  readonly finally?: {
    readonly status: "completed" | "incomplete" | "failed" | "limit" | "cancelled";
    readonly values: Readonly<Record<string, Json>>;
    readonly failure?: CheckpointHeader["failure"];
  };
  /** The run rolls back: a resume runs the open undos, and no node. */
  readonly rollsBack?: true;
  /** Nodes that ran, but whose edges led to no target (NG_NO_ROUTE). A resume evaluates their edges again. */
  readonly unrouted?: readonly string[];
  /** Those of `unrouted` that failed: a resume evaluates their `on error` edges again, with their failure in `errors`. */
  readonly failedEdges?: readonly string[];
  /** For a graph called as a node: the attempt of the caller, from 2 on; absent for the first attempt. */
  readonly attempt?: number;
  /** For a graph called as a node: 1 plus the number of edits that changed the arguments of the call; absent for 1. */
  readonly argumentsRound?: number;
  /** The content is encoded by a codec with this key (`withCodec`). Absent in what a store with a codec returns. */
  readonly codec?: string;
  /** Unfinished runs of graphs called as nodes: namespace -> checkpoint id. */
  readonly children?: Readonly<Record<string, CheckpointId>>;
}

/** How a run has ended: `outcome` in the part of its graph that `finally` leads to. */
export interface RunOutcome {
  readonly status: "completed" | "incomplete" | "failed" | "limit" | "cancelled" | "rolled_back";
  /** Why the run did not complete; `null` for a run that completed or is incomplete. */
  readonly error: RunFailure | null;
}

/** A failure as `error` and `outcome.error` hold it. */
export interface RunFailure {
  readonly code: string;
  /** The class of the error. */
  readonly name: string;
  /** The `status` or `code` of the thrown error. */
  readonly status: string | number | null;
  readonly message: string;
  /** `null` if no single node is the cause. */
  readonly node: string | null;
  readonly attempts: number;
  /** Of a `for` node: its failed items. */
  readonly items?: readonly Json[];
}

/** A loaded checkpoint: the header with all channel values and versions. */
export interface Checkpoint extends CheckpointHeader {
  readonly values: Readonly<Record<string, Json>>;
  /** By channel: the number of steps (or edits) that wrote it since the start of the chain; absent is 0. */
  readonly versions: Readonly<Record<string, number>>;
  /** In a listing with `all`: the head does not continue this checkpoint. A fork inside of the thread has left its branch. */
  readonly abandoned?: true;
}

/** A value from outside for a node that waits for it by name. */
export interface Signal {
  /** Unique in the thread: a second signal with the same id is ignored. */
  readonly id: string;
  readonly name: string;
  readonly value: Json;
}

/** From index `at` of the former list on, `items` replace `remove` items. The edits of a list ascend and do not overlap. */
export interface ListEdit {
  readonly at: number;
  readonly remove: number;
  readonly items: readonly Json[];
}

/** How one channel differs from the parent checkpoint. */
export type ChannelChange =
  | { readonly channel: string; readonly version: number; readonly kind: "set"; readonly value: Json }
  /** The value is the value of the parent checkpoint with these items appended. */
  | { readonly channel: string; readonly version: number; readonly kind: "append"; readonly items: readonly Json[] }
  /** The value is the list of the parent checkpoint (an empty one if it has none) after the edits. */
  | {
      readonly channel: string;
      readonly version: number;
      readonly kind: "splice";
      readonly edits: readonly ListEdit[];
    }
  /** The channel no longer exists, or has its start value again (a new run on the thread). */
  | { readonly channel: string; readonly version: number; readonly kind: "reset" };

/** A finished task's result, stored before the checkpoint that supersedes it (5.3). */
export interface PendingWrite {
  /** Stable on re-execution. A second write of the same task replaces the first. */
  readonly taskId: string;
  readonly node: string;
  /** Plain JSON. Only the engine interprets it. */
  readonly result: Json;
}
