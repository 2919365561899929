/**
 * The public interface of the engine: options, results, operations. The implementation starts at
 * `engine/create-engine.ts`.
 */
import type { LongTermMemory, MemoryOptions } from "./memory.ts";
import type { Checkpoint, CheckpointId, CheckpointHeader, PauseItem, RunOutcome, ThreadId } from "./checkpoint.ts";
import type { Clock } from "./clock.ts";
import type { BuiltinNode, NodeContext, RunContext } from "./context.ts";
import type { NodeError, NgraphError } from "./errors.ts";
import type { EventListener, StreamViews } from "./events.ts";
import type { EngineHost, ExecuteBody } from "./host.ts";
import type { GeneratedExpression } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { NodeCache } from "../run/node-cache.ts";
import type { Store } from "./store.ts";
import type { Usage } from "./usage.ts";
import type { Effect, Table } from "../table/table.ts";

/** A function that a graph imports: a node body, a reducer, or a function that expressions call. */
export type ImportedFunction = (...args: never[]) => unknown;
export type FunctionRegistry = Readonly<Record<string, ImportedFunction>>;

/** The code that a table refers to by name. */
export interface Bindings {
  /** Imported functions by their name in the graph's file. */
  readonly functions?: FunctionRegistry;
  /**
   * The table's expressions as code of a generated module, by expression index. The interpreter evaluates the missing
   * ones; both return the same values.
   */
  readonly expressions?: readonly (GeneratedExpression | undefined)[];
  /**
   * Code of graphs called as nodes, by the graph's name. Functions that are missing there are taken from the caller.
   */
  readonly graphs?: Readonly<Record<string, Bindings>>;
}

export interface EngineOptions extends Bindings {
  /** Code of built-in nodes, by name (`stdlib` exports it). */
  readonly builtins?: Readonly<Record<string, BuiltinNode>>;
  /** Without a store nothing is saved, and graphs that pause are refused. */
  readonly store?: Store;
  /**
   * If given, all other effects are refused: `createEngine` throws NG_EFFECT_DENIED. `net` allows requests to any host,
   * `net:api.example.com` and `net:*.example.com` to some; `http` then refuses all other hosts, of redirects too.
   */
  readonly allow?: readonly Effect[];
  /**
   * Values of declared secrets, by name, read when the engine is created. A run whose graph, or a graph that it calls, reads a secret
   * without a value rejects with NG_MISSING_SECRET before its first node. A secret that no run needs can be an empty text.
   * With `mocks`, a node fails that reads such a secret.
   */
  readonly secrets?: Readonly<Record<string, string | undefined>> | ((name: string) => string | undefined);
  /**
   * Bodies by node name that replace the node's call, for tests. The arguments of the call are not evaluated, and a
   * function that only mocked nodes call may be missing. In a `for` node the body runs once for each item
   * (`context.item`). A name that is no node of the graph is refused (NG_BAD_INPUT): when the engine is created, or, in a
   * generated module that can run without the engine, by the first call.
   */
  readonly mocks?: Readonly<Record<string, (context: NodeContext) => unknown>>;
  readonly clock?: Clock;
  /** Numbers from 0 (inclusive) to 1, for the jitter of backoff. Default `Math.random`. */
  readonly random?: () => number;
  /**
   * Executes the bodies of nodes: on other machines, for example. Default: calls them. Expressions, called graphs, undos and the tasks
   * of plans are not passed to it.
   */
  readonly execute?: ExecuteBody;
  /** A system that runs the threads, such as `restate(url)` of `ngraph/hosts/restate`. The engine is then a client of it. */
  readonly host?: EngineHost;
  /** Results of nodes with a `cache` policy. Default: a cache of this engine with 1,000 entries. */
  readonly cache?: NodeCache;
  /** Called synchronously, in order, for the events of every run. Exceptions are ignored. */
  readonly onEvent?: EventListener;
  /**
   * Whether the engine resumes the threads that it has paused, in the background, when they are due or their signals come
   * (default true). The timers do not keep the process alive; `due` resumes threads of other processes.
   */
  readonly wake?: boolean;
  /** Receives the end of each run that the engine has resumed in the background. Exceptions are ignored. */
  readonly onWake?: (woken: Woken) => void;
  /** How long a claim on a thread is valid without renewal, in milliseconds (default 30,000). */
  readonly leaseMs?: number;
  /**
   * How long one call of the store may take, in milliseconds. A longer call fails with NG_STORE_FAILED. Default: no
   * limit. Even without a limit, a run ends when its claim cannot be renewed before the lease ends, and when it is
   * cancelled.
   */
  readonly storeTimeoutMs?: number;
  /** Defaults of the same fields in `RunOptions`. */
  readonly durability?: Durability;
  readonly maxSteps?: GivenLimits;
  readonly maxTokens?: GivenLimits;
  readonly maxCost?: GivenLimits;
  readonly maxParallel?: number | null;
  readonly onFailure?: OnFailure;
  readonly ttl?: number | null;
  /** The long-term memory: vectors for searches, and how long items live. */
  readonly memory?: MemoryOptions;
}

/** The end of a run that the engine has resumed by itself. */
export type Woken =
  | { readonly thread: ThreadId; readonly result: RunResult; readonly error: null }
  /** The thread could not be resumed: NG_DRIFT, for example. */
  | { readonly thread: ThreadId; readonly result: null; readonly error: NgraphError };

/**
 * Limits that replace `limit steps`, `limit tokens` or `limit cost`; `null` is no limit. A number applies to the
 * outermost graph. A record applies to graphs by name, called graphs included.
 */
export type GivenLimits = number | null | Readonly<Record<string, number | null>>;

/**
 * When a step is durable (5.8). `sync`: before the next step starts. `async`: written in the background, in order.
 * `exit`: only at the end. In every mode, the input, pauses and the end are durable before the caller receives them.
 */
export type Durability = "sync" | "async" | "exit";

/** After a failure, the other tasks of the step finish, or they are cancelled (4.2). */
export type OnFailure = "finish" | "abort";

/** Options of both runs and resumes. */
export interface ExecuteOptions {
  /** Aborting it ends the run as `cancelled`. A thread can be resumed. */
  readonly signal?: AbortSignal;
  /**
   * Steps of the run, resumes included; replaces `limit steps`. `null`: no limit. A record sets limits by graph name,
   * called graphs included. A number given to a resume also raises the limit of called graphs that have stopped at a
   * lower limit.
   */
  readonly maxSteps?: GivenLimits;
  /** Tokens that the run may use, resumes and called graphs included; replaces `limit tokens`. As `maxSteps`. */
  readonly maxTokens?: GivenLimits;
  /** The cost that the run may reach, resumes and called graphs included; replaces `limit cost`. As `maxSteps`. */
  readonly maxCost?: GivenLimits;
  /** Tasks in flight at once; replaces `max parallel` of the graph. `null`: no limit. */
  readonly maxParallel?: number | null;
  readonly durability?: Durability;
  /** Stored with every checkpoint of the run. A resume adds to it. */
  readonly metadata?: JsonObject;
  /**
   * Milliseconds from the last checkpoint until the thread expires; `null`: never. Default: the value of the last run of the
   * thread, else `null`. An expired thread stays in the store until it is pruned. A run or a resume renews the thread.
   */
  readonly ttl?: number | null;
  readonly onFailure?: OnFailure;
  readonly onEvent?: EventListener;
  /**
   * Objects of the program for node bodies, as `context.context`: connections, the user of a request. They are never stored, so a
   * resume has to give them again.
   */
  readonly context?: RunContext;
  /**
   * Breakpoints: nodes before which this call pauses, in addition to those with `pause before`. The name of a node of a
   * called graph is `call/node`. A resume with the same breakpoints passes the gate at which the run waits, and pauses
   * at the next one. Needs a store.
   */
  readonly pauseBefore?: readonly string[];
  /** Nodes after which this call pauses. */
  readonly pauseAfter?: readonly string[];
}

/** Some of the names of a run's configuration, with values. */
export type SomeConfig<Config> = string extends keyof Config ? Config : Partial<Config>;

export interface RunOptions<Config = JsonObject> extends ExecuteOptions {
  /** With a store: the thread of the run. Generated if absent. */
  readonly thread?: ThreadId;
  /** Start even if the thread's last run is paused, failed or unfinished. That run is abandoned (5.13). */
  readonly abandon?: boolean;
  /**
   * Values of the graph's `config` and of the `config` of all graphs that it calls, by name. A name without a value has its
   * default. Stored with the input.
   */
  readonly config?: Config;
}

/** An answer whose type distinguishes it from a record of answers. */
export type BareAnswer = string | number | boolean;

export interface ResumeOptions<Config = JsonObject> extends ExecuteOptions {
  /** Answers by pause id, or the answer itself if exactly one pause waits. */
  readonly answers?: Readonly<Record<string, Json>> | BareAnswer;
  /** The answer, of any type, if exactly one pause waits. */
  readonly answer?: Json;
  /**
   * A checkpoint id or a label to resume from instead of the thread's head: a fork inside the thread. As every option, it counts as
   * absent with the value `undefined`.
   */
  readonly from?: CheckpointId;
  /** The node to resume at, instead of the next nodes. */
  readonly at?: string;
  /** New values of the configuration, by name; all others keep theirs. They are durable before a node runs. */
  readonly config?: SomeConfig<Config>;
}

export type RunStatus = "completed" | "incomplete" | "paused" | "failed" | "limit" | "cancelled" | "rolled_back";

/** What a run with the status `limit` has reached. */
export type LimitKind = "steps" | "tokens" | "cost";

/** A result that a rollback has undone, or has not undone yet. */
export interface UndoItem {
  /** The task that wrote the result: `book`, `book[2]`; in a called graph `trip/book`. */
  readonly task: string;
  readonly node: string;
  /** The name of the function or built-in node that undoes it. */
  readonly call: string;
  /** The idempotency key of the call. */
  readonly key: string;
}

export interface RollbackResult {
  /** The undos that this call has run, in their order. */
  readonly undone: readonly UndoItem[];
  /** The undos that are still open, in the order in which a rollback runs them. */
  readonly open: readonly (UndoItem & { readonly error: string | null })[];
}

export interface IncompleteBarrier {
  readonly id: string;
  readonly target: string;
  /** Nodes that have signalled, sorted. */
  readonly arrived: readonly string[];
  /** Sorted names of the nodes that have not signalled; for an `any(…)` member without a signal, all its nodes. */
  readonly missing: readonly string[];
}

export interface RunResult<Output = JsonObject, State = JsonObject> {
  readonly status: RunStatus;
  /** With the status `limit`: the limit that the run has reached. */
  readonly limit?: LimitKind;
  /** What the run has used so far, resumes and called graphs included. Absent if nothing was reported. */
  readonly usage?: Usage;
  /** Output channels by name. */
  readonly output: Output;
  /** All channels by name. */
  readonly state: State;
  /** The nodes of each step that this call completed, in task order. A `for` node occurs once. */
  readonly steps: readonly (readonly string[])[];
  /** The pauses that wait for an answer; empty unless the status is `paused`. */
  readonly pauses: readonly PauseItem[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  /**
   * Set for the statuses `failed` (NG_UNDO_FAILED if undos are open), `limit` (NG_STEP_LIMIT, NG_TOKEN_LIMIT, NG_COST_LIMIT) and
   * `cancelled` (NG_CANCELLED, NG_DRAINED), otherwise `null`.
   */
  readonly error: NodeError | NgraphError | null;
  /** How the run has ended, if its graph has a `finally` part. It is set while this part is paused, too. */
  readonly outcome?: RunOutcome;
  /** How the `finally` part has ended; absent before. Its failure does not change `status` and `error`. */
  readonly finally?: FinallyResult;
  /** `null` without a store. */
  readonly thread: ThreadId | null;
  readonly checkpointId: CheckpointId | null;
  /** Present if the run has reached `rollback`, or was rolled back. */
  readonly rollback?: RollbackResult;
}

/** The end of the part of a run that `finally` leads to. */
export interface FinallyResult {
  readonly status: Exclude<RunStatus, "paused" | "rolled_back">;
  /** Set unless `status` is `completed` or `incomplete`. */
  readonly error: NgraphError | null;
  /** The nodes of each step that this call completed. */
  readonly steps: readonly (readonly string[])[];
}

/** The current state of a thread. */
export interface ThreadState<State = JsonObject> {
  readonly thread: ThreadId;
  readonly checkpointId: CheckpointId;
  readonly status: CheckpointHeader["status"];
  readonly step: number;
  readonly state: State;
  /** Nodes of the next step. */
  readonly next: readonly string[];
  readonly pauses: readonly PauseItem[];
  readonly label: string | null;
  readonly metadata: JsonObject;
  /** The graph that wrote the head; `null` for checkpoints of older versions. */
  readonly graph: string | null;
  /** When the thread expires, in milliseconds since 1970. Absent: it does not expire. */
  readonly expires?: number;
}

export interface HistoryOptions {
  /** Default 100. */
  readonly limit?: number;
  /** Only checkpoints older than this one. */
  readonly before?: CheckpointId;
  /** Subgraph path; default the graph itself. */
  readonly namespace?: string;
  /**
   * Includes the checkpoints of branches that a fork inside the thread (`resume` with `from` or `at`, `fork`) has left.
   * These have `abandoned`. The order is that of the saves, newest first.
   */
  readonly all?: boolean;
}

export interface ForkOptions<Config = JsonObject> {
  /** A checkpoint id or a label; default the thread's head. */
  readonly from?: CheckpointId;
  /** The thread that the fork creates; it must be new. If absent, the fork becomes the head of the same thread. */
  readonly as?: ThreadId;
  /** The node that a resume of the fork starts with. */
  readonly at?: string;
  /** New values of the configuration, by name; all others keep theirs. */
  readonly config?: SomeConfig<Config>;
  readonly metadata?: JsonObject;
}

export interface UpdateOptions<Config = JsonObject> {
  /**
   * Routes as if this node had written the values: the targets of its edges replace the next nodes. In an unfinished step with
   * other tasks, the values become the result of this node: a resume finishes the other tasks and then applies all results.
   * `"start"` follows the edges of `start`, and creates the thread if it does not exist. `"end"` ends the run: it is completed.
   */
  readonly as?: string;
  /**
   * Edits the state of an unfinished called graph instead: its namespace, such as `review` or `each[3]/inner`. Its inputs come from
   * the call and cannot be edited.
   */
  readonly in?: string;
  /** Replaces the old values instead of applying the reducers. */
  readonly replace?: boolean;
  /** Channels whose old values are replaced instead of applying their reducers. */
  readonly set?: readonly string[];
  /** New values of the configuration, by name. Not with `in`. */
  readonly config?: SomeConfig<Config>;
  readonly metadata?: JsonObject;
}

export interface MigrateOptions {
  /** New names by old name: of nodes, of channels, and of the graph itself. A name that the thread does not use has no effect. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Channels, by their old names, whose values are removed. A channel that still exists has its start value again. */
  readonly drop?: readonly string[];
  /**
   * Functions by channel, under its new name, that convert the stored value. Where the thread has no value that the type allows,
   * the function receives `null`.
   */
  readonly map?: Readonly<Record<string, (value: Json) => Json>>;
  /** New values by channel, under its new name. */
  readonly set?: JsonObject;
  /** The former name of the graph, if it was renamed. */
  readonly graph?: string;
  /** Checks whether the migration succeeds, and writes nothing. */
  readonly dryRun?: boolean;
  readonly metadata?: JsonObject;
}

/** The status of a thread in a listing; `interrupted`: its run was cut off by a crash, and no process runs it. */
export type ThreadStatus = CheckpointHeader["status"] | "interrupted";

/** Which threads `threads` lists: those that have all of the given properties. */
export interface ThreadListOptions {
  /** Default 100. More threads are listed if several have the position of the last one, as on a host they can. */
  readonly limit?: number;
  /** The `position` of the last thread of a page, to list the next page. */
  readonly after?: number;
  readonly status?: ThreadStatus;
  /** The graph that the thread belongs to. Default: the threads of all graphs. */
  readonly graph?: string;
  /** The label of the newest checkpoint. */
  readonly label?: string;
  /** Fields that the metadata of the newest checkpoint contains, with equal values. */
  readonly metadata?: JsonObject;
  /**
   * Only paused threads that may continue at this time, in milliseconds since 1970: a timer or a deadline has passed, or
   * signals are in the inbox.
   */
  readonly due?: number;
  /** Only threads that have expired at this time, in milliseconds since 1970. */
  readonly expiredAt?: number;
}

/** A thread in a listing. All but `thread`, `position` and `checkpoints` describes its newest checkpoint. */
export interface ThreadSummary {
  readonly thread: ThreadId;
  readonly checkpointId: CheckpointId;
  readonly status: ThreadStatus;
  readonly step: number;
  /** Of the thread, those of called graphs included. */
  readonly checkpoints: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly metadata: JsonObject;
  readonly label: string | null;
  /** `null` for a thread of an older version. */
  readonly graph: string | null;
  /** The place in the listing; `after` of the next page. */
  readonly position: number;
  /** When the thread continues without an answer, in milliseconds since 1970; `null` if it waits for answers or signals alone. */
  readonly due: number | null;
  /** When the thread expires, in milliseconds since 1970. Absent: it does not expire. */
  readonly expires?: number;
}

export interface RecoverOptions {
  /** Only these threads, if they are interrupted (default: all interrupted threads of the graph). */
  readonly threads?: readonly ThreadId[];
  /** At most this many threads (default: all). */
  readonly limit?: number;
  /** Threads that run at once (default 4). */
  readonly concurrency?: number;
  /** Aborting it cancels the runs under way, and starts no more. */
  readonly signal?: AbortSignal;
}

/** Options of `due`. */
export type DueOptions = RecoverOptions;

export type RollbackOptions = Pick<ExecuteOptions, "signal" | "onEvent" | "context" | "metadata" | "ttl">;

export interface SignalOptions {
  /** A second signal with the same id is ignored (default: a generated id). */
  readonly id?: string;
}

/** The result of sending a signal. */
export interface SignalReceipt {
  readonly id: string;
  /** False if the thread has had a signal with this id. */
  readonly added: boolean;
}

export interface RecoverResult<Output = JsonObject, State = JsonObject> {
  /** The runs that this call resumed, with their `thread`. */
  readonly results: readonly RunResult<Output, State>[];
  /** Threads that another process was faster to resume. */
  readonly conflicts: number;
  /** Threads that could not be resumed: NG_DRIFT, for example. */
  readonly failures: readonly { readonly thread: ThreadId; readonly error: NgraphError }[];
}

/** A prune needs either `expiredAt` or `keepLast`. */
export interface PruneOptions {
  /** Deletes the threads that have expired at this time (milliseconds since 1970), with everything that is stored for them. */
  readonly expiredAt?: number;
  /** Removes old checkpoints, and keeps this many of the newest of each namespace (at least 1). */
  readonly keepLast?: number;
  /** With `keepLast`: keeps all checkpoints with a label. Default true. */
  readonly keepLabelled?: boolean;
  /** With `keepLast`: removes only checkpoints written before this time, in milliseconds since 1970. Default: no limit. */
  readonly olderThan?: number;
  /** Only these threads. Default: all threads of the graph. */
  readonly threads?: readonly ThreadId[];
  /**
   * At most this many threads (default: all). Threads without anything to remove do not count, so that the next call
   * continues with others, until one removes nothing.
   */
  readonly limit?: number;
  /** Aborting it ends the prune after the present thread. */
  readonly signal?: AbortSignal;
  /** With `expiredAt`: reports the threads, and deletes none. */
  readonly dryRun?: boolean;
}

export interface PruneResult {
  /** Expired threads that were deleted, or would be (`dryRun`). */
  readonly deleted: readonly ThreadId[];
  /** With `keepLast`: the number of removed checkpoints of each thread. */
  readonly pruned: readonly { readonly thread: ThreadId; readonly checkpoints: number }[];
  /** Number of threads that a runner holds: they are left alone. */
  readonly held: number;
  /** Threads that could not be pruned, such as damaged ones. The thread is undefined if the damage hides its name. */
  readonly failures: readonly { readonly thread: ThreadId | undefined; readonly error: NgraphError }[];
}

export interface DrainOptions {
  /** Milliseconds after which runs that still wait for a node are cancelled. Default: no limit. */
  readonly deadline?: number;
}

export interface DrainResult {
  /** Runs that were under way. */
  readonly drained: number;
  /** Those of them that had not ended at the deadline. */
  readonly cancelled: number;
}

export interface CheckpointRef {
  readonly thread: ThreadId;
  readonly checkpointId: CheckpointId;
}

export interface StreamOptions<View extends keyof StreamViews<unknown> = "events"> {
  /** Default `events`. */
  readonly view?: View;
  /**
   * Maximum number of items that wait for a slow consumer (default 1,024). Beyond it the oldest items are dropped, and
   * a `dropped` event reports how many (view `events`). The run never waits.
   */
  readonly buffer?: number;
}

/** Options of a stream with several views. Its items are `{ view, item }`. */
export interface ViewsOptions<View extends keyof StreamViews<unknown>> {
  readonly views: readonly View[];
  /** As in `StreamOptions`. */
  readonly buffer?: number;
}

/** An item of a stream with several views. */
export type ViewItem<State, View extends keyof StreamViews<State>> = {
  readonly [Each in View]: { readonly view: Each; readonly item: StreamViews<State>[Each] };
}[View];

/** The items of a view, in order. Leaving the loop early cancels the run. */
export interface RunStream<Item, Output = JsonObject, State = JsonObject> extends AsyncIterable<Item> {
  /** Settles when the run ends, whether or not the items are read. */
  readonly result: Promise<RunResult<Output, State>>;
}

/**
 * Runs one graph. An engine serves any number of runs at once; `createEngine` creates it.
 *
 * A call rejects with an error of `errors.ts` if it cannot do its work (unknown thread, bad input, a lost claim). A run
 * that fails later resolves with status `failed` and the `error`.
 */
export interface Engine<Input = JsonObject, Output = JsonObject, State = JsonObject, Config = JsonObject> {
  readonly table: Table;
  /** Items that outlive threads. */
  readonly memory: LongTermMemory;
  run(input: Input, options?: RunOptions<Config>): Promise<RunResult<Output, State>>;
  /**
   * Resumes a thread after a pause, a failure, a limit, a cancellation or a crash. A string, number or boolean in
   * place of the options answers the one pause that waits.
   */
  resume(thread: ThreadId, options?: ResumeOptions<Config> | BareAnswer): Promise<RunResult<Output, State>>;
  /**
   * Rolls back a thread that has failed, paused, was cancelled or was cut off: runs the undos of all stored results, one at a
   * time, the newest first. The result has the status `rolled_back`, or `failed` with the undos that are still open; another
   * call tries these again. A thread that is rolled back stays as it is.
   *
   * @throws ThreadError NG_UNKNOWN_THREAD; NG_NOT_PAUSED for a completed thread
   */
  rollback(thread: ThreadId, options?: RollbackOptions): Promise<RunResult<Output, State>>;
  stream<View extends keyof StreamViews<State>>(
    input: Input,
    options: RunOptions<Config> & ViewsOptions<View>,
  ): RunStream<ViewItem<State, View>, Output, State>;
  stream<View extends keyof StreamViews<State> = "events">(
    input: Input,
    options?: RunOptions<Config> & StreamOptions<View>,
  ): RunStream<StreamViews<State>[View], Output, State>;
  streamResume<View extends keyof StreamViews<State>>(
    thread: ThreadId,
    options: ResumeOptions<Config> & ViewsOptions<View>,
  ): RunStream<ViewItem<State, View>, Output, State>;
  streamResume<View extends keyof StreamViews<State> = "events">(
    thread: ThreadId,
    options?: ResumeOptions<Config> & StreamOptions<View>,
  ): RunStream<StreamViews<State>[View], Output, State>;
  /** The current state of a thread; `undefined` if the thread does not exist. */
  state(thread: ThreadId): Promise<ThreadState<State> | undefined>;
  /** All checkpoints with their values, newest first. */
  history(thread: ThreadId, options?: HistoryOptions): Promise<readonly Checkpoint[]>;
  /**
   * Labels a checkpoint (default: the head). A label belongs to one checkpoint of a thread; labelling another one moves
   * it.
   */
  label(thread: ThreadId, label: string, options?: { readonly checkpoint?: CheckpointId }): Promise<void>;
  /** Starts a new chain at an old checkpoint. Nothing runs until a resume. */
  fork(thread: ThreadId, options?: ForkOptions<Config>): Promise<CheckpointRef>;
  /** Edits the state of a thread that is not running. */
  update(thread: ThreadId, values: JsonObject, options?: UpdateOptions<Config>): Promise<CheckpointRef>;
  /**
   * Moves a thread to this version of the graph (NG_DRIFT says what does not fit): renames, drops or converts what an edit of the
   * graph has changed, and writes a checkpoint of phase `updated`. Returns the head, unchanged, if this version wrote it.
   *
   * @throws ThreadError NG_DRIFT with what still does not fit; the thread is unchanged
   * @example
   * await engine.migrate("42", { rename: { draft: "write" }, drop: ["score"], map: { notes: (note) => [note] } });
   */
  migrate(thread: ThreadId, options?: MigrateOptions): Promise<CheckpointRef>;
  /** The threads of the store, most recently written first. Needs a store that lists threads. */
  threads(options?: ThreadListOptions): Promise<readonly ThreadSummary[]>;
  /**
   * Puts a signal into the inbox of a thread, for a node that receives it by name. It needs no claim: it works while the
   * thread runs, pauses, or is between two runs. If the thread waits for the signal, this engine resumes it in the
   * background, unless `wake` is false.
   *
   * @throws ThreadError NG_UNKNOWN_THREAD; NG_BAD_ANSWER if a node waits for the signal and the value does not fit
   */
  signal(thread: ThreadId, name: string, value?: Json, options?: SignalOptions): Promise<SignalReceipt>;
  /**
   * Resumes the threads of this graph that continue without an answer: their timers or deadlines have passed, or their
   * signals have come. Several processes may call it at once; each thread is resumed by one of them.
   *
   * @param now milliseconds since 1970; default: the time of the engine's clock
   */
  due(now?: number, options?: DueOptions): Promise<RecoverResult<Output, State>>;
  /**
   * Resumes the threads of this graph whose runs a crash has cut off: for a process that starts again. Several processes may call
   * it at once; each thread is resumed by one of them. It answers no pause and opens no gate.
   */
  recover(options?: RecoverOptions): Promise<RecoverResult<Output, State>>;
  /**
   * Deletes expired threads (`expiredAt`), or removes old checkpoints (`keepLast`), of all threads of this graph. Threads that a
   * runner holds are left alone, so that it can be called at any time.
   *
   * @throws RunError NG_BAD_INPUT for options that contradict each other; StoreError NG_STORE_FAILED for a store that cannot list
   *   its threads or prune them
   * @example
   * await engine.prune({ expiredAt: Date.now() });
   */
  prune(options: PruneOptions): Promise<PruneResult>;
  /**
   * Cancels the run of a thread that this engine executes, as if the `signal` of its call were aborted: also one that `recover` or a
   * timer has started. Returns whether there was one. The thread can be resumed.
   */
  cancel(thread: ThreadId): Promise<boolean>;
  /**
   * Ends the engine before its process ends: each run on a thread stops at its next step boundary with the status `cancelled` and
   * the error NG_DRAINED, and its thread is `interrupted`, so that `recover` resumes it. Node bodies that run are waited for. New
   * runs, resumes, `recover` and `due` are refused with NG_DRAINED. Resolves when all runs have ended.
   */
  drain(options?: DrainOptions): Promise<DrainResult>;
}
