import type { PauseItem } from "../interface/checkpoint.ts";
import type { IncompleteBarrier, RunStatus } from "../interface/engine-options.ts";
import { NodeError, RunError, type NgraphError, type StoreError } from "../interface/errors.ts";
import type { Scope } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { BarrierState } from "../routing/barrier-state.ts";
import { noRoute } from "../routing/no-route.ts";
import { sha256 } from "../table/sha256.ts";
import { END } from "../table/table.ts";
import type { Cancellation } from "./cancellation.ts";
import { CheckpointWriter } from "../checkpoint/checkpoint-writer.ts";
import { runSuffix } from "../checkpoint/ids.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Program } from "../program/program.ts";
import type { Shared, StoredOutcome } from "./shared.ts";
import type { Task } from "../step/task.ts";

/** How a run ended, or why it stopped for now. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly pauses: readonly PauseItem[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  readonly error: NgraphError | null;
}

export interface PendingTask {
  readonly taskId: string;
  readonly node: number;
  readonly item: Json;
}

/** Where a graph called as a node stands in the whole. */
export interface Place {
  /** Ids of the tasks that called, outermost first. */
  readonly path: readonly string[];
  /** Begins with the outermost run's id; equal on every resume. */
  readonly runId: string;
  /** The same where a further try has begun another run of a call: equal on every re-execution. */
  readonly keyId: string;
  /** Which try of the caller's node, from 1 (the default). */
  readonly attempt?: number;
}

/** The place of a graph that a task calls. */
export function placeOfCall(caller: Run, task: Task): Place {
  const call = `/${task.id}@${caller.step}`;
  return {
    path: [...caller.path, task.id],
    runId: `${caller.runId}${call}`,
    keyId: `${caller.keyId}${call}`,
  };
}

/**
 * One run of one graph: where it stands between steps. What happens in a step is in `run-loop.ts` and its neighbours. Runs
 * of called graphs are runs of their own with the same `shared`.
 */
export class Run {
  readonly program: Program;
  readonly shared: Shared;
  readonly cancellation: Cancellation;
  readonly path: readonly string[];
  readonly namespace: string;
  /** Of the node that calls the graph, from 1. */
  attempt: number;
  /** Which run of the call this is, from 1: a further try of the caller's node begins another. */
  round = 1;
  maxSteps: number | null;
  readonly listening: boolean;
  /** Values by channel, changed in place between steps only: no task reads while updates are applied. */
  readonly state: Json[];
  readonly scope: { readonly state: Json[]; readonly secrets: Scope["secrets"]; error: Json };
  readonly barriers: BarrierState;
  /** The step to come. */
  step = 0;
  ready: readonly number[] = NOTHING;
  sends: readonly PendingTask[] = NOTHING;
  /** What `error` reads as in the nodes that an error edge leads to, until they run. */
  errors: Map<number, Json> | undefined;
  /** Gates of the step to come that have been passed. */
  passed: ReadonlySet<string> | undefined;
  /** Nodes whose edges led nowhere; with them the run cannot go on. */
  unrouted: readonly { readonly node: number; readonly cause: unknown }[] = NOTHING;
  /** A task failed under `onFailure: "abort"`: what is in flight is given up. */
  aborting = false;
  /** Of the step to come, by task: results that an earlier attempt has stored. */
  stored: ReadonlyMap<string, StoredOutcome> | undefined;
  /** Of the step to come, by task: pauses that still wait for an answer. */
  waiting: ReadonlyMap<string, readonly PauseItem[]> | undefined;
  /** Of called graphs left unfinished when the run stopped: namespace -> checkpoint. */
  children: Readonly<Record<string, string>> = {};
  /** Names of the nodes of each finished step. */
  readonly steps: (readonly string[])[] = [];
  readonly writer: CheckpointWriter | undefined;
  readonly #runId: string | undefined;
  readonly #keyId: string | undefined;

  constructor(
    program: Program,
    shared: Shared,
    details: { readonly cancellation: Cancellation; readonly maxSteps: number | null; readonly place?: Place },
  ) {
    this.program = program;
    this.shared = shared;
    this.cancellation = details.cancellation;
    this.path = details.place?.path ?? NOTHING;
    this.namespace = this.path.length === 0 ? "" : this.path.join("/");
    this.attempt = details.place?.attempt ?? 1;
    this.#runId = details.place?.runId;
    this.#keyId = details.place?.keyId;
    this.maxSteps = details.maxSteps;
    this.listening = shared.listeners.length > 0;
    this.state = program.initial.slice();
    this.scope = { state: this.state, secrets: program.secrets, error: null };
    this.barriers = new BarrierState(program.routing.barriers);
    this.writer = shared.durable === undefined ? undefined : new CheckpointWriter(this, shared.durable);
  }

  get runId(): string {
    return this.#runId === undefined ? this.shared.runId : `${this.#runId}${this.round === 1 ? "" : `.${this.round}`}`;
  }

  get keyId(): string {
    return this.#keyId ?? this.shared.runId;
  }

  get isOver(): boolean {
    return this.ready.length === 0 && this.sends.length === 0 && this.unrouted.length === 0;
  }

  nodeName(node: number): string {
    return node === END ? "end" : this.program.table.nodes[node]!.name;
  }

  /** Output channels by name. */
  output(): JsonObject {
    return recordOf(this.program.outputs, this.program.outputTemplate, this.state);
  }

  /** All channels by name. */
  values(): JsonObject {
    return recordOf(this.program.channels, this.program.stateTemplate, this.state);
  }

  /**
   * Names a task for good: equal on every re-execution, different for every other task of any run (5.5). A digest, so that it is as
   * long for the deepest of called graphs, and fits a header or a column.
   */
  taskKey(task: Task, step: number): string {
    return `sha256:${sha256(`${this.keyId}:${task.id}@${step}`)}`;
  }

  /**
   * `approve@3.1a2b3c4d5e6f`: the task, the step, the end of the run's id; further pauses of one body are numbered. A called graph has the
   * call in front, `call@0/approve@3.…`; a further try of it begins anew and asks anew, so its pauses have other ids: `call@0.2/…`.
   */
  pauseId(task: string, step: number, count: number): string {
    const root = this.shared.runId;
    const number = count === 0 ? "" : `+${count + 1}`;
    // What a called graph's run id adds to the outermost: which task of which step called, and for which time.
    const place = this.path.length === 0 ? "" : `${this.runId.slice(root.length + 1)}/`;
    return `${place}${task}@${step}${number}.${runSuffix(root)}`;
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
    const { node, cause } = this.unrouted[0]!;
    const subject = (expression: number): unknown => this.program.routing.expressions[expression]!(this.scope);
    return noRoute(this.program.table, node, subject, { cause, threadId: this.shared.threadId });
  }

  /** @param unstored the store did not take what there was to keep, and why */
  cancelled(unstored?: StoreError): RunError {
    const { reason } = this.cancellation;
    const message = `the run was cancelled in step ${this.step}`;
    if (unstored === undefined) return new RunError("NG_CANCELLED", message, { cause: reason });
    return new RunError("NG_CANCELLED", `${message}; what it had done since is not stored: ${unstored.message}`, {
      cause: unstored,
    });
  }

  stepLimit(): RunError {
    const next = [...this.ready, ...this.sends.map(({ node }) => node)].map((node) => `\`${this.nodeName(node)}\``);
    const shown = [...new Set(next)].slice(0, 10).join(", ");
    const { name } = this.program.table;
    const [whose, higher] =
      this.path.length === 0 ? ["", "`maxSteps`"] : [` of graph \`${name}\``, `\`maxSteps: { ${name}: … }\``];
    const count = `${this.maxSteps} ${this.maxSteps === 1 ? "step" : "steps"}`;
    const message = `the limit of ${count}${whose} is reached with ${shown} still to run: resume with a higher ${higher} to go on`;
    return new RunError("NG_STEP_LIMIT", message);
  }
}

/** A copy of the template has the fields already, in their places: much faster than adding them one by one. */
function recordOf(channels: readonly ChannelCode[], template: JsonObject, state: readonly Json[]): JsonObject {
  const record: Record<string, Json> = { ...template };
  for (let i = 0; i < channels.length; i++) {
    const { name, index } = channels[i]!;
    // Also `__proto__` is an own field by now, so that this sets it.
    record[name] = state[index]!;
  }
  return record;
}

const NOTHING: readonly never[] = Object.freeze([]);
