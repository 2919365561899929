/**
 * Runs a graph without the engine: bodies, updates and edges, in the order and with the results of `step/`. Whatever is out of the ordinary (a
 * failure, a value that does not fit, a request of a body, a limit, a barrier that is left open) is handed over to the engine with all that
 * has happened, and the engine ends the run. So this file has no message of an error.
 */
import type { Scope } from "../expression/compile-expression.ts";
import type { RunOptions, RunResult } from "../interface/engine-options.ts";
import { barrierOf, followRoutes, isBarrier, type Target } from "../routing/routes.ts";
import { takeFirstTurn, takeTurns, type Turn } from "../run/take-turns.ts";
import type { Clock } from "../interface/clock.ts";
import { END } from "../table/table.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { isPlainRecord } from "../value/plain-object.ts";
import { dropPromise, isThenable } from "../value/promise.ts";
import type { DirectBarriers } from "./direct-barriers.ts";
import { DirectContext, type Request } from "./direct-context.ts";
import type { DirectItem, DirectStep } from "./direct-items.ts";
import type { DirectTimer } from "./direct-timeouts.ts";
import { FIELDS, Unlocated, type DirectGraph, type DirectNode } from "./direct-graph.ts";

/** A task of the step that the engine takes over. */
export interface DirectTask {
  readonly context: DirectContext;
  /** `none`: the signal of the run has aborted before the body began. */
  state: "none" | "pending" | "value" | "thrown";
  /** The promise of a pending body, what it returned, or what it threw. */
  value: unknown;
  /** Of a body that has aborted the signal of the run before it threw. */
  isLate?: boolean;
  /** Of a pending body with a timeout. */
  timer?: DirectTimer;
  /** Of a `for` node: each of its items has a task of its own once its body has begun. */
  items?: readonly DirectItem[];
}

/** Ends a run in the engine: from a step whose tasks have begun, or between two steps. */
export type TakeOver = (run: DirectRun, tasks?: readonly DirectTask[]) => Promise<RunResult>;

/** Ends a run in the engine when its signal aborts. Only runs with a signal have it. */
export interface DirectGuard {
  readonly aborted: boolean;
  /** The run awaits bodies of the step. @param step is over when the signal aborts */
  begin(tasks: readonly DirectTask[], step?: DirectStep): void;
  /** The bodies have ended. Returns the result of the engine if the signal has aborted before. */
  end(): Promise<RunResult> | undefined;
}

/** The code of runs with a signal, which is loaded with the engine. */
export type RunGuarded = (
  run: DirectRun,
  loop: (run: DirectRun, takeOver: TakeOver) => Promise<RunResult>,
  takeOver: TakeOver,
) => Promise<RunResult>;

/** The state of a run between its steps, and the scope of its expressions. */
export class DirectRun implements Scope {
  readonly code: DirectGraph;
  readonly options: RunOptions;
  readonly state: Json[];
  /** Without a store. */
  declare readonly durable: undefined;
  readonly error = null;
  readonly outcome = null;
  readonly barriers: DirectBarriers | undefined;
  readonly steps: (readonly string[])[] = [];
  step = 0;
  ready: readonly number[];
  /** The lists of the `for` nodes of the step, by node. */
  lists: ReadonlyMap<number, unknown> | undefined;
  guard: DirectGuard | undefined;
  #id: string | undefined;

  constructor(code: DirectGraph, options: RunOptions) {
    this.code = code;
    this.options = options;
    this.state = code.initial.slice();
    this.barriers = code.barriers.length === 0 ? undefined : code.module.barriers!.open(code.barriers);
    this.ready = NOTHING;
  }

  get id(): string {
    return (this.#id ??= randomId());
  }
  get turn(): Turn {
    return this.code.turn;
  }
  get clock(): Clock {
    return this.code.clock;
  }

  get aborted(): boolean {
    return this.guard?.aborted === true;
  }

  /** For the engine, which imports no class of the start. */
  abort(context: DirectContext, reason: unknown): void {
    DirectContext.abort(context, reason);
  }
  close(context: DirectContext): readonly Request[] | undefined {
    return DirectContext.close(context);
  }
  unlocated(thrown: unknown): Unlocated | undefined {
    return thrown instanceof Unlocated ? thrown : undefined;
  }
}

/**
 * Starts a run; `undefined` if the engine has to start it: its input does not fit, its first edges have no value, or its signal has aborted.
 *
 * @param guarded runs the loop of a run with a signal
 */
export function startDirect(
  code: DirectGraph,
  input: JsonObject,
  options: RunOptions,
  takeOver: TakeOver,
  guarded?: RunGuarded,
): Promise<RunResult> | undefined {
  if (options.signal?.aborted === true) return undefined;
  const run = new DirectRun(code, options);
  if (!acceptInput(run, input) || !enter(run)) return undefined;
  const begin = (): Promise<RunResult> => (guarded === undefined ? loop(run, takeOver) : guarded(run, loop, takeOver));
  const turn = takeFirstTurn(code.clock, false);
  return turn === undefined ? begin() : turn.then(begin);
}

function acceptInput({ code, state }: DirectRun, input: JsonObject): boolean {
  if (!isPlainRecord(input)) return false;
  try {
    for (const name of Object.keys(input)) {
      const value = input[name] as unknown;
      if (value === undefined) continue;
      const channel = code.inputs.get(name);
      const accepted = channel?.accept(value);
      if (channel === undefined || accepted === undefined) return false;
      state[channel.channel] = accepted;
    }
    for (const name of code.required) if (!Object.hasOwn(input, name) || input[name] === undefined) return false;
  } catch {
    return false;
  }
  return true;
}

/** The first step. A signal from `start` into a gated node does not count (3.2). */
function enter(run: DirectRun): boolean {
  const { start, gates, table, first } = run.code;
  if (first !== undefined) {
    run.ready = first;
    return true;
  }
  let targets: readonly Target[];
  try {
    targets = followRoutes(start, run);
  } catch {
    return false;
  }
  if (targets.length === 0 && table.start.length > 0) return false;
  const signals = new Signals(run);
  for (const target of targets) if (target < 0 || gates[target] === -1) signals.run(target);
  run.ready = signals.finish();
  return true;
}

async function loop(run: DirectRun, takeOver: TakeOver): Promise<RunResult> {
  const { nodes, functions, expressions, table } = run.code;
  const { steps } = table.limits;
  for (;;) {
    const { ready } = run;
    if (ready.length === 0) {
      return run.barriers === undefined || run.barriers.isClear ? completed(run) : takeOver(run);
    }
    if (steps !== null && run.step >= steps) return takeOver(run);
    const turn = takeTurns(run);
    if (turn !== undefined) await turn;
    const { guard } = run;
    if (guard?.aborted === true) return takeOver(run);
    const node = nodes[ready[0]!]!;
    if (ready.length > 1 || node.hasTimeout || node.items !== undefined) {
      const done = runBeside(run, takeOver);
      const end = done instanceof Promise ? await done : done;
      if (end !== undefined) return end;
      continue;
    }
    const context = contextOf(run, node);
    let value: unknown;
    try {
      value = node.call(run, functions, expressions, context);
      if (isThenable(value)) {
        guard?.begin([{ context, state: "pending", value }]);
        value = await value;
        const end = guard?.end();
        if (end !== undefined) return end;
      }
    } catch (error) {
      const end = guard?.end();
      if (end !== undefined) return end;
      DirectContext.close(context);
      return takeOver(run, [{ context, state: "thrown", value: error, isLate: run.aborted }]);
    }
    if (DirectContext.close(context) !== undefined || !settleAlone(run, node, value, context)) {
      return takeOver(run, [{ context, state: "value", value }]);
    }
  }
}

function contextOf(run: DirectRun, node: DirectNode): DirectContext {
  return run.code.module.jumps?.open(run, node) ?? new DirectContext(run, node.index);
}

/** Applies the result of a node that ran alone, and follows its edges. Returns `false`, and changes nothing, if the engine has to do it. */
function settleAlone(run: DirectRun, node: DirectNode, value: unknown, context: DirectContext): boolean {
  const { state, code } = run;
  const { channel } = node;
  if (channel === FIELDS || node.goals !== undefined) return settle(run, [{ value, context }]);
  let before: Json = null;
  if (channel >= 0) {
    const update = node.accept(value);
    if (update === undefined) return false;
    before = state[channel]!;
    const reducer = code.reducers[channel];
    if (reducer === undefined) state[channel] = update;
    else {
      try {
        state[channel] = reducer.one(before, update);
      } catch {
        return false;
      }
    }
  }
  if (node.next === undefined) {
    const targets = targetsOf(run, node);
    if (targets === undefined) {
      if (channel >= 0) state[channel] = before;
      return false;
    }
    run.ready = readyAfter(run, node.index, targets);
  } else run.ready = node.next;
  run.steps.push(node.stepNames);
  run.step++;
  return true;
}

/** The nodes that run after a node that ran alone. */
function readyAfter(run: DirectRun, index: number, targets: readonly Target[]): readonly number[] {
  if (targets.length === 1) {
    const [target = END] = targets;
    if (target === END) return NOTHING;
    const { nodes, gates } = run.code;
    if (target >= 0 && gates[target] === -1) return nodes[target]!.alone;
  }
  const signals = new Signals(run);
  for (const target of targets) signals.signal(index, target);
  return signals.finish();
}

/** The targets of a node's edges; `undefined` if a condition has no value, or no edge applies. */
function targetsOf(run: DirectRun, { routes }: DirectNode): readonly Target[] | undefined {
  try {
    const targets = followRoutes(routes, run);
    return targets.length === 0 && routes.edges.length > 0 ? undefined : targets;
  } catch {
    return undefined;
  }
}

/** Runs the nodes of a step beside each other, or one with items or a timeout. Returns the result of the run if the engine has ended it. */
function runBeside(run: DirectRun, takeOver: TakeOver): RunResult | Promise<RunResult | undefined> | undefined {
  const { module, nodes, functions, expressions } = run.code;
  const { ready } = run;
  const lists = module.items?.of(run, ready);
  if (module.items !== undefined && lists === undefined) return takeOver(run);
  const tasks: DirectTask[] = [];
  let open = 0;
  let resolve: ((end: RunResult | Promise<RunResult> | undefined) => void) | undefined;
  const { guard } = run;
  const step: DirectStep = {
    isOver: false,
    // Its retries begin at once.
    halt: () => {
      step.isOver = true;
      guard?.end();
      resolve?.(takeOver(run, tasks));
    },
  };
  const hasEnded = (): void => {
    if (--open > 0 || step.isOver) return;
    step.isOver = true;
    guard?.end();
    resolve!(settleTasks(run, tasks) ? undefined : takeOver(run, tasks));
  };
  for (const index of ready) {
    const node = nodes[index]!;
    const context = contextOf(run, node);
    const task: DirectTask = { context, state: "value", value: undefined };
    tasks.push(task);
    const items = lists?.get(index);
    if (items !== undefined) {
      task.items = items;
      const ended = module.items!.begin(run, node, items, step);
      if (ended !== undefined) {
        open++;
        ended.then(hasEnded).catch((error: Error) => resolve?.(Promise.reject(error)));
      }
      continue;
    }
    if (run.aborted) {
      // A body of the step has aborted the signal. The engine starts no further one.
      task.state = "none";
      continue;
    }
    try {
      task.value = node.call(run, functions, expressions, context);
      if (isThenable(task.value)) {
        task.state = "pending";
        // A foreign promise is asked once, whether or not the engine takes over.
        task.value = Promise.resolve(task.value);
        if (node.hasTimeout) module.timeouts!.start(run, index, task);
        open++;
        continue;
      }
    } catch (value) {
      task.state = "thrown";
      task.value = value;
      task.isLate = run.aborted;
      // Items that have not begun begin in the engine.
      step.isOver = true;
    }
    DirectContext.close(context);
  }
  if (step.isOver || run.aborted) {
    step.isOver = true;
    // The engine may have to be loaded before it listens to them.
    for (const task of tasks) if (task.state === "pending") dropPromise(task.value);
    return takeOver(run, tasks);
  }
  if (open === 0) return settleTasks(run, tasks) ? undefined : takeOver(run, tasks);
  return new Promise((onEnd, onError) => {
    resolve = (end) => {
      if (end instanceof Promise) end.then(onEnd, onError);
      else onEnd(end);
    };
    for (const task of tasks) {
      if (task.state !== "pending") continue;
      const fail = (error: unknown): void => {
        if (step.isOver) return;
        DirectContext.close(task.context);
        task.state = "thrown";
        task.value = error;
        step.halt();
      };
      if (task.timer !== undefined) task.timer.onLate = fail;
      (task.value as Promise<unknown>).then((value) => {
        if (step.isOver) return;
        DirectContext.close(task.context);
        task.state = "value";
        task.value = value;
        hasEnded();
      }, fail);
    }
    guard?.begin(tasks, step);
  });
}

function settleTasks(run: DirectRun, tasks: readonly DirectTask[]): boolean {
  let hasRequests = false;
  for (const { context } of tasks) if (DirectContext.close(context) !== undefined) hasRequests = true;
  return !hasRequests && settle(run, tasks);
}

/** From this number of tasks on, the updates of a channel are applied together. */
const MANY = 4;

/** Applies the results of a step in task order (2.2), and follows the edges on the new state (2.4). */
function settle(run: DirectRun, tasks: readonly Pick<DirectTask, "value" | "context" | "items">[]): boolean {
  const { state, code, ready } = run;
  const { nodes } = code;
  const { length } = ready;
  const channels: number[] = [];
  const updates: Json[] = [];
  const jumps = code.module.jumps?.of(tasks);
  for (let at = 0; at < length; at++) {
    const { value, items } = tasks[at]!;
    if (jumps?.drops(at, value)) continue;
    const node = nodes[ready[at]!]!;
    if (items === undefined) {
      if (!readUpdates(code, node, value, channels, updates)) return false;
    } else if (node.channel >= 0) {
      try {
        updates.push(code.module.items!.update(node, items));
      } catch {
        return false;
      }
      channels.push(node.channel);
    }
  }
  if (length > 1 && writesTwice(code, ready)) return false;
  const undo: Json[] = [];
  const restore = (): false => {
    for (let at = undo.length - 1; at >= 0; at--) state[channels[at]!] = undo[at]!;
    return false;
  };
  try {
    applyAll(run, length >= MANY, channels, updates, undo);
  } catch {
    return restore();
  }
  const targets: (readonly Target[])[] = [];
  const names: string[] = [];
  for (let at = 0; at < length; at++) {
    const node = nodes[ready[at]!]!;
    const found = jumps?.targets(at) ?? targetsOf(run, node);
    if (found === undefined) return restore();
    targets.push(found);
    names.push(node.stepNames[0]!);
  }
  const signals = new Signals(run);
  for (let at = 0; at < length; at++) {
    for (const target of targets[at]!) {
      if (at === jumps?.winner) signals.run(target);
      else signals.signal(ready[at]!, target);
    }
  }
  run.ready = signals.finish();
  run.steps.push(names);
  run.step++;
  return true;
}

/** Applies updates. Adds the values before them to `undo`, by update. @throws what a reducer throws */
function applyAll(
  { state, code: { reducers } }: DirectRun,
  isMany: boolean,
  channels: readonly number[],
  updates: readonly Json[],
  undo: Json[],
): void {
  let together: Map<number, Json[]> | undefined;
  for (let at = 0; at < channels.length; at++) {
    const channel = channels[at]!;
    const reducer = reducers[channel];
    const before = state[channel]!;
    undo.push(before);
    if (reducer === undefined) state[channel] = updates[at]!;
    else if (!isMany || reducer.all === undefined) state[channel] = reducer.one(before, updates[at]!);
    else {
      together ??= new Map();
      const known = together.get(channel);
      if (known === undefined) together.set(channel, [updates[at]!]);
      else known.push(updates[at]!);
    }
  }
  if (together === undefined) return;
  for (const [channel, all] of together) state[channel] = reducers[channel]!.all!(state[channel]!, all);
}

/** Adds the updates of a result. Returns `false` if the result does not fit. */
function readUpdates(
  { module }: DirectGraph,
  { channel, fields, accept }: DirectNode,
  value: unknown,
  channels: number[],
  updates: Json[],
): boolean {
  if (channel === FIELDS) return module.fields!.read(fields, value, channels, updates);
  if (channel < 0) return true;
  const update = accept(value);
  if (update === undefined) return false;
  channels.push(channel);
  updates.push(update);
  return true;
}

/** Whether two nodes of the step may write one channel without a reducer. */
function writesTwice({ scratch, nodes }: DirectGraph, ready: readonly number[]): boolean {
  const written = ++scratch.generation;
  for (const index of ready) {
    for (const channel of nodes[index]!.exclusive) {
      if (scratch.channels[channel] === written) return true;
      scratch.channels[channel] = written;
    }
  }
  return false;
}

/** The signals of a step (`routing/plan-step.ts`). No user code runs while they are collected, so runs share the marks of nodes. */
class Signals {
  readonly #code: DirectGraph;
  readonly #barriers: DirectBarriers | undefined;
  readonly #generation: number;
  readonly #ready: number[] = [];
  #isSorted = true;
  #complete: number[] | undefined;

  constructor({ code, barriers }: DirectRun) {
    this.#code = code;
    this.#barriers = barriers;
    this.#generation = ++code.scratch.generation;
  }

  signal(source: number, target: Target): void {
    if (isBarrier(target)) this.#signalBarrier(source, barrierOf(target));
    else if (target >= 0 && this.#code.gates[target] !== -1) this.#signalBarrier(source, this.#code.gates[target]!);
    else this.run(target);
  }

  #signalBarrier(source: number, barrier: number): void {
    if (this.#barriers!.signal(barrier, source)) (this.#complete ??= []).push(barrier);
  }

  run(target: number): void {
    const { nodes } = this.#code.scratch;
    if (target === END || nodes[target] === this.#generation) return;
    nodes[target] = this.#generation;
    const ready = this.#ready;
    if (ready.length > 0 && ready[ready.length - 1]! > target) this.#isSorted = false;
    ready.push(target);
  }

  /** Fires the complete barriers, in order of completion. Returns the nodes of the next step, in declaration order. */
  finish(): readonly number[] {
    const complete = this.#complete ?? NOTHING;
    // Grows: a join into a gated node passes the signals of its members to the gate.
    for (let at = 0; at < complete.length; at++) {
      const barrier = complete[at]!;
      const { target, gates } = this.#code.barriers[barrier]!;
      const gate = target < 0 ? -1 : this.#code.gates[target]!;
      if (gates || gate === -1) this.run(target);
      else for (const node of this.#barriers!.arrived(barrier)) this.#signalBarrier(node, gate);
      this.#barriers!.clear(barrier);
    }
    return this.#isSorted ? this.#ready : this.#ready.sort((a, b) => a - b);
  }
}

function completed({ code, state, steps }: DirectRun): RunResult {
  const { module, table } = code;
  const result: RunResult = {
    status: "completed",
    output: module.output?.(state) ?? module.records!.output(table, state),
    state: module.state?.(state) ?? {},
    steps,
    pauses: NOTHING,
    incompleteBarriers: NOTHING,
    error: null,
    thread: null,
    checkpointId: null,
  };
  return module.state === undefined ? module.records!.withState(result, table, state) : result;
}

const NOTHING: readonly never[] = Object.freeze([]);

/** A UUID v4, for the few runs that need an id. `newId`, which makes many of them fast, is in the engine: it is a part of the start's size. */
function randomId(): string {
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
    const [random = 0] = globalThis.crypto.getRandomValues(new Uint8Array(1));
    return (Number(digit) ^ (random & (15 >> (Number(digit) / 4)))).toString(16);
  });
}
