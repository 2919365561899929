import type { PauseItem, Phase, RunFailure, RunOutcome, Signal } from "../interface/checkpoint.ts";
import type {
  FinallyResult,
  IncompleteBarrier,
  LimitKind,
  RollbackResult,
  RunStatus,
} from "../interface/engine-options.ts";
import type { Usage } from "../interface/usage.ts";
import { NodeError, RunError, type NgraphError, type StoreError } from "../interface/errors.ts";
import type { Scope } from "../expression/compile-expression.ts";
import type { Json, JsonObject, MaybePromise } from "../value/json.ts";
import { BarrierState } from "../routing/barrier-state.ts";
import { failedWithoutRoute, noRoute } from "../routing/no-route.ts";
import { sha256 } from "../table/sha256.ts";
import { END, ROLLBACK } from "../table/table.ts";
import type { Cancellation } from "./cancellation.ts";
import { LIMIT_OPTIONS, type RunLimits } from "./limits.ts";
import { addUsage, NO_USAGE } from "./total-usage.ts";
import type { CheckpointWriter } from "../checkpoint/checkpoint-writer.ts";
import { errorChannel } from "../table/hidden-channels.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { runSuffix } from "../checkpoint/pause-ids.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Program } from "../program/program.ts";
import { nodeOfSegment, type ToolCallPlace } from "../program/tool-segment.ts";
import type { Shared, StoredOutcome } from "./shared.ts";
import { readSignals } from "../checkpoint/inbox.ts";
import { taskName } from "./item-identity.ts";
import type { ItemRecords } from "../step/item-numbers.ts";
import type { Task } from "../step/task.ts";

/** How a run ended, or why it paused. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly pauses: readonly PauseItem[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  readonly error: NgraphError | null;
  /** The failure of the node that failed the run. */
  readonly failure?: RunFailure;
  /** The limit that the run has reached. */
  readonly limit?: LimitKind;
  /** Set if the run has rolled back. */
  readonly rollback?: RollbackResult;
  /** The engine was drained: the thread stays unfinished, for `recover`. */
  readonly drained?: true;
}

export interface PendingTask {
  readonly taskId: string;
  readonly node: number;
  readonly item: Json;
}

/** The position of a called graph among the runs of a thread. */
export interface Place {
  /** Ids of the calling tasks, outermost first. */
  readonly path: readonly string[];
  /** The path in names of tasks, where it differs from `path`. */
  readonly names?: readonly string[];
  /** Starts with the outermost run's id. Equal on every resume. */
  readonly runId: string;
  /** As `runId`, without the number of the run of this call: equal on every re-execution. */
  readonly keyId: string;
  /** Places at which earlier versions of the graphs stored this call (`was`). */
  readonly former?: readonly FormerPlace[];
  /** Attempt of the calling node, 1-based (the default is 1). */
  readonly attempt?: number;
}

/** The place of a call before nodes on its path were renamed. */
export interface FormerPlace {
  readonly namespace: string;
  /** As `Place.runId`. */
  readonly runId: string;
}

/** The place of the `finally` part of a run that has ended (F1). Its ids count the ends of the run. */
export function placeOfFinally(run: Run): Place {
  const end = `/${FINALLY}@${run.ends}`;
  const former = run.formerPlaces.map(({ namespace, runId }) => ({
    namespace: `${namespace}/${FINALLY}`,
    runId: `${runId}${end}`,
  }));
  return {
    ...(former.length === 0 ? {} : { former }),
    path: [...run.path, FINALLY],
    ...(run.names === run.path ? {} : { names: [...run.names, FINALLY] }),
    runId: `${run.runId}${end}`,
    keyId: `${run.keyId}${end}`,
  };
}

/** The segment of a namespace for the `finally` part. No node can have this name. */
export const FINALLY = "finally";

/** The place of the graph that a task calls. @param tool the graph is a tool: each call of the task has a place of its own */
export function placeOfCall(caller: Run, task: Task, tool?: ToolCallPlace): Place {
  const suffix = suffixOf(tool);
  const inId = tool === undefined ? "" : inRunId(tool);
  const call = `/${taskName(task)}@${caller.step}${inId}`;
  const former = formerPlaces(caller, task).map(({ namespace, runId }) => ({
    namespace: `${namespace}${suffix}`,
    runId: `${runId}${inId}`,
  }));
  return {
    ...(former.length === 0 ? {} : { former }),
    path: [...caller.path, segmentOfCall(task, tool)],
    ...(caller.names === caller.path ? {} : { names: [...caller.names, segmentOfCall(task, tool)] }),
    runId: `${caller.runId}${call}`,
    keyId: `${caller.keyId}${call}`,
  };
}

/** The segment of a namespace for the graph that a task calls. */
export function segmentOfCall(task: Pick<Task, "id">, tool?: ToolCallPlace): string {
  return `${task.id}${suffixOf(tool)}`;
}

function suffixOf(tool?: ToolCallPlace): string {
  return tool === undefined ? "" : `.${tool.name}.${tool.number}`;
}

/** The end of the run id of a call as a tool. Another conversation makes other calls under the same numbers. */
export function inRunId(tool: ToolCallPlace): string {
  return `${suffixOf(tool)}#${sha256(tool.key).slice(0, 12)}`;
}

/** A node whose edges lead to no target. */
export interface Unrouted {
  /** -1 for `start`. */
  readonly node: number;
  /** The error of the condition; `undefined` if no edge applies. */
  readonly cause: unknown;
  /** The node failed: its `on error` edges are meant. */
  readonly hasFailed?: boolean;
}

function formerPlaces(caller: Run, task: Task): readonly FormerPlace[] {
  const { was = NOTHING, name } = task.node.spec;
  if (was.length === 0 && caller.formerPlaces.length === 0) return NOTHING;
  const callers: readonly FormerPlace[] = [caller, ...caller.formerPlaces];
  const places = callers.flatMap(({ namespace, runId }) =>
    [name, ...was].map((node) => ({
      namespace: `${namespace === "" ? "" : `${namespace}/`}${node}${task.id.slice(name.length)}`,
      runId: `${runId}/${node}${taskName(task).slice(name.length)}@${caller.step}`,
    })),
  );
  return places.slice(1);
}

/**
 * One run of one graph: its state between steps. `step/run-loop.ts` and its neighbours execute the steps. A called
 * graph has a `Run` of its own, with the same `shared`.
 */
export class Run {
  readonly program: Program;
  readonly shared: Shared;
  readonly cancellation: Cancellation;
  readonly path: readonly string[];
  /** As `path`, without the segments that are no names of tasks: a matrix over a run-time list is a plan, whose tasks are `build[linux]`. */
  readonly names: readonly string[];
  readonly namespace: string;
  /** Attempt of the node that calls the graph, 1-based. */
  attempt: number;
  /** Number of the run of this call, 1-based: a retry of the calling node starts another run. */
  round = 1;
  /**
   * For a called graph: 1 plus the number of edits that changed its arguments. Calls with different arguments are
   * different tasks (5.5).
   */
  argumentsRound = 1;
  limits: RunLimits;
  /** The run whose node calls this graph or plan. */
  readonly caller: Run | undefined;
  /** What the run has used so far, in all attempts and called graphs; absent if nothing was reported. */
  usage: Usage | undefined;
  readonly listening: boolean;
  /** Values by channel. They change between steps only: no task reads while updates are applied. */
  readonly state: Json[];
  readonly scope: { readonly state: Json[]; readonly secrets: Scope["secrets"]; error: Json; readonly outcome: Json };
  readonly barriers: BarrierState;
  /** Number of the next step. */
  step = 0;
  ready: readonly number[] = NOTHING;
  sends: readonly PendingTask[] = NOTHING;
  /** Lists of `for` nodes of the next step that are read already, by node. */
  lists: Map<number, unknown> | undefined;
  /** By node, until it runs: the failure whose error edge leads to it. It is `error` in this node. */
  errors: Map<number, Json> | undefined;
  /** Passed `pause before` gates of the next step. */
  passed: ReadonlySet<string> | undefined;
  /** Nodes whose edges lead to no target. The run cannot continue with such a node. */
  unrouted: readonly Unrouted[] = NOTHING;
  /** A task failed under `onFailure: "abort"`: the tasks in flight are aborted. */
  aborting = false;
  /** Results of the next step that were stored earlier, by task id. */
  stored: ReadonlyMap<string, StoredOutcome> | undefined;
  /** Unanswered pauses of the next step, by task id. */
  waiting: ReadonlyMap<string, readonly PauseItem[]> | undefined;
  /** Due times of waits that have begun in the next step, by pause id. */
  dues: ReadonlyMap<string, number> | undefined;
  /** Results of parts of bodies in the step in progress (`once`), by task and key. */
  parts: Map<string, Json> | undefined;
  /** Items of the next step about which something is stored. */
  itemRecords: ItemRecords | undefined;
  /** Pauses of called graphs whose signals have come: their tasks run again. */
  woken: ReadonlySet<string> = NO_IDS;
  /** The signals that the tasks of the step can take: read once, so that waiters of one name are served in task order. */
  signals: MaybePromise<readonly Signal[]> | undefined;
  /** Unfinished runs of called graphs: namespace -> checkpoint id. */
  children: Readonly<Record<string, string>> = NO_CHILDREN;
  /** It is the `finally` part of another run. */
  readonly isFinally: boolean;
  /** How the run has ended: set when its `finally` part begins. */
  outcome: RunOutcome | undefined;
  /** The number of ends that the `finally` part has followed. */
  ends = 0;
  /** The checkpoint that recorded the outcome: the one that ends the run has the same place. */
  endedAt:
    | {
        readonly phase: Phase;
        readonly step: number;
        readonly current: readonly string[];
        readonly keepsResults: boolean;
      }
    | undefined;
  /** How the `finally` part has ended. */
  finallyEnd: (FinallyResult & { readonly values: JsonObject }) | undefined;
  /** Unfinished runs of the `finally` part and of graphs that it calls: namespace -> checkpoint id. */
  finallyChildren: Readonly<Record<string, string>> | undefined;
  /** The run has reached `rollback`, or is rolled back on request: it runs no further step, only undos. */
  rollsBack = false;
  /** Undo entries of results that no step has applied: the step failed or paused. */
  unapplied: readonly UndoEntry[] = NOTHING;
  /** Names of the nodes of each finished step. */
  readonly steps: (readonly string[])[] = [];
  readonly writer: CheckpointWriter | undefined;
  readonly #former: readonly FormerPlace[];
  readonly #runId: string | undefined;
  readonly #keyId: string | undefined;
  #undone: Set<string> | undefined;

  constructor(
    program: Program,
    shared: Shared,
    details: {
      readonly cancellation: Cancellation;
      readonly limits: RunLimits;
      readonly place?: Place;
      /** Of the `finally` part: how its run has ended. */
      readonly outcome?: RunOutcome;
      readonly caller?: Run;
    },
  ) {
    this.program = program;
    this.shared = shared;
    this.cancellation = details.cancellation;
    this.path = details.place?.path ?? NOTHING;
    this.names = details.place?.names ?? this.path;
    this.namespace = this.path.length === 0 ? "" : this.path.join("/");
    this.#former = details.place?.former ?? NOTHING;
    this.attempt = details.place?.attempt ?? 1;
    this.#runId = details.place?.runId;
    this.#keyId = details.place?.keyId;
    this.limits = details.limits;
    this.caller = details.caller;
    this.listening = shared.listeners.length > 0;
    this.state = program.initial.slice();
    this.isFinally = details.outcome !== undefined;
    const outcome = (details.outcome ?? null) as unknown as Json;
    this.scope = { state: this.state, secrets: program.secrets, error: null, outcome };
    this.barriers = new BarrierState(program.routing.barriers);
    this.writer = shared.durable?.code.openWriter(this, shared.durable);
  }

  /** Keys of the undos that are done and that no checkpoint has recorded. */
  get undone(): Set<string> {
    return (this.#undone ??= new Set());
  }

  get runId(): string {
    return this.#runId === undefined ? this.shared.runId : this.#inRound(this.#runId);
  }

  /** The namespace and the run id of this run under the earlier versions of the graphs (`was`). */
  get formerPlaces(): readonly FormerPlace[] {
    if (this.#former.length === 0) return NOTHING;
    return this.#former.map(({ namespace, runId }) => ({ namespace, runId: this.#inRound(runId) }));
  }

  #inRound(runId: string): string {
    return this.round === 1 ? runId : `${runId}.${this.round}`;
  }

  /** The id of all runs of this call: `runId` without the number of the run. */
  get callId(): string {
    return this.#runId ?? this.shared.runId;
  }

  /** The value of `error`: the last failure for which an error edge was taken; `null` before. */
  get error(): Json {
    return this.scope.error;
  }

  /** Changes the value of `error`, which is stored as a channel is. */
  setError(error: Json): void {
    const channel = errorChannel(this.program);
    // Mutation point: stored-error
    this.writer?.touch(channel, null, false);
    this.scope.error = this.state[channel] = error;
  }

  get keyId(): string {
    if (this.#keyId === undefined) return this.shared.runId;
    return this.argumentsRound === 1 ? this.#keyId : `${this.#keyId}.${this.argumentsRound}`;
  }

  get isOver(): boolean {
    return this.ready.length === 0 && this.sends.length === 0 && this.unrouted.length === 0;
  }

  /** Whether a due time has passed. */
  isDue(due: number): boolean {
    return due <= this.shared.now();
  }

  /** The due time of a wait: the one that was stored when it began, or a new one. */
  dueOf(pauseId: string, milliseconds: number): number {
    const known = this.dues?.get(pauseId);
    // Mutation point: stored-due
    if (known !== undefined) return known;
    const due = Math.ceil(this.shared.clock.now() + milliseconds);
    this.dues = new Map(this.dues).set(pauseId, due);
    return due;
  }

  /** The thread's inbox as it was when the step first asked for it. */
  readSignals(): MaybePromise<readonly Signal[]> {
    const { durable } = this.shared;
    if (durable === undefined) return NOTHING;
    return (this.signals ??= readSignals(durable.store, durable.threadId));
  }

  /** Whether some node may have a gate, by the graph or by the options of this call. */
  get mayPause(): boolean {
    return this.program.hasGates || this.shared.breakpoints !== undefined;
  }

  /** Whether the run pauses before or after a node. */
  pausesAt(kind: "before" | "after", node: number): boolean {
    const { spec } = this.program.nodes[node]!;
    if ((kind === "before" ? spec.pauseBefore : spec.pauseAfter) === true) return true;
    const { breakpoints } = this.shared;
    if (breakpoints === undefined) return false;
    const calls = this.path.filter((task) => task !== FINALLY).map(nodeOfSegment);
    return breakpoints[kind].has([...calls, spec.name].join("/"));
  }

  nodeName(node: number): string {
    if (node === ROLLBACK) return "rollback";
    return node === END ? "end" : this.program.table.nodes[node]!.name;
  }

  /** Output channels by name, with what the `finally` part has written. */
  output(): JsonObject {
    return recordOf(this.program.outputs, this.program.outputTemplate, this.#endState());
  }

  /** All channels by name, with what the `finally` part has written. */
  values(): JsonObject {
    return recordOf(this.program.channels, this.program.stateTemplate, this.#endState());
  }

  #endState(): readonly Json[] {
    if (this.finallyEnd === undefined) return this.state;
    const { values } = this.finallyEnd;
    return this.program.channels.map(({ name, index }) =>
      Object.hasOwn(values, name) ? values[name]! : this.state[index]!,
    );
  }

  /**
   * The idempotency key of a task: equal on every re-execution, different for every other task of any run (5.5). It is
   * a digest, so its length does not depend on the depth of calls, and it fits a header or a column.
   */
  taskKey(task: Task, step: number): string {
    return `sha256:${sha256(`${this.keyId}:${taskName(task)}@${step}`)}`;
  }

  /**
   * The id of a pause: `approve@3.1a2b3c4d5e6f` is the task, the step and the end of the run's id. Further pauses of
   * one body are numbered. In a called graph the call is a prefix: `call@0/approve@3.…`. A retry of the call pauses
   * under other ids: `call@0.2/…`.
   */
  pauseId(task: string, step: number, count: number): string {
    const number = count === 0 ? "" : `+${count + 1}`;
    return `${this.#pausePlace}${task}@${step}${number}.${runSuffix(this.shared.runId)}`;
  }

  /** Whether a pause belongs to a task of the next step with its present item, or to a graph that this task calls. */
  isPauseOf(id: string, task: Task): boolean {
    return id.startsWith(`${this.#pausePlace}${taskName(task)}@${this.step}`);
  }

  /** The id of a pause without the calls that lead to this run; `undefined` for a pause of another run. */
  ownPauseId(id: string): string | undefined {
    return id.startsWith(this.#pausePlace) ? id.slice(this.#pausePlace.length) : undefined;
  }

  /**
   * The suffix that the run id of a called graph adds to the outermost run id: the calling task, its step, and the
   * round of the call.
   */
  get #pausePlace(): string {
    return this.path.length === 0 ? "" : `${this.runId.slice(this.shared.runId.length + 1)}/`;
  }

  incompleteBarriers(): IncompleteBarrier[] {
    const { table } = this.program;
    const names = (nodes: readonly number[]): string[] => nodes.map((node) => this.nodeName(node)).sort();
    return this.barriers.partlyFilled().map((barrier) => ({
      id: table.barriers[barrier]!.id,
      target: this.nodeName(table.barriers[barrier]!.target),
      arrived: names(this.barriers.arrived(barrier)),
      missing: names(this.barriers.missing(barrier)),
    }));
  }

  noRoute(): NodeError {
    const { node, cause, hasFailed } = this.unrouted[0]!;
    if (hasFailed === true && cause === undefined) return failedWithoutRoute(this.nodeName(node), this.shared.threadId);
    const subject = (expression: number): unknown => this.program.routing.expressions[expression]!(this.scope);
    const { threadId, redact } = this.shared;
    const details = { cause, threadId, hasFailed, redact };
    return noRoute(this.program.table, node, subject, details, this.isFinally ? FINALLY : "start");
  }

  drained(): RunError {
    const thread = this.shared.threadId === undefined ? "" : `: resume thread \`${this.shared.threadId}\` to continue`;
    return new RunError("NG_DRAINED", `the run was drained in step ${this.step}${thread}`);
  }

  /** @param unstored the error of the store, if it did not accept the last changes */
  cancelled(unstored?: StoreError): RunError {
    const { reason } = this.cancellation;
    const message = `the run was cancelled in step ${this.step}`;
    if (unstored === undefined) return new RunError("NG_CANCELLED", message, { cause: reason });
    return new RunError("NG_CANCELLED", `${message}; its last changes are not stored: ${unstored.message}`, {
      cause: unstored,
    });
  }

  /** Adds to what this run and its callers have used. */
  addUsage(usage: Usage): void {
    if (usage.inputTokens + usage.outputTokens + usage.cost === 0) return;
    this.usage = addUsage(this.usage ?? NO_USAGE, usage);
    this.writer?.keepUsage();
    this.caller?.addUsage(usage);
  }

  /** The limit that does not allow another step; `undefined` if every limit does. */
  reachedLimit(): LimitKind | undefined {
    const { steps, tokens, cost } = this.limits;
    if (steps !== null && this.step >= steps) return "steps";
    const { usage } = this;
    if (usage === undefined) return undefined;
    if (tokens !== null && usage.inputTokens + usage.outputTokens >= tokens) return "tokens";
    return cost !== null && usage.cost >= cost ? "cost" : undefined;
  }

  limitError(kind: LimitKind): RunError {
    const next = [...this.ready, ...this.sends.map(({ node }) => node)].map((node) => `\`${this.nodeName(node)}\``);
    const shown = [...new Set(next)].slice(0, 10).join(", ");
    const { name } = this.program.table;
    const option = LIMIT_OPTIONS[kind];
    const [whose, higher] =
      this.path.length === 0 ? ["", `\`${option}\``] : [` of graph \`${name}\``, `\`${option}: { ${name}: … }\``];
    const limit = this.limits[kind];
    const { inputTokens, outputTokens, cost } = this.usage ?? NO_USAGE;
    const [code, count] = {
      steps: ["NG_STEP_LIMIT", `${limit} ${limit === 1 ? "step" : "steps"}`] as const,
      tokens: ["NG_TOKEN_LIMIT", `${limit} tokens (${inputTokens + outputTokens} used)`] as const,
      cost: ["NG_COST_LIMIT", `a cost of ${limit} (${cost} used)`] as const,
    }[kind];
    const message = `the limit of ${count}${whose} is reached before ${shown}: resume with a higher ${higher} to continue`;
    return new RunError(code, message);
  }
}

/**
 * The values of channels by name. A copy of the template already has the fields: faster than adding them one by one.
 */
function recordOf(channels: readonly ChannelCode[], template: JsonObject, state: readonly Json[]): JsonObject {
  const record: Record<string, Json> = { ...template };
  for (let i = 0; i < channels.length; i++) {
    const { name, index } = channels[i]!;
    // The template has an own field `__proto__`, so the assignment does not set the prototype.
    record[name] = state[index]!;
  }
  return record;
}

const NOTHING: readonly never[] = Object.freeze([]);
const NO_IDS: ReadonlySet<string> = new Set();
const NO_CHILDREN: Readonly<Record<string, string>> = Object.freeze({});
