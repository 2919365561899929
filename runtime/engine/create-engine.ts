import type { Checkpoint, ConsumedAnswer, PauseItem } from "../checkpoint.ts";
import { systemClock } from "../clock.ts";
import type {
  CheckpointRef,
  Engine,
  EngineOptions,
  ExecuteOptions,
  ForkOptions,
  HistoryOptions,
  ResumeOptions,
  RunOptions,
  RunResult,
  ThreadState,
  UpdateOptions,
} from "../engine-options.ts";
import { NodeError, RunError, StoreError, ThreadError } from "../errors.ts";
import type { EventListener } from "../events.ts";
import { equal } from "../expression/equal.ts";
import type { Json, JsonObject } from "../json.ts";
import { MemoryNodeCache } from "../node-cache.ts";
import { planStep } from "../routing/plan-step.ts";
import type { Claim, Store } from "../store.ts";
import type { Table } from "../table.ts";
import { admitJson, compileAdmit, Mismatch } from "../validate.ts";
import { asStoreError, withClaim } from "./claimed-thread.ts";
import { refuseDrift } from "./drift.ts";
import { freezeTable } from "./freeze-table.ts";
import { compileProgram, type Program } from "./program.ts";
import { eventError, newId, resumeStep, Run, type RunEnd } from "./run.ts";
import { createRunStream } from "./run-stream.ts";
import { Cancellation, Slots, type Shared } from "./shared.ts";

const DEFAULT_LEASE_MS = 30_000;

/**
 * Makes an engine for a table: links it with its code once, then serves any number of runs.
 *
 * @throws TableError NG_BAD_TABLE, RunError NG_MISSING_FUNCTION or NG_EFFECT_DENIED
 * @example
 * const engine = createEngine(table, { functions: { search }, store: new MemoryStore() });
 * const { output } = await engine.run({ question: "…" });
 */
export function createEngine<Input = JsonObject, Output = JsonObject, State = JsonObject>(
  table: Table,
  options: EngineOptions = {},
): Engine<Input, Output, State> {
  freezeTable(table);
  const program = compileProgram(table, options);
  const engine = new GraphEngine(program, options);
  return engine as unknown as Engine<Input, Output, State>;
}

class GraphEngine {
  readonly table: Table;
  readonly #program: Program;
  readonly #options: EngineOptions;
  readonly #cache;

  constructor(program: Program, options: EngineOptions) {
    this.table = program.table;
    this.#program = program;
    this.#options = options;
    this.#cache = options.cache ?? new MemoryNodeCache({ now: () => (options.clock ?? systemClock).now() });
  }

  async run(input: JsonObject = {}, options: RunOptions = {}): Promise<RunResult> {
    const { store } = this.#options;
    if (store === undefined) return this.#runWithoutStore(input, options);
    const threadId = this.#threadId(options.thread ?? newId());
    return this.#claimed(threadId, options, async (claim, cancellation) => {
      const head = await asStoreError(() => store.loadLatest(threadId));
      if (
        head !== undefined &&
        options.abandon !== true &&
        head.status !== "completed" &&
        head.status !== "incomplete"
      ) {
        const how = head.status === "paused" ? `waits for an answer` : `has not finished (${head.status})`;
        throw new ThreadError(
          "NG_THREAD_BUSY",
          threadId,
          `the last run of thread \`${threadId}\` ${how}: resume it, or start with \`abandon\` to give it up`,
        );
      }
      const shared = this.#shared(options, threadId, newId(), claim);
      const run = this.#newRun(shared, options, cancellation);
      run.applyInput(input);
      if (head !== undefined) run.carryMemory(head);
      this.#started(run, false);
      const unrouted = run.planStart();
      await asStoreError(async () =>
        run.saveInput(head, unrouted === undefined && run.ready.length === 0 ? "completed" : "running"),
      );
      return this.#end(run, unrouted === undefined ? await run.loop() : failedEnd(unrouted));
    });
  }

  /** Without a store there is nothing to wait for before the first node: the hot path. */
  async #runWithoutStore(input: JsonObject, options: RunOptions): Promise<RunResult> {
    const { pausingNode } = this.#program;
    if (pausingNode !== undefined) {
      throw new StoreError(
        "NG_NO_STORE",
        `graph \`${this.table.name}\` pauses (node \`${pausingNode}\`), and a run without a store cannot wait: give the engine a \`store\``,
      );
    }
    const cancellation = new Cancellation(options.signal !== undefined);
    const shared = this.#shared(options, undefined, RUNS_WITHOUT_STORE, undefined);
    const run = this.#newRun(shared, options, cancellation);
    run.applyInput(input);
    const unlink = linkSignal(options.signal, cancellation);
    this.#started(run, false);
    const unrouted = run.planStart();
    const end = unrouted === undefined ? await run.loop() : failedEnd(unrouted);
    unlink();
    return this.#end(run, end);
  }

  async resume(thread: string, options: ResumeOptions = {}): Promise<RunResult> {
    const store = this.#store("a thread can only be resumed from a store");
    const threadId = this.#threadId(thread);
    return this.#claimed(threadId, options, async (claim, cancellation) => {
      const latest = await this.#head(store, threadId);
      const source = options.from === undefined ? latest : await this.#find(store, threadId, options.from);
      refuseDrift(this.#program, source);
      const shared = this.#shared(
        { ...options, metadata: { ...source.metadata, ...options.metadata } },
        threadId,
        source.runId,
        claim,
      );
      for (const answer of source.answers) shared.answers.set(answer.id, answer);
      const answered = this.#answer(shared, source, options);
      const isOver = source.status === "completed" || source.status === "incomplete";
      if (isOver && options.at === undefined && source.id === latest.id) {
        throw new ThreadError(
          "NG_NOT_PAUSED",
          threadId,
          `the last run of thread \`${threadId}\` is ${source.status}: nothing is left to resume`,
        );
      }
      const run = this.#newRun(shared, options, cancellation);
      await asStoreError(() => run.restore(source));
      if (options.at !== undefined) this.#goAt(run, threadId, options.at);
      const branches = source.id !== latest.id;
      if (branches || options.at !== undefined || answered) {
        await asStoreError(() => this.#rebase(run, shared, source, latest, branches, options.at !== undefined));
      }
      this.#started(run, true);
      return this.#end(run, await run.loop());
    });
  }

  stream(input: JsonObject, options: RunOptions & { view?: "events" | "updates" | "values"; buffer?: number } = {}) {
    return createRunStream(options, (listener, signal) => this.run(input, watched(options, listener, signal)));
  }

  streamResume(
    thread: string,
    options: ResumeOptions & { view?: "events" | "updates" | "values"; buffer?: number } = {},
  ) {
    return createRunStream(options, (listener, signal) => this.resume(thread, watched(options, listener, signal)));
  }

  async state(thread: string): Promise<ThreadState | undefined> {
    const store = this.#store("threads are kept in a store");
    const head = await asStoreError(() => store.loadLatest(thread));
    if (head === undefined) return undefined;
    const { id, status, step, values, nextNodes, pauses, label, metadata } = head;
    return { thread, checkpointId: id, status, step, state: values, next: nextNodes, pauses, label, metadata };
  }

  async history(thread: string, options: HistoryOptions = {}): Promise<readonly Checkpoint[]> {
    const store = this.#store("history is kept in a store");
    return asStoreError(() => store.list(thread, options));
  }

  async label(thread: string, label: string, options: { readonly checkpoint?: string } = {}): Promise<void> {
    const store = this.#store("labels are kept in a store");
    if (store.label === undefined) throw new StoreError("NG_STORE_FAILED", "this store keeps no labels");
    const { id } =
      options.checkpoint === undefined
        ? await this.#head(store, thread)
        : await this.#find(store, thread, options.checkpoint);
    await asStoreError(() => store.label!(thread, id, label));
  }

  async fork(thread: string, options: ForkOptions = {}): Promise<CheckpointRef> {
    const store = this.#store("threads are kept in a store");
    const source =
      options.from === undefined ? await this.#head(store, thread) : await this.#find(store, thread, options.from);
    const target = this.#threadId(options.as ?? thread);
    return this.#claimed(target, {}, async (claim, cancellation) => {
      const existing = await asStoreError(() => store.loadLatest(target));
      if (options.as !== undefined && existing !== undefined) {
        throw new ThreadError("NG_THREAD_BUSY", target, `thread \`${target}\` exists already: a fork makes a new one`);
      }
      refuseDrift(this.#program, source);
      const shared = this.#shared(
        { metadata: { ...source.metadata, ...options.metadata } },
        target,
        source.runId,
        claim,
      );
      for (const answer of source.answers) shared.answers.set(answer.id, answer);
      const run = this.#newRun(shared, {}, cancellation);
      await asStoreError(() => run.restore(source));
      if (options.at !== undefined) this.#goAt(run, target, options.at);
      const header = {
        ...run.header(source.phase, {
          id: newId(),
          parentId: options.as === undefined ? source.id : null,
          pauses: options.at === undefined ? source.pauses : [],
          status: options.at === undefined ? source.status : "running",
          step: source.step,
          current: source.currentNodes,
        }),
        runId: source.runId,
        ...(options.at === undefined ? {} : { phase: "updated" as const, step: resumeStep(source) - 1 }),
      };
      await asStoreError(() =>
        saveWhole(store, claim, run, source, header, existing?.id ?? null, options.at === undefined),
      );
      return { thread: target, checkpointId: header.id };
    });
  }

  async update(thread: string, values: JsonObject, options: UpdateOptions = {}): Promise<CheckpointRef> {
    const store = this.#store("threads are kept in a store");
    return this.#claimed(this.#threadId(thread), {}, async (claim, cancellation) => {
      const head = await this.#head(store, thread);
      refuseDrift(this.#program, head);
      const shared = this.#shared({ metadata: { ...head.metadata, ...options.metadata } }, thread, head.runId, claim);
      for (const answer of head.answers) shared.answers.set(answer.id, answer);
      const run = this.#newRun(shared, {}, cancellation);
      await asStoreError(() => run.restore(head));
      this.#edit(run, values, options.replace === true);
      const asNode = options.as;
      if (asNode !== undefined) this.#routeAs(run, asNode);
      const over = asNode !== undefined && run.ready.length === 0;
      const header = run.header("updated", {
        id: newId(),
        parentId: head.id,
        pauses: asNode === undefined ? head.pauses : [],
        status: asNode === undefined ? head.status : over ? "completed" : "running",
        step: asNode === undefined ? resumeStep(head) - 1 : resumeStep(head) - 1,
        current: asNode === undefined ? head.currentNodes : [asNode],
      });
      await asStoreError(() => saveWhole(store, claim, run, head, header, head.id, asNode === undefined));
      return { thread, checkpointId: header.id };
    });
  }

  // Parts ---------------------------------------------------------------------------------------------

  #shared(options: ExecuteOptions, threadId: string | undefined, runId: string, claim: Claim | undefined): Shared {
    const engine = this.#options;
    const maxParallel =
      options.maxParallel !== undefined
        ? options.maxParallel
        : engine.maxParallel !== undefined
          ? engine.maxParallel
          : this.table.limits.parallel;
    const listeners: EventListener[] = [];
    if (engine.onEvent !== undefined) listeners.push(engine.onEvent);
    if (options.onEvent !== undefined) listeners.push(options.onEvent);
    return {
      runId,
      threadId,
      store: threadId === undefined ? undefined : engine.store,
      claim,
      answers: new Map(),
      expectations: new Map(),
      listeners,
      sequence: 0,
      clock: engine.clock ?? systemClock,
      random: engine.random ?? Math.random,
      cache: this.#cache,
      durability: options.durability ?? engine.durability ?? "sync",
      onFailure: options.onFailure ?? engine.onFailure ?? "finish",
      metadata: options.metadata ?? NO_METADATA,
      slots: maxParallel === null ? undefined : new Slots(maxParallel),
    };
  }

  #newRun(shared: Shared, options: ExecuteOptions, cancellation: Cancellation): Run {
    const { maxSteps: own } = this.#options;
    const maxSteps =
      options.maxSteps !== undefined ? options.maxSteps : own !== undefined ? own : this.table.limits.steps;
    return new Run(this.#program, shared, { cancellation, maxSteps });
  }

  async #claimed<T>(
    threadId: string,
    options: ExecuteOptions,
    work: (claim: Claim, cancellation: Cancellation) => Promise<T>,
  ): Promise<T> {
    const store = this.#store("threads are kept in a store");
    const cancellation = new Cancellation(true);
    const settings = {
      leaseMs: this.#options.leaseMs ?? DEFAULT_LEASE_MS,
      clock: this.#options.clock ?? systemClock,
      onLost: (error: unknown) => cancellation.cancel(error),
    };
    return withClaim(store, threadId, settings, async (claim) => {
      const unlink = linkSignal(options.signal, cancellation);
      try {
        return await work(claim, cancellation);
      } finally {
        unlink();
      }
    });
  }

  #started(run: Run, resumed: boolean): void {
    if (run.listening) run.emit({ type: "run", phase: "start", graph: this.table.name, resumed });
  }

  #end(run: Run, end: RunEnd): RunResult {
    if (run.listening) {
      run.emit({
        type: "run",
        phase: "end",
        status: end.status,
        ...(end.error === null ? {} : { error: eventError(end.error) }),
      });
    }
    const { threadId } = run.shared;
    return {
      status: end.status,
      output: run.output(),
      state: run.values(),
      steps: run.steps,
      pauses: end.pauses,
      incompleteBarriers: end.incompleteBarriers,
      error: end.error,
      thread: threadId ?? null,
      checkpointId: threadId === undefined ? null : run.headId,
    };
  }

  /** Takes the answers in; returns whether there are new ones. @throws ThreadError NG_BAD_ANSWER */
  #answer(shared: Shared, source: Checkpoint, options: ResumeOptions): boolean {
    const waiting = new Map(source.pauses.map((pause) => [pause.id, pause]));
    const bad = (message: string): ThreadError => new ThreadError("NG_BAD_ANSWER", source.threadId, message);
    const given = new Map(Object.entries(options.answers ?? {}));
    if (options.answer !== undefined) {
      const [only, second] = source.pauses;
      if (only === undefined)
        throw new ThreadError("NG_NOT_PAUSED", source.threadId, `thread \`${source.threadId}\` waits for no answer`);
      if (second !== undefined)
        throw bad(
          `${source.pauses.length} items wait for an answer, so each needs its id: ${printPauses(source.pauses)}`,
        );
      given.set(only.id, options.answer);
    }
    let isNew = false;
    for (const [id, value] of given) {
      const known = shared.answers.get(id);
      const admitted = admitJson(value);
      if (admitted instanceof Mismatch) throw bad(`the answer to \`${id}\` is no plain JSON: ${admitted.describe()}`);
      if (known !== undefined) {
        if (!equal(known.value, admitted))
          throw bad(`\`${id}\` has been answered already, with ${JSON.stringify(known.value)}`);
        continue;
      }
      const pause = waiting.get(id);
      if (pause === undefined)
        throw bad(`nothing waits under the id \`${id}\`: ${printPauses(source.pauses) || "nothing waits at all"}`);
      this.#checkAnswer(pause, admitted, bad);
      shared.answers.set(id, { id, value: admitted } satisfies ConsumedAnswer);
      isNew = true;
    }
    return isNew;
  }

  /** An answer for `ask` has the type of what it is stored into. */
  #checkAnswer(pause: PauseItem, value: Json, bad: (message: string) => ThreadError): void {
    if (pause.kind !== "interrupt") return;
    let program = this.#program;
    for (const step of pause.namespace) {
      const name = step.replace(/\[\d+\]$/, "");
      const call = program.nodes[program.nodeIndex.get(name) ?? -1]?.call;
      if (call?.kind !== "graph") return;
      program = call.graph;
    }
    const node = program.nodes[program.nodeIndex.get(pause.node) ?? -1];
    if (node?.spec.call.kind !== "builtin" || node.spec.call.name !== "ask") return;
    const refuse = (mismatch: Mismatch): never => {
      throw bad(`the answer to \`${pause.id}\` does not fit: ${mismatch.describe()}`);
    };
    const choices = (pause.payload as { readonly choices?: readonly Json[] } | null)?.choices;
    if (Array.isArray(choices) && !choices.some((choice) => equal(choice as Json, value))) {
      refuse(new Mismatch(choices.map((choice) => JSON.stringify(choice)).join(" | "), JSON.stringify(value)));
    }
    const { output, each } = node.spec;
    if (output === undefined) return;
    const admitted =
      output.kind === "channel"
        ? each === undefined
          ? program.channels[output.channel]!.admitUpdate(value)
          : program.channels[output.channel]!.admitItem(value)
        : node.expects === undefined
          ? value
          : compileAdmit(node.expects.type, node.expects.types)(value);
    if (admitted instanceof Mismatch) refuse(admitted);
  }

  #goAt(run: Run, threadId: string, at: string): void {
    const node = this.#program.nodeIndex.get(at);
    if (node === undefined) {
      throw new ThreadError(
        "NG_UNKNOWN_CHECKPOINT",
        threadId,
        `graph \`${this.table.name}\` has no node \`${at}\` to go on at`,
      );
    }
    run.ready = [node];
    run.sends = [];
    run.errors = new Map();
    run.stored = new Map();
    run.passed = new Set();
  }

  /** The checkpoint that a resume goes on from, when it is not simply the head: a branch, another node, new answers. */
  async #rebase(
    run: Run,
    shared: Shared,
    source: Checkpoint,
    latest: Checkpoint,
    branches: boolean,
    moved: boolean,
  ): Promise<void> {
    const store = shared.store!;
    const header = run.header(moved ? "updated" : source.phase, {
      id: newId(),
      parentId: source.id,
      pauses: moved ? [] : source.pauses,
      status: "running",
      step: moved ? resumeStep(source) - 1 : source.step,
      current: source.currentNodes,
    });
    await saveWhole(store, shared.claim!, run, source, header, branches ? latest.id : source.id, !moved);
    run.headId = header.id;
  }

  #edit(run: Run, values: JsonObject, replace: boolean): void {
    const problems: string[] = [];
    const next: [number, Json][] = [];
    for (const [name, value] of Object.entries(values)) {
      const index = this.#program.channelIndex.get(name);
      if (index === undefined) {
        problems.push(
          `\`${name}\` is no channel (there are: ${this.#program.channels.map((channel) => `\`${channel.name}\``).join(", ")})`,
        );
        continue;
      }
      const channel = this.#program.channels[index]!;
      const admitted = replace ? channel.admit(value) : channel.admitUpdate(value);
      if (admitted instanceof Mismatch) {
        problems.push(`\`${name}\`: ${admitted.describe()}`);
        continue;
      }
      try {
        next.push([
          index,
          replace || channel.reduce === undefined ? admitted : channel.reduce(run.state[index] as Json, admitted),
        ]);
      } catch (cause) {
        throw new RunError(
          "NG_REDUCER_FAILED",
          `the reducer of channel \`${name}\` failed: ${cause instanceof Error ? cause.message : String(cause)}`,
          { cause },
        );
      }
    }
    if (problems.length > 0)
      throw new RunError("NG_BAD_INPUT", `the state cannot be edited so: ${problems.join("; ")}`);
    for (const [index, value] of next) {
      run.state[index] = value;
      run.versions[index] = (run.versions[index] ?? 0) + 1;
    }
  }

  #routeAs(run: Run, name: string): void {
    const node = this.#program.nodeIndex.get(name);
    if (node === undefined)
      throw new RunError("NG_BAD_INPUT", `graph \`${this.table.name}\` has no node \`${name}\` to write as`);
    const routing = { node, goto: undefined, exclusive: false, stopped: false, errorTargets: undefined };
    const plan = planStep(this.#program.routing, [routing], run.scope, run.barriers);
    const unrouted = plan.unrouted[0];
    if (unrouted !== undefined)
      throw new NodeError("NG_NO_ROUTE", name, `node \`${name}\` has nowhere to go with these values`, {
        cause: unrouted.cause,
      });
    run.ready = plan.ready;
    run.sends = [];
    run.errors = new Map();
    run.stored = new Map();
  }

  #store(why: string): Store {
    const { store } = this.#options;
    if (store === undefined) throw new StoreError("NG_NO_STORE", `${why}: give the engine a \`store\``);
    return store;
  }

  #threadId(thread: string): string {
    if (typeof thread === "string" && thread !== "") return thread;
    throw new ThreadError(
      "NG_UNKNOWN_THREAD",
      String(thread),
      "a thread's name is a string with at least one character",
    );
  }

  async #head(store: Store, thread: string): Promise<Checkpoint> {
    const head = await asStoreError(() => store.loadLatest(thread));
    if (head === undefined)
      throw new ThreadError("NG_UNKNOWN_THREAD", thread, `there is no thread \`${thread}\` in this store`);
    return head;
  }

  async #find(store: Store, thread: string, name: string): Promise<Checkpoint> {
    const found =
      (await asStoreError(() => store.loadById(thread, name))) ??
      (store.loadByLabel === undefined ? undefined : await asStoreError(() => store.loadByLabel!(thread, name)));
    if (found !== undefined && found.threadId === thread && found.namespace === "") return found;
    const head = await asStoreError(() => store.loadLatest(thread));
    if (head === undefined)
      throw new ThreadError("NG_UNKNOWN_THREAD", thread, `there is no thread \`${thread}\` in this store`);
    throw new ThreadError(
      "NG_UNKNOWN_CHECKPOINT",
      thread,
      `thread \`${thread}\` has no checkpoint with the id or label \`${name}\``,
    );
  }
}

const NO_METADATA: JsonObject = Object.freeze({});
/** Runs without a store are never looked up: they share one name. */
const RUNS_WITHOUT_STORE = "run";

function failedEnd(error: NodeError): RunEnd {
  return { status: "failed", pauses: [], incompleteBarriers: [], error };
}

function watched<T extends ExecuteOptions>(options: T, listener: EventListener, signal: AbortSignal): T {
  const { onEvent } = options;
  return {
    ...options,
    signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
    onEvent:
      onEvent === undefined ? listener : (event: Parameters<EventListener>[0]) => (onEvent(event), listener(event)),
  };
}

function linkSignal(signal: AbortSignal | undefined, cancellation: Cancellation): () => void {
  if (signal === undefined) return () => undefined;
  const onAbort = (): void => cancellation.cancel(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

/** A checkpoint with all values, and the stored results of the one it continues. */
async function saveWhole(
  store: Store,
  claim: Claim,
  run: Run,
  source: Checkpoint,
  header: ReturnType<Run["header"]>,
  expectedHead: string | null,
  keepsWrites: boolean,
): Promise<void> {
  const writes = keepsWrites && store.getWrites !== undefined ? await store.getWrites(source.threadId, source.id) : [];
  // First the results, then what refers to them: a crash in between leaves the old checkpoint as it was.
  if (writes.length > 0) await store.putWrites?.(claim, header.id, writes);
  const versions: Record<string, number> = {};
  const values = run.values();
  for (const [channel, { name }] of run.program.channels.entries()) versions[name] = run.versions[channel] ?? 0;
  const isSameChain = header.parentId === expectedHead && header.parentId === source.id;
  const changed = Object.entries(values).filter(
    ([name, value]) =>
      !isSameChain ||
      source.versions[name] !== versions[name] ||
      (source.values[name] !== value && !equal(source.values[name] ?? null, value)),
  );
  await store.save(claim, {
    header,
    changes: changed.map(([channel, value]) => ({
      channel,
      version: versions[channel] ?? 0,
      kind: "set" as const,
      value,
    })),
    snapshot: () => ({ values, versions }),
    expectedHead,
    ...(isSameChain ? { clearWritesOf: source.id } : {}),
  });
}

function printPauses(pauses: readonly PauseItem[]): string {
  return pauses.map((pause) => `\`${pause.id}\``).join(", ");
}
