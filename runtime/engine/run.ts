import type { ChannelChange, Checkpoint, CheckpointHeader, CheckpointId, PauseItem, Phase } from "../checkpoint.ts";
import { CHECKPOINT_SCHEMA_VERSION } from "../checkpoint.ts";
import type { IncompleteBarrier, RunStatus } from "../engine-options.ts";
import { NodeError, NgraphError, RunError, StoreError, ThreadError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import type { Scope } from "../expression/compile-expression.ts";
import type { Json, JsonObject } from "../json.ts";
import { BarrierState } from "../routing/barrier-state.ts";
import { noRoute } from "../routing/no-route.ts";
import { planStart, planStep, type PlanObserver, type Routing, type StepPlan } from "../routing/plan-step.ts";
import { followErrorRoutes, isBarrier, barrierOf, type Target } from "../routing/routes.ts";
import { signalsOf } from "../scheduler.ts";
import { END } from "../table.ts";
import { Mismatch } from "../validate.ts";
import type { Program } from "./program.ts";
import { PauseSignal } from "./pause-signal.ts";
import { eventError, isThenable, runTask } from "./run-task.ts";
import { Cancellation, Slots, type Shared, type StoredOutcome } from "./shared.ts";
import {
  doneOutcome,
  failedOutcome,
  pausedOutcome,
  type Outcome,
  type SendRequest,
  type Task,
  type Update,
} from "./task.ts";

/** How far a run has come when it ends, or stops for now. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly pauses: readonly PauseItem[];
  readonly incompleteBarriers: readonly IncompleteBarrier[];
  readonly error: NodeError | NgraphError | null;
}

type EventBody = RunEvent extends infer E
  ? E extends RunEvent
    ? Omit<E, "seq" | "namespace" | "thread" | "runId" | "step">
    : never
  : never;

/**
 * One run of one graph: its state between steps, and the loop over steps. Runs of called graphs are runs of their own with
 * the same `shared`.
 */
export class Run {
  readonly program: Program;
  readonly shared: Shared;
  readonly cancellation: Cancellation;
  /** Subgraph path as people read it, and as checkpoints are filed. */
  readonly path: readonly string[];
  readonly namespace: string;
  /** The run as its checkpoints name it: that of a called graph names the task that called it. */
  readonly runId: string;
  readonly maxSteps: number | null;
  /** Values by channel; replaced value by value at the end of a step, never in place. */
  readonly state: Json[];
  readonly scope: { readonly state: Json[]; readonly secrets: Scope["secrets"]; error: Json };
  readonly versions: number[];
  barriers: BarrierState;
  step = 0;
  ready: readonly number[] = [];
  sends: readonly { readonly taskId: string; readonly node: number; readonly item: Json }[] = [];
  /** What `error` reads as in the nodes that an error edge leads to. */
  errors: ReadonlyMap<number, Json> = NO_ERRORS;
  /** Gates that have been passed: they do not hold the step that comes next. */
  passed: ReadonlySet<string> = NO_GATES;
  headId: CheckpointId | null = null;
  readonly steps: string[][] = [];
  readonly listening: boolean;
  /** Results of the step to come that an earlier attempt has stored. */
  stored: ReadonlyMap<string, StoredOutcome> = NO_STORED;
  #written: Promise<void> | undefined;
  #writeError: unknown;

  constructor(
    program: Program,
    shared: Shared,
    details: {
      readonly cancellation: Cancellation;
      readonly path?: readonly string[];
      readonly namespace?: string;
      readonly runId?: string;
      readonly maxSteps: number | null;
    },
  ) {
    this.program = program;
    this.shared = shared;
    this.cancellation = details.cancellation;
    this.path = details.path ?? [];
    this.namespace = details.namespace ?? "";
    this.runId = details.runId ?? shared.runId;
    this.maxSteps = details.maxSteps;
    this.state = program.initial.slice();
    this.versions = shared.store === undefined ? [] : program.initial.map(() => 0);
    this.scope = { state: this.state, secrets: program.secrets, error: null };
    this.barriers = new BarrierState(program.routing.barriers);
    this.listening = shared.listeners.length > 0;
  }

  // Start ---------------------------------------------------------------------------------------------

  /** Checks and applies the input. @throws RunError NG_BAD_INPUT naming every field that does not fit */
  applyInput(input: JsonObject): void {
    const problems: string[] = [];
    const { channels, channelIndex, table } = this.program;
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      throw new RunError("NG_BAD_INPUT", `the input of graph \`${table.name}\` must be a record of its inputs`);
    }
    for (const [name, value] of Object.entries(input)) {
      const index = channelIndex.get(name);
      const channel = index === undefined ? undefined : channels[index];
      if (index === undefined || channel?.spec.role !== "input") {
        if (value === undefined) continue;
        const inputs = channels.filter(({ spec }) => spec.role === "input").map(({ spec }) => `\`${spec.name}\``);
        problems.push(`\`${name}\` is no input (there are: ${inputs.join(", ") || "none"})`);
        continue;
      }
      if (value === undefined) continue;
      const admitted = channel.admit(value);
      if (admitted instanceof Mismatch) problems.push(`\`${name}\`: ${admitted.describe()}`);
      else this.state[index] = admitted;
    }
    for (const { spec } of channels) {
      if (spec.role !== "input" || spec.initial !== undefined) continue;
      if (!Object.hasOwn(input, spec.name) || input[spec.name] === undefined)
        problems.push(`\`${spec.name}\` is missing`);
    }
    if (problems.length > 0)
      throw new RunError("NG_BAD_INPUT", `the input of graph \`${table.name}\` does not fit: ${problems.join("; ")}`);
  }

  /** Decides the first step. Returns the failure when no edge of `start` was taken. */
  planStart(): NodeError | undefined {
    const plan = planStart(this.program.routing, this.scope, this.listening ? this.#observer([]) : undefined);
    this.ready = plan.ready;
    const unrouted = plan.unrouted[0];
    return unrouted === undefined ? undefined : this.#noRoute(-1, unrouted.cause);
  }

  // Loop ----------------------------------------------------------------------------------------------

  /** Runs steps until there is nothing to run, somebody is waited for, or it cannot go on. Never rejects. */
  async loop(): Promise<RunEnd> {
    try {
      for (;;) {
        if (this.cancellation.aborted) return await this.#stop("cancelled", this.#cancelled());
        if (this.ready.length === 0 && this.sends.length === 0) return await this.#complete();
        if (this.maxSteps !== null && this.step >= this.maxSteps)
          return await this.#stop("step_limit", this.#stepLimit());
        const gates = this.#gates();
        if (gates.length > 0) {
          await this.#save("before", { pauses: gates, status: "paused", step: this.step, current: [] });
          return await this.#pause(gates);
        }
        const end = this.#step();
        const result = isThenable(end) ? await end : end;
        if (result !== undefined) return result;
      }
    } catch (error) {
      const known =
        error instanceof NgraphError
          ? error
          : new StoreError("NG_STORE_FAILED", `the run cannot go on: ${describe(error)}`, { cause: error });
      return { status: "failed", pauses: [], incompleteBarriers: [], error: known };
    }
  }

  /** One super-step. Synchronous as long as nothing in it waits. */
  #step(): RunEnd | undefined | Promise<RunEnd | undefined> {
    const tasks = this.#tasks();
    if (this.listening) this.emit({ type: "step", phase: "start", nodes: this.#names(tasks) });
    const single = tasks.length === 1 && tasks[0]!.items === undefined;
    if (single && this.stored.size === 0) {
      const outcome = this.#leaf(tasks[0]!, false);
      return isThenable(outcome) ? outcome.then((done) => this.#finish(tasks, [done])) : this.#finish(tasks, [outcome]);
    }
    const leaves = tasks.reduce((sum, task) => sum + (task.items?.length ?? 1), 0);
    const store = leaves > 1;
    const outcomes: Outcome[] = [];
    let waiting: Promise<void>[] | undefined;
    for (const [index, task] of tasks.entries()) {
      const outcome = task.items === undefined ? this.#leaf(task, store) : this.#each(task, task.items, store);
      if (isThenable(outcome)) (waiting ??= []).push(outcome.then((done) => void (outcomes[index] = done)));
      else outcomes[index] = outcome;
    }
    if (waiting === undefined) return this.#finish(tasks, outcomes);
    return Promise.all(waiting).then(() => this.#finish(tasks, outcomes));
  }

  #tasks(): Task[] {
    const tasks: Task[] = [];
    for (const index of this.ready) {
      const node = this.program.nodes[index]!;
      const base = {
        node,
        id: node.spec.name,
        item: undefined,
        itemIndex: -1,
        error: this.errors.get(index) ?? null,
        items: undefined,
      };
      if (node.list === undefined) {
        tasks.push(base);
        continue;
      }
      try {
        const list = node.list({
          state: this.state,
          secrets: this.scope.secrets,
          error: base.error,
        }) as readonly Json[];
        if (!Array.isArray(list)) throw new TypeError("the list of its `for` is no list");
        tasks.push({
          ...base,
          items: list.map((item, at): Task => ({ ...base, id: `${node.spec.name}[${at}]`, item, itemIndex: at })),
        });
      } catch (error) {
        tasks.push({ ...base, broken: error });
      }
    }
    for (const send of this.sends) {
      const node = this.program.nodes[send.node]!;
      tasks.push({ node, id: send.taskId, item: send.item, itemIndex: -1, error: null, items: undefined });
    }
    return tasks;
  }

  /** A task that is no `for`: from its stored result, or by running it. */
  #leaf(task: Task, store: boolean): Outcome | Promise<Outcome> {
    const known = this.stored.get(task.id);
    if (known !== undefined) return this.#restoreOutcome(task, known);
    const { slots } = this.shared;
    const run = (): Outcome | Promise<Outcome> => {
      const outcome = runTask(this, task);
      if (isThenable(outcome)) return outcome.then((done) => this.#keep(task, done, store));
      return this.#keep(task, outcome, store);
    };
    // A called graph takes slots for its own tasks; holding one meanwhile could wait for itself.
    if (slots === undefined || task.node.call.kind === "graph") return run();
    const free = (outcome: Outcome): Outcome => {
      slots.give();
      return outcome;
    };
    const later = slots.take();
    if (later !== undefined) return later.then(run).then(free);
    const outcome = run();
    return isThenable(outcome) ? outcome.then(free) : free(outcome);
  }

  /** The items of a `for` node: in parallel, then one outcome. */
  #each(task: Task, items: readonly Task[], store: boolean): Outcome | Promise<Outcome> {
    const outcomes: Outcome[] = [];
    const limit = task.node.spec.each?.parallel ?? items.length;
    let next = 0;
    let failed = false;
    const work = (): Promise<void> | undefined => {
      while (next < items.length && !(failed && this.shared.onFailure === "abort")) {
        const index = next++;
        const outcome = this.#leaf(items[index]!, store);
        if (isThenable(outcome)) {
          return outcome.then((done) => {
            outcomes[index] = done;
            failed ||= done.failure !== undefined;
            return work();
          });
        }
        outcomes[index] = outcome;
        failed ||= outcome.failure !== undefined;
      }
      return undefined;
    };
    const workers: Promise<void>[] = [];
    for (let worker = 0; worker < Math.min(limit, items.length); worker++) {
      const running = work();
      if (running !== undefined) workers.push(running);
    }
    if (workers.length === 0) return this.#collect(task, outcomes);
    return Promise.all(workers).then(() => this.#collect(task, outcomes));
  }

  /** One outcome of all items: lists where nothing reduces, updates in item order where something does (7.1). */
  #collect(task: Task, outcomes: readonly Outcome[]): Outcome {
    const done = outcomes.filter((outcome) => outcome !== undefined);
    const failures = done.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
    const first = failures[0];
    if (first !== undefined) {
      const items = failures.flatMap((failure) => failure.items);
      return failedOutcome(
        new NodeError(first.code, first.nodeId, first.message, {
          attempts: first.attempts,
          items,
          threadId: first.threadId,
          cause: first.cause,
        }),
      );
    }
    const cancelled = done.find((outcome) => outcome.cancelled);
    if (cancelled !== undefined) return cancelled;
    const pauses = done.flatMap((outcome) => outcome.pauses ?? []);
    if (pauses.length > 0) return pausedOutcome(pauses);

    const updates: Update[] = [];
    const { output } = task.node.spec;
    const channels =
      output === undefined
        ? []
        : output.kind === "channel"
          ? [output.channel]
          : output.fields.map((field) => field.channel);
    for (const channel of channels) {
      const values = done.flatMap((outcome) => outcome.updates.filter((update) => update.channel === channel));
      updates.push({ channel, value: this.program.channels[channel]!.combineItems(values.map(({ value }) => value)) });
    }
    const gotos = done.flatMap((outcome) => outcome.goto ?? []);
    return {
      ...doneOutcome(updates),
      goto: gotos.length === 0 ? undefined : gotos,
      exclusive: done.some((outcome) => outcome.exclusive),
      stopped: done.length > 0 && done.every((outcome) => outcome.stopped),
      sends: done.flatMap((outcome) => outcome.sends),
    };
  }

  // End of a step -------------------------------------------------------------------------------------

  #finish(tasks: readonly Task[], outcomes: readonly Outcome[]): RunEnd | undefined | Promise<RunEnd | undefined> {
    if (this.cancellation.aborted || outcomes.some((outcome) => outcome.cancelled))
      return this.#stop("cancelled", this.#cancelled());
    const applied = this.#apply(tasks, outcomes);
    if (applied.error !== undefined) return this.#failStep(applied.error, applied.atFault);
    const pauses = outcomes.flatMap((outcome) => outcome.pauses ?? []);
    if (pauses.length > 0) {
      applied.undo();
      return this.#interrupt(tasks, outcomes, pauses);
    }

    const routings: Routing[] = [];
    const errors = new Map<number, Json>();
    for (const [index, task] of tasks.entries()) {
      const outcome = outcomes[index]!;
      let errorTargets: readonly Target[] | undefined;
      if (outcome.failure !== undefined) {
        const error = errorValue(outcome.failure);
        errorTargets = this.#errorTargets(task, error);
        if (errorTargets === undefined) {
          applied.undo();
          return this.#failStep(outcome.failure, []);
        }
        for (const target of errorTargets) if (target >= 0) errors.set(target, error);
      }
      routings.push({
        node: task.node.index,
        goto: outcome.goto,
        exclusive: outcome.exclusive,
        stopped: outcome.stopped,
        errorTargets,
      });
    }
    const names = this.listening || this.shared.store !== undefined || this.namespace === "" ? this.#names(tasks) : [];
    const plan = planStep(
      this.program.routing,
      routings,
      this.scope,
      this.barriers,
      this.listening ? this.#observer(tasks) : undefined,
    );
    return this.#advance(tasks, outcomes, applied.changes, plan, errors, names);
  }

  #advance(
    tasks: readonly Task[],
    outcomes: readonly Outcome[],
    changes: readonly ChannelChange[],
    plan: StepPlan,
    errors: ReadonlyMap<number, Json>,
    names: string[],
  ): RunEnd | undefined | Promise<RunEnd | undefined> {
    this.steps.push(names);
    this.ready = plan.ready;
    this.errors = errors.size === 0 ? NO_ERRORS : errors;
    this.passed = NO_GATES;
    this.sends = plan.winner === -1 ? this.#sends(tasks, outcomes) : [];
    if (this.stored.size > 0) this.stored = NO_STORED;
    const step = this.step++;
    if (this.listening) this.emit({ type: "step", phase: "end", nodes: names });

    const unrouted = plan.unrouted[0];
    const error = unrouted === undefined ? undefined : this.#noRoute(routings(tasks, unrouted.routing), unrouted.cause);
    const pauses = error === undefined ? this.#pausesAfter(tasks, outcomes, step) : [];
    const over = this.ready.length === 0 && this.sends.length === 0;
    const limited = !over && this.maxSteps !== null && this.step >= this.maxSteps;
    if (this.shared.store === undefined) {
      if (error !== undefined) return { status: "failed", pauses: [], incompleteBarriers: [], error };
      return pauses.length > 0 ? this.#pause(pauses) : undefined;
    }
    const status: CheckpointHeader["status"] =
      error !== undefined
        ? "failed"
        : pauses.length > 0
          ? "paused"
          : over
            ? this.#overStatus()
            : limited
              ? "step_limit"
              : "running";
    const saved = this.#save(pauses.length > 0 ? "after" : "completed", {
      pauses,
      status,
      step,
      current: names,
      changes,
    });
    const then = (): RunEnd | undefined | Promise<RunEnd> => {
      if (error !== undefined) return { status: "failed", pauses: [], incompleteBarriers: [], error };
      return pauses.length > 0 ? this.#pause(pauses) : undefined;
    };
    return saved === undefined ? then() : saved.then(then);
  }

  /** Applies updates in task order to the state, all or nothing (2.2, 2.3). */
  #apply(tasks: readonly Task[], outcomes: readonly Outcome[]) {
    const { channels } = this.program;
    const before: [channel: number, value: Json][] = [];
    const writers = tasks.length > 1 ? new Map<number, number>() : undefined;
    const appended = new Map<number, Json[] | undefined>();
    const undo = (): void => {
      for (let at = before.length - 1; at >= 0; at--) this.state[before[at]![0]] = before[at]![1];
    };
    const failed = (error: RunError, atFault: readonly Task[]) => {
      undo();
      return { error, atFault, changes: [] as ChannelChange[], undo };
    };
    for (const [index, task] of tasks.entries()) {
      for (const { channel, value } of outcomes[index]!.updates) {
        const code = channels[channel]!;
        if (code.spec.reducer === undefined && writers !== undefined) {
          const other = writers.get(channel);
          if (other !== undefined && other !== index) {
            const names = [tasks[other]!, task].map((one) => one.node.spec.name);
            const message =
              `nodes \`${names.join("` and `")}\` both write channel \`${code.spec.name}\` in step ${this.step}: ` +
              `give it a reducer (\`reduce last\`, say), or let one run after the other`;
            return failed(new RunError("NG_CONCURRENT_WRITE", message, { nodeIds: names }), [tasks[other]!, task]);
          }
          writers.set(channel, index);
        }
        const current = this.state[channel] as Json;
        let next: Json;
        try {
          next = code.reduce === undefined ? value : code.reduce(current, value);
        } catch (cause) {
          const message = `the reducer of channel \`${code.spec.name}\` failed on what node \`${task.node.spec.name}\` wrote: ${describe(cause)}`;
          return failed(new RunError("NG_REDUCER_FAILED", message, { nodeIds: [task.node.spec.name], cause }), [task]);
        }
        before.push([channel, current]);
        this.state[channel] = next;
        if (this.shared.store !== undefined) {
          const items =
            code.spec.reducer?.kind === "append" && Array.isArray(value) ? (value as readonly Json[]) : undefined;
          const known = appended.get(channel);
          if (items === undefined || current === null) appended.set(channel, undefined);
          else if (!appended.has(channel)) appended.set(channel, [...items]);
          else known?.push(...items);
        }
        if (this.listening)
          this.emit({ type: "write", node: task.node.spec.name, channel: code.spec.name, update: value, value: next });
      }
    }
    const changes: ChannelChange[] = [];
    for (const [channel, items] of appended) {
      const version = (this.versions[channel] = (this.versions[channel] ?? 0) + 1);
      const name = channels[channel]!.spec.name;
      changes.push(
        items === undefined
          ? { channel: name, version, kind: "set", value: this.state[channel] as Json }
          : { channel: name, version, kind: "append", items },
      );
    }
    const undoAll = (): void => {
      undo();
      for (const channel of appended.keys()) this.versions[channel] = (this.versions[channel] ?? 1) - 1;
    };
    return { error: undefined, atFault: [] as readonly Task[], changes, undo: undoAll };
  }

  #errorTargets(task: Task, error: Json): readonly Target[] | undefined {
    if (!task.node.hasErrorRoutes) return undefined;
    this.scope.error = error;
    try {
      return followErrorRoutes(this.program.routing.errors[task.node.index]!, this.scope);
    } finally {
      this.scope.error = null;
    }
  }

  #sends(tasks: readonly Task[], outcomes: readonly Outcome[]) {
    if (outcomes.every((outcome) => outcome.sends.length === 0)) return NO_SENDS;
    return tasks.flatMap((task, index) =>
      outcomes[index]!.sends.map((send, at) => {
        const node = this.program.nodes[send.node]!.spec.name;
        if (this.listening) this.emit({ type: "route", node: task.node.spec.name, via: "send", targets: [node] });
        return { taskId: `${node}<${task.id}#${at}`, node: send.node, item: send.item };
      }),
    );
  }

  #pausesAfter(tasks: readonly Task[], outcomes: readonly Outcome[], step: number): PauseItem[] {
    const pauses: PauseItem[] = [];
    const seen = new Set<number>();
    for (const [index, task] of tasks.entries()) {
      const { spec, index: node } = task.node;
      if (spec.pauseAfter !== true || outcomes[index]!.failure !== undefined || seen.has(node)) continue;
      seen.add(node);
      pauses.push({
        id: this.#gateId(spec.name, step, "after"),
        node: spec.name,
        kind: "after",
        payload: null,
        namespace: this.path,
      });
    }
    return pauses;
  }

  #gates(): PauseItem[] {
    const gates: PauseItem[] = [];
    const hold = (node: number): void => {
      const { spec } = this.program.nodes[node]!;
      if (spec.pauseBefore !== true || this.passed.has(spec.name) || gates.some((gate) => gate.node === spec.name))
        return;
      gates.push({
        id: this.#gateId(spec.name, this.step, "before"),
        node: spec.name,
        kind: "before",
        payload: null,
        namespace: this.path,
      });
    };
    for (const node of this.ready) hold(node);
    for (const send of this.sends) hold(send.node);
    return gates;
  }

  // Ends ----------------------------------------------------------------------------------------------

  #overStatus(): "completed" | "incomplete" {
    return this.barriers.partlyFilled().length === 0 ? "completed" : "incomplete";
  }

  async #complete(): Promise<RunEnd> {
    await this.flush();
    const { table } = this.program;
    const name = (node: number): string => (node === END ? "end" : table.nodes[node]!.name);
    const incompleteBarriers = this.barriers.partlyFilled().map((barrier) => ({
      id: table.barriers[barrier]!.id,
      target: name(table.barriers[barrier]!.target),
      arrived: this.barriers.arrived(barrier).map(name).sort(),
      missing: this.barriers.missing(barrier).map(name).sort(),
    }));
    return {
      status: incompleteBarriers.length === 0 ? "completed" : "incomplete",
      pauses: [],
      incompleteBarriers,
      error: null,
    };
  }

  async #pause(pauses: readonly PauseItem[]): Promise<RunEnd> {
    await this.flush();
    if (this.listening) this.emit({ type: "pause", pauses });
    return { status: "paused", pauses, incompleteBarriers: [], error: null };
  }

  async #stop(status: "cancelled" | "step_limit", error: RunError): Promise<RunEnd> {
    await this.flush();
    return { status, pauses: [], incompleteBarriers: [], error };
  }

  /** Nothing of the step is applied; results of the tasks at fault are dropped, so that a resume reruns exactly those. */
  async #failStep(error: NodeError | RunError, atFault: readonly Task[]): Promise<RunEnd> {
    const { store, claim } = this.shared;
    if (atFault.length > 0 && store?.clearWrites !== undefined && claim !== undefined && this.headId !== null) {
      const ids = atFault.flatMap((task) => task.items?.map((item) => item.id) ?? [task.id]);
      await store.clearWrites(claim, this.headId, ids);
    }
    await this.flush();
    return { status: "failed", pauses: [], incompleteBarriers: [], error };
  }

  /** Some tasks wait for answers: results of the others are kept under the checkpoint that says so (6.2, 6.3). */
  async #interrupt(
    tasks: readonly Task[],
    outcomes: readonly Outcome[],
    pauses: readonly PauseItem[],
  ): Promise<RunEnd> {
    const { store, claim } = this.shared;
    if (store === undefined || claim === undefined) throw this.noStore("a node pauses");
    await this.flush();
    const id = newId();
    const writes = tasks.flatMap((task, index) => {
      if (task.items === undefined) return this.#writeOf(task, outcomes[index]!);
      // Items that have finished were stored one by one under the old head.
      return task.items.flatMap((item) => {
        const known = this.#kept.get(item.id);
        return known === undefined
          ? []
          : [{ taskId: item.id, node: item.node.spec.name, result: known as unknown as Json }];
      });
    });
    if (writes.length > 0) await store.putWrites?.(claim, id, writes);
    await this.#save("interrupted", { id, pauses, status: "paused", step: this.step, current: this.#names(tasks) });
    return this.#pause(pauses);
  }

  // Store ---------------------------------------------------------------------------------------------

  readonly #kept = new Map<string, StoredOutcome>();

  /** Stores a finished task's result before the step ends, where the step has several (5.3). */
  #keep(task: Task, outcome: Outcome, store: boolean): Outcome | Promise<Outcome> {
    if (outcome.failure !== undefined && this.shared.onFailure === "abort" && !task.node.hasErrorRoutes) {
      for (const controller of [...this.cancellation.controllers]) controller.abort(outcome.failure);
    }
    if (!store || this.shared.store?.putWrites === undefined || this.shared.durability === "exit") return outcome;
    const [write] = this.#writeOf(task, outcome);
    if (write === undefined || this.headId === null || this.shared.claim === undefined) return outcome;
    this.#kept.set(task.id, write.result as unknown as StoredOutcome);
    const { shared, headId } = this;
    const put = () => shared.store!.putWrites!(shared.claim!, headId, [write]);
    if (shared.durability === "async") {
      this.#behind(put);
      return outcome;
    }
    try {
      const stored = put();
      if (!isThenable(stored)) return outcome;
      return stored.then(
        () => outcome,
        (error: unknown) => this.#storeBroke(error, outcome),
      ) as Promise<Outcome>;
    } catch (error) {
      return this.#storeBroke(error, outcome);
    }
  }

  #storeBroke(error: unknown, outcome: Outcome): Outcome {
    this.#writeError ??= error;
    return outcome;
  }

  #writeOf(task: Task, outcome: Outcome) {
    const { failure } = outcome;
    if (outcome.pauses !== undefined || outcome.cancelled || (failure !== undefined && !task.node.hasErrorRoutes))
      return [];
    const { table } = this.program;
    const name = (node: number): string => (node === END ? "end" : table.nodes[node]!.name);
    const result: StoredOutcome = {
      updates: outcome.updates.map(({ channel, value }) => [table.channels[channel]!.name, value] as const),
      ...(outcome.goto === undefined ? {} : { goto: outcome.goto.map(name) }),
      ...(outcome.exclusive ? { exclusive: true as const } : {}),
      ...(outcome.stopped ? { stopped: true as const } : {}),
      ...(outcome.sends.length === 0
        ? {}
        : { sends: outcome.sends.map(({ node, item }) => ({ node: name(node), item })) }),
      ...(failure === undefined
        ? {}
        : {
            failure: { code: failure.code, message: failure.message, attempts: failure.attempts, items: failure.items },
          }),
    };
    return [{ taskId: task.id, node: task.node.spec.name, result: result as unknown as Json }];
  }

  #restoreOutcome(task: Task, stored: StoredOutcome): Outcome {
    const { channelIndex, nodeIndex } = this.program;
    this.#kept.set(task.id, stored);
    const node = (name: string): number => (name === "end" ? END : (nodeIndex.get(name) ?? END));
    const { failure } = stored;
    return {
      ...doneOutcome(
        stored.updates.flatMap(([name, value]): Update[] => {
          const channel = channelIndex.get(name);
          return channel === undefined ? [] : [{ channel, value }];
        }),
      ),
      goto: stored.goto?.map(node),
      exclusive: stored.exclusive === true,
      stopped: stored.stopped === true,
      sends: (stored.sends ?? []).map((send): SendRequest => ({ node: node(send.node), item: send.item })),
      failure:
        failure === undefined
          ? undefined
          : new NodeError(failure.code as NodeError["code"], task.node.spec.name, failure.message, {
              attempts: failure.attempts,
              items: failure.items,
              threadId: this.shared.threadId,
            }),
    };
  }

  /** The checkpoint of the input, before anything runs (5.2). `previous`: the head that the thread had. */
  saveInput(
    previous: Checkpoint | undefined,
    status: CheckpointHeader["status"] = "running",
  ): Promise<void> | undefined {
    if (this.shared.store === undefined) return undefined;
    this.headId = previous?.id ?? null;
    const changes = this.program.channels.map(({ spec }, channel): ChannelChange => {
      const version = (previous?.versions[spec.name] ?? 0) + 1;
      this.versions[channel] = version;
      return { channel: spec.name, version, kind: "set", value: this.state[channel] as Json };
    });
    const known = new Set(this.program.channels.map(({ spec }) => spec.name));
    for (const channel of Object.keys(previous?.values ?? {})) {
      if (!known.has(channel))
        changes.push({ channel, version: (previous?.versions[channel] ?? 0) + 1, kind: "reset" });
    }
    return this.#save("input", { pauses: [], status, step: -1, current: [], changes });
  }

  /** Writes a checkpoint that says where the run stands now. Synchronous when the store is, or when it is written behind. */
  #save(
    phase: Phase,
    details: {
      readonly id?: CheckpointId;
      readonly pauses: readonly PauseItem[];
      readonly status: CheckpointHeader["status"];
      readonly step: number;
      readonly current: readonly string[];
      readonly changes?: readonly ChannelChange[];
    },
  ): Promise<void> | undefined {
    const { store, claim } = this.shared;
    if (this.#writeError !== undefined) throw this.#writeError;
    if (store === undefined || claim === undefined) return undefined;
    this.#kept.clear();
    const parentId = this.headId;
    const header = this.header(phase, { ...details, id: details.id ?? newId(), parentId });
    this.headId = header.id;
    const state = this.state.slice();
    const versions = this.versions.slice();
    const request = {
      header,
      changes: details.changes ?? [],
      snapshot: () => this.#snapshot(state, versions),
      expectedHead: parentId,
      ...(parentId === null ? {} : { clearWritesOf: parentId }),
    };
    const told = (): void => {
      if (this.listening) this.emit({ type: "checkpoint", id: header.id, phase });
    };
    if (this.shared.durability !== "sync" && phase !== "input") {
      this.#behind(() => store.save(claim, request));
      told();
      return undefined;
    }
    const saved = store.save(claim, request);
    if (!isThenable(saved)) {
      told();
      return undefined;
    }
    return Promise.resolve(saved).then(told);
  }

  header(
    phase: Phase,
    details: {
      readonly id: CheckpointId;
      readonly parentId: CheckpointId | null;
      readonly pauses: readonly PauseItem[];
      readonly status: CheckpointHeader["status"];
      readonly step: number;
      readonly current: readonly string[];
    },
  ): CheckpointHeader {
    const { table } = this.program;
    return {
      schemaVersion: CHECKPOINT_SCHEMA_VERSION,
      id: details.id,
      threadId: this.shared.threadId ?? "",
      runId: this.runId,
      namespace: this.namespace,
      parentId: details.parentId,
      step: details.step,
      phase,
      currentNodes: details.current,
      nextNodes: this.ready.map((node) => table.nodes[node]!.name),
      pendingSends: this.sends.map(({ taskId, node, item }) => ({ taskId, node: table.nodes[node]!.name, item })),
      barrierState: signalsOf(table, this.barriers),
      pauses: details.pauses,
      answers: this.namespace === "" ? [...this.shared.answers.values()] : [],
      errors: Object.fromEntries([...this.errors].map(([node, error]) => [table.nodes[node]!.name, error])),
      status: details.status,
      label: null,
      metadata: this.shared.metadata,
      timestamp: this.shared.clock.now(),
      digest: table.digest,
    };
  }

  #snapshot(state: readonly Json[], versions: readonly number[]) {
    const values: Record<string, Json> = {};
    const counts: Record<string, number> = {};
    for (const [channel, { spec }] of this.program.channels.entries()) {
      setOwn(values, spec.name, state[channel] as Json);
      setOwn(counts, spec.name, versions[channel] ?? 0);
    }
    return { values, versions: counts };
  }

  /** Durability `async` and `exit`: written behind, in order. */
  #behind(write: () => unknown): void {
    this.#written = (this.#written ?? Promise.resolve())
      .then(() => (this.#writeError === undefined ? write() : undefined))
      .then(
        () => undefined,
        (error: unknown) => {
          this.#writeError ??= error;
        },
      );
  }

  async flush(): Promise<void> {
    while (this.#written !== undefined) {
      const written = this.#written;
      await written;
      if (this.#written === written) this.#written = undefined;
    }
    if (this.#writeError !== undefined) throw this.#writeError;
  }

  // Called graphs -------------------------------------------------------------------------------------

  /** Runs another graph as a node: inside an unfinished run of it where there is one (7.2). Resolves with its outputs. */
  async callGraph(graph: Program, input: JsonObject, task: Task): Promise<JsonObject> {
    const name = task.itemIndex === -1 ? task.node.spec.name : `${task.node.spec.name}[${task.itemIndex}]`;
    const namespace = this.namespace === "" ? name : `${this.namespace}/${name}`;
    const { store, threadId } = this.shared;
    const child = new Run(graph, this.shared, {
      cancellation: this.cancellation,
      path: [...this.path, name],
      namespace,
      runId: this.taskKey(task),
      maxSteps: graph.table.limits.steps,
    });
    const head =
      store === undefined || threadId === undefined ? undefined : await store.loadLatest(threadId, namespace);
    if (head !== undefined && head.runId === child.runId) {
      await child.restore(head);
      if (head.status === "completed") return child.output();
    } else {
      child.applyInput(input);
      if (head !== undefined) child.carryMemory(head);
      const unrouted = child.planStart();
      if (unrouted !== undefined) throw unrouted;
      await child.saveInput(head, child.ready.length === 0 ? "completed" : "running");
    }
    const end = await child.loop();
    if (end.status === "completed") return child.output();
    if (end.status === "paused") throw new PauseSignal(end.pauses);
    if (end.error !== null) throw end.error;
    const barrier = end.incompleteBarriers[0];
    throw new RunError(
      "NG_BAD_INPUT",
      `graph \`${graph.table.name}\` ended with a barrier partly filled: \`${barrier?.target ?? ""}\` still waits for ${barrier?.missing.join(", ") ?? "a node"}`,
    );
  }

  /** `memory` channels keep the value that the thread's last run left (5.13). */
  carryMemory(head: Checkpoint): void {
    for (const [channel, code] of this.program.channels.entries()) {
      const { spec } = code;
      const value = spec.role === "memory" ? head.values[spec.name] : undefined;
      if (value === undefined) continue;
      const admitted = value === null ? null : code.admit(value);
      if (!(admitted instanceof Mismatch)) this.state[channel] = admitted;
    }
  }

  /** Puts the run where a checkpoint says it was, with the results that were stored since. */
  async restore(head: Checkpoint): Promise<void> {
    const { program } = this;
    this.headId = head.id;
    for (const [channel, code] of program.channels.entries()) {
      const { spec } = code;
      const value = head.values[spec.name];
      if (value === undefined) continue;
      const admitted = value === null ? null : code.admit(value);
      if (admitted instanceof Mismatch) {
        throw new ThreadError(
          "NG_DRIFT",
          head.threadId,
          `the value of channel \`${spec.name}\` no longer fits: ${admitted.describe()}`,
          {
            details: [`channel \`${spec.name}\`: ${admitted.describe()}`],
          },
        );
      }
      this.state[channel] = admitted;
      this.versions[channel] = head.versions[spec.name] ?? 0;
    }
    const node = (name: string): number => program.nodeIndex.get(name)!;
    this.ready = head.nextNodes.map(node).sort((a, b) => a - b);
    this.sends = head.pendingSends.map(({ taskId, node: name, item }) => ({ taskId, node: node(name), item }));
    this.errors = new Map(Object.entries(head.errors).map(([name, error]) => [node(name), error]));
    for (const [id, names] of Object.entries(head.barrierState)) {
      const barrier = program.table.barriers.findIndex((spec) => spec.id === id);
      for (const name of names) this.barriers.signal(barrier, node(name));
    }
    this.step = resumeStep(head);
    this.passed = new Set(
      head.pauses
        .filter((pause) => pause.kind === "before" && pause.namespace.length === this.path.length)
        .map((pause) => pause.node),
    );
    const { store, threadId } = this.shared;
    const writes =
      store?.getWrites === undefined || threadId === undefined ? [] : await store.getWrites(threadId, head.id);
    this.stored = new Map(writes.map((write) => [write.taskId, write.result as unknown as StoredOutcome]));
  }

  // Names and events ----------------------------------------------------------------------------------

  output(): JsonObject {
    return this.#record((role) => role === "output");
  }

  values(): JsonObject {
    return this.#record(() => true);
  }

  #record(wanted: (role: string) => boolean): JsonObject {
    const record: Record<string, Json> = {};
    for (const [channel, { spec }] of this.program.channels.entries()) {
      if (wanted(spec.role)) setOwn(record, spec.name, this.state[channel] as Json);
    }
    return record;
  }

  taskKey(task: Task): string {
    const namespace = this.namespace === "" ? "" : `${this.namespace}/`;
    return `${this.shared.runId}:${namespace}${this.#round()}${task.id}@${this.step}`;
  }

  /** Called graphs may run several times in one run: their tasks differ by the step that called them. */
  #round(): string {
    if (this.namespace === "") return "";
    const at = this.runId.lastIndexOf("@");
    return `${this.runId.slice(at)}/`;
  }

  /** `approve@3.1a2b3c4d`: the node, the step, and the run; further interrupts of one body are numbered. */
  pauseId(task: Task, count: number): string {
    const path = this.namespace === "" ? "" : `${this.namespace}${this.#round().replace("/", "")}/`;
    return `${path}${task.id}@${this.step}${count === 0 ? "" : `#${count + 1}`}.${this.shared.runId.slice(0, 8)}`;
  }

  #gateId(node: string, step: number, kind: "before" | "after"): string {
    const path = this.namespace === "" ? "" : `${this.namespace}${this.#round().replace("/", "")}/`;
    return `${path}${kind}:${node}@${step}.${this.shared.runId.slice(0, 8)}`;
  }

  #names(tasks: readonly Task[]): string[] {
    const names: string[] = [];
    for (const task of tasks) names.push(task.node.spec.name);
    return names;
  }

  noStore(what: string): StoreError {
    return new StoreError("NG_NO_STORE", `${what}, and a run without a store cannot wait: give the engine a \`store\``);
  }

  #noRoute(node: number, cause: unknown): NodeError {
    const subject = (expression: number): unknown => this.program.routing.expressions[expression]!(this.scope);
    return noRoute(this.program.table, node, subject, { cause, threadId: this.shared.threadId });
  }

  #cancelled(): RunError {
    return new RunError("NG_CANCELLED", `the run was cancelled in step ${this.step}`, {
      cause: this.cancellation.reason,
    });
  }

  #stepLimit(): RunError {
    const next = this.ready.map((node) => `\`${this.program.table.nodes[node]!.name}\``).join(", ");
    return new RunError(
      "NG_STEP_LIMIT",
      `the limit of ${this.maxSteps} steps is reached with ${next || "sent tasks"} still to run: resume with a higher one to go on`,
    );
  }

  emit(body: EventBody): void {
    const { shared } = this;
    const event = {
      ...body,
      seq: shared.sequence++,
      namespace: this.path,
      runId: shared.runId,
      step: this.step,
      ...(shared.threadId === undefined ? {} : { thread: shared.threadId }),
    } as RunEvent;
    for (const listener of shared.listeners) {
      try {
        listener(event);
      } catch {
        // Whoever watches cannot break the run.
      }
    }
  }

  emitNode(
    task: Task,
    attempt: number,
    body: { readonly phase: "start" | "retry" | "end" | "error" } & Record<string, unknown>,
  ): void {
    this.emit({
      type: "node",
      node: task.node.spec.name,
      taskId: task.id,
      attempt,
      ...(task.itemIndex === -1 ? {} : { item: task.itemIndex }),
      ...body,
    } as unknown as EventBody);
  }

  #observer(tasks: readonly Task[]): PlanObserver {
    const { table } = this.program;
    const name = (target: Target): string => {
      if (target === END) return "end";
      const node = isBarrier(target) ? table.barriers[barrierOf(target)]!.target : target;
      return node === END ? "end" : table.nodes[node]!.name;
    };
    return {
      route: (routing, via, targets, discarded) => {
        const node = tasks[routing]?.node.spec.name ?? "start";
        this.emit({
          type: "route",
          node,
          via,
          targets: targets.map(name),
          ...(discarded ? { discarded: true as const } : {}),
        });
      },
      barrier: (barrier, arrived, fired) => {
        const spec = table.barriers[barrier]!;
        this.emit({ type: "barrier", barrier: spec.id, target: name(spec.target), arrived: arrived.map(name), fired });
      },
    };
  }
}

const NO_ERRORS: ReadonlyMap<number, Json> = new Map();
const NO_GATES: ReadonlySet<string> = new Set();
const NO_STORED: ReadonlyMap<string, StoredOutcome> = new Map();
const NO_SENDS: readonly never[] = [];

/** Which step a checkpoint goes on with. */
export function resumeStep(head: Pick<CheckpointHeader, "phase" | "step">): number {
  return head.phase === "before" || head.phase === "interrupted" ? head.step : head.step + 1;
}

export function newId(): CheckpointId {
  return globalThis.crypto.randomUUID();
}

function routings(tasks: readonly Task[], index: number): number {
  return tasks[index]?.node.index ?? -1;
}

function errorValue(failure: NodeError): Json {
  const { nodeId: node, code, message, attempts, items } = failure;
  return Object.freeze({ node, code, message, attempts, items: Object.freeze([...items]) });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `__proto__` is a name like any other. */
export function setOwn<T>(record: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__")
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}

export { eventError, Slots };
