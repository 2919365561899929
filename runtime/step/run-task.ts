import { NodeError, NgraphError, StoreError, ThreadError } from "../interface/errors.ts";
import type { Scope } from "../expression/compile-expression.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { admitJson, Mismatch } from "../value/validate.ts";
import { backoffDelay, DEFAULT_BACKOFF } from "./backoff.ts";
import { callGraph, ChildStopped } from "./call-graph.ts";
import { updatesOf } from "./node-result.ts";
import { PauseSignal } from "./pause-signal.ts";
import { isThenable } from "./is-thenable.ts";
import { describeError, emitNodeEvent, eventError } from "../event/run-events.ts";
import type { Run } from "./run.ts";
import { Attempt, isCommand, TaskContext } from "./task-context.ts";
import { CANCELLED_OUTCOME, doneOutcome, failedOutcome, pausedOutcome, type Outcome, type Task } from "./task.ts";

/**
 * Runs a task to its end: attempts, timeouts, backoff, pauses. Synchronous bodies give their outcome at once. Rejects only
 * with what ends the whole run (a store that failed, a lost claim).
 */
export function runTask(run: Run, task: Task): Outcome | Promise<Outcome> {
  if (task.broken !== undefined) return failTask(run, task, task.broken, 1);
  return attemptTask(run, task, 1);
}

/** Calls the body of a task once; throws what it throws. */
export function startAttempt(attempt: Attempt): unknown {
  if (attempt.run.listening) emitNodeEvent(attempt.run, attempt.task, attempt.number, { phase: "start" });
  return invoke(attempt);
}

/**
 * One attempt, and those that the node's own policy adds.
 * @param onBody told what the body returned, which may go on after the attempt was given up, and the attempt itself
 */
export function attemptTask(
  run: Run,
  task: Task,
  number: number,
  onBody?: (result: unknown, attempt: Attempt) => void,
): Outcome | Promise<Outcome> {
  if (run.cancellation.aborted || run.aborting) return CANCELLED_OUTCOME;
  const attempt = new Attempt(run, task, number);
  let result: unknown;
  try {
    result = startAttempt(attempt);
    onBody?.(result, attempt);
    if (!isThenable(result)) return settleResult(attempt, result);
  } catch (error) {
    return settleFailure(attempt, error);
  }
  const { possible } = run.cancellation;
  if (task.node.spec.timeout === undefined && !possible) {
    return Promise.resolve(result).then(
      (value) => settleResult(attempt, value),
      (error: unknown) => settleFailure(attempt, error),
    );
  }
  return watch(attempt, result);
}

/** Calls the body with what the graph passes. */
function invoke(attempt: Attempt): unknown {
  const { run, task } = attempt;
  const { call } = task.node;
  switch (call.kind) {
    case "expression":
      return call.value(scopeOf(run, task));
    case "mock":
      return call.body(new TaskContext(attempt));
    case "body": {
      const scope = scopeOf(run, task);
      const [first, second] = call.args;
      if (task.node.spec.cache === undefined) {
        if (first === undefined) return call.body(new TaskContext(attempt));
        if (second === undefined) return call.body(first(scope), new TaskContext(attempt));
      }
      const args: unknown[] = [];
      for (const evaluate of call.args) args.push(evaluate(scope));
      if (task.node.spec.cache !== undefined)
        return cached(attempt, args as Json[], (context) => call.body(...args, context));
      args.push(new TaskContext(attempt));
      return call.body(...args);
    }
    case "builtin":
    case "attempt":
    case "graph": {
      const scope = scopeOf(run, task);
      const args: Record<string, Json> = {};
      for (let i = 0; i < call.names.length; i++) setField(args, call.names[i]!, call.args[i]!(scope));
      if (call.kind === "attempt") return call.body(attempt, args);
      const body = (context: TaskContext): unknown =>
        call.kind === "graph" ? callGraph(attempt, call.graph, args) : call.body(args, context);
      if (task.node.spec.cache !== undefined) return cached(attempt, [args], body);
      return body(new TaskContext(attempt));
    }
  }
}

function scopeOf(run: Run, task: Task): Scope {
  const name = task.node.spec.each?.item;
  if (name === undefined && task.error === null) return run.scope;
  const locals = name === undefined || task.item === undefined ? undefined : new Map([[name, task.item]]);
  return { state: run.state, secrets: run.scope.secrets, error: task.error, locals };
}

/** Equal calls give the stored result (policy `cache`). */
function cached(attempt: Attempt, args: readonly Json[], call: (context: TaskContext) => unknown): unknown {
  const { run, task } = attempt;
  const { cache } = run.shared;
  const key = `${run.program.table.digest}/${task.node.spec.name}/${JSON.stringify(args)}`;
  const hit = cache.get(key);
  if (hit !== undefined) {
    attempt.cached = true;
    return hit;
  }
  attempt.cacheKey = key;
  return call(new TaskContext(attempt));
}

/** Kept once it is known to fit its channels: a wrong result would fail every run from then on. What people answered is theirs to say anew. */
function keep({ run, task, cacheKey, asked, interrupts }: Attempt, value: unknown): void {
  if (cacheKey === undefined || isCommand(value) || asked || interrupts > 0) return;
  if (task.node.call.kind === "graph" && Object.keys(run.children).length > 0) return;
  // A body without a result is known by having run.
  const admitted = admitJson(value ?? null);
  if (!(admitted instanceof Mismatch)) run.shared.cache.set(cacheKey, admitted, task.node.spec.cache?.for ?? null);
}

/** Settles on timeout and cancellation too, so that no body can keep the run alive (4.4). */
function watch(attempt: Attempt, result: PromiseLike<unknown>): Promise<Outcome> {
  const { run, task } = attempt;
  const { cancellation, shared } = run;
  const { timeout } = task.node.spec;
  return new Promise<Outcome>((resolve, reject) => {
    let timer: unknown;
    let late: NodeError | undefined;
    const end = (outcome: () => Outcome | Promise<Outcome>): void => {
      if (attempt.closed) return;
      if (timer !== undefined) shared.clock.clearTimeout(timer);
      cancellation.unlisten(onCancel);
      try {
        resolve(outcome());
      } catch (error) {
        // What ends the run passes through.
        reject(error);
      }
    };
    const onCancel = (reason: unknown): void => {
      if (task.node.call.kind === "graph" || task.node.call.kind === "attempt") {
        // It stops by itself, and says where it stood.
        attempt.onGivenUp?.(reason);
        return;
      }
      end(() => {
        attempt.giveUp(reason);
        return CANCELLED_OUTCOME;
      });
    };
    cancellation.listen(onCancel);
    if (timeout !== undefined) {
      timer = shared.clock.setTimeout(() => {
        const { name } = task.node.spec;
        const { threadId } = shared;
        const message = `node \`${name}\` did not finish within ${timeout} ms`;
        const error = new NodeError("NG_NODE_TIMEOUT", name, message, { attempts: attempt.number, threadId });
        if (task.node.call.kind === "graph") {
          // It stops by itself: a further try must not meet checkpoints that are still being written.
          late = error;
          attempt.onGivenUp?.(error);
          return;
        }
        end(() => {
          attempt.giveUp(error);
          return settleFailure(attempt, error);
        });
      }, timeout);
    }
    // What is no promise of this host may throw when it is asked.
    Promise.resolve(result).then(
      (value) => end(() => (late === undefined ? settleResult(attempt, value) : settleFailure(attempt, late))),
      (error: unknown) => end(() => settleFailure(attempt, endsTheRun(task, error) ? error : (late ?? error))),
    );
    // The body itself may have cancelled the run, before anybody listened.
    if (cancellation.aborted) onCancel(cancellation.reason);
  });
}

export function settleResult(attempt: Attempt, value: unknown): Outcome {
  const { run, task } = attempt;
  attempt.closed = true;
  if (attempt.pause !== undefined) return pauseTask(attempt, attempt.pause);
  if (attempt.violation !== undefined) return failTask(run, task, attempt.violation, attempt.number);
  const hasNoResult = isCommand(value) || (value === undefined && attempt.asked);
  const updates = hasNoResult ? [] : updatesOf(run, task, value);
  if (updates instanceof NodeError) return failTask(run, task, updates, attempt.number);
  keep(attempt, value);
  if (run.listening) {
    emitNodeEvent(run, task, attempt.number, attempt.cached ? { phase: "end", cached: true } : { phase: "end" });
  }
  if (!attempt.asked) return doneOutcome(updates);
  const { gotos, exclusive, stopped, sends } = attempt;
  return { ...doneOutcome(updates), goto: gotos, exclusive, stopped, sends: sends ?? [] };
}

function pauseTask(attempt: Attempt, signal: PauseSignal): Outcome {
  const { run, task } = attempt;
  attempt.closed = true;
  if (run.listening) emitNodeEvent(run, task, attempt.number, { phase: "end", paused: true });
  return pausedOutcome(signal.pauses, attempt.children);
}

export function settleFailure(attempt: Attempt, thrown: unknown): Outcome | Promise<Outcome> {
  const error = readable(thrown);
  const { run, task, number } = attempt;
  const { cancellation, shared } = run;
  attempt.closed = true;
  if (attempt.pause !== undefined) return pauseTask(attempt, attempt.pause);
  if (error instanceof PauseSignal) return pauseTask(attempt, error);
  if (attempt.violation !== undefined) return failTask(run, task, attempt.violation, number);
  if (endsTheRun(task, error)) throw error;
  if (cancellation.aborted || run.aborting) return { ...CANCELLED_OUTCOME, children: attempt.children };
  const { tries } = task.node.spec;
  if (tries === undefined || number >= tries.attempts || !isRetryable(error)) {
    return failTask(run, task, error, number, attempt.children);
  }
  const delay = backoffDelay(tries.backoff ?? DEFAULT_BACKOFF, number, shared.random);
  if (run.listening) {
    emitNodeEvent(run, task, number, { phase: "retry", error: eventError(run, error), delayMs: delay });
  }
  return new Promise<boolean>((resolve) => {
    const onCancel = (): void => {
      shared.clock.clearTimeout(timer);
      cancellation.unlisten(onCancel);
      resolve(false);
    };
    const timer = shared.clock.setTimeout(() => {
      cancellation.unlisten(onCancel);
      resolve(true);
    }, delay);
    cancellation.listen(onCancel);
  }).then((goOn) => (goOn ? attemptTask(run, task, number + 1) : CANCELLED_OUTCOME));
}

/** What was thrown may be a trap itself: it must not break what looks at it. */
function readable(thrown: unknown): unknown {
  try {
    return thrown instanceof Error ? thrown : thrown;
  } catch {
    return new Error("it threw something that cannot be shown");
  }
}

function failTask(run: Run, task: Task, cause: unknown, attempts: number, children?: Outcome["children"]): Outcome {
  const reason = run.shared.redact(cause instanceof ChildStopped ? cause.reason : describeError(cause));
  const error = nodeError(run, task, cause, reason, attempts);
  if (run.listening) emitNodeEvent(run, task, attempts, { phase: "error", error: eventError(run, error) });
  if (run.shared.onFailure === "abort" && !task.node.hasErrorRoutes && !run.aborting) {
    run.aborting = true;
    run.cancellation.interrupt(error);
  }
  const items = task.itemIndex === -1 ? [] : [task.itemIndex];
  return failedOutcome({ error, reason, attempts, items }, children);
}

function nodeError(run: Run, task: Task, cause: unknown, reason: string, attempts: number): NodeError | StoreError {
  const { name } = task.node.spec;
  const { threadId } = run.shared;
  const items = task.itemIndex === -1 ? [] : [task.itemIndex];
  if (cause instanceof StoreError && cause.code === "NG_NO_STORE") return cause;
  if (cause instanceof NodeError && cause.nodeId === name && cause.code !== "NG_NODE_FAILED") {
    const details = { attempts, items, threadId, ...("cause" in cause ? { cause: cause.cause } : {}) };
    return new NodeError(cause.code, name, run.shared.redact(cause.message), details);
  }
  const item = task.itemIndex === -1 ? "" : ` at item ${task.itemIndex}`;
  const times = attempts === 1 ? "" : ` after ${attempts} attempts`;
  const message = `node \`${name}\` failed${item}${times}: ${reason}`;
  const origin = cause instanceof ChildStopped ? cause.error : cause;
  return new NodeError("NG_NODE_FAILED", name, message, { attempts, items, threadId, cause: origin });
}

/** A failed store or a lost claim is nobody's node's failure; where a body's own code meets one, it is that of another run. */
function endsTheRun({ node }: Task, error: unknown): boolean {
  const { kind } = node.call;
  if (kind !== "graph" && kind !== "attempt") return false;
  return error instanceof ThreadError || (error instanceof StoreError && error.code !== "NG_NO_STORE");
}

/** Throws and timeouts are tried again; what would only happen again is not (4.1). */
function isRetryable(error: unknown): boolean {
  if (error instanceof ChildStopped) return true;
  if (error instanceof ExpressionError) return false;
  if (error instanceof NgraphError) return error.code === "NG_NODE_TIMEOUT" || error.code === "NG_NODE_FAILED";
  try {
    return !(typeof error === "object" && error !== null && "retryable" in error && error.retryable === false);
  } catch {
    return true;
  }
}
