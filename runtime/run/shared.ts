import type { CheckpointId, ConsumedAnswer, Signal, ThreadId } from "../interface/checkpoint.ts";
import type { Clock } from "../interface/clock.ts";
import type { Durability, OnFailure } from "../interface/engine-options.ts";
import type { RunContext } from "../interface/context.ts";
import type { ExecuteBody } from "../interface/host.ts";
import type { Breakpoints } from "./breakpoints.ts";
import type { EventListener, StreamViews } from "../interface/events.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { Inbox } from "../checkpoint/inbox.ts";
import type { Mailbox } from "./mailbox.ts";
import type { NodeCache } from "./node-cache.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { LongTermMemory } from "../interface/memory.ts";
import type { RecentHeads } from "../checkpoint/recent-heads.ts";
import type { Journal } from "../checkpoint/journal.ts";
import type { DurableCode } from "../thread/durable-code.ts";
import type { UndoEntry } from "../interface/undo.ts";
import type { Slots } from "./slots.ts";
import type { Limits } from "./limits.ts";
import type { Turn } from "./take-turns.ts";

/** The data that a run and the runs of the graphs it calls share. */
export interface Shared {
  /** Id of the outermost run, generated on first access. */
  readonly runId: string;
  /** The thread given by the caller; `undefined` for a run without a thread. */
  readonly threadId: ThreadId | undefined;
  readonly durable: Durable | undefined;
  /** Answers for node bodies, by pause id. */
  readonly answers: Map<string, ConsumedAnswer>;
  /** Whether there are any: asking for none costs no map. */
  readonly hasAnswers: boolean;
  /** Pause ids of gates that this call passes: the gates that the thread waits at, if the resume names no answers. */
  readonly openedGates: ReadonlySet<string>;
  readonly inbox: Inbox;
  /** Signals of a run without a store, if it has a thread. */
  readonly mailbox: Mailbox | undefined;
  /** The time for due times: that of the clock, or a later one that the caller of `due` has given. */
  readonly now: () => number;
  readonly listeners: readonly EventListener[];
  /** Receives the state of the outermost graph, after the input and after each step. */
  readonly onState: ((step: number, state: () => JsonObject) => void) | undefined;
  /** Receives what each task writes, when it ends. */
  readonly onResult: ((item: StreamViews<JsonObject>["results"]) => void) | undefined;
  readonly breakpoints: Breakpoints | undefined;
  /** Objects of the caller for node bodies. */
  readonly context: RunContext;
  sequence: number;
  /** The work since the run has last yielded to the event loop. */
  readonly turn: Turn;
  /** The engine is drained: the run stops before its next step. */
  readonly isDraining: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly cache: NodeCache;
  /** Executes the bodies of nodes; `undefined`: they are called. */
  readonly execute: ExecuteBody | undefined;
  readonly onFailure: OnFailure;
  readonly metadata: JsonObject;
  readonly memory: LongTermMemory;
  /** How long after each checkpoint the thread expires, in milliseconds. */
  readonly ttl: number | undefined;
  readonly slots: Slots | undefined;
  readonly limits: Limits;
  /** The hosts to which the engine restricts requests; `undefined` for any. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Removes the values of secrets from a text that leaves the run. */
  readonly redact: (text: string) => string;
}

/** The state of a claim. */
export interface Lease {
  /** The save that releases the claim has been requested. */
  ends: boolean;
  /** The store has released the claim. */
  isReleased: boolean;
}

/** A store, and the right to write to a thread in it. */
export interface Durable {
  readonly store: Store;
  readonly threadId: ThreadId;
  readonly claim: Claim;
  /** The head of the thread when it was claimed; `null` for a thread that the claim has created, `undefined` if not known. */
  readonly headAtClaim: CheckpointId | null | undefined;
  /** Absent if the head at the claim is not known. */
  readonly recentHeads: RecentHeads | undefined;
  readonly lease: Lease;
  /**
   * Ensures before bodies run that the claim is still valid. Returns `undefined` while the lease certainly holds.
   * Rejects if another runner has the thread (5.6).
   */
  readonly ensureClaimed: () => Promise<void> | undefined;
  readonly journal: Journal;
  readonly durability: Durability;
  /** The code of runs on threads: a run without a store does not import it. */
  readonly code: DurableCode;
}

/** An update of a stored result; with `set`, it replaces the channel's value. */
export type StoredUpdate = readonly [channel: string, value: Json, mode?: "set"];

/**
 * The result of a task in a pending write. It contains names instead of indexes, so that it survives changes of the
 * graph.
 */
export interface StoredOutcome {
  /** Of an item of a `for` node: which item the result belongs to (`itemIdentity`). */
  readonly item?: string;
  /** Former names of the node, if the result is stored after a checkpoint of an earlier version of the graph. */
  readonly was?: readonly string[];
  /** The result was written by hand: an edit `as` the node. For a `for` node, it is the result of all items. */
  readonly edited?: true;
  readonly updates: readonly StoredUpdate[];
  readonly goto?: readonly string[];
  readonly exclusive?: true;
  readonly stopped?: true;
  readonly sends?: readonly { readonly node: string; readonly item: Json }[];
  readonly failure?: StoredFailure;
  /** Signals that the task has taken. */
  readonly taken?: readonly Signal[];
  /** How the result is undone. */
  readonly undo?: readonly UndoEntry[];
}

export interface StoredFailure {
  readonly code: string;
  readonly message: string;
  readonly reason: string;
  /** Absent in results of older versions, as `status` is. */
  readonly name?: string;
  readonly status?: string | number | null;
  readonly attempts: number;
  readonly items: readonly number[];
}
