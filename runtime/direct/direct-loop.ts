/**
 * Runs a graph without the engine: bodies, updates and edges, in the order and with the results of `step/`. Whatever is out of the ordinary (a
 * failure, a value that does not fit, a request of a body, a limit, a barrier that is left open) is handed over to the engine with all that
 * has happened, and the engine ends the run. So this file has no message of an error.
 */
import type { RunOptions, RunResult } from "../interface/engine-options.ts";
import { followRoutes, type Target } from "../routing/routes.ts";
import { takeFirstTurn, takeTurns } from "../run/take-turns.ts";
import type { JsonObject } from "../value/json.ts";
import { isPlainRecord } from "../value/plain-object.ts";
import { dropPromise, isThenable } from "../value/promise.ts";
import { DirectContext } from "./direct-context.ts";
import { NOTHING, Signals } from "./direct-edges.ts";
import type { DirectGraph, DirectNode } from "./direct-graph.ts";
import type { DirectStep } from "./direct-items.ts";
import { DirectRun, type DirectTask, type Loop, type RunGuarded, type TakeOver } from "./direct-run.ts";
import { settleAlone, settleTasks } from "./direct-settle.ts";

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
  if (options.signal?.aborted) return undefined;
  const run = new DirectRun(code, options);
  if (!acceptInput(run, input) || !enter(run)) return undefined;
  const begin = (): Promise<RunResult> => guarded?.(run, loop, takeOver) ?? (loop(run, takeOver) as Promise<RunResult>);
  const turn = takeFirstTurn(code.clock, false);
  return turn ? turn.then(begin) : begin();
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
  if (first) {
    run.ready = first;
    return true;
  }
  let targets: readonly Target[];
  try {
    targets = followRoutes(start, run);
  } catch {
    return false;
  }
  if (!targets.length && table.start.length) return false;
  const signals = new Signals(run);
  for (const target of targets) if (target < 0 || gates[target] === -1) signals.run(target);
  run.ready = signals.finish();
  return true;
}

const loop: Loop = async (run, takeOver) => {
  const { guard } = run;
  const { nodes, functions, expressions, table } = run.code;
  const { steps } = table.limits;
  try {
    let end: RunResult | undefined;
    /** The tasks of the step in progress, if the engine has to end it. */
    let begun: readonly DirectTask[] | undefined;
    for (;;) {
      const { ready } = run;
      if (!ready.length) {
        if (run.barriers?.isClear !== false) end = completed(run);
        break;
      }
      if (steps !== null && run.step >= steps) break;
      const turn = takeTurns(run);
      if (turn) await turn;
      if (run.aborted) break;
      const node = nodes[ready[0]!]!;
      if (ready.length > 1 || node.hasTimeout || node.items !== undefined) {
        const done = runBeside(run, takeOver);
        end = done instanceof Promise ? await done : done;
        if (end) break;
        continue;
      }
      const context = contextOf(run, node);
      let value: unknown;
      try {
        value = node.call(run, functions, expressions, context);
        if (isThenable(value)) {
          guard?.alone(context, value);
          value = await value;
          if (guard?.end()) return;
        }
      } catch (error) {
        if (guard?.end()) return;
        DirectContext.close(context);
        begun = [{ context, state: "thrown", value: error, isLate: run.aborted }];
        break;
      }
      if (DirectContext.close(context) !== undefined || !settleAlone(run, node, value, context)) {
        begun = [{ context, state: "value", value }];
        break;
      }
    }
    end ??= await takeOver(run, begun);
    guard?.resolve(end);
    return end;
  } catch (error) {
    if (!guard) throw error;
    guard.reject(error);
  }
};

function contextOf(run: DirectRun, node: DirectNode): DirectContext {
  return run.code.module.jumps?.open(run, node) ?? new DirectContext(run, node.index);
}

/** Runs the nodes of a step beside each other, or one with items or a timeout. Returns the result of the run if the engine has ended it. */
function runBeside(run: DirectRun, takeOver: TakeOver): RunResult | Promise<RunResult | undefined> | undefined {
  const { module, nodes, functions, expressions } = run.code;
  const { ready } = run;
  const lists = module.items?.of(run, ready);
  if (module.items && !lists) return takeOver(run);
  const tasks: DirectTask[] = [];
  let open = 0;
  let resolve: ((end: RunResult | Promise<RunResult> | undefined) => void) | undefined;
  const step: DirectStep = {
    isOver: false,
    // Its retries begin at once.
    halt: () => {
      step.isOver = true;
      resolve?.(takeOver(run, tasks));
    },
  };
  const hasEnded = (): void => {
    if (--open > 0 || step.isOver) return;
    step.isOver = true;
    resolve!(settleTasks(run, tasks) ? undefined : takeOver(run, tasks));
  };
  for (const index of ready) {
    const node = nodes[index]!;
    const context = contextOf(run, node);
    const task: DirectTask = { context, state: "value", value: undefined };
    tasks.push(task);
    const items = lists?.get(index);
    if (items) {
      task.items = items;
      const ended = module.items!.begin(run, node, items, step);
      if (ended) {
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
  if (!open) return settleTasks(run, tasks) ? undefined : takeOver(run, tasks);
  return new Promise((onEnd) => {
    resolve = onEnd;
    for (const task of tasks) {
      if (task.state !== "pending") continue;
      const fail = (error: unknown): void => {
        if (step.isOver) return;
        DirectContext.close(task.context);
        task.state = "thrown";
        task.value = error;
        step.halt();
      };
      if (task.timer) task.timer.onLate = fail;
      (task.value as Promise<unknown>).then((value) => {
        if (step.isOver) return;
        DirectContext.close(task.context);
        task.state = "value";
        task.value = value;
        hasEnded();
      }, fail);
    }
    run.guard?.begin(tasks, step);
  });
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
