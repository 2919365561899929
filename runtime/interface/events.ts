/**
 * What a run tells those who watch it (8.1): plain objects in the order in which things happened, numbered by `seq` from 0 for
 * each run. Nothing is made when nobody listens.
 */
import type { CheckpointId, PauseItem, Phase, ThreadId } from "./checkpoint.ts";
import type { RunStatus } from "./engine-options.ts";
import type { Json } from "../value/json.ts";

interface EventBase {
  readonly seq: number;
  /** Subgraph path, outermost first; empty for the graph itself. */
  readonly namespace: readonly string[];
  /** Absent for a run without a thread. */
  readonly thread?: ThreadId;
  readonly runId: string;
  /** Super-step, from 0. Of a `checkpoint` the one it was written in (-1: the input's); of a `run` the one that comes next. */
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
  | (EventBase & { readonly type: "step"; readonly phase: "start" | "end"; readonly nodes: readonly string[] })
  | (NodeEvent & { readonly phase: "start" })
  | (NodeEvent & { readonly phase: "retry"; readonly error: EventError; readonly delayMs: number })
  /** `cached`: the body did not run. `paused`: it waits for an answer, and will run again. */
  | (NodeEvent & { readonly phase: "end"; readonly cached?: true; readonly paused?: true })
  | (NodeEvent & { readonly phase: "error"; readonly error: EventError })
  /** One update of one channel, and what the channel holds once the step's updates up to this one are applied. */
  | (EventBase & {
      readonly type: "write";
      readonly node: string;
      readonly channel: string;
      readonly update: Json;
      readonly value: Json;
    })
  /** Where a node's end leads. `discarded`: an exclusive `goto` of another node took the step over. */
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
      readonly arrived: readonly string[];
      readonly fired: boolean;
    })
  | (EventBase & { readonly type: "checkpoint"; readonly id: CheckpointId; readonly phase: Phase })
  | (EventBase & { readonly type: "pause"; readonly pauses: readonly PauseItem[] })
  | (EventBase & { readonly type: "custom"; readonly node: string; readonly data: Json })
  /** Only in streams: so many events did not fit into the consumer's buffer here (8.2). */
  | (EventBase & { readonly type: "dropped"; readonly count: number });

interface NodeEvent extends EventBase {
  readonly type: "node";
  readonly node: string;
  /** Stable within the run; tells the items of a `for` node apart. */
  readonly taskId: string;
  /** From 1. */
  readonly attempt: number;
  /** Index of the item, for `for` nodes. */
  readonly item?: number;
}

/** An error as plain data; secrets are redacted. */
export interface EventError {
  readonly code: string;
  readonly message: string;
  readonly node?: string;
  readonly attempts?: number;
}

export type EventListener = (event: RunEvent) => void;

/** What a stream yields by view (8.1). */
export interface StreamViews<State> {
  readonly events: RunEvent;
  /** After each step: node by node, what it wrote. */
  readonly updates: {
    readonly step: number;
    readonly namespace: readonly string[];
    readonly node: string;
    readonly updates: Readonly<Record<string, Json>>;
  };
  /** What nodes told with `emit`. */
  readonly custom: {
    readonly step: number;
    readonly namespace: readonly string[];
    readonly node: string;
    readonly data: Json;
  };
  /** The graph's own state (not that of subgraphs): after the input, then after each step. */
  readonly values: { readonly step: number; readonly state: State };
}
