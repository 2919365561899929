import { NodeError, NgraphError, RunError } from "../errors.ts";
import type { EventError } from "../events.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import type { Scope } from "../expression/compile-expression.ts";
import type { Json } from "../json.ts";
import { admitJson, Mismatch } from "../validate.ts";
import type { Run } from "./run.ts";
import { PauseSignal } from "./pause-signal.ts";
import { isCommand, TaskContext } from "./task-context.ts";
import {
  CANCELLED_OUTCOME,
  doneOutcome,
  failedOutcome,
  pausedOutcome,
  type Outcome,
  type Task,
  type Update,
} from "./task.ts";

const DEFAULT_BACKOFF = { min: 200, max: 10_000 };

/**
 * Runs a task to its end: attempts, timeouts, backoff, pauses. Synchronous bodies give their outcome at once; nothing here
 * ever throws or rejects.
 */
export function runTask(run: Run, task: Task): Outcome | Promise<Outcome> {
  if (task.broken !== undefined) return failTask(run, task, undefined, task.broken, 1);
  return attemptTask(run, task, 1);
}

function attemptTask(run: Run, task: Task, attempt: number): Outcome | Promise<Outcome> {
  if (run.cancellation.aborted) return CANCELLED_OUTCOME;
  const context = new TaskContext(run, task, attempt);
  if (run.listening) run.emitNode(task, attempt, { phase: "start" });
  let result: unknown;
  try {
    result = invoke(run, task, context);
  } catch (error) {
    return settleFailure(run, task, context, error);
  }
  if (!isThenable(result)) return settleResult(run, task, context, result);
  return watch(run, task, context, result).then(
    (value) => settleResult(run, task, context, value),
    (error: unknown) => settleFailure(run, task, context, error),
  );
}

/** Calls the body with what the graph passes. */
function invoke(run: Run, task: Task, context: TaskContext): unknown {
  const { call, spec } = task.node;
  const scope = scopeOf(run, task);
  switch (call.kind) {
    case "expression":
      return call.value(scope);
    case "mock":
      return call.body(context);
    case "body": {
      const args: unknown[] = [];
      for (const evaluate of call.args) args.push(evaluate(scope));
      if (spec.cache !== undefined) return cached(run, task, args as Json[], () => call.body(...args, context));
      args.push(context);
      return call.body(...args);
    }
    case "builtin":
    case "graph": {
      const args: Record<string, Json> = Object.create(null) as Record<string, Json>;
      for (const [index, name] of call.names.entries()) args[name] = call.args[index]!(scope);
      if (call.kind === "graph") return run.callGraph(call.graph, args, task);
      if (spec.cache !== undefined) return cached(run, task, [args], () => call.body(args, context));
      return call.body(args, context);
    }
  }
}

function scopeOf(run: Run, task: Task): Scope {
  const name = task.node.spec.each?.item;
  if (name === undefined && task.error === null) return run.scope;
  return {
    state: run.scope.state,
    secrets: run.scope.secrets,
    error: task.error,
    locals: name === undefined || task.item === undefined ? undefined : new Map([[name, task.item]]),
  };
}

/** Equal calls give the stored result (policy `cache`); only plain results are stored, no jumps. */
function cached(run: Run, task: Task, args: readonly Json[], call: () => unknown): unknown {
  const { cache, clock } = run.shared;
  const { spec } = task.node;
  const key = `${run.program.table.digest}/${spec.name}/${JSON.stringify(args)}`;
  const hit = cache.get(key);
  if (hit !== undefined) return hit;
  void clock;
  const store = (value: unknown): unknown => {
    const admitted = isCommand(value) ? undefined : admitJson(value);
    if (admitted !== undefined && !(admitted instanceof Mismatch)) cache.set(key, admitted, spec.cache?.for ?? null);
    return value;
  };
  const result = call();
  return isThenable(result) ? result.then(store) : store(result);
}

/** A promise that also settles on timeout and cancellation, so that no body can keep the run alive (4.4). */
function watch(run: Run, task: Task, context: TaskContext, result: PromiseLike<unknown>): Promise<unknown> {
  const { timeout } = task.node.spec;
  const { cancellation, shared } = run;
  if (timeout === undefined && !cancellation.possible) return Promise.resolve(result);
  return new Promise((resolve, reject) => {
    let timer: unknown;
    const end = (): void => {
      if (timer !== undefined) shared.clock.clearTimeout(timer);
      cancellation.listeners.delete(onCancel);
    };
    const onCancel = (): void => {
      end();
      reject(cancellation.reason);
    };
    if (cancellation.possible) cancellation.listeners.add(onCancel);
    if (timeout !== undefined) {
      timer = shared.clock.setTimeout(() => {
        end();
        const message = `node \`${task.node.spec.name}\` did not finish within ${timeout} ms`;
        reject(
          new NodeError("NG_NODE_TIMEOUT", task.node.spec.name, message, {
            attempts: context.attempt,
            threadId: shared.threadId,
          }),
        );
      }, timeout);
    }
    result.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

function settleResult(run: Run, task: Task, context: TaskContext, value: unknown): Outcome | Promise<Outcome> {
  context.close();
  if (context.pauses !== undefined) return pauseTask(run, task, context, context.pauses);
  if (context.violation !== undefined) return failTask(run, task, context, context.violation, context.attempt);
  const updates = isCommand(value) ? [] : updatesOf(run, task, value);
  if (updates instanceof NodeError) return failTask(run, task, context, updates, context.attempt);
  if (run.listening) run.emitNode(task, context.attempt, { phase: "end" });
  if (context.gotos === undefined && !context.stopped && context.sends === undefined) return doneOutcome(updates);
  return {
    ...doneOutcome(updates),
    goto: context.gotos,
    exclusive: context.exclusive,
    stopped: context.stopped,
    sends: context.sends ?? [],
  };
}

function pauseTask(run: Run, task: Task, context: TaskContext, pauses: PauseSignal["pauses"]): Outcome {
  context.close();
  if (run.listening) run.emitNode(task, context.attempt, { phase: "end", paused: true });
  return pausedOutcome(pauses);
}

function settleFailure(run: Run, task: Task, context: TaskContext, error: unknown): Outcome | Promise<Outcome> {
  const { cancellation, shared } = run;
  if (error instanceof PauseSignal) return pauseTask(run, task, context, error.pauses);
  if (context.pauses !== undefined) return pauseTask(run, task, context, context.pauses);
  context.close(error);
  if (cancellation.aborted) return CANCELLED_OUTCOME;
  const tries = task.node.spec.tries;
  if (tries === undefined || context.attempt >= tries.attempts || !isRetryable(error)) {
    return failTask(run, task, context, error, context.attempt);
  }
  const delay = backoffDelay(tries.backoff ?? DEFAULT_BACKOFF, context.attempt, shared.random);
  if (run.listening) run.emitNode(task, context.attempt, { phase: "retry", error: eventError(error), delayMs: delay });
  return new Promise<void>((resolve) => {
    const wake = (): void => {
      cancellation.listeners.delete(stop);
      resolve();
    };
    const timer = shared.clock.setTimeout(wake, delay);
    const stop = (): void => {
      shared.clock.clearTimeout(timer);
      wake();
    };
    if (cancellation.possible) cancellation.listeners.add(stop);
  }).then(() => attemptTask(run, task, context.attempt + 1));
}

function failTask(run: Run, task: Task, context: TaskContext | undefined, error: unknown, attempts: number): Outcome {
  context?.close(error);
  const failure = nodeError(run, task, error, attempts);
  if (run.listening) run.emitNode(task, attempts, { phase: "error", error: eventError(failure) });
  return failedOutcome(failure);
}

/** Doubles from `min` to `max`; the second half of each wait is chance, so that tasks that failed together part. */
export function backoffDelay(
  backoff: { readonly min: number; readonly max: number },
  attempt: number,
  random: () => number,
): number {
  const full = Math.min(backoff.max, backoff.min * 2 ** (attempt - 1));
  return Math.round(full / 2 + (full / 2) * random());
}

/** Throws and timeouts are tried again; what would only happen again is not (4.1). */
function isRetryable(error: unknown): boolean {
  if (error instanceof NodeError) return error.code === "NG_NODE_TIMEOUT" || error.code === "NG_NODE_FAILED";
  if (error instanceof NgraphError)
    return error instanceof RunError && error.code === "NG_STEP_LIMIT" ? false : !(error instanceof RunError);
  if (error instanceof ExpressionError) return false;
  return !(typeof error === "object" && error !== null && "retryable" in error && error.retryable === false);
}

function nodeError(run: Run, task: Task, error: unknown, attempts: number): NodeError {
  const { name } = task.node.spec;
  const { threadId } = run.shared;
  const items = task.itemIndex === -1 ? [] : [task.itemIndex];
  if (error instanceof NodeError && error.nodeId === name && error.code !== "NG_NODE_FAILED") {
    return new NodeError(error.code, name, error.message, { attempts, items, threadId, cause: error.cause });
  }
  const reason = error instanceof Error ? error.message || error.name : `it threw ${printThrown(error)}`;
  const item = task.itemIndex === -1 ? "" : ` at item ${task.itemIndex}`;
  const times = attempts === 1 ? "" : ` after ${attempts} attempts`;
  return new NodeError("NG_NODE_FAILED", name, `node \`${name}\` failed${item}${times}: ${reason}`, {
    attempts,
    items,
    threadId,
    cause: error,
  });
}

function printThrown(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "something that cannot be shown";
  }
}

export function eventError(error: unknown): EventError {
  if (error instanceof NodeError)
    return { code: error.code, message: error.message, node: error.nodeId, attempts: error.attempts };
  if (error instanceof NgraphError) return { code: error.code, message: error.message };
  return { code: "NG_NODE_FAILED", message: error instanceof Error ? error.message : printThrown(error) };
}

/** What a result means for the channels, or why it does not fit (2.3). */
function updatesOf(run: Run, task: Task, value: unknown): Update[] | NodeError {
  const { spec } = task.node;
  const { output } = spec;
  if (output === undefined) return [];
  const bad = (problem: string): NodeError =>
    new NodeError("NG_BAD_RESULT", spec.name, `the result of node \`${spec.name}\` does not fit: ${problem}`, {
      items: task.itemIndex === -1 ? [] : [task.itemIndex],
      threadId: run.shared.threadId,
    });
  const admit = (channel: number, part: unknown): Update | NodeError => {
    const code = run.program.channels[channel]!;
    const admitted = task.itemIndex === -1 ? code.admitUpdate(part) : code.admitItem(part);
    if (admitted instanceof Mismatch) return bad(`${admitted.describe()} for channel \`${code.name}\``);
    return { channel, value: admitted };
  };
  if (output.kind === "channel") {
    const update = admit(output.channel, value);
    return update instanceof NodeError ? update : [update];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const found =
      value === undefined ? "nothing" : value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
    return bad(`expected a record with ${output.fields.map(({ field }) => `\`${field}\``).join(", ")}, found ${found}`);
  }
  const updates: Update[] = [];
  for (const { field, channel } of output.fields) {
    if (!Object.hasOwn(value, field)) return bad(`it has no field \`${field}\``);
    const update = admit(channel, (value as Record<string, unknown>)[field]);
    if (update instanceof NodeError) return update;
    updates.push(update);
  }
  return updates;
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof (value as { then: unknown }).then === "function"
  );
}
