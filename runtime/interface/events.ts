/**
 * Events of a run (8.1): plain objects in the order in which things happened. `seq` numbers them from 0 in each run.
 * Without a listener no event is created.
 */
import type { CheckpointId, PauseItem, Phase, RunOutcome, ThreadId } from "./checkpoint.ts";
import type { RunStatus } from "./engine-options.ts";
import type { Json } from "../value/json.ts";

interface EventBase {
  readonly seq: number;
  /** Subgraph path, outermost first; empty for the graph itself. */
  readonly namespace: readonly string[];
  /** Absent for a run without a thread. */
  readonly thread?: ThreadId;
  readonly runId: string;
  /**
   * Super-step, from 0. In a `checkpoint` event: the step that it was written in (-1 for the input). In a `run` event:
   * the next step.
   */
  readonly step: number;
}

export type RunEvent =
  | (EventBase & { readonly type: "run"; readonly phase: "start"; readonly graph: string; readonly resumed: boolean })
  | (EventBase & {
      readonly type: "run";
      readonly phase: "end";
      readonly status: RunStatus;
      readonly error?: EventError;
    })
  /** The run was broken off, and its promise rejects: the store has failed, or another process has the thread. The run may be resumed. */
  | (EventBase & { readonly type: "run"; readonly phase: "error"; readonly error: EventError })
  /** The part of the graph that `finally` leads to. Its other events have its namespace. */
  | (EventBase & { readonly type: "finally"; readonly phase: "start"; readonly outcome: RunOutcome })
  | (EventBase & {
      readonly type: "finally";
      readonly phase: "end";
      readonly status: RunStatus;
      readonly error?: EventError;
    })
  | (EventBase & {
      readonly type: "step";
      readonly phase: "start" | "end";
      readonly nodes: readonly string[];
      /** At the start: the number of items of each `for` node; absent if there is none. */
      readonly items?: Readonly<Record<string, number>>;
    })
  | (NodeEvent & { readonly phase: "start" })
  | (NodeEvent & { readonly phase: "retry"; readonly error: EventError; readonly delayMs: number })
  /** `cached`: the body did not run. `paused`: the node waits for an answer, and its body will run again. */
  | (NodeEvent & { readonly phase: "end"; readonly cached?: true; readonly paused?: true })
  | (NodeEvent & { readonly phase: "error"; readonly error: EventError })
  /** One update of one channel, and the value of the channel after all updates of the step up to this one. */
  | (EventBase & {
      readonly type: "write";
      readonly node: string;
      readonly channel: string;
      readonly update: Json;
      readonly value: Json;
    })
  /**
   * The targets that follow the end of a node. `discarded`: an exclusive `goto` of another node replaced the routing of
   * the step.
   */
  | (EventBase & {
      readonly type: "route";
      readonly node: string;
      readonly via: "edges" | "goto" | "exclusive" | "stop" | "error" | "send";
      readonly targets: readonly string[];
      readonly discarded?: true;
    })
  | (EventBase & {
      readonly type: "barrier";
      readonly barrier: string;
      readonly target: string;
      /** Further targets of a `settled`. */
      readonly others?: readonly string[];
      readonly arrived: readonly string[];
      readonly fired: boolean;
    })
  | (EventBase & { readonly type: "checkpoint"; readonly id: CheckpointId; readonly phase: Phase })
  | (EventBase & { readonly type: "pause"; readonly pauses: readonly PauseItem[] })
  /**
   * `taken`: the node has taken a signal. `dropped`: no node took it before the run ended, or the run was abandoned.
   */
  | (EventBase & {
      readonly type: "signal";
      readonly phase: "taken";
      readonly id: string;
      readonly name: string;
      readonly node: string;
    })
  | (EventBase & { readonly type: "signal"; readonly phase: "dropped"; readonly id: string; readonly name: string })
  /** An undo of a rollback runs. `step` is the step of the result that it undoes. */
  | (UndoEvent & { readonly phase: "start" | "end" })
  | (UndoEvent & { readonly phase: "retry"; readonly error: EventError; readonly delayMs: number })
  | (UndoEvent & { readonly phase: "error"; readonly error: EventError })
  /** The run was abandoned: its result will not be undone. */
  | (Omit<UndoEvent, "attempt"> & { readonly phase: "dropped" })
  | (EventBase & {
      readonly type: "custom";
      readonly node: string;
      /** Index of the item, for `for` nodes. */
      readonly item?: number;
      readonly kind?: string;
      readonly data: Json;
    })
  /** Only in streams: the number of events that were dropped here because the consumer's buffer was full (8.2). */
  | (EventBase & { readonly type: "dropped"; readonly count: number });

interface NodeEvent extends EventBase {
  readonly type: "node";
  readonly node: string;
  /** Stable within the run. It distinguishes the items of a `for` node. */
  readonly taskId: string;
  /** 1-based number of the attempt. */
  readonly attempt: number;
  /** Index of the item, for `for` nodes. */
  readonly item?: number;
}

interface UndoEvent extends EventBase {
  readonly type: "undo";
  readonly node: string;
  /** The task that wrote the result. */
  readonly taskId: string;
  /** The name of the function or built-in node that undoes it. */
  readonly call: string;
  /** The idempotency key of the call. */
  readonly key: string;
  readonly attempt: number;
}

/** An error as plain data; secrets are redacted. */
export interface EventError {
  readonly code: string;
  readonly message: string;
  readonly node?: string;
  readonly attempts?: number;
}

export type EventListener = (event: RunEvent) => void;

export interface CustomItem {
  readonly step: number;
  readonly namespace: readonly string[];
  readonly node: string;
  /** Index of the item, for `for` nodes. */
  readonly item?: number;
  readonly kind?: string;
  readonly data: Json;
}

/** The items of a stream, by view (8.1). */
export interface StreamViews<State> {
  readonly events: RunEvent;
  /** After each step: the updates of each node. */
  readonly updates: {
    readonly step: number;
    readonly namespace: readonly string[];
    readonly node: string;
    readonly updates: Readonly<Record<string, Json>>;
  };
  /** As each node ends: what its result writes. A step that fails afterwards does not apply it. */
  readonly results: {
    readonly step: number;
    readonly namespace: readonly string[];
    readonly node: string;
    readonly taskId: string;
    /** Index of the item, for `for` nodes. */
    readonly item?: number;
    readonly updates: Readonly<Record<string, Json>>;
  };
  /** Data of `emit` calls, without those of kind `token`. */
  readonly custom: CustomItem;
  /** Data of `emit` calls of kind `token`. */
  readonly tokens: CustomItem;
  /** State of the outermost graph: after the input, then after each step. */
  readonly values: { readonly step: number; readonly state: State };
}
