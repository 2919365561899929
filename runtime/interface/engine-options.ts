/** The engine as its users see it: what it takes, what it gives. The code behind it starts at `engine/create-engine.ts`. */
import type { Checkpoint, CheckpointId, CheckpointHeader, PauseItem, ThreadId } from "./checkpoint.ts";
import type { Clock } from "./clock.ts";
import type { BuiltinNode, NodeContext } from "./context.ts";
import type { NodeError, NgraphError } from "./errors.ts";
import type { EventListener, StreamViews } from "./events.ts";
import type { GeneratedExpression } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { NodeCache } from "../run/node-cache.ts";
import type { Store } from "./store.ts";
import type { Effect, Table } from "../table/table.ts";

/** A function that a graph imports: a node's body, a reducer, or one called in expressions. */
export type ImportedFunction = (...args: never[]) => unknown;
export type FunctionRegistry = Readonly<Record<string, ImportedFunction>>;

/** What a graph's text cannot hold: code, by the names it is called by. */
export interface Bindings {
  /** Imported functions by their name in the graph's file. */
  readonly functions?: FunctionRegistry;
  /**
   * The table's expressions as code, by expression index, from a generated module; where one is missing the table's is
   * interpreted. Both give the same values.
   */
  readonly expressions?: readonly (GeneratedExpression | undefined)[];
  /** Of graphs called as nodes, by the graph's name. Functions missing there are looked for in the caller's. */
  readonly graphs?: Readonly<Record<string, Bindings>>;
}

export interface EngineOptions extends Bindings {
  /** Code of built-in nodes, by name (`stdlib` exports it). */
  readonly builtins?: Readonly<Record<string, BuiltinNode>>;
  /** Without one nothing is stored, and graphs that pause are refused. */
  readonly store?: Store;
  /** Where given, every other effect is refused: `createEngine` throws NG_EFFECT_DENIED. */
  readonly allow?: readonly Effect[];
  /** Values of declared secrets, by name. */
  readonly secrets?: Readonly<Record<string, string | undefined>> | ((name: string) => string | undefined);
  /**
   * Bodies by node name that run in place of the node's call, whose arguments are then not evaluated: for tests. What only
   * they replace needs no function. In a `for` node once an item (`context.item`).
   */
  readonly mocks?: Readonly<Record<string, (context: NodeContext) => unknown>>;
  readonly clock?: Clock;
  /** Numbers from 0 (inclusive) to 1, for the jitter of backoff. Default `Math.random`. */
  readonly random?: () => number;
  /** Results of nodes with a `cache` policy. Default: one of this engine's own, of 1,000 entries. */
  readonly cache?: NodeCache;
  /** Called synchronously, in order, for every run; what it throws is ignored. */
  readonly onEvent?: EventListener;
  /** How long a claim on a thread holds without being renewed, in milliseconds (default 30,000). */
  readonly leaseMs?: number;
  /**
   * How long one call of the store may take, in milliseconds; beyond it the call fails with NG_STORE_FAILED. Default: as long as it
   * takes. Without it, too, a run ends when its claim cannot be renewed before the lease is over, and when it is cancelled.
   */
  readonly storeTimeoutMs?: number;
  /** Defaults of the same fields in `RunOptions`. */
  readonly durability?: Durability;
  readonly maxSteps?: GivenStepLimits;
  readonly maxParallel?: number | null;
  readonly onFailure?: OnFailure;
}

/**
 * Limits of steps in place of `limit steps`; `null` is none. A number is for the run's own graph; a record names graphs, those that
 * it calls among them.
 */
export type GivenStepLimits = number | null | Readonly<Record<string, number | null>>;

/**
 * When a step is durable (5.8): `sync` before the next starts, `async` written behind in order, `exit` only at the end.
 * The input, pauses and the end are durable in every mode before the caller hears of them.
 */
export type Durability = "sync" | "async" | "exit";

/** What a failure means for the tasks beside it: they finish, or they are cancelled (4.2). */
export type OnFailure = "finish" | "abort";

/** What a run and a resume have in common. */
export interface ExecuteOptions {
  /** Aborting it ends the run as `cancelled`; a thread can be resumed. */
  readonly signal?: AbortSignal;
  /**
   * Steps of the run, resumes included; replaces `limit steps`. `null`: no limit. A record gives limits by the names of graphs, called
   * ones included. A number given to a resume is also for called graphs that have stopped at a lower limit of their own.
   */
  readonly maxSteps?: GivenStepLimits;
  /** Tasks in flight at once; replaces `max parallel` of the graph. `null`: no limit. */
  readonly maxParallel?: number | null;
  readonly durability?: Durability;
  /** Stored with every checkpoint of the run; a resume adds to it. */
  readonly metadata?: JsonObject;
  readonly onFailure?: OnFailure;
  readonly onEvent?: EventListener;
}

export interface RunOptions extends ExecuteOptions {
  /** With a store: where the run is kept. Made up when absent. */
  readonly thread?: ThreadId;
  /** Start although the thread's last run is paused, failed or unfinished; that run is given up (5.13). */
  readonly abandon?: boolean;
}

/** An answer that cannot be taken for a record of answers. */
export type BareAnswer = string | number | boolean;

export interface ResumeOptions extends ExecuteOptions {
  /** Answers by pause id; or the bare answer, when exactly one pause waits. */
  readonly answers?: Readonly<Record<string, Json>> | BareAnswer;
  /** The answer, when exactly one pause waits; of any type. */
  readonly answer?: Json;
  /** A checkpoint id or a label to run on from instead of the thread's head: a fork inside the thread. */
  readonly from?: CheckpointId;
  /** The node to go on at, instead of what is next. */
  readonly at?: string;
}

export type RunStatus = "completed" | "incomplete" | "paused" | "failed" | "step_limit" | "cancelled";

export interface IncompleteBarrier {
  readonly id: string;
  readonly target: string;
  /** Nodes that have signalled, sorted. */
  readonly arrived: readonly string[];
  /** Nodes that have not; of an `any(…)` member nobody came for, all its nodes. */
  readonly missing: readonly string[];
}

export interface RunResult<Output = JsonObject, State = JsonObject> {
  readonly status: RunStatus;
  /** Output channels by name. */
  readonly output: Output;
  /** All channels by name. */
  readonly state: State;
  /** The nodes of each step that this call ran to its end, in task order; a `for` node stands once. */
  readonly steps: readonly (readonly string[])[];
  /** Who waits for an answer; empty unless `paused`. */
  readonly pauses: readonly PauseItem[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  /** Of status `failed`, `step_limit` (NG_STEP_LIMIT) and `cancelled` (NG_CANCELLED); otherwise `null`. */
  readonly error: NodeError | NgraphError | null;
  /** `null` without a store. */
  readonly thread: ThreadId | null;
  readonly checkpointId: CheckpointId | null;
}

/** A thread as it stands. */
export interface ThreadState<State = JsonObject> {
  readonly thread: ThreadId;
  readonly checkpointId: CheckpointId;
  readonly status: CheckpointHeader["status"];
  readonly step: number;
  readonly state: State;
  /** Nodes that run next. */
  readonly next: readonly string[];
  readonly pauses: readonly PauseItem[];
  readonly label: string | null;
  readonly metadata: JsonObject;
}

export interface HistoryOptions {
  /** Default 100. */
  readonly limit?: number;
  /** Only checkpoints older than this one. */
  readonly before?: CheckpointId;
  /** Subgraph path; default the graph itself. */
  readonly namespace?: string;
}

export interface ForkOptions {
  /** A checkpoint id or a label; default the thread's head. */
  readonly from?: CheckpointId;
  /** The thread that the fork makes, which must be new; absent: the fork is the new head of the same thread. */
  readonly as?: ThreadId;
  /** The node that a resume of the fork starts with. */
  readonly at?: string;
  readonly metadata?: JsonObject;
}

export interface UpdateOptions {
  /** Route as if this node had written the values: what is next is replaced by what its edges lead to. */
  readonly as?: string;
  /** Put the values in place of the old ones instead of through the reducers. */
  readonly replace?: boolean;
  readonly metadata?: JsonObject;
}

export interface CheckpointRef {
  readonly thread: ThreadId;
  readonly checkpointId: CheckpointId;
}

export interface StreamOptions<View extends keyof StreamViews<unknown> = "events"> {
  /** Default `events`. */
  readonly view?: View;
  /**
   * How many items wait for a slow consumer (default 1,024). Beyond it the oldest are dropped, and a `dropped` event
   * says how many (view `events`); the run never waits.
   */
  readonly buffer?: number;
}

/** The items of a view, in order. Leaving the loop early cancels the run. */
export interface RunStream<Item, Output = JsonObject, State = JsonObject> extends AsyncIterable<Item> {
  /** Settles when the run ends, whether or not the items are read. */
  readonly result: Promise<RunResult<Output, State>>;
}

/**
 * Runs one graph; serves any number of runs at once. Made by `createEngine`.
 *
 * Calls reject with the errors of `errors.ts` when they cannot do what was asked (unknown thread, bad input, a lost
 * claim); a run that fails on its way resolves with status `failed` and the `error`.
 */
export interface Engine<Input = JsonObject, Output = JsonObject, State = JsonObject> {
  readonly table: Table;
  run(input: Input, options?: RunOptions): Promise<RunResult<Output, State>>;
  /**
   * Goes on with a thread: after a pause, a failure, a step limit, a cancellation or a crash. A text, number or boolean in place of
   * the options answers the one pause that waits.
   */
  resume(thread: ThreadId, options?: ResumeOptions | BareAnswer): Promise<RunResult<Output, State>>;
  stream<View extends keyof StreamViews<State> = "events">(
    input: Input,
    options?: RunOptions & StreamOptions<View>,
  ): RunStream<StreamViews<State>[View], Output, State>;
  streamResume<View extends keyof StreamViews<State> = "events">(
    thread: ThreadId,
    options?: ResumeOptions & StreamOptions<View>,
  ): RunStream<StreamViews<State>[View], Output, State>;
  /** A thread as it stands; `undefined` when there is none. */
  state(thread: ThreadId): Promise<ThreadState<State> | undefined>;
  /** Newest first, with all values. */
  history(thread: ThreadId, options?: HistoryOptions): Promise<readonly Checkpoint[]>;
  /** Names a checkpoint (default the head). A label names one checkpoint of a thread; given again it moves. */
  label(thread: ThreadId, label: string, options?: { readonly checkpoint?: CheckpointId }): Promise<void>;
  /** A new chain from an old checkpoint; nothing runs until it is resumed. */
  fork(thread: ThreadId, options?: ForkOptions): Promise<CheckpointRef>;
  /** Edits the state of a thread that is not running. */
  update(thread: ThreadId, values: JsonObject, options?: UpdateOptions): Promise<CheckpointRef>;
}
